"""The first difference between two JSON texts: in a value, its type, the number of items, or the order of keys.

1 is not 1.0, 0.0 is not -0.0, NaN equals NaN. Whole numbers are compared digit by digit, of any size; others as
doubles, so that 1.10 equals 1.1; those that no double can hold (1e400) by their exact decimal value. How a text is
escaped makes no difference. A value that is malformed in both texts must be the same to the byte.
"""

import json
import math
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec

from ingest.decode import BadRecord, pointer
from ingest.json_members import views
from talkhouse.restore.diff_bytes import Difference

_WHOLE = 1_000_000
"""Bytes of a value up to which it is decoded whole; larger ones are split into their members first."""

_SHOWN = 40
"""Characters of a text that are shown."""


class _Number(NamedTuple):
    """A number as it is spelled: int, float, or NaN and Infinity (constant)."""

    kind: str
    literal: str


class _Object(NamedTuple):
    """An object's members in order; a key may stand twice."""

    pairs: list[tuple[str, Any]]


def json_difference(came: bytes | memoryview, went: bytes | memoryview, place: str = "") -> Difference | None:
    """Compare two JSON texts by value and order of keys; memory: the texts, and the values of one member."""
    if came == went:
        return None
    opening = bytes(came[:64]).lstrip()[:1]
    can_split = opening in (b"{", b"[") and opening == bytes(went[:64]).lstrip()[:1]
    if not can_split or max(len(came), len(went)) <= _WHOLE:
        try:
            if msgspec.json.format(bytes(came), indent=-1) == msgspec.json.format(bytes(went), indent=-1):
                return None  # but for blanks the same to the byte, which is told ten times faster than by decoding
        except msgspec.DecodeError:
            pass  # NaN, or malformed
        try:
            return _of_values(_decoded(came), _decoded(went), place)
        except (ValueError, RecursionError):
            pass  # a member is malformed: each is compared by itself
    if can_split:
        try:
            return _of_members(list(views(came)), list(views(went)), place, is_object=opening == b"{")
        except BadRecord:
            pass  # brackets that don't match: nothing but bytes can be compared
    one, other = (bytes(text).strip().decode(errors="backslashreplace") for text in (came, went))
    return None if one == other else _of_spellings(one, other, place)


def _of_members(
    came: list[tuple[str, Any]], went: list[tuple[str, Any]], place: str, *, is_object: bool
) -> Difference | None:
    """Compare the members of two large or malformed objects or lists, one by one."""
    if is_object and (found := _of_keys([key for key, _ in came], [key for key, _ in went], place)):
        return found
    for (token, one), (_, other) in zip(came, went, strict=False):
        if found := json_difference(memoryview(one), memoryview(other), place + pointer(token)):
            return found
    return _of_lengths(came, went, place)


def _of_values(came: Any, went: Any, place: str) -> Difference | None:
    """Compare two decoded values."""
    if type(came) is not type(went):
        return Difference("another type", place, expected=_shown(came), found=_shown(went))
    if isinstance(came, _Object):
        keys = _of_keys([key for key, _ in came.pairs], [key for key, _ in went.pairs], place)
        members = ((key, one, other) for (key, one), (_, other) in zip(came.pairs, went.pairs, strict=False))
        return keys or _first(members, place)
    if isinstance(came, list):
        items = ((str(index), one, other) for index, (one, other) in enumerate(zip(came, went, strict=False)))
        return _first(items, place) or _of_lengths(came, went, place)
    if isinstance(came, _Number):
        return None if _is_same_number(came, went) else _of_spellings(came.literal, went.literal, place)
    if isinstance(came, str) and came != went:
        return _of_texts(came, went, place)
    return None if came == went else Difference("another value", place, expected=_shown(came), found=_shown(went))


def _first(members: Iterable[tuple[str, Any, Any]], place: str) -> Difference | None:
    differences = (_of_values(one, other, place + pointer(token)) for token, one, other in members)
    return next((found for found in differences if found), None)


def _of_keys(came: list[str], went: list[str], place: str) -> Difference | None:
    """Compare the keys of two objects, in order."""
    if came == went:
        return None
    if sorted(came) == sorted(went):
        one, other = next(pair for pair in zip(came, went, strict=True) if pair[0] != pair[1])
        return Difference("keys in another order", place, expected=_shown(one), found=_shown(other))
    one, other = next(pair for pair in zip_longest(came, went) if pair[0] != pair[1])
    lacking = [key for key in came if key not in went]
    what = f"no key {_shown(lacking[0])}" if lacking else "a key too many"
    return Difference(what, place, expected=_shown(one, "no key"), found=_shown(other, "no key"))


def _of_lengths(came: list[Any], went: list[Any], place: str) -> Difference | None:
    if len(came) == len(went):
        return None
    return Difference("another number of items", place, expected=f"{len(came):,}", found=f"{len(went):,}")


def _of_texts(came: str, went: str, place: str) -> Difference:
    at = _first_unlike(came, went)
    what = f"another text, from character {at + 1:,} on"
    return Difference(what, place, expected=_shown(_cut(came, at)), found=_shown(_cut(went, at)))


def _of_spellings(came: str, went: str, place: str) -> Difference:
    """Tell of two numbers, or of what is no JSON, as they are spelled."""
    at = _first_unlike(came, went)
    return Difference("another value", place, expected=_cut(came, at), found=_cut(went, at))


def _first_unlike(came: str, went: str) -> int:
    return next((index for index, pair in enumerate(zip_longest(came, went)) if pair[0] != pair[1]), 0)


def _cut(text: str, at: int) -> str:
    """Cut a text around a place."""
    begin = max(at - _SHOWN // 2, 0)
    return text[begin : begin + _SHOWN]


def _is_same_number(one: _Number, other: _Number) -> bool:
    if one.kind != other.kind or one.kind != "float" or one.literal == other.literal:
        return one == other
    double = float(one.literal)
    if math.isfinite(double) and double != 0:
        return double == float(other.literal)
    try:
        exact, its = Decimal(one.literal), Decimal(other.literal)
    except InvalidOperation:
        return False
    return exact == its and exact.is_signed() == its.is_signed()


def _decoded(raw: bytes | memoryview) -> Any:
    """Decode a text so that nothing is lost: numbers as they are spelled, all keys in order."""
    return json.loads(
        bytes(raw).decode(),
        parse_int=lambda literal: _Number("int", "0" if literal == "-0" else literal),
        parse_float=lambda literal: _Number("float", literal),
        parse_constant=lambda literal: _Number("constant", literal),
        object_pairs_hook=_Object,
    )


def _shown(value: Any, nothing: str = "null") -> str:
    """Spell a value, a long or nested one in short."""
    match value:
        case None:
            return nothing
        case _Number():
            return value.literal[:_SHOWN]
        case _Object():
            return f"an object of {len(value.pairs):,} keys"
        case list():
            return f"a list of {len(value):,} items"
        case str():
            short = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
            return json.dumps(short, ensure_ascii=not short.isprintable())
        case _:
            return json.dumps(value)
