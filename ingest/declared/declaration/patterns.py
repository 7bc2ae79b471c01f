"""Which ``[[files]]`` a file belongs to: by patterns as on the Hub, in which ``*`` stays within a name."""

from functools import lru_cache

from talkhouse.ingest.declared.declaration.model import Declaration, Files
from talkhouse.schema.errors import RegistryError

_LONGEST = 1_000

EVERYTHING = "**"
"""The pattern of all files: ``**`` stands for any folders, at the end for whatever is in them."""


def pattern_problem(pattern: str) -> str | None:
    """Return why a pattern can be none, or None."""
    parts = pattern.split("/")
    if not pattern or len(pattern) > _LONGEST:
        return f"a pattern has 1 to {_LONGEST:,} letters, not {len(pattern):,}"
    if pattern.startswith("/") or ".." in parts or (parts[0][1:] == ":" and parts[0][0].isalpha()):
        return f"{pattern!r} leads out of the corpus's folder"
    if "\\" in pattern:
        return f"{pattern!r}: folders are told apart by '/', not by a backslash"
    if parts[-1] == "":
        return f"{pattern!r} names a folder; all that is in it is '{pattern}**'"
    if "." in parts or "" in parts:
        return f"{pattern!r} has a part without a name"
    if any("**" in part and part != "**" for part in parts):
        return f"{pattern!r}: '**' stands for folders, so it stands alone between '/'"
    return None


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern fits the whole of a path inside the corpus's folder, archives as folders.

    ``*`` is any letters of one name, ``**`` any folders; everything else is itself. Takes time in proportion to both.
    """
    if "*" not in pattern:
        return pattern == path
    first, *others = _groups(pattern)
    parts = path.split("/")
    if not others:
        return len(first) == len(parts) and _fit(first, parts, 0)
    *middle, last = others
    end = len(parts) - max(len(last), 1)
    if end < len(first) or not _fit(first, parts, 0) or not _fit(last, parts, len(parts) - len(last)):
        return False
    at = len(first)
    for group in middle:
        while at + len(group) <= end and not _fit(group, parts, at):
            at += 1
        at += len(group)
        if at > end:
            return False
    return True


def which(declaration: Declaration, path: str) -> Files | None:
    """Return the ``[[files]]`` that a file belongs to, None for a file in none.

    Raises RegistryError, with the lines of both, where there are two.
    """
    fitting = [files for files in declaration.files if matches(files.path, path)]
    if len(fitting) > 1:
        first, second = fitting[:2]
        raise RegistryError(
            f"the file {path!r} is in two [[files]]",
            where=_place(declaration, second),
            expected="each file in exactly one",
            found=" and ".join(f"path = {files.path!r} ({_place(declaration, files)})" for files in (first, second)),
            next_step="narrow one of the patterns, or remove one of the two",
        )
    return fitting[0] if fitting else None


def _place(declaration: Declaration, files: Files) -> str:
    return f"{declaration.place}:{files.line}" if files.line else declaration.place


@lru_cache(maxsize=4096)
def _groups(pattern: str) -> list[list[list[str]]]:
    """Split a pattern at each ``**`` into groups of names, and each name at each ``*``."""
    groups: list[list[list[str]]] = [[]]
    for part in pattern.split("/"):
        if part == EVERYTHING:
            groups.append([])
        else:
            groups[-1].append(part.split("*"))
    return groups


def _fit(group: list[list[str]], parts: list[str], at: int) -> bool:
    return all(_fits(pieces, part) for pieces, part in zip(group, parts[at : at + len(group)], strict=True))


def _fits(pieces: list[str], name: str) -> bool:
    """Whether a name is the pieces in their order, with anything between them."""
    first, *others = pieces
    if not others:
        return name == first
    *middle, last = others
    end = len(name) - len(last)
    if not name.startswith(first) or not name.endswith(last) or end < len(first):
        return False
    at = len(first)
    for piece in middle:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True
