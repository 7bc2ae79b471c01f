"""Splits a JSON object or array of any size into its members, without decoding what is in them."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from ingest.decode import BadRecord, decoder, json_problem


class Member(NamedTuple):
    """A member of a JSON object or array: its pointer token, and its text as published."""

    token: str
    raw: bytes


def members(raw: bytes) -> Iterator[Member]:
    """Split one JSON object or array into its members, in order, without decoding what is in them.

    Memory: the text itself and one view per member. A member that is malformed does not hide the others, and a
    key that stands twice is given twice (the reader answers it with TH-03). Raises BadRecord where the brackets
    themselves don't match.
    """
    for token, piece in views(raw):
        yield Member(token, bytes(piece))


def views(raw: bytes | memoryview, *, with_nan: bool = False) -> Iterator[tuple[str, Raw]]:
    """Split like ``members``, and copy nothing where the text is well-formed: for members of hundreds of megabytes.

    ``with_nan``: the bare NaN that Python's json writes is a value like others; ``raw`` is memory that can be written.
    """
    opening = _skip_blank(raw, 0)
    kind = dict[str, Raw] if raw[opening : opening + 1] == b"{" else list[Raw]
    try:
        with _numbers_for_nan(raw) if with_nan else nullcontext():
            pieces: Any = decoder(kind).decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pieces = None
    if isinstance(pieces, list):
        yield from ((str(position), piece) for position, piece in enumerate(pieces))
    elif pieces is None or _has_duplicate_member(raw, pieces):
        yield from ((member.token, Raw(member.raw)) for member in _scan(bytes(raw)))
    else:
        yield from pieces.items()


@contextmanager
def _numbers_for_nan(raw: Any) -> Iterator[None]:
    """Write a number over each bare NaN behind a key of word characters, and NaN back when a decoder is done with it.

    In JSON a quote that closes a word and is followed by a colon ends a key: in a text it would be escaped.
    """
    starts = [match.start() for match in _NAN.finditer(raw)]
    bare = [start for start in starts if _WORD_KEY.search(raw[max(0, start - _LONGEST_KEY) : start])]
    for start in bare:
        raw[start : start + 3] = b"0.0"
    try:
        yield
    finally:
        for start in bare:
            raw[start : start + 3] = b"NaN"


def items(raw: Raw) -> list[Raw]:
    """Split one JSON array, itself a view, into views of its items; BadRecord where its brackets don't match."""
    try:
        pieces: list[Raw] = decoder(list[Raw]).decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return [Raw(member.raw) for member in _scan(bytes(raw))]
    return pieces


def fields(raw: bytes) -> dict[str, Raw]:
    """Split one JSON object into its fields, in published order.

    Raises BadRecord: TH-03 where a key stands twice, TH-01 to TH-04 where the JSON is malformed or no object.
    """
    try:
        pieces: dict[str, Raw] = decoder(dict[str, Raw]).decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise json_problem(raw, error) from error
    if _has_duplicate_member(raw, pieces):
        names = [member.token for member in _scan(raw)]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadRecord("TH-03", f"the key {twice!r} stands twice in one object")
    return pieces


_NAN = re.compile(rb"NaN(?=[ \t\r\n,}])")
_WORD_KEY = re.compile(rb'"\w+"[ \t\r\n]*:[ \t\r\n]*\Z')
_LONGEST_KEY = 256
"""Bytes of a key and the blanks behind it; a file with a longer one before a NaN is split in another, slower way."""
_BLANK = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_KEY = re.compile(rb'[ \t\r\n]*("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_NEXT_KEY = re.compile(rb"[ \t\r\n]*," + _KEY.pattern, re.DOTALL)
_CLOSING = re.compile(rb"[ \t\r\n]*}")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(rb"[^,\]}\s]+")


def _has_duplicate_member(raw: bytes | memoryview, pieces: dict[str, Raw]) -> bool:
    """Tell whether an object has a key twice: walk over it by the lengths of the members that were found.

    A decoder keeps the first place and the last value of such a key, so the walk leaves the text's own keys.
    """
    position, before = _skip_blank(raw, 0) + 1, _KEY
    for key, piece in pieces.items():
        name = before.match(raw, position)
        if name is None or not _is_same(name[1], key):
            return True
        position, before = name.end() + len(memoryview(piece)), _NEXT_KEY
    return _CLOSING.match(raw, position) is None


def _is_same(text: bytes, key: str) -> bool:
    """Whether a JSON string, its quotes included, is this key."""
    return text[1:-1] == key.encode() if b"\\" not in text else json.loads(text) == key


def _skip_blank(raw: bytes | memoryview, position: int) -> int:
    match = _BLANK.match(raw, position)
    return match.end() if match else position


def _scan(raw: bytes) -> Iterator[Member]:
    """Split an object or array by its brackets alone, for texts in which a member is malformed or stands twice."""
    opening = _skip_blank(raw, 0)
    is_object = raw[opening : opening + 1] == b"{"
    position, index = opening + 1, 0
    while raw[(position := _skip_blank(raw, position)) : position + 1] not in (b"}", b"]"):
        token = str(index)
        if is_object:
            name = _STRING.match(raw, position)
            if name is None:
                raise json_problem(raw, ValueError(f"no key at byte {position:,}"))
            token = json.loads(name[0])
            position = _skip_blank(raw, _skip_blank(raw, name.end()) + 1)
        end = _value_end(raw, position)
        yield Member(token, raw[position:end])
        position, index = _skip_blank(raw, end), index + 1
        position += raw[position : position + 1] == b","


def _value_end(raw: bytes, start: int) -> int:
    """Find the end of the value that begins at ``start``."""
    depth, position = 0, start
    if raw[start : start + 1] not in (b"{", b"[", b'"'):
        scalar = _SCALAR.match(raw, start)
        if scalar is None:
            raise json_problem(raw, ValueError(f"no value at byte {start:,}"))
        return scalar.end()
    while (token := _TOKEN.search(raw, position)) is not None:
        position = token.end()
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
        if depth == 0:
            return position
    raise json_problem(raw, ValueError(f"the value that begins at byte {start:,} has no end"))
