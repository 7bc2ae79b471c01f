"""Draws a declared chart of bars, lines or cells with Altair, whose tooltips have the counts; and as SVG or PNG."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Any, Literal

import altair
import altair as alt
import polars as pl

from talkhouse.charts.declared import HOURS, WEEKDAYS, Chart, ChartKind, Grain, Metric, NumberFormat, drawn_height
from talkhouse.charts.fields import NUMBERS, TIMES, ChartField, column, fields, nothing
from talkhouse.dialogues.schemes import plain_colour
from talkhouse.escaping import visible

NOTHING = "#808080"
"""The colour of a missing value."""

_HEAT = ("rgba(72, 120, 168, 0.04)", "rgba(72, 120, 168, 1)")
"""Cells from the least to the greatest value: they grow out of the page, be it light or dark."""

_BAR, _BAR_OF_SEVERAL = 18, 9
"""Pixels of a horizontal bar: of one alone, and of those that stand side by side."""

_LINE = 1.5
"""Pixels of the line around a bar: the least that is seen of one."""

_LONG = 15
"""Letters of a series beyond which a phone has room for two in a row, or for one beside the names of bars."""


@dataclass(frozen=True)
class _Drawn:
    """The data of a drawn chart."""

    chart: Chart
    columns: list[ChartField]
    rows: pl.DataFrame
    """A row per mark."""
    colours: Mapping[str, str]
    """Of each series, in their order."""

    @property
    def has_series(self) -> bool:
        """Whether several bars or lines share a place."""
        return bool(self.chart.by) or len(self.chart.metrics) > 1

    @property
    def data(self) -> pl.DataFrame:
        """The rows for Vega, under internal names: it would take a point in a name for a path."""
        own = [name for name in (X, SERIES, VALUE, ORDER, SHOWN, LEADS) if name in self.rows.columns]
        pointed = [column(field.name).alias(f"_{place}") for place, field in enumerate(self.columns)]
        return self.rows.select(*own, *pointed)


def draw(
    chart: Chart,
    metrics: Mapping[str, Metric],
    rows: pl.DataFrame,
    colours: Mapping[str, str] | None = None,
    leads: Sequence[str] | None = None,
) -> Any:
    """Return the Altair chart of the rows of a chart's query; it is as wide as its container.

    ``colours`` are those of ``palette``, ``leads`` the addresses that a click on each row leads to.
    """
    columns = [replace(field, title=_title(field.title)) for field in fields(chart, metrics)]
    drawn = marks(chart, columns, rows, leads)
    series = _colours(chart, drawn, {visible(name): colour for name, colour in (colours or {}).items()})
    place = pl.col(SERIES).replace_strict(list(series), range(len(series)), return_dtype=pl.Int64)
    what = _Drawn(chart, columns, drawn.with_columns(place.alias(ORDER)), series)
    return _KINDS[chart.kind](what).properties(width="container")


def _title(title: str) -> str:
    """Return a title as Vega-Lite may write it into an expression: it escapes no more than quotes there."""
    return visible(title).replace("\\", "\N{REVERSE SOLIDUS OPERATOR}")


def _colours(chart: Chart, rows: pl.DataFrame, known: Mapping[str, str]) -> dict[str, str]:
    """Return the colours of the existing series, known ones first and in their order."""
    # Of one metric in the order of the columns, and not in that of the largest first.
    ordered = rows.sort(map(column, chart.by), nulls_last=True) if len(chart.metrics) == 1 and chart.by else rows
    there = ordered[SERIES].unique(maintain_order=True).to_list()
    new = [series for series in there if series not in known]
    plain = {series: plain_colour(len(known) + index) for index, series in enumerate(new)}
    if len(chart.by) == 1 and nothing(chart.by[0]) in plain:
        plain[nothing(chart.by[0])] = NOTHING
    return {series: colour for series, colour in (*known.items(), *plain.items()) if series in there}


def _bars(drawn: _Drawn) -> Any:
    chart = drawn.chart
    along, across = (alt.Y, alt.X) if chart.horizontal else (alt.X, alt.Y)
    category, value = ("y", "x") if chart.horizontal else ("x", "y")
    encoding: dict[str, Any] = {
        category: along(f"{X}:O", **_category(chart, drawn.columns[0], drawn.rows)),
        value: across(f"{VALUE}:Q", **_value(chart, drawn.columns, drawn.rows)),
        **_common(drawn),
    }
    side_by_side = drawn.has_series and not chart.stacked
    if side_by_side:
        offset = alt.YOffset if chart.horizontal else alt.XOffset
        encoding[f"{category}Offset"] = offset(f"{SERIES}:N", sort=list(drawn.colours))
    elif drawn.has_series:
        encoding["order"] = alt.Order(f"{ORDER}:Q")
    # A line around values above 0, or a bar too short for a pixel would look like none.
    encoding["stroke"] = encoding["color"]
    encoding["strokeWidth"] = alt.condition(f"datum['{VALUE}'] > 0", alt.value(_LINE), alt.value(0))
    bars = alt.Chart(drawn.data).mark_bar().encode(**encoding)
    if chart.horizontal:
        return bars.properties(height=alt.Step(_BAR_OF_SEVERAL if side_by_side else _BAR))
    return bars.properties(height=drawn_height(chart))


def _lines(drawn: _Drawn) -> Any:
    chart, rows = drawn.chart, drawn.rows
    is_number = rows.schema[X].is_numeric()
    axis = alt.Axis(tickMinStep=1, format="d", grid=False) if is_number else _axis(chart, rows)
    title, sort = _along_title(chart, drawn.columns[0], rows), _order(chart, rows)
    encoding: dict[str, Any] = {
        "x": alt.X(f"{X}:{'Q' if is_number else 'O'}", title=title, axis=axis, sort=sort),
        "y": alt.Y(f"{VALUE}:Q", **_value(chart, drawn.columns, rows)),
        **_common(drawn),
    }
    return alt.Chart(drawn.data).mark_line(point=True).encode(**encoding).properties(height=drawn_height(chart))


def _cells(drawn: _Drawn) -> Any:
    chart, columns = drawn.chart, drawn.columns
    encoding = _common(drawn) | {
        "x": alt.X(f"{X}:O", **_category(chart, columns[0], drawn.rows)),
        "y": alt.Y(f"{SERIES}:O", title=columns[1].title, **_down(drawn)),
        "color": alt.Color(
            f"{VALUE}:Q",
            title=None,
            scale=alt.Scale(range=list(_HEAT)),
            legend=alt.Legend(format=_d3(columns[2].metric)),
        ),
    }
    return alt.Chart(drawn.data).mark_rect().encode(**encoding).properties(height=drawn_height(chart))


def _down(drawn: _Drawn) -> dict[str, Any]:
    """Return the places of all weekdays down a heat map, by Altair's names; of other columns, none."""
    (name,) = drawn.chart.by
    steps = _recurring_steps(drawn.chart, name, drawn.rows)
    return {"sort": steps, "scale": alt.Scale(domain=steps)} if steps else {}


