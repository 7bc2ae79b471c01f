"""Times in columns: those written as most are read at once, the others one by one, as ``times`` reads them."""

import re
from typing import Any

import polars as pl

from talkhouse.ingest.declared.times import ISO, UNIX, read_time

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
    """Return how the first time is written, and the pattern of such times, where Polars knows it."""
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
