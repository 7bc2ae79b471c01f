"""Draws a declared chart of bars, lines or cells with Altair: what is shown on pointing has the counts."""

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt
import polars as pl

from talkhouse.charts.colours import PLAIN
from talkhouse.charts.declared import Chart, Kind, Metric, NumberFormat
from talkhouse.charts.fields import Field, fields
from talkhouse.charts.formats import NUMBERS, TIMES
from talkhouse.charts.grid import drawn_height

_X, _SERIES, _VALUE = "_x", "_series", "_value"
"""Columns of the rows that are drawn; beside them are the chart's own, for the tooltip."""

_BAR, _BAR_OF_SEVERAL = 18, 9
"""Pixels of a horizontal bar: of one alone, and of those that stand side by side."""

_LETTERS = 6
"""Letters of labels side by side that a column of the grid has room for, also on a phone."""

_LONG = 15
"""Letters of a series beyond which a phone has room for two in a row, or for one beside the names of bars."""

_NOTHING = "(none)"
"""Shown for a null that bars are grouped by."""


def draw(chart: Chart, metrics: Mapping[str, Metric], rows: pl.DataFrame) -> Any:
    """Return the Altair chart of the rows of a chart's query; it is as wide as what it stands in."""
    columns = fields(chart, metrics)
    drawn = _KINDS[chart.kind](chart, columns, _long(chart, columns, rows))
    return drawn.properties(width="container")


