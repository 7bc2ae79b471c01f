"""Charts and headlines in words: of charts with one mark or none, those that can't be seen, and rows left out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from string import Formatter
from typing import Any, NamedTuple

import duckdb
import polars as pl

from talkhouse.charts.declarations import DeclaredDashboard
from talkhouse.charts.declared import MOST_ROWS, Chart, ChartKind, Headline, Metric, NumberFormat, metric
from talkhouse.charts.fields import TIMES, ChartField, Rows, column, frame, nothing, number, title
from talkhouse.charts.query import DIGITS, TIED, TOTAL, broken_headline, sql_of_headline
from talkhouse.escaping import visible
from talkhouse.queries.files import Files

_KINDS = {ChartKind.BAR: "Bar chart", ChartKind.LINE: "Line chart", ChartKind.HEATMAP: "Heat map"}


def alternative(chart: Chart, columns: list[ChartField], rows: pl.DataFrame) -> str:
    """Return a chart's alternative text: its columns, and the least and the largest value of each metric."""
    by = [column.title.lower() for column in columns if column.metric is None]
    shown = [column for column in columns if column.name in chart.metrics]
    what = f"{_KINDS[chart.kind]}: {', '.join(column.title for column in shown)} by {' and '.join(by)}."
    return visible(" ".join([what, *(_range(chart, column, rows) for column in shown)]).rstrip())


def single(chart: Chart, columns: list[ChartField], rows: pl.DataFrame) -> str | None:
    """Return a sentence for a chart of bars or lines that would have one mark, or None if it has more or none."""
    if rows.height != 1 or len(chart.metrics) != 1 or chart.kind not in (ChartKind.BAR, ChartKind.LINE):
        return None
    row = rows.row(0, named=True)
    metric, *counts = [column for column in columns if column.metric]
    where = [(column.title.lower(), _value(chart, column.name, row)) for column in columns if not column.metric]
    others = [f"{column.title.lower()} {_written(column, row)}" for column in counts]
    if metric.format is NumberFormat.INTEGER and row[metric.name]:
        places = ", ".join(f"{title} {value}" for title, value in where)
        sentence = f"All {_written(metric, row)} {metric.title.lower()}: {places}"
        if row[metric.name] == 1:
            sentence = f"{metric.title}: 1 ({places})"
        return ", ".join([sentence, *others]) + "."
    places = " and ".join(f"{title} is {value}" for title, value in where)
    return ", ".join([f"The only {places}: {metric.title.lower()} {_written(metric, row)}", *others]) + "."


def only_zero(chart: Chart, columns: list[ChartField], rows: pl.DataFrame) -> str | None:
    """Return a sentence for a chart whose bars or points would all be 0, which looks like one without any."""
    shown = [column for column in columns if column.name in chart.metrics]
    values = pl.concat([rows[column.name].cast(pl.Float64) for column in shown]).drop_nulls()
    if chart.kind not in (ChartKind.BAR, ChartKind.LINE) or values.is_empty() or (values != 0).any():
        return None
    by = " and ".join(column.title.lower() for column in columns if column.metric is None)
    zeros = " and ".join(f"{column.title.lower()} {_written(column, {column.name: 0})}" for column in shown)
    return f"By {by}, in each of {rows.height:,} cases: {zeros}."


def _range(chart: Chart, metric: ChartField, rows: pl.DataFrame) -> str:
    known = rows.filter(column(metric.name).is_not_null()).sort(column(metric.name), maintain_order=True)
    if known.is_empty():
        return ""
    least, most = (
        f"{_written(metric, row)} ({', '.join(_value(chart, name, row) for name in chart.columns)})"
        for row in (known.row(0, named=True), known.row(-1, named=True))
    )
    return f"{metric.title}: {least}." if known.height == 1 else f"{metric.title}: from {least} to {most}."


def _written(column: ChartField, row: Mapping[str, Any]) -> str:
    return number(row[column.name], column.format) if column.format else str(row[column.name])


