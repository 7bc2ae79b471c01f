"""Draws the declared dashboards: their filters, then their charts in rows as wide as declared."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec
import polars as pl
import streamlit as st

from talkhouse.charts.draw import draw
from talkhouse.charts.fields import Field, fields, number
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.queries.catalogue import BI
from talkhouse.queries.chart_sql import chart_sql
from talkhouse.queries.dashboards import COLUMNS, Chart, Dashboard, Filter, Kind, NumberFormat, metrics
from talkhouse.relations import columns_of
from talkhouse.schema.sql import literal, quoted
from talkhouse.visible import visible

Choices = Mapping[str, list[str]]
"""Column -> the values that were chosen; none chosen means all."""

_OPTIONS = 1_000
"""Values that a filter offers at most."""

_COLUMN_FORMATS = {NumberFormat.INTEGER: "localized", NumberFormat.DECIMAL: "%.2f", NumberFormat.PERCENT: "percent"}
_TABLE_HEIGHT = 420

NOTHING = "\N{EN DASH}"
"""Shown in tables for null."""


def put(opened: Warehouse, dashboard: Dashboard) -> None:
    """Draw a dashboard below what is on the page."""
    choices = put_filters(opened, dashboard.filters)
    put_charts(opened, dashboard.charts, choices)


def put_filters(opened: Warehouse, filters: Iterable[Filter]) -> Choices:
    """Draw the filters, whose state is in the URL, and return what was chosen; one with a single value is left out."""
    offered = [(one, _options(opened, one)) for one in filters]
    wanted = [(one, options) for one, options in offered if len(options) > 1]
    if not wanted:
        return {}
    columns = st.columns(len(wanted))
    return {
        one.column: column.multiselect(
            one.title, options, key=one.column, bind="query-params", format_func=visible, placeholder="All"
        )
        for column, (one, options) in zip(columns, wanted, strict=True)
    }


def _options(opened: Warehouse, one: Filter) -> list[str]:
    where = f"{quoted(one.column)} is not null" + (f" and ({one.where})" if one.where else "")
    column = quoted(one.column)
    sql = f"select distinct {column}::varchar from {BI}.{quoted(one.view)} where {where} order by all limit {_OPTIONS}"
    return opened.rows(sql).to_series().to_list()


def put_charts(opened: Warehouse, charts: Iterable[Chart], choices: Choices) -> None:
    """Draw charts row by row."""
    for row in _rows_of_charts(charts):
        for column, chart in zip(st.columns([chart.width for chart in row]), row, strict=True):
            with column:
                _put_chart(opened, chart, choices)


def _rows_of_charts(charts: Iterable[Chart]) -> Iterator[list[Chart]]:
    """Divide charts into rows of the grid, as their widths allow."""
    row: list[Chart] = []
    for chart in charts:
        if sum(one.width for one in row) + chart.width > COLUMNS:
            yield row
            row = []
        row.append(chart)
    if row:
        yield row


def _put_chart(opened: Warehouse, chart: Chart, choices: Choices) -> None:
    of_view = metrics().get(chart.view, {})
    rows = opened.rows(chart_sql(_narrowed(opened, chart, choices), of_view))
    columns = fields(chart, of_view)
    if chart.kind is Kind.NUMBER:
        _put_number(chart, columns[0], rows)
        return
    st.markdown(f"**{chart.title}**", help=chart.description or None)
    if rows.is_empty():
        st.caption("No rows.")
    elif chart.kind is Kind.TABLE:
        put_table(rows, columns)
    else:
        st.altair_chart(draw(chart, of_view, rows), width="stretch")


def _narrowed(opened: Warehouse, chart: Chart, choices: Choices) -> Chart:
    """Return the chart with the choices as further conditions, where its view has the columns."""
    chosen = {column: values for column, values in choices.items() if values}
    if not chosen:
        return chart
    with opened.connection() as con:
        known = {column["name"] for column in columns_of(con, BI, chart.view)}
    conditions = [f"({chart.where})"] if chart.where else []
    for column in sorted(chosen.keys() & known):
        conditions.append(f"{quoted(column)} in ({', '.join(map(literal, chosen[column]))})")
    return msgspec.structs.replace(chart, where=" and ".join(conditions))


def _put_number(chart: Chart, column: Field, rows: pl.DataFrame) -> None:
    assert column.metric  # noqa: S101 - a number has a metric and nothing else
    value = number(rows.item(), column.metric.format)
    st.metric(chart.title, value, help=chart.description or column.metric.description or None, border=True)


def put_table(rows: pl.DataFrame, columns: Iterable[Field]) -> None:
    """Draw rows as a table with titles, and numbers as their metrics have them."""
    config = {
        column.name: st.column_config.NumberColumn(column.title, format=_COLUMN_FORMATS[column.metric.format])
        if column.metric
        else st.column_config.Column(column.title)
        for column in columns
    }
    # By Arrow: of a Polars frame Streamlit makes a Pandas one.
    st.dataframe(
        rows.to_arrow(),
        column_config=config,
        hide_index=True,
        placeholder=NOTHING,
        height=min(38 + 35 * rows.height, _TABLE_HEIGHT),
    )
