"""Footers of Parquet files that say what somebody wants them to say: Thrift's compact protocol, read and written."""

from collections.abc import Callable
from typing import Any

Fields = list[list[Any]]
"""Number, type and value of each field of a struct; of a list the type of its items, and these."""


def changed(raw: bytes, change: Callable[[Fields], None]) -> bytes:
    """Return a Parquet file with another footer."""
    length = int.from_bytes(raw[-8:-4], "little")
    begin = len(raw) - 8 - length
    footer, _ = _value(raw, begin, 12)
    change(footer)
    written = _written(12, footer)
    return raw[:begin] + written + len(written).to_bytes(4, "little") + b"PAR1"


def get(fields: Fields, *numbers: int) -> Any:
    """Return what is at a path of fields."""
    for number in numbers:
        fields = next(value for field, _, value in fields if field == number)
    return fields


def put(fields: Fields, number: int, value: Any) -> None:
    """Change the value of a field."""
    next(field for field in fields if field[0] == number)[2] = value


def chunks(footer: Fields) -> list[Fields]:
    """Return what a footer says of each column in each group of rows."""
    return [get(chunk, 3) for group in get(footer, 4)[1] for chunk in get(group, 1)[1]]


def _number(raw: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (raw[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if raw[at - 1] < 128:
            return number, at


def _value(raw: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2):
        return kind == 1, at
    if kind == 8:
        length, at = _number(raw, at)
        return raw[at : at + length], at + length
    if kind == 9:
        count, of = raw[at] >> 4, raw[at] & 15
        count, at = _number(raw, at + 1) if count == 15 else (count, at + 1)
        items = []
        for _ in range(count):
            item, at = _value(raw, at, of)
            items.append(item)
        return (of, items), at
    if kind == 12:
        fields: Fields = []
        last = 0
        while head := raw[at]:
            last, at = last + (head >> 4), at + 1
            value, at = _value(raw, at, head & 15)
            fields.append([last, head & 15, value])
        return fields, at + 1
    if kind == 3:
        return raw[at], at + 1
    number, at = _number(raw, at)
    return (number >> 1) ^ -(number & 1), at


def _plain(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


def _written(kind: int, value: Any) -> bytes:
    if kind in (1, 2):
        return b""
    if kind == 8:
        return _plain(len(value)) + value
    if kind == 9:
        of, items = value
        head = bytes([len(items) << 4 | of]) if len(items) < 15 else bytes([240 | of]) + _plain(len(items))
        return head + b"".join(_written(of, item) for item in items)
    if kind == 12:
        last, parts = 0, []
        for field, of, inner in value:
            parts.append(bytes([field - last << 4 | (of if of > 2 else 2 - inner)]) + _written(of, inner))
            last = field
        return b"".join(parts) + b"\0"
    if kind == 3:
        return bytes([value])
    return _plain((value << 1) ^ (value >> 63))
