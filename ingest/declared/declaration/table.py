"""A table of a declaration, taken apart key by key; a value that may not be there is named with its place."""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import EllipsisType
from typing import Any, NamedTuple, NoReturn, Protocol

from talkhouse.ingest.declared.declaration.keys import Table, known_tables
from talkhouse.ingest.declared.declaration.model import NO_PATH, JsonPath
from talkhouse.ingest.declared.declaration.toml_text import KeyPath
from talkhouse.schema.errors import TalkhouseError, closest

MOST = 10_000
"""Entries of a table or list: corpora have some dozens."""

MOST_OF = {
    "tasks": 100,
    "charts": 100,
    **dict.fromkeys(("files", "markers", "annotations", "columns", "separator"), 1_000),
}
"""Entries of those that are gone through for every file, text or record."""


MOST_PATHS = 10
"""Paths of one key: each choice of paths has a reader of its own."""


class DeclarationOrigin(Protocol):
    """Where a declaration comes from."""

    def line_of(self, path: KeyPath) -> int:
        """Return the line on which a key stands."""

    def mistake(self, path: KeyPath, problem: str, **parts: str) -> TalkhouseError:
        """Return the error of a mistake at a key, by the parts of a message."""


class DeclarationTable:
    """A table, or the whole declaration."""

    def __init__(self, values: Mapping[str, Any], path: KeyPath, origin: DeclarationOrigin) -> None:
        self.values, self.path, self._origin = values, path, origin

    @property
    def name(self) -> str:
        """The table as a declaration writes it: ``[turn]``; empty for the whole."""
        names = ".".join(str(key) for key in self.path if isinstance(key, str))
        return (f"[[{names}]]" if self.path and isinstance(self.path[-1], int) else f"[{names}]") if names else ""

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def fail(self, key: str | None, problem: str, **parts: str) -> NoReturn:
        """Raise the error of a mistake at a key, or of the table itself."""
        raise self._origin.mistake(self.path if key is None else (*self.path, key), problem, **parts)

    def line(self, key: str) -> int:
        """Return the line of a key; that of the table where it is not there."""
        return self._origin.line_of((*self.path, key))

    def wrong(self, key: str, expected: str) -> NoReturn:
        """Raise the error of a value that is none of those that its key takes."""
        self.fail(key, f"{self._called(key)} can't be {shown(self.values[key])}", expected=expected)

    def _called(self, key: str) -> str:
        return f"{key!r} in {self.name}" if self.name else repr(key)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that tables of this name have, in any format."""
        return tuple(self._known.keys)

    @property
    def _known(self) -> Table:
        return known_tables()[str(self.path[0]) if self.path else ""]

    def get(self, key: str) -> Any:
        """Return the value of a key, of the type that it has in ``keys.known_tables``, or None if it is missing."""
        if key not in self.values:
            return None
        known = self._known.keys[key]
        match known.type:
            case "text":
                return self.text(key)
            case "word":
                return self.word(key)
            case "choice":
                return self.choice(key, known.words)
            case "list" | "languages":
                return self.texts(key)
            case "flag":
                return self.flag(key, default=False)
            case "count":
                return self.count(key)
            case kind:
                raise TypeError(f"{kind} is read by those who know its form")

    def text(self, key: str, default: str = "") -> str:
        """Return a text."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            self.wrong(key, "a text, in quotes")
        return value

    def word(self, key: str) -> str | None:
        """Return a text that is not empty, or None if there is none."""
        if key not in self.values:
            return None
        return self.text(key) or self.wrong(key, "a text that is not empty")

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            self.wrong(key, "true or false, without quotes")
        return value

    def count(self, key: str) -> int:
        """Return a whole number from 1 of a key that is there."""
        value = self.values[key]
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
            self.wrong(key, "a whole number, from 1")
        return value

    def choice(self, key: str, known: Iterable[str]) -> Any:
        """Return the value of a key that is there, one of the known words."""
        value, words = self.values[key], list(known)
        if value not in words:
            self.wrong(key, one_of(value if isinstance(value, str) else "", words))
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.wrong(key, 'a list of texts, such as ["a", "b"]')
        self._bounded(key, value)
        return tuple(value)

    def words(self, key: str) -> tuple[str, ...]:
        """Return a text or a list of texts, none of them empty; nothing where the key is not there."""
        value = self.values.get(key, [])
        words = self.texts(key) if isinstance(value, list) else (self.text(key),)
        if key in self.values and not all(words or ("",)):
            self.wrong(key, "a text that is not empty, or a list of such")
        return words

    def table(self, key: str, expected: str = "") -> "DeclarationTable":
        """Return a table inside; an empty one where there is none."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.wrong(key, expected or f"[{key}] on a line of its own, and its keys below")
        self._bounded(key, value)
        return DeclarationTable(value, (*self.path, key), self._origin)

    def tables(self, key: str) -> Iterator["DeclarationTable"]:
        """Yield the tables of a list ``[[key]]``."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.wrong(key, f"[[{key}]] on a line of its own, and its keys below")
        self._bounded(key, value)
        return (DeclarationTable(item, (*self.path, key, index), self._origin) for index, item in enumerate(value))

    def json_path(self, key: str) -> "Path":
        """Return the path that a key has."""
        return self._json_path(key, self.text(key))

    def json_paths(self, key: str) -> tuple["Path", ...]:
        """Return the paths of a key that may have a list of them."""
        value = self.values[key]
        if isinstance(value, str):
            return (self.json_path(key),)
        if not value or not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.wrong(key, 'a path, or a list of paths such as ["user", "bot_id"]')
        if len(value) > MOST_PATHS:
            self.fail(key, f"{self._called(key)} has too many paths", expected=f"at most {MOST_PATHS}")
        return tuple(self._json_path(key, item) for item in value)

    def _json_path(self, key: str, text: str) -> "Path":
        try:
            return read_path(text)
        except BadPath as problem:
            self.fail(key, f"{self._called(key)}: {problem}", expected=FORM)

    def column(self, key: str) -> JsonPath:
        """Return the name of a column, as a path."""
        return (self.text(key) or self.wrong(key, "the name of a column"),)

    def columns(self, key: str) -> tuple[JsonPath, ...]:
        """Return the names of columns, each as a path, of a key that may have a list of them."""
        if isinstance(self.values[key], str):
            return (self.column(key),)
        names = self.texts(key)
        if not names or "" in names or len(names) > MOST_PATHS:
            self.wrong(key, f"the name of a column, or a list of names, at most {MOST_PATHS}")
        return tuple((name,) for name in names)

    def check_keys(self, known: Iterable[str], format_: str = "", advice: Mapping[str, str] | None = None) -> None:
        """Refuse a key that is not known, in this format; ``advice``: what to do with keys that belong elsewhere."""
        words = list(known)
        for key in (key for key in self.values if key not in words):
            self.fail(
                key,
                f"there is no {key!r:.80} in {self.name or 'a declaration'}"
                + (f" where format = {format_!r}" if format_ else ""),
                expected=one_of(key, words),
                **({"next_step": advice[key]} if advice and key in advice else {}),
            )

    def _bounded(self, key: str, value: dict[str, Any] | list[Any]) -> None:
        most = MOST_OF.get(key, MOST)
        if len(value) > most:
            self.fail(
                key, f"{self._called(key)} has too many entries", expected=f"at most {most:,}", found=f"{len(value):,}"
            )


