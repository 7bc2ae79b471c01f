"""Splits a JSON object or array of any size into its members, without decoding what is in them."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from ingest.decode import decoder, json_problem


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
    kind = dict[str, Raw] if raw.startswith(b"{", _skip_blank(raw, 0)) else list[Raw]
    try:
        pieces: Any = decoder(kind).decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        yield from _scan(raw)
        return
    if isinstance(pieces, list):
        for position, piece in enumerate(pieces):
            yield Member(str(position), bytes(piece))
        return
    if _has_duplicate_member(raw, pieces):
        yield from _scan(raw)
        return
    for key, piece in pieces.items():
        yield Member(key, bytes(piece))


_BLANK = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(rb"[^,\]}\s]+")


def _has_duplicate_member(raw: bytes, pieces: dict[str, Raw]) -> bool:
    """Tell whether an object has a key twice: walk over it by the lengths of the members that were found.

    A decoder keeps the first place and the last value of such a key, so the walk leaves the text's own keys.
    """
    position = raw.index(b"{") + 1
    for key, piece in pieces.items():
        opening = _skip_blank(raw, position)
        name = _STRING.match(raw, opening)
        if name is None or json.loads(name[0]) != key:
            return True
        start = _skip_blank(raw, _skip_blank(raw, name.end()) + 1)
        position = _skip_blank(raw, start + len(memoryview(piece)))
        if raw[position : position + 1] not in b",}":
            return True
        position += 1
    return bool(pieces) and raw[position - 1 : position] != b"}"


def _skip_blank(raw: bytes, position: int) -> int:
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
