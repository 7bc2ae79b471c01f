"""Axes that tell the truth: from 0, to 100 % where shares come near it, with every bin, and numbers without tricks."""

from typing import Any

import altair as alt
import polars as pl

from talkhouse.charts.declared import Chart
from talkhouse.charts.fields import Field
from talkhouse.charts.formats import NUMBERS
from talkhouse.charts.marks import VALUE, X, bin_size, every_step
from talkhouse.charts.metric import Metric, NumberFormat

_LETTERS = 6
"""Letters of labels side by side that a column of the grid has room for, also on a phone."""

_WHOLE = 0.75
"""Shares from which on an axis ends at 100 %."""


def category(chart: Chart, field: Field, rows: pl.DataFrame) -> dict[str, Any]:
    """Return how the names, bins or times along a chart of bars or cells are drawn, by Altair's names."""
    steps = every_step(chart, rows)
    domain = steps and alt.Scale(domain=steps)
    return {"title": along_title(chart, field, rows), "sort": _order(chart, rows), "axis": _axis(chart, rows)} | (
        {"scale": domain} if domain else {}
    )


def along_title(chart: Chart, field: Field, rows: pl.DataFrame) -> str:
    """Return the title of x; of bins, with their width."""
    size = bin_size(chart, rows)
    return f"{field.title} (in steps of {size:,})" if size and size > 1 else field.title


def _order(chart: Chart, rows: pl.DataFrame) -> Any:
    """Return the order of the categories: that of the rows, where it is not that of the categories themselves."""
    is_text_of_numbers = rows.schema[X] == pl.String and rows.schema[chart.x].is_numeric()
    if chart.largest_first or is_text_of_numbers:
        return rows[X].unique(maintain_order=True).to_list()
    return "ascending"


def _axis(chart: Chart, rows: pl.DataFrame) -> Any:
    if chart.horizontal:
        return alt.Axis(labelLimit=220, labelOverlap=False, labelFlush=False)
    letters = rows[X].cast(pl.String).unique().str.len_chars().sum()
    is_short = rows.schema[X].is_numeric() or chart.grain is not None or letters <= _LETTERS * chart.width
    return alt.Axis(labelOverlap=True, labelAngle=0 if is_short else -45)


def value(chart: Chart, columns: list[Field], rows: pl.DataFrame) -> dict[str, Any]:
    """Return how the values of bars or points are drawn, by Altair's names."""
    shown = [column for column in columns if column.name in chart.metrics]
    how = shown[0].format
    # Of several metrics, the legend has the titles.
    options: dict[str, Any] = {"title": shown[0].title if len(shown) == 1 else None}
    if how is NumberFormat.INTEGER:
        # By an expression: the format of an axis writes 0 in the unit of its largest number, as 0k.
        options["axis"] = alt.Axis(
            labelExpr=f"format(datum.value, '{NUMBERS[how].d3_axis}')", tickCount=5, tickMinStep=1
        )
    else:
        options["axis"] = alt.Axis(format=NUMBERS[how].d3_axis if how else "", tickCount=5)
    if how is NumberFormat.PERCENT and _WHOLE < _highest(chart, rows) < 1 + 1e-6:
        options["scale"] = alt.Scale(domain=[0, 1], nice=False, clamp=True)
    return options


def _highest(chart: Chart, rows: pl.DataFrame) -> float:
    """Return the largest value, or the largest sum of those that are stacked."""
    values = rows.group_by(X).agg(pl.col(VALUE).sum())[VALUE] if chart.stacked else rows[VALUE]
    least, most = values.min(), values.max()
    return float(most) if isinstance(most, float) and isinstance(least, float) and least >= 0 else 0.0


def d3(metric: Metric | None) -> str:
    """Return D3's format of a metric's numbers, as they are shown on pointing."""
    return NUMBERS[metric.format].d3 if metric else ""
