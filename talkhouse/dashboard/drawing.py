"""Draws the declared dashboards: what was found, their filters, then their charts in rows as wide as declared."""

from collections.abc import Iterable

import streamlit as st

from talkhouse.charts.declared import Chart, ChartKind, Dashboard, Filter, rows_of_charts
from talkhouse.charts.query import OPTIONS, Choices, filter_sql, sql_of_filter
from talkhouse.dashboard import chart_on_page, errors, headlines
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.schema.errors import CatalogueError
from talkhouse.visible import visible

_TILE = 168
"""Pixels of a number: two stand side by side on a phone."""


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
    # On a phone two stand side by side, where columns would stand one below another.
    with st.container(horizontal=True):
        return {
            choice.column: st.multiselect(
                plain(choice.title),
                options,
                key=choice.column,
                bind="query-params",
                format_func=visible,
                placeholder="All",
            )
            for choice, options in wanted
        }


def _options(opened: Warehouse, choice: Filter) -> list[str]:
    with sql_of_filter(choice, opened.query_files):
        return opened.rows_of_pages(filter_sql(choice, OPTIONS)).to_series().to_list()


def put_charts(opened: Warehouse, charts: Iterable[Chart], choices: Choices, *, level: int = 2) -> None:
    """Draw charts of a dashboard row by row, below headings of a level.

    One that can't be computed says so in its place.
    """
    for row in rows_of_charts(charts):
        if all(chart.kind is ChartKind.NUMBER for chart in row):
            with st.container(horizontal=True):
                for chart in row:
                    with st.container(border=True, width="stretch"):
                        _put(opened, chart, choices, level)
            continue
        for column, chart in zip(st.columns([chart.width for chart in row]), row, strict=True):
            with column:
                _put(opened, chart, choices, level)


def _put(opened: Warehouse, chart: Chart, choices: Choices, level: int) -> None:
    try:
        chart_on_page.put(opened, chart, choices, level, opened.rows_of_pages)
    except CatalogueError as error:
        errors.show(str(error), f"The chart '{plain(chart.title)}' can't be shown.")
