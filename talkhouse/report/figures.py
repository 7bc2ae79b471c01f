"""The declared charts as figures of the page: what Vega draws, and the same numbers as a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import msgspec
import polars as pl

from talkhouse.charts.declared import Chart, Declared, Kind, Metric, metrics
from talkhouse.charts.draw import draw
from talkhouse.charts.errors import sql_of_chart
from talkhouse.charts.fields import Field, fields
from talkhouse.charts.query import chart_sql
from talkhouse.charts.rows import frame
from talkhouse.queries.catalogue import BI
from talkhouse.queries.files import Files
from talkhouse.report.drawing import drawing
from talkhouse.report.tables import MOST_ROWS, Table, cell, made
from talkhouse.visible import visible

_MOST_MARKS = 2_000
"""Bars, points or cells of a chart that are drawn at most."""

_DIGITS = 9
"""Of a number that is not whole. DuckDB's threads add up in any order, which shows in the last of all digits."""

_KINDS = {Kind.BAR: "Bar chart", Kind.LINE: "Line chart", Kind.HEATMAP: "Heat map"}


@dataclass(frozen=True)
class Figure:
    """A chart of the page: a single number, or a drawing with its numbers as a table, or the table alone."""

    id: str
    title: str
    description: str
    width: int
    """Columns of a grid of 12."""
    number: str = ""
    drawing: dict[str, Any] | None = None
    """What Vega draws."""
    alt: str = ""
    table: Table | None = None
    note: str = ""


def figures(con: duckdb.DuckDBPyConnection, declared: Declared, files: Files, *, tables: bool) -> Iterator[Figure]:
    """Yield the charts of a declared dashboard in its order; those that are tables only if ``tables``."""
    known = metrics(files)
    for position, chart in enumerate(declared.dashboard.charts, start=1):
        if tables or chart.kind is not Kind.TABLE:
            yield _figure(con, f"{declared.name}-{position}", chart, known.get(chart.view, {}), files)


def _figure(
    con: duckdb.DuckDBPyConnection, name: str, chart: Chart, of_view: Mapping[str, Metric], files: Files
) -> Figure:
    most = MOST_ROWS if chart.kind is Kind.TABLE else _MOST_MARKS
    one_more = msgspec.structs.replace(chart, limit=min(chart.limit, most + 1))
    with sql_of_chart(con.execute, chart, files):
        rows = _readable(frame(con, chart_sql(one_more, of_view)))
    columns = fields(chart, of_view)
    figure = Figure(name, chart.title, chart.description.strip(), chart.width)
    if chart.kind is Kind.NUMBER:
        return replace(figure, number=cell(rows.item(), columns[0].format))
    figure = replace(figure, table=_table(columns, rows, f"{BI}.{chart.view}"))
    if chart.kind is Kind.TABLE or rows.is_empty():
        return figure
    note = f"The first {most:,} marks; all of them are in {BI}.{chart.view}." if rows.height > most else ""
    return replace(figure, drawing=drawing(draw(chart, of_view, rows.head(most))), alt=_alt(chart, columns), note=note)


def _readable(rows: pl.DataFrame) -> pl.DataFrame:
    """Write out what acts or hides in texts, and round what the threads of DuckDB may add up otherwise."""
    texts = pl.col(pl.String).map_elements(visible, return_dtype=pl.String)
    return rows.with_columns(texts, pl.col(pl.Float64).round_sig_figs(_DIGITS))


def _table(columns: Sequence[Field], rows: pl.DataFrame, source: str) -> Table:
    return made([column.title for column in columns], [column.format for column in columns], rows.iter_rows(), source)


def _alt(chart: Chart, columns: Sequence[Field]) -> str:
    by = [column.title for column in columns if column.metric is None]
    shown = [column.title for column in columns if column.name in chart.metrics]
    return f"{_KINDS[chart.kind]}: {', '.join(shown)} by {' and '.join(by)}. The table below it has the numbers."