def _common(drawn: _Drawn) -> dict[str, Any]:
    """Return the encoding of every mark: its colour, tooltip and link."""
    common = {"color": _color(drawn), "tooltip": _tooltip(drawn.chart, drawn.columns)}
    return common | ({"href": alt.Href(f"{LEADS}:N")} if LEADS in drawn.rows.columns else {})


def _color(drawn: _Drawn) -> Any:
    if not drawn.has_series:
        return alt.value(plain_colour(0))
    series = list(drawn.colours)
    if len(series) == 1 and drawn.chart.by:
        return alt.value(drawn.colours[series[0]])
    is_long = max(map(len, series), default=0) > _LONG
    legend = alt.Legend(
        orient="top",
        columns=(1 if drawn.chart.horizontal else 2) if is_long else min(4, max(2, drawn.chart.width // 2)),
        symbolLimit=24,
        labelLimit=150,
        padding=0,
        offset=8,
        # Streamlit leaves a line for a missing title.
        titlePadding=0,
        titleFontSize=0,
    )
    scale = alt.Scale(domain=series, range=list(drawn.colours.values()))
    return alt.Color(f"{SERIES}:N", title=None, sort=series, scale=scale, legend=legend)


def _tooltip(chart: Chart, columns: list[ChartField]) -> list[Any]:
    """Return the tooltip: all columns, with the titles and formats of the metrics."""
    shown = []
    for place, field in enumerate(columns):
        name = SHOWN if field.name == chart.x else f"_{place}"
        if field.metric:
            shown.append(alt.Tooltip(f"{name}:Q", title=field.title, format=_d3(field.metric)))
        else:
            shown.append(alt.Tooltip(f"{name}:N", title=field.title))
    return shown


_KINDS: Mapping[ChartKind, Callable[[_Drawn], Any]] = {
    ChartKind.BAR: _bars,
    ChartKind.LINE: _lines,
    ChartKind.HEATMAP: _cells,
}

_LETTERS = 6
"""Letters of labels side by side that a column of the grid has room for, also on a phone."""

_SLANTED = 3
"""Slanted names that a column of the grid has room for, also on a phone."""

_WHOLE = 0.75
"""Shares from which on an axis ends at 100 %."""


def _category(chart: Chart, field: ChartField, rows: pl.DataFrame) -> dict[str, Any]:
    """Return the encoding of names, bins or times along a chart of bars or cells, by Altair's names."""
    steps = every_step(chart, rows)
    domain = steps and alt.Scale(domain=steps)
    return {"title": _along_title(chart, field, rows), "sort": _order(chart, rows), "axis": _axis(chart, rows)} | (
        {"scale": domain} if domain else {}
    )


def _along_title(chart: Chart, field: ChartField, rows: pl.DataFrame) -> str:
    """Return the title of x; of bins, with their width."""
    size = bin_size(chart, rows)
    return f"{field.title} (in steps of {size:,})" if size and size > 1 else field.title


def _order(chart: Chart, rows: pl.DataFrame) -> Any:
    """Return the order of the categories: that of the rows, unless it is that of the categories themselves."""
    is_text_of_others = rows.schema[X] == pl.String and rows.schema[chart.x] != pl.String
    if chart.largest_first or chart.along or (is_text_of_others and not chart.truncated_to):
        return rows[X].unique(maintain_order=True).to_list()
    return "ascending"


def _axis(chart: Chart, rows: pl.DataFrame) -> Any:
    if chart.horizontal:
        return alt.Axis(labelLimit=220, labelOverlap=False, labelFlush=False)
    names = rows[X].cast(pl.String).unique()
    is_short = (
        rows.schema[X].is_numeric()
        or chart.truncated_to is not None
        or names.str.len_chars().sum() <= _LETTERS * chart.width
    )
    if is_short:
        return alt.Axis(labelOverlap=True, labelAngle=0)
    # Vega takes slanted names for as wide as they are long, and would leave out every second of a few.
    return alt.Axis(labelOverlap=len(names) > _SLANTED * chart.width, labelAngle=-45, labelLimit=160)


def _value(chart: Chart, columns: list[ChartField], rows: pl.DataFrame) -> dict[str, Any]:
    """Return the encoding of the values of bars or points, by Altair's names."""
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


def _d3(metric: Metric | None) -> str:
    """Return D3's format of a metric's numbers, for tooltips."""
    return NUMBERS[metric.format].d3 if metric else ""


X, SERIES, VALUE, ORDER, SHOWN, LEADS = "_x", "_series", "_value", "_order", "_shown", "_leads"
"""Columns of the drawn rows, in addition to the chart's own."""

_MOST_STEPS = 500
"""Bins or times from the first to the last that are all drawn."""

STEPS = {Grain.YEAR: "1y", Grain.MONTH: "1mo", Grain.WEEK: "1w", Grain.DAY: "1d"}
"""Units of time, as Polars has them."""


def marks(
    chart: Chart, columns: list[ChartField], rows: pl.DataFrame, leads: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return one row per mark, metric by metric; ``leads`` are the addresses that the rows lead to.

    Texts are as displayed: Vega writes those that distinguish marks into expressions, which a Unicode line end,
    for one, would break.
    """
    titles = {field.name: field.title for field in columns}
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
    return rows.with_columns(_along(chart, rows).alias(chart.x)) if chart.truncated_to else rows


def _along(chart: Chart, rows: pl.DataFrame) -> pl.Expr:
    """Return x: as numbers if they are and can stay so, otherwise as texts."""
    x = column(chart.x)
    if chart.truncated_to:
        return x.dt.to_string(TIMES[chart.truncated_to].strftime).fill_null(nothing(chart.x))
    if rows.schema[chart.x].is_numeric() and (chart.kind is ChartKind.LINE or not rows[chart.x].has_nulls()):
        return x
    return _named(chart.x)


def _shown(chart: Chart, rows: pl.DataFrame) -> pl.Expr:
    """Return x for tooltips: a bin by its ends."""
    x = column(chart.x)
    step = bin_size(chart, rows)
    if not step or step == 1:
        return _along(chart, rows).cast(pl.String)
    return pl.format("{} to {}", x, x + step - 1).fill_null(nothing(chart.x))


def _named(name: str) -> pl.Expr:
    """Return a column as texts, with words for its nulls."""
    return column(name).cast(pl.String).fill_null(nothing(name))


def bin_size(chart: Chart, rows: pl.DataFrame) -> int | None:
    """Return the width of the bins along x, or None if it has none."""
    if not chart.x.endswith("_bin") or not rows.schema[chart.x].is_integer():
        return None
    values = rows[chart.x].drop_nulls().unique()
    return gcd(*values.to_list()) or None


def every_step(chart: Chart, rows: pl.DataFrame) -> list[Any] | None:
    """Return all values along x, also bins, numbers and times that no row has, or None if these are names."""
    if chart.largest_first or chart.along or rows.is_empty():
        return None
    if recurring := _recurring_steps(chart, chart.x, rows):
        return recurring
    values = rows[chart.x]
    known = values.drop_nulls()
    if known.is_empty() or not (chart.truncated_to or known.dtype.is_integer()):
        return None
    least: Any = known.min()
    most: Any = known.max()
    if unit := chart.truncated_to:
        steps = pl.select(pl.datetime_range(least, most, STEPS[unit]).dt.to_string(TIMES[unit].strftime))
        found = steps.to_series().to_list()
    else:
        found = list(range(least, most + 1, bin_size(chart, rows) or 1))
        found = [str(step) for step in found] if values.has_nulls() else found
    return None if len(found) > _MOST_STEPS else [*found, *[nothing(chart.x)] * values.has_nulls()]


def _recurring_steps(chart: Chart, name: str, rows: pl.DataFrame) -> list[Any] | None:
    """Return all hours of a day or days of a week, if a column has such, or None."""
    grain, has_nulls = chart.recurring(name), rows[name].has_nulls()
    if grain is None or (grain is Grain.HOUR and not rows.schema[name].is_integer()):
        return None
    hours: list[Any] = [*map(str, HOURS)] if has_nulls else [*HOURS]
    return [*(WEEKDAYS if grain is Grain.WEEKDAY else hours), *[nothing(name)] * has_nulls]


VERSION = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""Of Vega-Lite, as Altair writes it."""

_PICTURE_WIDTH = 640
"""Pixels of a picture with its axes."""

_SCALE = 2
"""Pixels of a PNG for each of these: so that it can be printed."""

_PICTURE_CONFIG = {"background": "white", "autosize": {"type": "fit-x", "contains": "padding"}, "padding": 12}


def picture(chart: Any, title: str, file_format: Literal["svg", "png"]) -> bytes:
    """Return a chart of ``draw`` as a file, made without the network."""
    import vl_convert  # only here, for it takes a while

    # Not checked against the schema of Vega-Lite, which takes as long again: the tests of charts do that.
    specification = chart.properties(width=_PICTURE_WIDTH, title=visible(title)).to_dict(validate=False)
    options: dict[str, Any] = {"vl_version": VERSION, "config": _PICTURE_CONFIG, "allowed_base_urls": []}
    if file_format == "png":
        return vl_convert.vegalite_to_png(specification, scale=_SCALE, **options)
    return vl_convert.vegalite_to_svg(specification, **options).encode()


def file_name(title: str, ending: str) -> str:
    """Return the name of a file for a title."""
    name = re.sub(r"[^\w.-]+", "_", title).strip("_.") or "chart"
    return f"{name}.{ending}"
