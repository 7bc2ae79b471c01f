"""The rows of a query as a frame, their columns with titles, and the format of numbers and times."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import duckdb
import polars as pl
from polars.selectors import by_name

from talkhouse.charts.declared import ROW_COUNT, WEEKDAYS, Chart, Grain, Metric, NumberFormat, metric
from talkhouse.escaping import visible
from talkhouse.schema.toml_files import toml_of

_NOT_SAID = ("_id", "_bin", "_index")

_UNITS = {"_percent": "%", "_seconds": "seconds", "_hours": "hours", "_ms": "ms"}
"""Suffixes of names for the unit of a value."""

_OF_SEVERAL = {"known_speaker_name": "people without a known name"}
"""The text for a null that stands for several things, and not for a thing without a name."""


@dataclass(frozen=True)
class ChartField:
    """A column of a chart's rows; ``metric`` is None if the chart groups by it."""

    name: str
    title: str
    metric: Metric | None = None

    @property
    def format(self) -> NumberFormat | None:
        """The format of its numbers; None: it may have texts."""
        return self.metric.format if self.metric else None


def fields(chart: Chart, metrics: Mapping[str, Metric]) -> list[ChartField]:
    """Return the columns that ``talkhouse.charts.query`` gives for a chart, in its order."""
    aggregates = ((name, metric(name, metrics)) for name in (*chart.metrics, *chart.counts))
    return [
        *(ChartField(column, along(chart) if column == chart.x else title(column)) for column in chart.columns),
        *(ChartField(name, _counted(chart, name) or aggregate.title, aggregate) for name, aggregate in aggregates),
    ]


def _counted(chart: Chart, name: str) -> str:
    """Return the title of a count of rows, which the view is named by: Turns for record_turns."""
    return title(chart.view.removeprefix("record_")) if name == ROW_COUNT else ""


def along(chart: Chart) -> str:
    """Return the title of x: a time that is truncated is called by its unit."""
    return chart.grain.capitalize() if chart.grain else title(chart.x)


def title(column: str) -> str:
    """Return a column's name as a title: ``corpus_id`` is Corpus, ``turn_count_bin`` is Number of turns."""
    titles = toml_of(__file__, "titles")
    if column in titles:
        return str(titles[column])
    for ending in _NOT_SAID:
        column = column.removesuffix(ending)
    column = column.removesuffix("_name") if column.endswith(("speaker_name", "user_name")) else column
    if column.endswith("_count"):
        column = _number_of(column.removesuffix("_count"))
    for ending, unit in _UNITS.items():
        if column.endswith(ending):
            column = f"{column.removesuffix(ending)} ({unit})"
    words = column.removeprefix("is_").replace("_", " ")
    return words[:1].upper() + words[1:]


def with_weekdays(chart: Chart, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a chart's query with the days of the week by their names, which stay in their order."""
    days = [name for name in chart.columns if chart.recurring(name) is Grain.WEEKDAY]
    numbers = dict(enumerate(WEEKDAYS, start=1))
    kind = pl.Enum(WEEKDAYS)
    return rows.with_columns(column(name).replace_strict(numbers, default=None, return_dtype=kind) for name in days)


def nothing(name: str) -> str:
    """Return the text for a null that marks are grouped by: ``no split``."""
    return _OF_SEVERAL.get(name, visible(f"no {title(name).lower()}"))


def _number_of(what: str) -> str:
    """Return the title of a count: of things, those with a property, or uses of a label of one letter."""
    if what.endswith("ed"):
        return f"number {what}"
    if len(what) == 1:
        return f"number of {what.upper()}"
    return f"number of {what.removesuffix('y')}ies" if what.endswith("ty") else f"number of {what}s"


class NumberFormatByTool(NamedTuple):
    """A number format, as each tool has it."""

    python: str
    d3: str
    d3_axis: str
    """Along an axis: without more decimals than its ticks need."""
    streamlit: str


class TimeFormatByTool(NamedTuple):
    """A unit of time, as each tool has it."""

    strftime: str
    iso_8601: str


NUMBERS = {
    NumberFormat.INTEGER: NumberFormatByTool(",.0f", ",d", "~s", "localized"),
    NumberFormat.DECIMAL: NumberFormatByTool(",.2f", ",.2f", ",.2~f", "%.2f"),
    NumberFormat.PRECISE: NumberFormatByTool(",.3f", ",.3f", ",.3~f", "%.3f"),
    NumberFormat.PERCENT: NumberFormatByTool(",.1%", ",.1%", "~%", "percent"),
}

TIMES = {
    Grain.YEAR: TimeFormatByTool("%Y", "P1Y"),
    Grain.MONTH: TimeFormatByTool("%Y-%m", "P1M"),
    Grain.WEEK: TimeFormatByTool("%Y-%m-%d", "P1W"),  # of its Monday
    Grain.DAY: TimeFormatByTool("%Y-%m-%d", "P1D"),
}

NOTHING = "\N{EN DASH}"
"""Shown in tables for null."""


def number(value: float | None, how: NumberFormat) -> str:
    """Write a number as people read it; an en dash for none."""
    return NOTHING if value is None else format(value, NUMBERS[how].python)


Rows = Callable[[str], pl.DataFrame]
"""Runs a query and returns all of its rows."""


def frame(con: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, object] | None = None) -> pl.DataFrame:
    """Run a query and return all of its rows; sums, which DuckDB makes wider than 64 bits, are integers here."""
    rows = pl.from_arrow(con.sql(sql, params=dict(values) if values else None).to_arrow_table())
    assert isinstance(rows, pl.DataFrame)  # noqa: S101 - a table has columns
    sums = {name: kind.scale for name, kind in rows.schema.items() if isinstance(kind, pl.Decimal)}
    return rows.with_columns(rows[name].cast(pl.Float64 if scale else pl.Int64) for name, scale in sums.items())


def column(name: str) -> pl.Expr:
    """Return the column of this name; ``pl.col`` takes a name for a pattern that looks like one, as ``*`` does."""
    return by_name(name).as_expr()
