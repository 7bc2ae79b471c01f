"""What a chart shows, in words: for who can't see it, or in its place where it would be one bar, or none that shows."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from talkhouse.charts.declared import Chart, Kind
from talkhouse.charts.fields import Field
from talkhouse.charts.formats import TIMES, number
from talkhouse.charts.marks import nothing
from talkhouse.charts.metric import NumberFormat
from talkhouse.charts.rows import column
from talkhouse.visible import visible

_KINDS = {Kind.BAR: "Bar chart", Kind.LINE: "Line chart", Kind.HEATMAP: "Heat map"}


def alternative(chart: Chart, columns: list[Field], rows: pl.DataFrame) -> str:
    """Return what a chart shows in words: what by what, and the least and the largest value of each metric."""
    by = [column.title.lower() for column in columns if column.metric is None]
    shown = [column for column in columns if column.name in chart.metrics]
    what = f"{_KINDS[chart.kind]}: {', '.join(column.title for column in shown)} by {' and '.join(by)}."
    return visible(" ".join([what, *(_range(chart, column, rows) for column in shown)]).rstrip())


def single(chart: Chart, columns: list[Field], rows: pl.DataFrame) -> str | None:
    """Return a sentence for a chart of bars or lines that would have one mark; None where it has more or none."""
    if rows.height != 1 or len(chart.metrics) != 1 or chart.kind not in (Kind.BAR, Kind.LINE):
        return None
    row = rows.row(0, named=True)
    metric, *counts = [column for column in columns if column.metric]
    where = [(column.title.lower(), _value(chart, column.name, row)) for column in columns if not column.metric]
    others = [f"{column.title.lower()} {_written(column, row)}" for column in counts]
    if metric.format is NumberFormat.INTEGER and row[metric.name]:
        places = ", ".join(f"{title} {value}" for title, value in where)
        return ", ".join([f"All {_written(metric, row)} {metric.title.lower()}: {places}", *others]) + "."
    places = " and ".join(f"{title} is {value}" for title, value in where)
    return ", ".join([f"The only {places}: {metric.title.lower()} {_written(metric, row)}", *others]) + "."


def only_zero(chart: Chart, columns: list[Field], rows: pl.DataFrame) -> str | None:
    """Return a sentence for a chart whose bars or points would all be 0, which looks like one without any."""
    shown = [column for column in columns if column.name in chart.metrics]
    values = pl.concat([rows[column.name].cast(pl.Float64) for column in shown]).drop_nulls()
    if chart.kind not in (Kind.BAR, Kind.LINE) or values.is_empty() or (values != 0).any():
        return None
    by = " and ".join(column.title.lower() for column in columns if column.metric is None)
    said = " and ".join(f"{column.title.lower()} {_written(column, {column.name: 0})}" for column in shown)
    return f"By {by}, in each of {rows.height:,} cases: {said}."


def _range(chart: Chart, metric: Field, rows: pl.DataFrame) -> str:
    known = rows.filter(column(metric.name).is_not_null()).sort(column(metric.name), maintain_order=True)
    if known.is_empty():
        return ""
    least, most = (
        f"{_written(metric, row)} ({', '.join(_value(chart, name, row) for name in chart.columns)})"
        for row in (known.row(0, named=True), known.row(-1, named=True))
    )
    return f"{metric.title}: {least}." if known.height == 1 else f"{metric.title}: from {least} to {most}."


def _written(column: Field, row: Mapping[str, Any]) -> str:
    return number(row[column.name], column.format) if column.format else str(row[column.name])


def _value(chart: Chart, column: str, row: Mapping[str, Any]) -> str:
    """Return a value that marks are grouped by, as it is shown."""
    value = row[column]
    if value is None:
        return nothing(column)
    return value.strftime(TIMES[chart.grain].strftime) if chart.grain and column == chart.x else str(value)
