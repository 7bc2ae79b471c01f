"""Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Wanted: TypeAlias = Mapping[int, "Wanted | None"]
"""Fields of a struct that are kept, by number: of structs, and of lists of them, with the fields that are kept there.

All else is passed over without taking memory.
"""

_DEEPEST = 20
"""Structs inside of structs; those of Parquet have 8 at most."""
_MOST_ITEMS = 1_000_000
"""Of a list, as in pyarrow."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _BYTES, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_NUMBERS = (4, 5, 6)


class Struct(dict[int, Any]):
    """The fields of a struct that were wanted; one that is missing or of another type counts as empty."""

    __slots__ = ()

    def number(self, field: int) -> int:
        """Return a whole number; 0 where there is none."""
        value = self.get(field)
        return value if isinstance(value, int) else 0

    def text(self, field: int) -> str:
        """Return a text, what is not UTF-8 in it replaced."""
        value = self.get(field)
        return value.decode(errors="replace") if isinstance(value, bytes) else ""

    def struct(self, field: int) -> "Struct":
        """Return a struct inside of this one."""
        value = self.get(field)
        return value if isinstance(value, Struct) else Struct()

    def structs(self, field: int) -> "list[Struct]":
        """Return a list of structs."""
        value = self.get(field)
        return value if isinstance(value, list) else []


def struct_at(raw: bytes, at: int, wanted: Wanted, levels: int = _DEEPEST) -> tuple[Struct, int]:
    """Return the struct that begins there, and where it ends.

    Raises IndexError where the bytes end before it does, ValueError for what is no struct.
    """
    fields, last = Struct(), 0
    while head := raw[at]:
        at += 1
        if head >> 4:
            last += head >> 4
        else:
            number, at = varint(raw, at)
            last = signed(number)
        kind = head & 15
        if last not in wanted:
            at = _behind(raw, at, kind, levels)
        elif kind in _NUMBERS:
            number, at = varint(raw, at)
            fields[last] = signed(number)
        elif kind in (_TRUE, _FALSE):
            fields[last] = kind == _TRUE
        elif kind == _BYTES:
            end = _behind(raw, at, kind, levels)
            _, begin = varint(raw, at)
            fields[last], at = raw[begin:end], end
        elif kind == _STRUCT and levels and (inside := wanted[last]):
            fields[last], at = struct_at(raw, at, inside, levels - 1)
        elif kind == _LIST and levels and (inside := wanted[last]):
            fields[last], at = _structs(raw, at, inside, levels - 1)
        else:
            at = _behind(raw, at, kind, levels)
    return fields, at + 1


def _structs(raw: bytes, at: int, wanted: Wanted, levels: int) -> tuple[list[Struct], int]:
    kind, count, at = _list_head(raw, at)
    if kind != _STRUCT and count:
        raise ValueError(f"a list of the type {kind}")
    structs = []
    for _ in range(count):
        struct, at = struct_at(raw, at, wanted, levels)
        structs.append(struct)
    return structs, at


def _behind(raw: bytes, at: int, kind: int, levels: int) -> int:
    """Return where a value ends; each takes a byte at least, but for a truth value that is a field."""
    if kind in (_TRUE, _FALSE):
        return at
    if kind in _NUMBERS:
        return varint(raw, at)[1]
    if kind in (_BYTE, _DOUBLE, _BYTES):
        length, at = (1, at) if kind == _BYTE else (8, at) if kind == _DOUBLE else varint(raw, at)
        if at + length > len(raw):
            raise IndexError("cut off")
        return at + length
    if not levels:
        raise ValueError("nested too deep")
    if kind == _STRUCT:
        return struct_at(raw, at, {}, levels - 1)[1]
    if kind in (_LIST, _SET):
        kind, count, at = _list_head(raw, at)
        kinds = [kind]
    elif kind == _MAP:
        count, at = varint(raw, at)
        kinds, at = ([raw[at] >> 4, raw[at] & 15], at + 1) if count else ([], at)
    else:
        raise ValueError(f"a value of the type {kind}")
    for _ in range(_few(raw, at, count)):
        for kind in kinds:
            # Among others, a truth value takes a byte.
            at = _behind(raw, at, _BYTE if kind in (_TRUE, _FALSE) else kind, levels - 1)
    return at


def _list_head(raw: bytes, at: int) -> tuple[int, int, int]:
    """Return the type of a list's items, how many there are, and where the first begins."""
    head, at = raw[at], at + 1
    count = head >> 4
    if count == 15:
        count, at = varint(raw, at)
    return head & 15, _few(raw, at, count), at


def _few(raw: bytes, at: int, count: int) -> int:
    if count > _MOST_ITEMS:
        raise ValueError(f"a list of {count:,} items")
    if count > len(raw) - at:
        raise IndexError("cut off")
    return count


def varint(raw: bytes, at: int) -> tuple[int, int]:
    """Read a number of any length, and tell where it ends."""
    number = shift = 0
    while True:
        byte = raw[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def signed(number: int) -> int:
    """Return the number, perhaps below zero, that is written as this one."""
    return (number >> 1) ^ -(number & 1)
