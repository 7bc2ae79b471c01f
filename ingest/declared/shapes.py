"""How objects are written: which members, in which order, and which of them columns hold. A *shape* says so once.

An object is split into what columns take and a rest. The rest goes to ``extra``, member by member, as the literals that
the file has; the shape goes to ``meta.source_files.extra -> 'shapes'``, and its number to ``extra -> 'shape'``, 0 left
out. A shape is JSON: an object with the file's keys in the file's order, and for each

- the name of what a column holds (``"text"``), a *placeholder* that the writer fills;
- ``"text=null"``: the same, and the file has null there;
- ``[text]``: a JSON text that all objects of this shape have there;
- an object: the shape of the object there;
- null: the member is in ``extra``.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import UNIX, JsonPath
from talkhouse.ingest.decode import BadRecord, decoder

Shape: TypeAlias = str
"""The JSON text of a shape."""

MOST_SHAPES = 10_000
"""Past these, a shape stays with its object: ``extra -> 'shape'`` is then the shape itself."""

RESERVED = frozenset({"shape", "fields", "cells", "lines", "differs", "mark", "repeats"})
"""Names in ``extra`` that are ours; a member of such a name, with or without ``_`` behind it, gets a ``_``."""

NULL = "=null"

Wanted: TypeAlias = "Mapping[str, str | Wanted]"
"""What columns may take of an object: key -> name of the placeholder, or what they may take of the object there."""

Members: TypeAlias = Mapping[str, Raw]
"""The members of an object, in order, as the file has them."""


_MEMBERS = decoder(dict[str, Raw])
_ITEMS = decoder(list[Raw])


def members_of(raw: Raw | bytes) -> Members:
    """Split one JSON object, of a record that has been checked, into its members in order."""
    members: Members = _MEMBERS.decode(raw)
    return members


def wanted(paths: Mapping[str, JsonPath | None]) -> Wanted:
    """Arrange paths by their first names: placeholder -> path becomes key -> placeholder or deeper.

    Of two placeholders with one path the first takes what is there; ``SplitObject.find`` reads it for the other.
    """
    arranged: dict[str, Any] = {}
    for placeholder, path in paths.items():
        names = [name for name in path or () if isinstance(name, str)]
        if not path or len(names) < len(path):
            continue
        inner: Any = arranged
        for name in names[:-1]:
            inner = inner.setdefault(name, {})
            if isinstance(inner, str):
                break
        else:
            inner.setdefault(names[-1], placeholder)
    return arranged


def merged(first: Wanted, second: Wanted) -> Wanted:
    """Join what two want of an object; where both want the same, the first takes it."""
    joined = dict(second) | dict(first)
    for key in first.keys() & second.keys():
        own, other = first[key], second[key]
        if not isinstance(own, str) and not isinstance(other, str):
            joined[key] = merged(own, other)
    return joined


class SplitObject:
    """An object on its way in: find what columns want, decide what they take, and get the shape and the rest.

    A list may be taken for an object whose members are called 0, 1 and so on; that has no shape.
    """

    def __init__(self, members: Mapping[Any, Raw], want: Wanted) -> None:
        self.members = members
        self._want = want
        self._inner_read: dict[str, SplitObject] = {}

    @cached_property
    def placeholders(self) -> dict[str, Raw]:
        """Placeholder -> its JSON text, of those that are there."""
        placeholders: dict[str, Raw] = {}
        for key, placeholder in self._want.items():
            if key in self._inner:
                placeholders |= self._inner[key].placeholders
            elif isinstance(placeholder, str) and key in self.members:
                placeholders[placeholder] = self.members[key]
        return placeholders

    @cached_property
    def _inner(self) -> dict[str, "SplitObject"]:
        inner = {}
        for key, placeholder in self._want.items():
            if not isinstance(placeholder, str) and key in self.members and bytes(self.members[key])[:1] == b"{":
                inner[key] = SplitObject(members_of(self.members[key]), placeholder)
        return inner

    def find(self, path: JsonPath | None) -> Raw | None:
        """Return the JSON text at a path of names and places, if there is one."""
        name = path[0] if path else None
        if name not in self.members:
            return None
        raw = self.members[name]
        if path is None or len(path) == 1:
            return raw
        if not isinstance(name, str) or not isinstance(path[1], str):
            return value_at(raw, path[1:])
        inner = self._inner.get(name) or self._inner_read.get(name)
        if inner is None:
            if bytes(raw)[:1] != b"{":
                return None
            inner = self._inner_read[name] = SplitObject(members_of(raw), {})
        return inner.find(path[1:])

    def depth(self, path: JsonPath) -> int:
        """Count the names of a path that lead to something before the first that leads nowhere."""
        return next((depth for depth in range(len(path)) if self.find(path[: depth + 1]) is None), 0)

    def shape(self, taken: Mapping[str, str | None], extra: dict[str, Raw]) -> dict[str, Any]:
        """Return the shape, and add the rest to ``extra``.

        ``taken``: placeholder -> its name in the shape, which may say how it is written (``native_id#``: as a number),
        or None for one that is null; a placeholder that is not in it stays in ``extra``.
        """
        shape: dict[str, Any] = {}
        for key in self.members:
            placeholder = self._want.get(key)
            if isinstance(placeholder, str) and placeholder in taken:
                name = taken[placeholder]
                shape[key] = placeholder + NULL if name is None else name
            elif key in self._inner:
                rest: dict[str, Raw] = {}
                shape[key] = self._inner[key].shape(taken, rest)
                if rest:
                    extra[alias(key)] = Raw(msgspec.json.encode(rest))
            else:
                shape[key] = None
                extra[alias(key)] = self.members[key]
        return shape


def value_at(raw: Raw, path: JsonPath) -> Raw | None:
    """Return the value at a path of names and places inside a JSON text, if there is one."""
    found: Raw | None = raw
    for step in path:
        inner = members_of_any(found) if found is not None else {}
        found = inner.get(step)
    return found


def members_of_any(raw: Raw) -> Mapping[Any, Raw]:
    """Split an object into its members, a list into its items by their places; nothing else has any."""
    match bytes(raw)[:1]:
        case b"{":
            return members_of(raw)
        case b"[":
            return dict(enumerate(_ITEMS.decode(raw)))
    return {}


def join(shape: Mapping[str, Any], extra: Mapping[str, Raw], fill: Callable[[str], bytes]) -> bytes:
    """Write an object again; ``fill`` returns the JSON text of a placeholder."""
    pieces = []
    for key, item in shape.items():
        match item:
            case None:
                piece = bytes(extra[alias(key)])
            case str():
                piece = b"null" if item.endswith(NULL) else fill(item)
            case [constant]:
                piece = str(constant).encode()
            case _:
                inner = extra.get(alias(key))
                piece = join(item, members_of(inner) if inner is not None else {}, fill)
        pieces.append(msgspec.json.encode(key) + b":" + piece)
    return b"{" + b",".join(pieces) + b"}"


def alias(key: str) -> str:
    """Return the name of a member in ``extra``."""
    return f"{key}_" if key.rstrip("_") in RESERVED else key


class Shapes:
    """The shapes of a file, numbered in the order of their first occurrence at each level."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[Shape, int]] = {}
        self.is_utc = False
        """Whether times of the file are stored in UTC."""

    def number(self, level: str, shape: Mapping[str, Any]) -> int | Mapping[str, Any]:
        """Return the number of a shape at a level (record, message, part), or itself where there are too many."""
        numbers = self._numbers.setdefault(level, {})
        text = msgspec.json.encode(shape).decode()
        number = numbers.get(text)
        if number is None:
            if len(numbers) >= MOST_SHAPES:
                return shape
            number = numbers[text] = len(numbers)
        return number

    def envelope(self) -> dict[str, Any]:
        """Return the shapes by level and number."""
        by_level = {
            level: {str(number): Raw(text.encode()) for text, number in numbers.items()}
            for level, numbers in sorted(self._numbers.items())
        }
        return ({"shapes": by_level} if by_level else {}) | ({"utc": True} if self.is_utc else {})


class KnownShapes:
    """The shapes of a file on its way back."""

    def __init__(self, envelope: Mapping[str, Raw]) -> None:
        raw = envelope.get("shapes")
        self.is_utc = "utc" in envelope
        self._shapes: dict[str, dict[str, dict[str, Any]]] = msgspec.json.decode(raw) if raw is not None else {}

    def shape(self, level: str, extra: Mapping[str, Raw]) -> dict[str, Any]:
        """Return the shape of an object by its ``extra``."""
        raw = extra.get("shape")
        number: Any = 0 if raw is None else msgspec.json.decode(raw)
        return number if isinstance(number, dict) else self._shapes[level][str(number)]


LITERAL = "#"
"""Behind a placeholder's name in a shape: the file has the column's text as a literal, such as a number."""

EMPTY = '=""'
"""Behind a placeholder's name in a shape: the file has an empty text there, which no column has."""

_FORM = "@"
"""Behind a placeholder's name in a shape, and before how a time or moment is written."""


class Spelling(NamedTuple):
    """How a file writes what a column holds; as text, what a shape says of it: ``text``, ``id#``, ``said_at@unix``."""

    column: str
    is_literal: bool = False
    form: str = ""
    """How a time or moment is written (``write_time``, ``write_moment``); empty for all else."""
    is_null: bool = False

    def __str__(self) -> str:
        """Return the placeholder's name in a shape."""
        if self.is_null:
            return self.column + NULL
        return self.column + (LITERAL if self.is_literal else "") + (_FORM + self.form if self.form else "")

    @classmethod
    @lru_cache(maxsize=4096)
    def read(cls, name: str) -> "Spelling":
        """Read a placeholder's name in a shape."""
        if name.endswith(NULL):
            return cls(name.removesuffix(NULL), is_null=True)
        column, _, form = name.partition(_FORM)
        return cls(column.removesuffix(LITERAL), column.endswith(LITERAL), form)

    def write(self, text: str) -> bytes:
        """Return the JSON text of a column's text."""
        return text.encode() if self.is_literal or self.form in UNIX else msgspec.json.encode(text)


_STRING = decoder(str)


def rounded(text: str, value: float) -> str | None:
    """Return a message if a double can't hold a large number of a file exactly; else None."""
    if abs(value) < 2**53 or Decimal(text) in (Decimal(value), Decimal(repr(value))):
        return None
    return f"{text:.100} is rounded to {value!r}"


def is_null(raw: Raw) -> bool:
    """Whether a JSON text is null."""
    return bytes(raw) == b"null"


def text_of(raw: Raw, pointer: str, what: str) -> tuple[str, str]:
    """Return a JSON string, or the literal of a number or boolean, as a text; and the suffix of the placeholder.

    Raises BadRecord GF-01 for null, a list or an object; ``what`` is called there, at ``pointer``.
    """
    text = bytes(raw)
    match text[:1]:
        case b'"':
            return _STRING.decode(text), ""
        case b"{" | b"[" | b"n":
            raise BadRecord("GF-01", f"{what} is {_KINDS[text[:1]]}, not a text", pointer)
    return text.decode(), LITERAL


def string_of(raw: Raw, pointer: str, what: str) -> str:
    """Return a JSON string; raises BadRecord GF-01 for any other value."""
    text = bytes(raw)
    if text[:1] != b'"':
        raise BadRecord("GF-01", f"{what} is {kind_of(raw)}, not a text", pointer)
    value: str = _STRING.decode(text)
    return value


def kind_of(raw: Raw) -> str:
    """Return the kind of a JSON text, in words."""
    return _KINDS.get(bytes(raw)[:1], "a number")


def write_text(placeholder: str, text: str) -> bytes:
    """Return the JSON text of a column's text, by the placeholder's name in the shape."""
    return text.encode() if placeholder.endswith(LITERAL) else msgspec.json.encode(text)


_KINDS = {b"{": "an object", b"[": "a list", b"n": "null", b'"': "a text", b"t": "a boolean", b"f": "a boolean"}
