"""One exception class per situation; each says what is wrong, where, and what to do next."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from errno import EACCES, EDQUOT, EFBIG, ELOOP, ENAMETOOLONG, ENOENT, ENOSPC, EPERM, EROFS
from os import strerror
from pathlib import Path
from typing import Any, TypedDict


class TalkhouseError(Exception):
    """Something that the user can fix; the command line prints it without a traceback."""

    exit_code = 1
    corpus_id: str | None = None
    """The corpus that could not be loaded, where the others can."""
    built: Any = None
    """The ``build.run.BuildResult`` of the others, where they are published."""

    def __init__(
        self,
        what: str,
        *,
        where: object = None,
        expected: str | None = None,
        found: str | None = None,
        next_step: str | None = None,
    ) -> None:
        """Keep the parts, and join those that are not None into one readable message."""
        self.what, self.where, self.expected = what, where, expected
        self.found, self.next_step = found, next_step
        parts = [
            what if where is None else f"{where}: {what}",
            f"  expected: {expected}" if expected else "",
            f"  found:    {found}" if found else "",
            f"  next:     {next_step}" if next_step else "",
        ]
        super().__init__("\n".join(part for part in parts if part))


def joined(errors: Sequence[TalkhouseError]) -> TalkhouseError:
    """Return one error that says all that some say, a wrong use where all are."""
    if len(errors) == 1:
        return errors[0]
    whole = TalkhouseError("\n".join(map(str, errors)))
    whole.exit_code = min(error.exit_code for error in errors)
    return whole


class UsageError(TalkhouseError):
    """The command was given something that it can't work with."""

    exit_code = 2


class NothingLeft(UsageError):
    """No row of a view or table is as the filters want it."""


def check_unicode(text: str, what: str) -> None:
    """Raise UsageError for a text of the command line that is not Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not valid Unicode", found=str(error), next_step="type it in UTF-8") from error


class WarehouseMissing(UsageError):
    """There is no warehouse at that path."""


class WarehouseLocked(TalkhouseError):
    """Another process holds the file open for writing, or is building it."""


class OpenedOtherwise(TalkhouseError):
    """The file is open in this process already, for writing."""


class NotAWarehouse(UsageError):
    """The file is not a DuckDB database, or is one that Talkhouse did not make."""


class WarehouseDamaged(TalkhouseError):
    """A part of the file is not what DuckDB or Talkhouse wrote there."""


class SchemaMismatch(TalkhouseError):
    """The file has another schema revision than this Talkhouse."""


class NotALake(UsageError):
    """There is no lake in that folder, or the folder is something else."""


class LakeDamaged(TalkhouseError):
    """A part of a lake is missing, or is not what Talkhouse wrote there."""


class ReleaseDamaged(TalkhouseError):
    """A release is not what its manifest says, or its manifest is none, or a newer Talkhouse's."""


class BadName(UsageError):
    """A database file may not be named after a schema."""


class SourceError(TalkhouseError):
    """An input can't be read at all: missing, empty, forbidden, or a damaged archive."""


class FetchFailed(TalkhouseError):
    """A file of a corpus can't be had from its publisher, or what came or lies in its place is not that file."""


class TermsNotAccepted(TalkhouseError):
    """Nobody has accepted the terms of a corpus."""


class PersonalDataFound(TalkhouseError):
    """What is to go out has personal data, and nobody has decided that it may."""


class NothingLoaded(TalkhouseError):
    """No record of a corpus could be loaded."""


class RegistryError(TalkhouseError):
    """A corpus folder is broken, or there is no corpus by that name."""


class CorpusFailed(TalkhouseError):
    """The code of a corpus, its reader or its writer, raised an exception or broke its contract."""

    source_file_id: str | None = None
    """The only file that could not be written, where the others can."""


class CatalogueError(TalkhouseError):
    """A file of the catalogue is broken."""


class QueryFailed(TalkhouseError):
    """A query could not be run."""


class OutputFailed(TalkhouseError):
    """An output file could not be completed for a reason outside the command, such as a full disk."""


class CheckFailed(TalkhouseError):
    """A check of severity error found rows; nothing was published."""


class TooMuchQuarantined(TalkhouseError):
    """More of a corpus is unreadable than the user allows; nothing was published."""


class BuildFailed(TalkhouseError):
    """A build stopped for a reason outside the input, such as a full disk."""


class ServerFailed(TalkhouseError):
    """A PostgreSQL server can't be reached, refuses, or fails."""


class SparkFailed(TalkhouseError):
    """A Spark cluster can't be reached, refuses, or fails."""


