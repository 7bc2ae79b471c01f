"""TOML as text: on which line each key stands, which tomllib does not say; and any text written as a string or key."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from talkhouse.schema.errors import RegistryError

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys to go down by, as in what ``tomllib`` returns; numbers are places in lists."""

MOST_LEVELS = 8
"""Parts of a key, and brackets inside brackets; a declaration has four. ``tomllib`` takes their square in time."""

_TOKEN = re.compile(
    r"""
      (?P<blank> [ \t\r]+ | \#[^\n]* )
    | (?P<newline> \n (?: [ \t\r]*+ \n )*+ )
    | (?P<string> \"\"\" (?: [^"\\] | \\. | "(?!"") )*+ "{3,5}
                | ''' (?: [^'] | '(?!'') )*+ '{3,5}
                | " (?: [^"\\\n] | \\[^\n] )*+ "
                | ' [^'\n]*+ ' )
    | (?P<unclosed> ["'] .* )
    | (?P<bare> [^\s"'\#,.=\[\]{}]+ )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)


class TooDeep(ValueError):
    """A key or a value of a TOML text has too many levels."""

    def __init__(self, line: int) -> None:
        super().__init__(f"more than {MOST_LEVELS} levels at line {line}")
        self.line = line


class _NotToml(Exception):
    """No TOML has this: what follows is of no interest."""


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    start: int


class _Open:
    """What is open at a place of the text: the document, or a list or inline table in a value."""

    def __init__(self, kind: Literal["document", "list", "table"], path: KeyPath) -> None:
        self.kind, self.path = kind, path
        self.key: list[str] = []
        self.dots = 0
        self.value: KeyPath | None = None
        """The path of the value that is being read; None while a key is, and in lists."""
        self.index = 0


def lines_of(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1, on which each key of a TOML text stands, and each item of its lists.

    A table that stands in several places, as in ``a.b = 1`` and ``a.c = 2``, has the first of them. Of a text that is
    no TOML it says something, for ``tomllib`` to refuse. Raises TooDeep; takes time in proportion to the text.
    """
    return _Scan(text).lines


class _Scan:
    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._tables: dict[KeyPath, int] = {}
        """How many tables each ``[[list]]`` has so far."""
        self._header: list[_Token] = []
        self._open = [_Open("document", ())]
        with suppress(_NotToml):
            for token in _tokens(text):
                if len(self._open) > MOST_LEVELS:
                    raise TooDeep(token.line)
                self._take(token)

    def _take(self, token: _Token) -> None:
        here = self._open[-1]
        if self._header:
            self._take_header(token)
        elif here.kind == "list":
            self._take_item(here, token)
        elif here.value is not None:
            self._take_value(here, token)
        elif token.text == "[" and here.kind == "document" and not here.key:
            self._header = [token]
        else:
            self._take_key(here, token)

    def _take_key(self, here: _Open, token: _Token) -> None:
        if token.kind in ("bare", "string"):
            if len(here.key) > here.dots:
                raise _NotToml
            here.key.append(_name(token))
        elif token.text == ".":
            here.dots += 1
            if here.dots >= MOST_LEVELS:
                raise TooDeep(token.line)
        elif token.text == "=" and here.key:
            for depth in range(1, len(here.key) + 1):
                self._note((*here.path, *here.key[:depth]), token.line)
            here.value, here.key, here.dots = (*here.path, *here.key), [], 0
        elif token.kind == "newline" or token.text == ",":
            here.key, here.dots = [], 0
        elif token.text == "}" and here.kind == "table":
            self._open.pop()

    def _take_value(self, here: _Open, token: _Token) -> None:
        if token.text in ("[", "{") and here.value is not None:
            self._open.append(_Open("list" if token.text == "[" else "table", here.value))
        elif token.kind == "newline" if here.kind == "document" else token.text == ",":
            here.value = None
        elif token.text == "}" and here.kind == "table":
            self._open.pop()

    def _take_item(self, here: _Open, token: _Token) -> None:
        if token.text == "]":
            self._open.pop()
        elif token.text == ",":
            here.index += 1
        elif token.kind != "newline":
            item = (*here.path, here.index)
            self._note(item, token.line)
            if token.text in ("[", "{"):
                self._open.append(_Open("list" if token.text == "[" else "table", item))

    def _take_header(self, token: _Token) -> None:
        if token.kind != "newline":
            self._header.append(token)
            if sum(part.text == "." for part in self._header) >= MOST_LEVELS:
                raise TooDeep(token.line)
            if len(self._header) > 2 * MOST_LEVELS + 3:  # names with dots between them, and two brackets on each side
                raise _NotToml
            return
        opening, second = self._header[0], self._header[1:2]
        is_list = bool(second) and second[0].text == "[" and second[0].start == opening.start + 1
        names = [_name(part) for part in self._header if part.kind in ("bare", "string")]
        self._header = []
        path: KeyPath = ()
        for depth, name in enumerate(names, 1):
            path = (*path, name)
            self._note(path, opening.line)
            if is_list and depth == len(names):
                self._tables[path] = self._tables.get(path, 0) + 1
            if path in self._tables:
                path = (*path, self._tables[path] - 1)
                self._note(path, opening.line)
        self._open[0].path = path

    def _note(self, path: KeyPath, line: int) -> None:
        self.lines.setdefault(path, line)


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text + "\n"):
        token = match[0]
        if match.lastgroup != "blank":
            yield _Token(str(match.lastgroup), token, line, match.start())
        line += token.count("\n")


