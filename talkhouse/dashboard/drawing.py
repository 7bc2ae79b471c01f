"""Draws the declared dashboards: their filters, then their charts in rows as wide as declared."""

from collections.abc import Iterable

import polars as pl
import streamlit as st

from talkhouse.charts.declared import Chart, Dashboard, Filter, Kind, metrics
from talkhouse.charts.draw import draw
from talkhouse.charts.errors import sql_of_chart, sql_of_filter
from talkhouse.charts.fields import Field, fields
from talkhouse.charts.formats import NOTHING, NUMBERS, number
from talkhouse.charts.grid import rows_of_charts
from talkhouse.charts.query import Choices, chart_sql, filter_sql, narrowed
from talkhouse.dashboard import errors, headlines
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.queries.catalogue import BI
from talkhouse.schema.errors import CatalogueError
from talkhouse.visible import visible
from talkhouse.warehouse.relations import columns_of

_OPTIONS = 1_000
"""Values that a filter offers at most."""

_TABLE_HEIGHT = 420


def put(opened: Warehouse, dashboard: Dashboard) -> None:
    """Draw a dashboard below what is on the page: what was found first."""
    headlines.put(opened, dashboard.headlines)
    choices = put_filters(opened, dashboard.filters)
    put_charts(opened, dashboard.charts, choices)


def put_filters(opened: Warehouse, filters: Iterable[Filter]) -> Choices:
    """Draw the filters, whose state is in the URL, and return what was chosen; one with a single value is left out."""
    offered = [(choice, _options(opened, choice)) for choice in filters]
    wanted = [(choice, options) for choice, options in offered if len(options) > 1]
    if not wanted:
        return {}
    columns = st.columns(len(wanted))
    return {
        choice.column: column.multiselect(
            choice.title, options, key=choice.column, bind="query-params", format_func=visible, placeholder="All"
        )
        for column, (choice, options) in zip(columns, wanted, strict=True)
    }


def _options(opened: Warehouse, choice: Filter) -> list[str]:
    with sql_of_filter(choice, opened.query_files):
        return opened.rows(filter_sql(choice, _OPTIONS)).to_series().to_list()


def put_charts(opened: Warehouse, charts: Iterable[Chart], choices: Choices) -> None:
    """Draw charts row by row; one that can't be computed says so in its place."""
    for row in rows_of_charts(charts):
        for column, chart in zip(st.columns([chart.width for chart in row]), row, strict=True):
            with column:
                try:
                    _put_chart(opened, chart, choices)
                except CatalogueError as error:
                    errors.show(str(error), f"The chart '{plain(chart.title)}' can't be shown.")


def _put_chart(opened: Warehouse, chart: Chart, choices: Choices) -> None:
    of_view = metrics(opened.query_files).get(chart.view, {})
    with sql_of_chart(opened.rows, chart, opened.query_files):
        rows = opened.rows(chart_sql(_narrowed(opened, chart, choices), of_view))
    columns = fields(chart, of_view)
    if chart.kind is Kind.NUMBER:
        _put_number(chart, columns[0], rows)
        return
    st.markdown(f"**{plain(chart.title)}**", help=plain(chart.description, lines=True) or None)
    if rows.is_empty():
        st.caption("No rows.")
    elif chart.kind is Kind.TABLE:
        put_table(rows, columns)
    else:
        st.altair_chart(draw(chart, of_view, rows), width="stretch")


def _narrowed(opened: Warehouse, chart: Chart, choices: Choices) -> Chart:
    with opened.connection() as con:
        return narrowed(chart, choices, [column["name"] for column in columns_of(con, BI, chart.view)])


def _put_number(chart: Chart, column: Field, rows: pl.DataFrame) -> None:
    assert column.metric  # noqa: S101 - a number has a metric and nothing else
    value = number(rows.item(), column.metric.format)
    st.metric(chart.title, value, help=chart.description or column.metric.description or None, border=True)


def put_table(rows: pl.DataFrame, columns: Iterable[Field]) -> None:
    """Draw rows as a table with titles, and numbers as their metrics have them."""
    config = {
        column.name: st.column_config.NumberColumn(column.title, format=NUMBERS[column.format].streamlit)
        if column.format
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
