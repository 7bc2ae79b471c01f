"""Times: ISO 8601, seconds or milliseconds since 1970, or a pattern; each with how the file writes it."""

import re
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import polars as pl

from talkhouse.ingest.declared.declaration.model import ISO, UNIX

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall clock times, as published
_TAIL = re.compile(r"(?:[.,](\d+))?(Z|[+-]\d\d(?::?\d\d)?)?\Z")
_PRECISION = {None: "seconds", 3: "milliseconds", 6: "microseconds"}


class ReadTime(NamedTuple):
    """A time as a column has it, and how the file writes it."""

    value: datetime | None
    """The wall clock as published, without a zone; None where the text has another form."""
    how: str | None
    """For ``write_time``, part of the placeholder's name in the shape; None where the column can't restore the text."""


def read_time(text: str, form: str = ISO, *, is_number: bool = False) -> ReadTime:
    """Read a time: ``form`` is ISO, ``unix``, ``unix_ms`` or a pattern of strftime; ``is_number``: a JSON number.

    Numbers since 1970 are read from texts too, which no column gives back.
    """
    try:
        if form in UNIX:
            value, how = _since_1970(text, UNIX[form]), form
        elif form == ISO:
            value, how = _iso(text)
        else:
            value, how = datetime.strptime(text, form).replace(tzinfo=None), form  # noqa: DTZ007 - the wall clock
        value.isoformat().encode()
        return ReadTime(value, how if is_number == (form in UNIX) and write_time(value, how) == text else None)
    except (ValueError, OverflowError, InvalidOperation):
        return ReadTime(None, None)


def write_time(value: datetime, how: str) -> str:
    """Write a time as the file did."""
    if how in UNIX:
        return f"{Decimal((value - _EPOCH) // timedelta(microseconds=1)) / UNIX[how]:f}"
    if not how.startswith(ISO):
        return value.strftime(how)
    separator, precision, zone = how[len(ISO) + 1], *how[len(ISO) + 2 :].split("|")
    if precision == "day":
        return value.date().isoformat()
    return value.isoformat(separator, precision) + zone


def _since_1970(text: str, unit: int) -> datetime:
    micros = Decimal(text) * unit
    if not micros.is_finite():
        raise ValueError(text)
    return _EPOCH + timedelta(microseconds=int(micros))


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


_DIRECTIVES = re.compile(r"(?:%[YmdHMS]|[^%])*")
"""Patterns of which Polars and Python make the same, wherever what is read gives the text back."""

_CLOCKS = {"minutes": "T%H:%M", "seconds": "T%H:%M:%S", "day": ""}


def read_times(texts: pl.Series, form: str, *, is_number: bool = False) -> pl.DataFrame:
    """Read a column of times: ``value``, ``how`` each is written, and ``bad``, the texts of another form.

    ``is_number``: in the file they are JSON numbers.
    """
    usual = _usual(texts, form)
    if usual is None:
        return _one_by_one(texts, form, is_number=is_number)
    how, pattern = usual
    values = texts.str.to_datetime(pattern, time_unit="us", strict=False)
    is_usual = (values.dt.to_string(pattern) == texts) & values.dt.year().is_between(1000, 9999)
    is_usual = is_usual.fill_null(value=False)
    quick = pl.DataFrame({"value": values, "how": pl.repeat(how, len(texts), eager=True), "bad": [None] * len(texts)})
    quick = quick.select(pl.when(is_usual).then(pl.all())).cast({"bad": pl.String})
    rest = (~is_usual & texts.is_not_null()).arg_true()
    if not len(rest):
        return quick
    slow = _one_by_one(texts.gather(rest), form, is_number=is_number).with_columns(row=rest)
    return quick.with_row_index("row").update(slow, on="row").drop("row")


def _usual(texts: pl.Series, form: str) -> tuple[str, str] | None:
    if form in UNIX:
        return None
    if form != ISO:
        return (form, form) if _DIRECTIVES.fullmatch(form) else None
    how = next((how for text in texts.drop_nulls().head(1) if (how := read_time(text).how)), None)
    if how is None:
        return None
    separator, precision, zone = how[len(ISO) + 1], *how[len(ISO) + 2 :].split("|")
    clock = _CLOCKS.get(precision)
    if clock is None or separator == "%":
        return None
    return how, "%Y-%m-%d" + clock.replace("T", separator) + zone


def _one_by_one(texts: pl.Series, form: str, *, is_number: bool) -> pl.DataFrame:
    known: dict[str | None, tuple[Any, ...]] = {None: (None, None, None)}
    for text in texts.drop_nulls().unique():
        value, how = read_time(text, form, is_number=is_number)
        known[text] = value, how, text if value is None else None
    columns = zip(*(known[text] for text in texts), strict=True) if len(texts) else ((), (), ())
    kinds = {"value": pl.Datetime("us"), "how": pl.String(), "bad": pl.String()}
    named = zip(kinds.items(), columns, strict=True)
    return pl.DataFrame([pl.Series(name, column, kind) for (name, kind), column in named])
