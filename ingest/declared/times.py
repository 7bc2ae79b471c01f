"""Times, and moments in a recording: each read by its form with how the file writes it, and written again."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, NamedTuple

import polars as pl

from talkhouse.ingest.declared.declaration.model import ISO, ISO_OFFSET, ISO_UTC, SECONDS, UNIX
from talkhouse.ingest.outcomes import ReaderFinding

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall clock times, as published
_NONE = timedelta(0)
NO_OFFSET, NO_TIME = datetime(1, 1, 1), datetime(1, 1, 2)  # noqa: DTZ001 - no times
"""Stands for the offset of a time that has none."""
_TAIL = re.compile(r"(?:[.,](\d+))?(Z|[+-]\d\d(?::?\d\d)?)?\Z")
_PRECISION = {None: "seconds", 3: "milliseconds", 6: "microseconds"}


class ReadTime(NamedTuple):
    """A time as a column has it, and how the file writes it."""

    value: datetime | None
    """The wall clock as published, without a zone, or UTC; None where the text has another form."""
    how: str | None
    """For ``write_time``, part of the placeholder's name in the shape; None where the column can't restore the text."""


def read_time(text: str, form: str = ISO, *, is_number: bool = False) -> ReadTime:
    """Read a time: ``form`` is ISO, ISO_UTC, ``unix``, ``unix_ms`` or a pattern of strftime.

    ``is_number``: it is a JSON number.
    Numbers since 1970 are read from texts too, which no column gives back.
    """
    try:
        if form in UNIX:
            value, how = _since_1970(text, UNIX[form]), form
        elif form == ISO:
            value, how = _iso(text)
        elif form == ISO_UTC:
            clock = read_time(text)
            return clock._replace(value=None if clock.value is None else clock.value - (offset_of(text) or _NONE))
        elif form == ISO_OFFSET:
            return ReadTime(_as_time(text), form)
        else:
            value, how = datetime.strptime(text, form).replace(tzinfo=None), form  # noqa: DTZ007 - the wall clock
        value.isoformat().encode()
        return ReadTime(value, how if is_number == (form in UNIX) and write_time(value, how) == text else None)
    except (ValueError, OverflowError, InvalidOperation):
        return ReadTime(None, None)


def offset_of(text: str) -> timedelta | None:
    """Return the offset of a time in ISO 8601, None where it has none; raises ValueError for what is no time."""
    return datetime.fromisoformat(text).utcoffset()


def _as_time(text: str) -> datetime:
    """Return the offset of a time, from 1970, so that it goes through a column of times."""
    try:
        offset = offset_of(text)
    except ValueError:
        return NO_TIME
    return NO_OFFSET if offset is None else EPOCH + offset


@lru_cache(maxsize=256)
def _offset_of_zone(how: str) -> timedelta:
    return offset_of(f"2026-01-02T03:04:05{how.rpartition('|')[2]}") or _NONE


def write_time(value: datetime, how: str, *, is_utc: bool = False) -> str:
    """Write a time as the file did; ``is_utc``: it is stored in UTC."""
    if how in UNIX:
        return f"{Decimal((value - EPOCH) // timedelta(microseconds=1)) / UNIX[how]:f}"
    if not how.startswith(ISO):
        return value.strftime(how)
    separator, precision, zone = how[len(ISO) + 1], *how[len(ISO) + 2 :].split("|")
    if precision == "day":
        return value.date().isoformat()
    clock = value + _offset_of_zone(how) if is_utc else value
    return clock.isoformat(separator, precision) + zone


def _since_1970(text: str, unit: int) -> datetime:
    micros = Decimal(text) * unit
    if not micros.is_finite():
        raise ValueError(text)
    return EPOCH + timedelta(microseconds=int(micros))


def _iso(text: str) -> tuple[datetime, str]:
    """Read ISO 8601; how: the separator, the precision, and the zone as written."""
    value = datetime.fromisoformat(text)
    if len(text) <= len("2026-01-02"):
        return value.replace(tzinfo=None), f"{ISO}:Tday|"
    tail = _TAIL.search(text, len("2026-01-02"))
    digits, zone = (tail[1], tail[2] or "") if tail else (None, "")
    body = len(text) - len(zone)
    precision = (
        "minutes" if body == len("2026-01-02T03:04") else _PRECISION.get(len(digits) if digits else None, "auto")
    )
    return value.replace(tzinfo=None), f"{ISO}:{text[10]}{precision}|{zone}"


class ReadMoment(NamedTuple):
    """A moment in a recording as a column has it, and how the file writes it."""

    value: int | None
    """Milliseconds, rounded; None where the text has another form."""
    how: str | None
    """For ``write_moment``; empty: as a whole number; None where the column can't restore the text."""