FULL = (ENOSPC, EDQUOT, EFBIG)
"""What the system says where a disk is full, or this user may have no more of it."""

_FULL_TEXTS = (*map(strerror, FULL), "failed to offload")


def is_full_disk(error: BaseException) -> bool:
    """Whether an error of DuckDB is about a full disk, by its text: the class depends on what DuckDB was doing."""
    return any(text in str(error) for text in _FULL_TEXTS)


_REFUSALS = (EACCES, EPERM, EROFS, ELOOP, ENAMETOOLONG)
"""Of these no code of ours can be the cause, but the path alone."""


class ErrorText(TypedDict):
    """The parts of an error that say how a path can be used."""

    expected: str | None
    found: str
    next_step: str


def refused(error: OSError) -> UsageError | None:
    """Return the message for a path that the system refuses; None for every other failure, which may be our mistake."""
    if error.errno not in _REFUSALS or not isinstance(error.filename, str):
        return None
    what = "permission denied" if isinstance(error, PermissionError) else "this path can't be used"
    return UsageError(what, where=error.filename, **error_text(error, Path(error.filename)))


def error_text(error: OSError, path: Path, *, another: str = "name another") -> ErrorText:
    """Return the reason, with the folder on the way that may not be entered if there is one, and the next step.

    ``another`` says how another path is named.
    """
    reason = error.strerror or str(error)
    if not isinstance(error, PermissionError):
        step = f"make the folder first: mkdir -p '{path.parent}'   or {another}" if error.errno == ENOENT else another
        return {"expected": None, "found": reason, "next_step": step}
    folder = _closed(path)
    return {
        "expected": "a file or folder that you may use, in folders that you may enter",
        "found": reason if folder is None else f"{reason}: the folder {folder} may not be entered",
        "next_step": f"allow it, for instance with: {chmod(path, 'rwX')}   or {another}",
    }


def chmod(path: Path, rights: str) -> str:
    """Return the command that gives the owner rights to a path: to the first folder on the way that lacks them."""
    # Somebody else may have named it: in a shell no quote in the name ends the one around it.
    name = str(_closed(path) or path).replace("'", "'\\''")
    return f"chmod u+{rights} '{name}'"


def _closed(path: Path) -> Path | None:
    """Return the first folder on the way to a path that may not be entered, or None if each may be."""
    path = path.absolute()
    for step in (*reversed(path.parents), path):
        try:
            step.lstat()
        except PermissionError:
            return step.parent
        except OSError:
            break
    return None


_SHOWN = 8
MOST_LISTED = 10
"""Names in a message."""
_FEW = 10
"""So many names are all shown: which is meant is seen at a glance."""
_CLOSE = 0.75
"""Likeness from which on a name is worth showing: a letter or two are wrong."""


def closest(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that come closest, the nearest first; all of them where none does, or there are few."""
    names = sorted(known, key=lambda other: (not other.startswith("main."), other))
    likeness = {other: _likeness_of(name, other) for other in names}
    near = [other for other in sorted(names, key=lambda other: -likeness[other]) if likeness[other] >= _CLOSE]
    if not near:
        return names
    return near + [other for other in names if other not in near] if len(names) <= _FEW else near[:_SHOWN]


def listed(names: Sequence[str]) -> str:
    """Write names for a message: of many the first, and how many more there are."""
    more = f", ... ({len(names) - MOST_LISTED:,} more)" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def _likeness_of(name: str, other: str) -> float:
    """Compare names with and without their schema, from 0 to 1; one that holds the other is close to it."""
    wanted, plain = name.rpartition(".")[2], other.rpartition(".")[2]
    ratio = max(SequenceMatcher(None, name, other).ratio(), SequenceMatcher(None, wanted, plain).ratio())
    return max(ratio, _CLOSE) if wanted and wanted in plain else ratio


_LONGEST = 300
"""Characters of an exception's message that are shown."""


def described(error: BaseException) -> str:
    """Describe an exception by its type and the first line of its message."""
    try:
        message = (str(error).strip().splitlines() or [""])[0]
    except Exception:  # noqa: BLE001 - its __str__ is somebody's code too
        message = "a message that can't be written"
    return f"{type(error).__name__}: {message[:_LONGEST]}" if message else type(error).__name__


def code_line(error: BaseException, folder: Path) -> str:
    """Name the innermost line of a folder that an exception came through; empty where there is none."""
    from traceback import extract_tb  # most commands raise nothing that needs it

    lines = [line for line in extract_tb(error.__traceback__) if Path(line.filename).is_relative_to(folder)]
    return f"in {lines[-1].filename}, line {lines[-1].lineno}, in {lines[-1].name}" if lines else ""