def _name(token: _Token) -> str:
    if token.kind == "bare":
        return token.text
    if "\\" not in token.text:
        return token.text[1:-1]
    try:
        return str(tomllib.loads(f"key = {token.text}")["key"])
    except ValueError:
        return token.text


_SYNTAX_PROBLEMS = {"Illegal character '\\n'": "a text without its closing quote", "Invalid value": "an invalid value"}
_SYNTAX = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


@dataclass(frozen=True)
class TomlLines:
    """Where each key of a file stands."""

    place: str
    """What messages call the file."""
    lines: Mapping[KeyPath, int]

    def line_of(self, path: KeyPath) -> int:
        """Return the line of a key, or of what it would be in."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def mistake(self, path: KeyPath, problem: str, **parts: str) -> RegistryError:
        """Return the error of a mistake, at its line."""
        return RegistryError(problem, where=f"{self.place}:{self.line_of(path)}", **parts)


def decoded(raw: bytes, place: str) -> str:
    """Return the text of a file, without a byte order mark; raises RegistryError where it is not UTF-8."""
    try:
        return raw.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise RegistryError(
            "the file is not UTF-8",
            where=f"{place}:{line}",
            found=f"the byte 0x{raw[error.start]:02x}",
            next_step="save the file as UTF-8",
        ) from error


def parsed(text: str, place: str) -> tuple[dict[str, Any], TomlLines]:
    """Return the values of a TOML text and their lines; raises RegistryError at ``place:LINE`` for invalid TOML."""
    try:
        lines = lines_of(text)
        return tomllib.loads(text), TomlLines(place, lines)
    except TooDeep as error:
        raise RegistryError(
            "a key or value has too many levels", where=f"{place}:{error.line}", expected=f"at most {MOST_LEVELS}"
        ) from error
    except ValueError as error:
        match = _SYNTAX.fullmatch(str(error))
        last = text.rstrip("\n").count("\n") + 1
        raise RegistryError(
            "this is not valid TOML",
            where=f"{place}:{match[2] or last}" if match else place,
            found=(
                _SYNTAX_PROBLEMS.get(match[1], match[1]) + (f", in column {match[3]}" if match[3] else ", at the end")
            )
            if match
            else str(error)[:200],
            next_step="texts stand in quotes, tables in brackets: https://toml.io",
        ) from error


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def toml_string(text: str) -> str:
    """Write a text as a string on one line; what can't be seen is escaped.

    Raises UnicodeEncodeError for half of a surrogate pair, which TOML can't hold.
    """
    text.encode()
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else _escaped(char)) for char in text) + '"'


def toml_key(name: str) -> str:
    """Write a key, in quotes where it needs them."""
    return name if _BARE.fullmatch(name) else toml_string(name)


def toml_value(value: Any) -> str:
    """Write a text, a number, true or false, a list of such, or a mapping, which becomes an inline table."""
    match value:
        case str():
            return toml_string(value)
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case Mapping():
            members = ", ".join(f"{toml_key(name)} = {toml_value(item)}" for name, item in value.items())
            return f"{{ {members} }}" if members else "{}"
        case list() | tuple():
            return "[" + ", ".join(toml_value(item) for item in value) + "]"
        case _:
            raise TypeError(f"{type(value).__name__} is nothing that a declaration holds")


def toml_text(document: Mapping[str, Any]) -> str:
    """Write a document: values first, a ``[table]`` for each mapping, ``[[tables]]`` for each list of mappings."""
    head = {name: value for name, value in document.items() if not _is_table(value) and not _is_tables(value)}
    blocks = ["".join(_lines(head))] if head else []
    for name, value in document.items():
        if _is_table(value):
            blocks.append(f"[{toml_key(name)}]\n" + "".join(_lines(value)))
        elif _is_tables(value):
            blocks += [f"[[{toml_key(name)}]]\n" + "".join(_lines(item)) for item in value]
    return "\n".join(blocks)


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    for name, value in table.items():
        yield f"{toml_key(name)} = {toml_value(value)}\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_is_table(item) for item in value)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"