def _value(chart: Chart, column: str, row: Mapping[str, Any]) -> str:
    """Return a value that marks are grouped by, as it is shown."""
    value = row[column]
    if value is None:
        return nothing(column)
    return (
        value.strftime(TIMES[chart.truncated_to].strftime) if chart.truncated_to and column == chart.x else str(value)
    )


class Cut(NamedTuple):
    """The rows that a limit leaves out."""

    total: int
    """Rows without the limit."""
    note: str
    """The number of rows that tie at the limit; empty if no left-out row is as large as the last one shown."""


def is_cut(chart: Chart) -> bool:
    """Whether rows left out by a chart's limit are worth a note: it is a table, or has a limit of its own."""
    return bool(chart.columns) and (chart.kind is ChartKind.TABLE or chart.limit < MOST_ROWS)


def cut(chart: Chart, metrics: Mapping[str, Metric], rows: pl.DataFrame) -> Cut | None:
    """Return the rows of a chart's ``counted_sql`` that its limit leaves out, or None if it has fewer rows."""
    if rows.height < chart.limit:
        return None
    values = rows[chart.metrics[0]]
    total, tied = rows[TOTAL][-1], rows[TIED][-1]
    if not chart.largest_first or values[-1] is None:
        return Cut(total, "")
    last = round(values[-1], DIGITS)
    shown = int((values.round(DIGITS) == last).sum())
    if tied == shown:
        return Cut(total, "")
    at = number(last, metric(chart.metrics[0], metrics).format)
    order = ", ".join(title(column).lower() for column in chart.columns[:3])
    return Cut(total, f"{tied:,} tie at {at}; {shown:,} of them {'is' if shown == 1 else 'are'} shown, by {order}.")


@dataclass(frozen=True)
class FilledHeadline:
    """A headline with its values, and the dialogue or page that it leads to."""

    parts: tuple[tuple[str, bool], ...]
    """The sentence in pieces; true marks a value of the row, which may be text of a corpus."""
    sql: str
    dialogue_id: str | None = None
    turn_index: int | None = None
    record_id: str | None = None
    link: str = ""
    """The page that it leads to, if it has no place."""

    @property
    def text(self) -> str:
        """The sentence."""
        return "".join(text for text, _ in self.parts)


def headlines(
    con: duckdb.DuckDBPyConnection, declared: DeclaredDashboard, files: Files | None = None
) -> list[FilledHeadline]:
    """Return the headlines of a dashboard that have values; CatalogueError names file and line of a broken one."""
    return [found for headline in declared.dashboard.headlines if (found := fill(partial(frame, con), headline, files))]


def fill(rows: Rows, headline: Headline, files: Files | None = None) -> FilledHeadline | None:
    """Return a filled headline, or None if its values are missing; ``rows`` runs its query."""
    with sql_of_headline(headline, files):
        result = rows(headline.sql)
    if result.height > 1:
        raise broken_headline(headline, f"{result.height:,} rows", "a query of one row", files)
    for name, how in headline.named:
        if name not in result.columns or (
            how and not (result[name].dtype.is_numeric() or result[name].dtype == pl.Null)
        ):
            expected = f"a column {name}" + (" of numbers" if how else "")
            raise broken_headline(headline, f"the columns {', '.join(result.columns)}", expected, files)
    if result.is_empty():
        return None
    row = result.to_dicts()[0]
    if any(row[name] is None for name, _ in headline.named):
        return None
    places = {name: row.get(name) for name in ("dialogue_id", "turn_index", "record_id")}
    return FilledHeadline(tuple(_parts(headline, row)), headline.sql, link=headline.link, **places)


def _parts(headline: Headline, row: Mapping[str, Any]) -> Iterable[tuple[str, bool]]:
    for text, name, how, _ in Formatter().parse(headline.sentence):
        if text:
            yield text, False
        if name is not None:
            value = row[name]
            yield number(value, NumberFormat(how)) if how else str(value), True
