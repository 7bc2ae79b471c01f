"""Values of Parquet as JSON and back, type by type: nothing is rounded, and each type has one spelling.

Times are ISO 8601 by the clock of their zone, dates and times of day too; those outside of the years 1 to 9999 and
durations are the number that the file holds. Decimals are numbers with all their places, bytes are base64, NaN and the
infinities texts. A map is an object where its keys are different texts, else a list of pairs. The schema tells which is
meant.
"""

import math
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Raw
from pyarrow import lib as pa
from pyarrow import types  # type: ignore[attr-defined]

Convert: TypeAlias = Callable[[Any], Any]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -62_135_510_400, 253_402_214_400
"""Seconds since 1970 between which every zone's clock has a year from 1 to 9999."""
_LISTS = (
    (types.is_list, pa.list_),
    (types.is_large_list, pa.large_list),
    (types.is_list_view, pa.list_view),
    (types.is_large_list_view, pa.large_list_view),
)
_TEXTS = (types.is_string, types.is_large_string, types.is_string_view)
_BYTES = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
_CONSTANTS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def same(value: Any) -> Any:
    """Return the value: it is spelled in JSON as in Python."""
    return value


def plain(kind: pa.DataType) -> pa.DataType:
    """Return the type by which values of a type are read into Python: times as numbers, dictionaries as values."""
    if isinstance(kind, pa.BaseExtensionType):
        return plain(kind.storage_type)
    if types.is_dictionary(kind):
        return plain(kind.value_type)
    if types.is_date32(kind) or types.is_time32(kind):
        return pa.int32()
    if types.is_temporal(kind):
        return pa.int64()
    if types.is_float16(kind):
        return pa.float32()
    if types.is_struct(kind):
        return pa.struct([field.with_type(plain(field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(_plain_field(kind.key_field), _plain_field(kind.item_field), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    for is_list, list_of in _LISTS:
        if is_list(kind):
            return list_of(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(plain(field.type))


def converters(kind: pa.DataType) -> tuple[Convert, Convert]:
    """Return the converters of values of a type to JSON, read by its plain type, and back.

    Raises TypeError for a type that can't be kept.
    """
    if isinstance(kind, pa.BaseExtensionType):
        return converters(kind.storage_type)
    if types.is_dictionary(kind):
        return converters(kind.value_type)
    if types.is_nested(kind):
        return _nested(kind)
    if types.is_timestamp(kind):
        return _timestamp(kind.unit, kind.tz)
    if types.is_time(kind):
        return _or_null(lambda value: _clock(value, kind.unit)), _or_null(lambda text: _ticks(text, kind.unit))
    if types.is_date(kind):
        return _date(1 if types.is_date32(kind) else 86_400_000)
    if types.is_floating(kind):
        return _or_null(_float_text), _or_null(_float)
    if types.is_decimal(kind):
        return _or_null(lambda value: Raw(f"{value:f}".encode())), _or_null(Decimal)
    if any(is_bytes(kind) for is_bytes in _BYTES):
        return _or_null(lambda value: b64encode(value).decode()), _or_null(b64decode)
    if types.is_integer(kind) or types.is_duration(kind):
        return same, _or_null(int)
    if any(is_text(kind) for is_text in _TEXTS) or types.is_boolean(kind) or types.is_null(kind):
        return same, same
    raise TypeError(str(kind))


def _or_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _nested(kind: pa.DataType) -> tuple[Convert, Convert]:
    if types.is_struct(kind):
        fields = [(field.name, *converters(field.type)) for field in kind]
        if len({name for name, _, _ in fields}) < len(fields):
            raise TypeError(f"{kind}, with two fields of one name")
        return (
            _or_null(lambda value: {name: to(value[name]) for name, to, _ in fields}),
            _or_null(lambda value: {name: back(value[name]) for name, _, back in fields}),
        )
    if types.is_map(kind):
        return _map(*converters(kind.key_type), *converters(kind.item_type))
    if types.is_fixed_size_list(kind) or any(is_list(kind) for is_list, _ in _LISTS):
        to, back = converters(kind.value_type)
        return (
            same if to is same else _or_null(lambda values: [to(value) for value in values]),
            same if back is same else _or_null(lambda values: [back(value) for value in values]),
        )
    raise TypeError(str(kind))


def _map(key_to: Convert, key_back: Convert, to: Convert, back: Convert) -> tuple[Convert, Convert]:
    def write(pairs: list[tuple[Any, Any]]) -> Any:
        written = [[key_to(key), to(value)] for key, value in pairs]
        is_object = all(isinstance(key, str) for key, _ in written) and len({key for key, _ in written}) == len(written)
        return dict(written) if is_object else written

    def read(written: Any) -> list[tuple[Any, Any]]:
        pairs = written.items() if isinstance(written, dict) else written
        return [(key_back(key), back(value)) for key, value in pairs]

    return _or_null(write), _or_null(read)


def _float_text(value: float) -> Any:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _float(value: Any) -> float:
    return _CONSTANTS[value] if isinstance(value, str) else float(value)


def _date(ticks: int) -> tuple[Convert, Convert]:
    """Convert a date, of which a day has so many ticks."""

    def write(value: int) -> Any:
        days, rest = divmod(value, ticks)
        is_date = not rest and _FIRST // 86_400 < days < _LAST // 86_400
        return (date(1970, 1, 1) + timedelta(days)).isoformat() if is_date else value

    def read(value: Any) -> int:
        return (date.fromisoformat(value) - date(1970, 1, 1)).days * ticks if isinstance(value, str) else int(value)

    return _or_null(write), _or_null(read)


def _timestamp(unit: str, zone: str | None) -> tuple[Convert, Convert]:
    """Convert a time; one with a zone by the zone's clock, with its distance from UTC."""
    per_second, clock = _PER_SECOND[unit], _zone(zone) if zone else None

    def write(value: int) -> Any:
        seconds, rest = divmod(value, per_second)
        if not _FIRST < seconds < _LAST:
            return value
        moment = _EPOCH + timedelta(seconds=seconds)
        local = moment.astimezone(clock) if clock else moment.replace(tzinfo=None)
        text = local.isoformat()
        return text[:19] + (f".{rest:0{_DIGITS[unit]}d}" if rest else "") + text[19:]

    def read(value: Any) -> int:
        if not isinstance(value, str):
            return int(value)
        fraction = value[20 : 20 + _DIGITS[unit]] if value[19:20] == "." else ""
        moment = datetime.fromisoformat(value[:19] + value[20 + len(fraction) :] if fraction else value)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
        return (since.days * 86_400 + since.seconds) * per_second + int(fraction or 0)

    return _or_null(write), _or_null(read)


def _zone(name: str) -> tzinfo:
    """Return a zone by its name or its offset from UTC; UTC for one that is unknown on this machine."""
    try:
        return _fixed(name) if name.startswith(("+", "-")) else ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        return UTC


def _fixed(name: str) -> timezone:
    hours, _, minutes = name[1:].partition(":")
    distance = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(-distance if name[0] == "-" else distance)


def _clock(value: int, unit: str) -> str:
    seconds, rest = divmod(value, _PER_SECOND[unit])
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{rest:0{_DIGITS[unit]}d}" if rest else text


def _ticks(text: str, unit: str) -> int:
    hours, minutes, rest = text.split(":")
    seconds, _, fraction = rest.partition(".")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * _PER_SECOND[unit] + int(fraction or 0)
