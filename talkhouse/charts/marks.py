"""The marks of a chart: a row each, with where it stands along x, its series and its value."""

from collections.abc import Sequence
from math import gcd
from typing import Any

import polars as pl

from talkhouse.charts.declared import Chart, ChartKind, Grain
from talkhouse.charts.fields import TIMES, ChartField, column, title
from talkhouse.visible import visible

X, SERIES, VALUE, ORDER, SHOWN, LEADS = "_x", "_series", "_value", "_order", "_shown", "_leads"
"""Columns of the rows that are drawn; beside them are the chart's own."""

_MOST_STEPS = 500
"""Bins or times from the first to the last that are all drawn."""

_STEPS = {Grain.YEAR: "1y", Grain.MONTH: "1mo", Grain.DAY: "1d"}
"""Units of time, as Polars has them."""


_OF_SEVERAL = {"known_speaker_name": "people without a known name"}
"""What a null stands for that is several things, and not one without a name."""


def marks(
    chart: Chart, columns: list[ChartField], rows: pl.DataFrame, leads: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return one row per mark, metric by metric; ``leads`` are the addresses that the rows lead to.

    Texts are as they are shown: Vega writes those that tell marks apart into expressions, which a line end of Unicode,
    for one, would break.
    """
    titles = {one.name: one.title for one in columns}
    rows = rows.with_columns(_along(chart, rows).alias(X), _shown(chart, rows).alias(SHOWN))
    if leads is not None:
        rows = rows.with_columns(pl.Series(LEADS, leads, pl.String))
    parts = []
    for metric in chart.metrics:
        names = [pl.lit(titles[metric])] if len(chart.metrics) > 1 else []
        series = [*map(_named, chart.by), *names] or [pl.lit("")]
        parts.append(
            rows.with_columns(
                pl.concat_str(series, separator=" \N{MIDDLE DOT} ").alias(SERIES),
                column(metric).cast(pl.Float64).alias(VALUE),
            )
        )
    return pl.concat(parts).with_columns(pl.col(pl.String).map_elements(visible, pl.String))


def with_units(chart: Chart, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with times that the chart truncates as texts: 2010, and not the first second of it."""
    return rows.with_columns(_along(chart, rows).alias(chart.x)) if chart.grain else rows


def _along(chart: Chart, rows: pl.DataFrame) -> pl.Expr:
    """Return x: as numbers where they are and can stay so, otherwise as texts."""
    x = column(chart.x)
    if chart.grain:
        return x.dt.to_string(TIMES[chart.grain].strftime).fill_null(nothing(chart.x))
    if rows.schema[chart.x].is_numeric() and (chart.kind is ChartKind.LINE or not rows[chart.x].has_nulls()):
        return x
    return _named(chart.x)


def _shown(chart: Chart, rows: pl.DataFrame) -> pl.Expr:
    """Return x as it is shown on pointing: a bin by its ends."""
    x = column(chart.x)
    step = bin_size(chart, rows)
    if not step or step == 1:
        return _along(chart, rows).cast(pl.String)
    return pl.format("{} to {}", x, x + step - 1).fill_null(nothing(chart.x))


def _named(name: str) -> pl.Expr:
    """Return a column as texts, with words for its nulls."""
    return column(name).cast(pl.String).fill_null(nothing(name))


def nothing(name: str) -> str:
    """Return what is shown for a null that marks are grouped by: ``no split``."""
    return _OF_SEVERAL.get(name, visible(f"no {title(name).lower()}"))


def bin_size(chart: Chart, rows: pl.DataFrame) -> int | None:
    """Return the width of the bins along x; None where it has none."""
    if not chart.x.endswith("_bin") or not rows.schema[chart.x].is_integer():
        return None
    values = rows[chart.x].drop_nulls().unique()
    return gcd(*values.to_list()) or None


def every_step(chart: Chart, rows: pl.DataFrame) -> list[Any] | None:
    """Return all that is to stand along x, also bins, numbers and times that no row has; None where these are names."""
    if chart.largest_first or rows.is_empty():
        return None
    values = rows[chart.x]
    known = values.drop_nulls()
    if known.is_empty() or not (chart.grain or known.dtype.is_integer()):
        return None
    least: Any = known.min()
    most: Any = known.max()
    if chart.grain:
        steps = pl.select(pl.datetime_range(least, most, _STEPS[chart.grain]).dt.to_string(TIMES[chart.grain].strftime))
        found = steps.to_series().to_list()
    else:
        found = list(range(least, most + 1, bin_size(chart, rows) or 1))
        found = [str(step) for step in found] if values.has_nulls() else found
    return None if len(found) > _MOST_STEPS else [*found, *[nothing(chart.x)] * values.has_nulls()]