def one_of(name: str, known: Iterable[str]) -> str:
    """Name the known words that come closest to one that is none, or all of them."""
    near = closest(name[:80], known)
    return near[0] if len(near) == 1 else f"one of: {', '.join(near)}"


def shown(value: object) -> str:
    """Show a value of TOML in a message, not all of a long one."""
    match value:
        case str():
            return f"{value!r:.80}"
        case bool():
            text, kind = str(value).lower(), "true or false"
        case int() | float():
            text, kind = repr(value), "a number"
        case list():
            return f"a list of {len(value):,}"
        case dict():
            return f"a table with {', '.join(list(value)[:3]) or 'nothing':.80}"
        case _:
            text, kind = str(value), "a date or time"
    return f"{text:.80} ({kind})"


_SEGMENT = re.compile(
    r"""(\[\*\]) | (\.\*) | \[ (\d{1,9}) \]
    | \[ '((?:[^'\\]|\\.)*+)' \] | \[ "((?:[^"\\]|\\.)*+)" \] | \. ([^.\[\]*'"]+)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

FORM = (
    "names with '.' between them, ['a name'] for any other, [*] for every item of a list and [0] for the first, "
    "'.*' for every member of an object"
)


class BadPath(ValueError):
    """A text that is no path; its message says why."""


class Path(NamedTuple):
    """A path, and whether it begins at the record (``$.``) rather than at the place that it is for."""

    names: JsonPath
    from_record: bool


def read_path(text: str) -> Path:
    """Read a path, ``labels.quality.value``; raises BadPath."""
    from_record = text == "$" or text.startswith(("$.", "$["))
    rest = text[1:] if from_record else text if text.startswith("[") else f".{text}"
    names: list[str | int | EllipsisType | None] = []
    at = 0
    while at < len(rest):
        segment = _SEGMENT.match(rest, at)
        if segment is None:
            raise BadPath(_problem(text, rest[at:]))
        names.append(_name(segment))
        at = segment.end()
    return Path(tuple(names) or NO_PATH, from_record)


def path_text(path: JsonPath) -> str:
    """Write a path as a declaration has it."""
    if path == NO_PATH:
        return "$"
    parts = [_segment(name) for name in path]
    return parts[0].removeprefix(".") + "".join(parts[1:])


def _name(segment: re.Match[str]) -> str | int | EllipsisType | None:
    items, members, place, single, double, plain = segment.groups()
    if items or members:
        return None if items else ...
    if place:
        return int(place)
    return plain if plain is not None else _ESCAPED.sub(r"\1", double if single is None else single)


def _segment(name: str | int | EllipsisType | None) -> str:
    if not isinstance(name, str):
        return "[*]" if name is None else ".*" if name is ... else f"[{name}]"
    if name and name != "$" and not set(name) & set(".[]*'\"\\$#"):
        return f".{name}"
    return "['" + name.replace("\\", "\\\\").replace("'", "\\'") + "']"


def _problem(text: str, rest: str) -> str:
    """Return the problem at the point where a path can't be read on."""
    if not text:
        return "an empty path leads nowhere"
    if rest.startswith("[") and "]" not in rest:
        return f"{text!r:.80}: a '[' without its ']'"
    if re.match(r"\[-\d+\]", rest):
        return f"{text!r:.80}: items of a list are counted from the front, from 0"
    if rest.startswith("."):
        return f"{text!r:.80}: no name behind a '.'"
    return f"{text!r:.80} can't be read from {rest!r:.80} on"
