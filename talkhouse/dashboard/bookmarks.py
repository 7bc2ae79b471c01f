"""Bookmarks: states of pages under names, in a TOML file that the user can also edit by hand and share.

A bookmark is added and removed as text, so that everything else in the file stays as written: a TOML writer that
keeps comments takes one above a bookmark for the end of the one before, and removes it with that.
"""

import re
from collections.abc import Callable, Mapping
from typing import Annotated

import msgspec

from talkhouse.dashboard.guard import PARAMETER
from talkhouse.ingest.declared.declaration.toml_text import TomlLines, decoded, parsed, toml_key, toml_string
from talkhouse.schema.errors import TalkhouseError, UsageError, error_text
from talkhouse.settings import bookmarks as path
from talkhouse.system.atomic_output import move_into_place, private_folder
from talkhouse.system.files import target_of

MOST, MOST_NAME, MOST_NOTE, MOST_CHOICES = 1_000, 200, 2_000, 20_000
"""Bookmarks of a file; characters of a name, of a note, and of the choices of a bookmark."""

_LARGEST = 2_000_000
"""Bytes of a file."""

_PATIENCE = 10.0
"""Seconds to wait for another page, or another server, that is writing the file."""

_NOT_KEPT = {PARAMETER, "embed", "embed_options"}
"""Parameters that are no choice: what opens the pages, and Streamlit's own."""

_HEAD = "# Bookmarks of the pages of talkhouse dashboard: edit them as you like, and hand them on.\n"

_KEY = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_UNKNOWN = re.compile(r"unknown field `(.*)`", re.DOTALL)


class Bookmark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The named state of a page."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_NAME)]
    page: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_NAME)]
    """As in the address."""
    note: Annotated[str, msgspec.Meta(max_length=MOST_NOTE)] = ""
    choices: dict[str, str | list[str]] = {}
    """The parameters of the address."""

    def __post_init__(self) -> None:
        """Raise ValueError for an invisible name, for choices that are too long, and for reserved parameters."""
        if not self.name.strip():
            raise ValueError("a name of blanks")
        if self.size > MOST_CHOICES:
            raise ValueError(f"choices of {self.size:,} characters, and not of {MOST_CHOICES:,} at most")
        if refused := sorted(name for name in self.choices if name.lower() in _NOT_KEPT):
            raise ValueError(f"the parameter {refused[0]!r}, which is no choice of a page: take it out")

    @property
    def size(self) -> int:
        """The number of characters of the choices."""
        return sum(len(name) + sum(map(len, values)) for name, values in self.parameters.items())

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The parameters of the address, each with its values."""
        return {name: [values] if isinstance(values, str) else values for name, values in self.choices.items()}

    @property
    def text(self) -> str:
        """The bookmark as TOML."""
        named = {"name": self.name, "page": self.page, **({"note": self.note} if self.note else {})}
        lines = ["[[bookmark]]", *(f"{name} = {_string(value)}" for name, value in named.items())]
        if self.choices:
            lines += ["[bookmark.choices]", *(f"{toml_key(name)} = {_value(of)}" for name, of in self.choices.items())]
        return "".join(f"{line}\n" for line in lines)


def _value(values: str | list[str]) -> str:
    return _string(values) if isinstance(values, str) else f"[{', '.join(map(toml_string, values))}]"


def _string(value: str) -> str:
    """Write a text; one of several lines, such as a query, on as many."""
    lines = value.split("\n")
    return (
        toml_string(value) if len(lines) < 2 else '"""\n' + "\n".join(toml_string(line)[1:-1] for line in lines) + '"""'
    )


class _BookmarkFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bookmark: Annotated[list[Bookmark], msgspec.Meta(max_length=MOST)] = []


def read() -> list[Bookmark]:
    """Read all bookmarks, none if there is no file; UsageError or RegistryError names the line of a mistake."""
    return _bookmarks(_text())[0]


def add(name: str, page: str, note: str, choices: Mapping[str, list[str]]) -> None:
    """Append a bookmark; UsageError if its name is taken, or the file can't be changed."""
    single = {key: values[0] if len(values) == 1 else values for key, values in choices.items()}
    try:
        new = msgspec.convert({"name": name, "page": page, "note": note, "choices": single}, Bookmark)
    except msgspec.ValidationError as error:
        raise UsageError("this can't be a bookmark", found=str(error)) from error

    def changed(text: str, known: list[Bookmark], _: TomlLines) -> tuple[str, list[Bookmark]]:
        if name in (bookmark.name for bookmark in known):
            raise UsageError(f"there is a bookmark {name!r} already", where=path(), next_step="choose another name")
        if len(known) == MOST:
            raise UsageError(f"there are {MOST:,} bookmarks: as many as a file has", where=path())
        return f"{(text or _HEAD).removesuffix(_END)}{_END}{_END}{new.text}", [*known, new]

    _change(changed)