MILLISECONDS = ""
"""The form of a moment that is a whole number of milliseconds."""

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_DECIMAL = re.compile(r"-?[0-9]{1,12}(?:\.([0-9]{1,30}))?")
_LARGEST = 2**63 - 1
_UNITS = {"H": 3_600_000, "M": 60_000, "S": 1_000}
_PIECES = re.compile(r"%(.)|[^%]+", re.DOTALL)


def read_moment(text: str, form: str = MILLISECONDS) -> ReadMoment:
    """Read a moment: ``form`` is MILLISECONDS, ``seconds``, or a pattern of a clock, whose largest unit has no end."""
    match form:
        case "":
            value = int(text) if _WHOLE.fullmatch(text) else None
            if value is None or abs(value) > _LARGEST:
                return ReadMoment(None, None)
            return ReadMoment(value, "" if str(value) == text else None)
        case "seconds":
            number = _DECIMAL.fullmatch(text)
            if number is None:
                return ReadMoment(None, None)
            value, digits = round(Decimal(text) * 1000), len(number[1] or "")
            how = f"{form}0{digits}"
        case _:
            pattern, largest = _clock(form)
            clock = pattern.fullmatch(text)
            if clock is None:
                return ReadMoment(None, None)
            said = clock.groupdict()
            fraction = said.pop("f", "")
            value = sum(int(number) * _UNITS[unit] for unit, number in said.items())
            value += (int(f"{fraction}000000"[:6]) + 500) // 1000
            digits, width = len(fraction), len(said[largest])
            how = f"{form}{2 if said[largest][0] != '0' and width > 1 else width}{digits}"
    return ReadMoment(value, how if digits < 10 and write_moment(value, how) == text else None)


def write_moment(value: int, how: str) -> str:
    """Write a moment as the file did."""
    if not how:
        return str(value)
    form, width, digits = how[:-2], int(how[-2]), int(how[-1])
    if form == SECONDS:
        return f"{Decimal(value) / 1000:.{digits}f}"
    _, largest = _clock(form)
    written = {"%": "%", "f": f"{value % 1000:03}000000"[:digits]}
    for unit, size in _UNITS.items():
        if f"%{unit}" in form:
            number, value = divmod(value, size)
            written[unit] = f"{number:0{width if unit == largest else 2}}"
    return "".join(written[piece[1]] if piece[1] else piece[0] for piece in _PIECES.finditer(form))


@lru_cache(maxsize=64)
def _clock(form: str) -> tuple[re.Pattern[str], str]:
    """Return what matches a clock's times, and the largest of its units, which may have any number of digits."""
    pieces = list(_PIECES.finditer(form))
    largest = next(unit for unit in _UNITS if any(piece[1] == unit for piece in pieces))
    digits = dict.fromkeys(_UNITS, "[0-5][0-9]") | {largest: "[0-9]{1,9}", "f": "[0-9]{1,6}"}
    texts = [
        re.escape(piece[0]) if piece[1] is None else "%" if piece[1] == "%" else f"(?P<{piece[1]}>{digits[piece[1]]})"
        for piece in pieces
    ]
    return re.compile("".join(texts)), largest


