"""Draws the declared dashboards: what was found, their filters, then their charts in rows as wide as declared."""

from collections.abc import Iterable
from itertools import groupby

import streamlit as st

from talkhouse.charts.declared import Chart, ChartKind, Dashboard, Filter, Headline, rows_of_charts
from talkhouse.charts.query import OPTIONS, Choices, filter_sql, sql_of_filter
from talkhouse.charts.words import FilledHeadline, fill
from talkhouse.dashboard import chart_on_page, errors, links, receipt
from talkhouse.dashboard.text import linked, plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.schema.errors import CatalogueError
from talkhouse.visible import visible

_PAGES = {"read": "Read", "tasks": "Examples", "sql": "SQL"}
"""What a link to a page is called; to another one, More."""


def draw_headlines(opened: Warehouse, headlines: Iterable[Headline]) -> None:
    """Draw the sentences that have something to say, one below another, and what opens their receipts.

    One that is broken says so in its place.
    """
    lines, queries = [], {}
    for headline in headlines:
        try:
            found = fill(opened.rows_of_pages, headline, opened.query_files)
        except CatalogueError as error:
            errors.show(str(error), f"The headline '{plain(headline.sentence)}' can't be shown.")
            continue
        if found:
            lines.append(f"- {line(found)}")
            queries[found.text] = found.sql
    if lines:
        st.markdown("\n".join(lines))
        receipt.draw_choice(opened, queries)


def line(found: FilledHeadline) -> str:
    """Return a sentence as Markdown, its link after it."""
    runs = groupby(found.parts, key=lambda part: part[1])
    sentence = "".join(_bold(_joined(parts)) if is_value else plain(_joined(parts)) for is_value, parts in runs)
    return f"{sentence} {_link(found)}".rstrip()


def _joined(parts: Iterable[tuple[str, bool]]) -> str:
    return "".join(text for text, _ in parts)


def _bold(text: str) -> str:
    """Write values in bold: Markdown has none for an empty text, nor beside the white space at its ends."""
    inner = text.strip()
    if not inner:
        return plain(text)
    start, _, end = text.partition(inner)
    return f"{plain(start)}**{plain(inner)}**{plain(end)}"


def _link(found: FilledHeadline) -> str:
    if found.dialogue_id or found.record_id:
        return linked("Read", links.read(found.dialogue_id, found.turn_index, record_id=found.record_id))
    return linked(_PAGES.get(found.link.partition("?")[0], "More"), found.link) if found.link else ""


_TILE = 168
"""Pixels of a number: two stand side by side on a phone."""


def draw_dashboard(opened: Warehouse, dashboard: Dashboard) -> None:
    """Draw a dashboard below what is on the page: what was found first."""
    draw_headlines(opened, dashboard.headlines)
    choices = draw_filters(opened, dashboard.filters)
    draw_charts(opened, dashboard.charts, choices)


def draw_filters(opened: Warehouse, filters: Iterable[Filter]) -> Choices:
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


def draw_charts(opened: Warehouse, charts: Iterable[Chart], choices: Choices, *, level: int = 2) -> None:
    """Draw charts of a dashboard row by row, below headings of a level.

    One that can't be computed says so in its place.
    """
    for row in rows_of_charts(charts):
        if all(chart.kind is ChartKind.NUMBER for chart in row):
            with st.container(horizontal=True):
                for chart in row:
                    with st.container(border=True, width="stretch"):
                        _draw(opened, chart, choices, level)
            continue
        for column, chart in zip(st.columns([chart.width for chart in row]), row, strict=True):
            with column:
                _draw(opened, chart, choices, level)


def _draw(opened: Warehouse, chart: Chart, choices: Choices, level: int) -> None:
    try:
        chart_on_page.draw_on_page(opened, chart, choices, level, opened.rows_of_pages)
    except CatalogueError as error:
        errors.show(str(error), f"The chart '{plain(chart.title)}' can't be shown.")