def _long(chart: Chart, columns: list[Field], rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per mark: x, series and value, and beside them all columns of the chart's rows."""
    x = pl.col(chart.x)
    if chart.grain:
        x = x.dt.to_string(TIMES[chart.grain].strftime)
    elif not (rows.schema[chart.x].is_numeric() and (chart.kind is Kind.LINE or not rows[chart.x].has_nulls())):
        x = _named(chart.x)
    titles = {column.name: column.title for column in columns}
    parts = []
    for metric in chart.metrics:
        names = [pl.lit(titles[metric])] if len(chart.metrics) > 1 else []
        series = [*map(_named, chart.by), *names]
        parts.append(
            rows.with_columns(
                x.alias(_X),
                pl.concat_str(series, separator=" \N{MIDDLE DOT} ").alias(_SERIES)
                if series
                else pl.lit("").alias(_SERIES),
                pl.col(metric).cast(pl.Float64).alias(_VALUE),
            )
        )
    return pl.concat(parts)


def _named(column: str) -> pl.Expr:
    """Return a column as texts, with a word for its nulls."""
    return pl.col(column).cast(pl.String).fill_null(_NOTHING)


def _bars(chart: Chart, columns: list[Field], rows: pl.DataFrame) -> Any:
    along, across = (alt.Y, alt.X) if chart.horizontal else (alt.X, alt.Y)
    category, value = ("y", "x") if chart.horizontal else ("x", "y")
    encoding: dict[str, Any] = {
        category: along(f"{_X}:O", title=columns[0].title, sort=_order(chart, rows), axis=_category_axis(chart, rows)),
        value: across(f"{_VALUE}:Q", title=_value_title(chart, columns), axis=_value_axis(chart, columns)),
        "color": _color(chart, rows),
        "tooltip": _tooltip(chart, columns),
    }
    side_by_side = _has_series(chart) and not chart.stacked
    if side_by_side:
        encoding[f"{category}Offset"] = f"{_SERIES}:N"
    bars = alt.Chart(rows).mark_bar().encode(**encoding)
    if chart.horizontal:
        return bars.properties(height=alt.Step(_BAR_OF_SEVERAL if side_by_side else _BAR))
    return bars.properties(height=drawn_height(chart))


def _order(chart: Chart, rows: pl.DataFrame) -> Any:
    """Return the order of the categories: that of the rows, where it is not that of the categories themselves."""
    is_text_of_numbers = rows.schema[_X] == pl.String and rows.schema[chart.x].is_numeric()
    if chart.largest_first or is_text_of_numbers:
        return rows[_X].unique(maintain_order=True).to_list()
    return "ascending"


def _lines(chart: Chart, columns: list[Field], rows: pl.DataFrame) -> Any:
    is_number = rows.schema[_X].is_numeric()
    axis = alt.Axis(tickMinStep=1, format="d", grid=False) if is_number else alt.Axis(labelOverlap=True)
    encoding: dict[str, Any] = {
        "x": alt.X(f"{_X}:{'Q' if is_number else 'O'}", title=columns[0].title, axis=axis),
        "y": alt.Y(f"{_VALUE}:Q", title=_value_title(chart, columns), axis=_value_axis(chart, columns)),
        "color": _color(chart, rows),
        "tooltip": _tooltip(chart, columns),
    }
    return alt.Chart(rows).mark_line(point=True).encode(**encoding).properties(height=drawn_height(chart))


def _cells(chart: Chart, columns: list[Field], rows: pl.DataFrame) -> Any:
    metric = columns[2].metric
    encoding = {
        "x": alt.X(f"{_X}:O", title=columns[0].title, sort=_order(chart, rows), axis=_category_axis(chart, rows)),
        "y": alt.Y(f"{_SERIES}:O", title=columns[1].title),
        "color": alt.Color(
            f"{_VALUE}:Q", title=None, scale=alt.Scale(scheme="blues"), legend=alt.Legend(format=_d3(metric))
        ),
        "tooltip": _tooltip(chart, columns),
    }
    return alt.Chart(rows).mark_rect().encode(**encoding).properties(height=drawn_height(chart))


def _has_series(chart: Chart) -> bool:
    return bool(chart.by) or len(chart.metrics) > 1


def _color(chart: Chart, rows: pl.DataFrame) -> Any:
    if not _has_series(chart):
        return alt.value(PLAIN[0])
    # Of one metric in the order of the columns, so that a corpus has the same colour in each chart that has them all.
    ordered = rows.sort(chart.by) if len(chart.metrics) == 1 else rows
    series = ordered[_SERIES].unique(maintain_order=True).to_list()
    is_long = max(map(len, series), default=0) > _LONG
    legend = alt.Legend(
        orient="top",
        columns=(1 if chart.horizontal else 2) if is_long else min(4, max(2, chart.width // 2)),
        symbolLimit=24,
        labelLimit=150,
        padding=0,
        offset=8,
        # Streamlit leaves a line for a title that there is not.
        titlePadding=0,
        titleFontSize=0,
    )
    return alt.Color(f"{_SERIES}:N", title=None, sort=series, scale=alt.Scale(range=list(PLAIN)), legend=legend)


def _value_title(chart: Chart, columns: list[Field]) -> str | None:
    """Return the metric's title; of several, the legend has them."""
    titles = [column.title for column in columns if column.name in chart.metrics]
    return titles[0] if len(titles) == 1 else None


def _value_axis(chart: Chart, columns: list[Field]) -> Any:
    first = next(column.metric for column in columns if column.name == chart.metrics[0])
    is_whole = first is not None and first.format is NumberFormat.INTEGER
    return alt.Axis(format=_d3(first, axis=True), tickCount=5, tickMinStep=1 if is_whole else alt.Undefined)


def _category_axis(chart: Chart, rows: pl.DataFrame) -> Any:
    if chart.horizontal:
        return alt.Axis(labelLimit=220, labelOverlap=False, labelFlush=False)
    letters = rows[_X].cast(pl.String).unique().str.len_chars().sum()
    is_short = rows.schema[_X].is_numeric() or chart.grain is not None or letters <= _LETTERS * chart.width
    return alt.Axis(labelOverlap=True, labelAngle=0 if is_short else -45)


def _d3(metric: Metric | None, *, axis: bool = False) -> str:
    """Return D3's format of a metric; along an axis, where ticks say enough, without more decimals than they need."""
    if metric is None:
        return ""
    return NUMBERS[metric.format].d3_axis if axis else NUMBERS[metric.format].d3


def _tooltip(chart: Chart, columns: list[Field]) -> list[Any]:
    """Return what is shown on pointing: all columns, with the titles and formats of the metrics."""
    shown = []
    for column in columns:
        field = _X if column.name == chart.x and chart.grain else column.name
        if column.metric:
            shown.append(alt.Tooltip(f"{field}:Q", title=column.title, format=_d3(column.metric)))
        else:
            shown.append(alt.Tooltip(f"{field}:N", title=column.title))
    return shown


_KINDS: Mapping[Kind, Callable[[Chart, list[Field], pl.DataFrame], Any]] = {
    Kind.BAR: _bars,
    Kind.LINE: _lines,
    Kind.HEATMAP: _cells,
}