def read_moments(texts: pl.Series, form: str) -> pl.DataFrame:
    """Read a column of moments: ``value``, ``how`` each is written, and ``bad``, the texts of another form."""
    return _one_by_one(texts, lambda text: read_moment(text, form), pl.Int64())


def not_a_time(text: str, form: str) -> str:
    """Return what a finding says of a time of another form."""
    return f"{text!r:.100} is not a time of the form {form}"


_MOST_NAMED = 100


class BadTimes:
    """The times of a file that have another form than declared: the first of a column are named, the rest counted."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def is_named(self, column: str) -> bool:
        """Count one of a column, and return whether it is to be named."""
        self._counts[column] += 1
        return self._counts[column] <= _MOST_NAMED

    def rest(self) -> Iterator[ReaderFinding]:
        """Yield a finding for each column of which some were only counted."""
        for column, count in self._counts.items():
            if count > _MOST_NAMED:
                detail = f"{count - _MOST_NAMED:,} more in {column!r:.100} are not of the declared form"
                yield ReaderFinding("GF-09", detail)


_DIRECTIVES = re.compile(r"(?:%[YmdHMS]|[^%])*")
"""Patterns of which Polars and Python make the same, wherever what is read gives the text back."""

_CLOCKS = {"minutes": "T%H:%M", "seconds": "T%H:%M:%S", "day": ""}


def read_times(texts: pl.Series, form: str, *, is_number: bool = False) -> pl.DataFrame:
    """Read a column of times: ``value``, ``how`` each is written, and ``bad``, the texts of another form.

    ``is_number``: in the file they are JSON numbers.
    """

    def read(text: str) -> ReadTime:
        return read_time(text, form, is_number=is_number)

    usual = _usual(texts, form)
    if usual is None:
        return _one_by_one(texts, read, pl.Datetime("us"))
    how, pattern = usual
    values = texts.str.to_datetime(pattern, time_unit="us", strict=False)
    stored = values - _offset_of_zone(how) if form == ISO_UTC else values
    is_usual = (values.dt.to_string(pattern) == texts) & values.dt.year().is_between(1000, 9999)
    is_usual = is_usual.fill_null(value=False)
    quick = pl.DataFrame({"value": stored, "how": pl.repeat(how, len(texts), eager=True), "bad": [None] * len(texts)})
    quick = quick.select(pl.when(is_usual).then(pl.all())).cast({"bad": pl.String})
    rest = (~is_usual & texts.is_not_null()).arg_true()
    if not len(rest):
        return quick
    slow = _one_by_one(texts.gather(rest), read, pl.Datetime("us")).with_columns(row=rest)
    return quick.with_row_index("row").update(slow, on="row").drop("row")


def _usual(texts: pl.Series, form: str) -> tuple[str, str] | None:
    if form in UNIX or form == ISO_OFFSET:
        return None
    if not form.startswith(ISO):
        return (form, form) if _DIRECTIVES.fullmatch(form) else None
    how = next((how for text in texts.drop_nulls().head(1) if (how := read_time(text).how)), None)
    if how is None:
        return None
    separator, precision, zone = how[len(ISO) + 1], *how[len(ISO) + 2 :].split("|")
    clock = _CLOCKS.get(precision)
    if clock is None or separator == "%":
        return None
    return how, "%Y-%m-%d" + clock.replace("T", separator) + zone


def _one_by_one(texts: pl.Series, read: Callable[[str], ReadTime | ReadMoment], kind: pl.DataType) -> pl.DataFrame:
    known: dict[str | None, tuple[Any, ...]] = {None: (None, None, None)}
    for text in texts.drop_nulls().unique():
        value, how = read(text)
        known[text] = value, how, text if value is None else None
    columns = zip(*(known[text] for text in texts), strict=True) if len(texts) else ((), (), ())
    kinds = {"value": kind, "how": pl.String(), "bad": pl.String()}
    named = zip(kinds.items(), columns, strict=True)
    return pl.DataFrame([pl.Series(name, column, kind) for (name, kind), column in named])