_END = "\n"

_CLOSING = re.compile("\"{3}|'{3}")
"""The end of a text of several lines."""

_MOST_ENDS = 20
"""Ends of a bookmark that are tried."""


def remove(name: str) -> None:
    """Remove a bookmark, if it is still there; comments around it stay."""

    def changed(text: str, known: list[Bookmark], lines: TomlLines) -> tuple[str, list[Bookmark]]:
        at = next((place for place, bookmark in enumerate(known) if bookmark.name == name), None)
        if at is None:
            return text, known
        of_text = text.split(_END)
        begin = lines.line_of(("bookmark", at)) - 1
        end = last = lines.line_of(("bookmark", at + 1)) - 1 if at + 1 < len(known) else len(of_text)
        while end > begin and (not (line := of_text[end - 1].strip()) or line.startswith("#")):
            end -= 1
        # The last line of a text of several lines may look like a comment.
        ends = [end, *(number + 1 for number in range(end, last) if _CLOSING.search(of_text[number]))][:_MOST_ENDS]
        end = next((stop for stop in ends if _says(_END.join([*of_text[begin:stop], ""]), [known[at]])), last)
        if begin and end < len(of_text) and not of_text[begin - 1].strip() and not of_text[end].strip():
            end += 1
        return _END.join(of_text[:begin] + of_text[end:]), known[:at] + known[at + 1 :]

    _change(changed)


def _change(changed: Callable[[str, list[Bookmark], TomlLines], tuple[str, list[Bookmark]]]) -> None:
    """Replace the file, unless the new text would not have the expected bookmarks."""
    try:
        with private_folder(path(), patience=_PATIENCE) as folder:
            before = _text()
            text, bookmarks = changed(before, *_bookmarks(before))
            if len(text.encode()) > _LARGEST:
                raise _too_large()
            if not _says(text, bookmarks):
                raise UsageError(
                    "the file is written in a way that a page can't change",
                    where=path(),
                    expected="a table [[bookmark]] for each bookmark",
                    next_step="change it by hand",
                )
            part = folder / "bookmarks.toml"
            part.write_bytes(text.encode())
            move_into_place(part, target_of(path()))
    except UsageError as error:
        if "--output" not in (error.next_step or ""):
            raise
        next_step = "name another file: talkhouse dashboard --bookmarks FILE"
        raise UsageError(
            error.what, where=error.where, expected=error.expected, found=error.found, next_step=next_step
        ) from error


def _says(text: str, bookmarks: list[Bookmark]) -> bool:
    try:
        return _bookmarks(text)[0] == bookmarks
    except TalkhouseError:
        return False


def _text() -> str:
    try:
        with path().open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        another = "name another file: talkhouse dashboard --bookmarks FILE"
        parts = error_text(error, path(), another=another)
        raise UsageError("the bookmarks can't be read", where=path(), **parts) from error
    if len(raw) > _LARGEST:
        raise _too_large()
    return decoded(raw, str(path()))


def _too_large() -> UsageError:
    return UsageError("the file has too many bookmarks", where=path(), expected=f"at most {_LARGEST:,} bytes")


def _bookmarks(text: str) -> tuple[list[Bookmark], TomlLines]:
    """Return the bookmarks of a text, and the lines of its values."""
    values, lines = parsed(text, str(path()))
    try:
        found = msgspec.convert(values, _BookmarkFile).bookmark
    except msgspec.ValidationError as error:
        raise _mistake(str(error), lines) from error
    names: set[str] = set()
    for place, bookmark in enumerate(found):
        if bookmark.name in names:
            raise _mistake(f"a second bookmark {bookmark.name!r} - at `$.bookmark[{place}].name`", lines)
        names.add(bookmark.name)
    return found, lines


def _mistake(message: str, lines: TomlLines) -> UsageError:
    """Return the error of an invalid bookmark, with its line; ``message`` is msgspec's."""
    problem, _, place = message.partition(" - at `$") if message.endswith("`") else (message, "", "")
    keys: list[str | int] = [int(index) if index else key for key, index in _KEY.findall(place.removesuffix("`"))]
    keys += _UNKNOWN.findall(problem)
    return UsageError(
        "this is no file of bookmarks",
        where=f"{lines.place}:{lines.line_of(tuple(keys))}",
        expected="[[bookmark]] with name, page and perhaps note, and [bookmark.choices] with texts or lists of texts",
        found=problem,
        next_step="correct it: nothing is saved until then",
    )
