"""Draws declared dashboards: headlines, filters, and charts in rows, each with its numbers and its receipt."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from math import ceil
from typing import Any

import polars as pl
import streamlit as st

from talkhouse.charts import words
from talkhouse.charts.declarations import metrics
from talkhouse.charts.declared import Chart, ChartKind, Dashboard, Filter, Headline, rows_of_charts
from talkhouse.charts.draw import draw, file_name, picture, with_units
from talkhouse.charts.fields import NOTHING, NUMBERS, ChartField, Rows, fields, number, with_weekdays
from talkhouse.charts.query import (
    OPTIONS,
    TIED,
    TOTAL,
    Choices,
    chart_sql,
    counted_sql,
    filter_sql,
    narrowed,
    palette,
    sql_of_chart,
    sql_of_filter,
    worth_drawing,
)
from talkhouse.charts.view_cache import missing_files
from talkhouse.charts.words import FilledHeadline, cut, fill, is_cut
from talkhouse.dashboard import errors, links, receipt
from talkhouse.dashboard.leads import leads
from talkhouse.dashboard.tables import OPEN, cell_text, counted, draw_chosen, table_html
from talkhouse.dashboard.text import linked, plain
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.escaping import visible
from talkhouse.queries.catalogue import BI
from talkhouse.schema.errors import CatalogueError

_PAGES = {"read": "Read", "tasks": "Examples", "sql": "SQL"}
"""Labels of links to pages; of others, More."""


def draw_headlines(opened: ServedWarehouse, headlines: Iterable[Headline]) -> None:
    """Draw the headlines that have values, one below another, and the control that opens their receipts.

    A broken one shows its error in its place.
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


def draw_dashboard(opened: ServedWarehouse, dashboard: Dashboard) -> None:
    """Draw a dashboard below what is on the page, beginning with its headlines."""
    draw_headlines(opened, dashboard.headlines)
    choices = draw_filters(opened, dashboard.filters)
    draw_charts(opened, worth_drawing(opened.rows_of_pages, dashboard.charts), choices)


def draw_filters(opened: ServedWarehouse, filters: Iterable[Filter]) -> Choices:
    """Draw the filters, whose state is in the URL, and return the choices; one with a single value is left out."""
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


def _options(opened: ServedWarehouse, choice: Filter) -> list[str]:
    with sql_of_filter(choice, opened.query_files):
        return opened.rows_of_pages(filter_sql(choice, OPTIONS)).to_series().to_list()


def draw_charts(opened: ServedWarehouse, charts: Iterable[Chart], choices: Choices, *, level: int = 2) -> None:
    """Draw charts of a dashboard row by row, below headings of a level.

    One that can't be computed shows its error in its place.
    """
    for row in rows_of_charts(charts):
        if all(chart.kind is ChartKind.NUMBER for chart in row):
            with st.container(horizontal=True):
                for chart in row:
                    with st.container(border=True, width="stretch"):
                        _draw_in_its_place(opened, chart, choices, level)
            continue
        for column, chart in zip(st.columns([chart.width for chart in row]), row, strict=True):
            with column:
                _draw_in_its_place(opened, chart, choices, level)


def _draw_in_its_place(opened: ServedWarehouse, chart: Chart, choices: Choices, level: int) -> None:
    try:
        draw_on_page(opened, chart, choices, level, opened.rows_of_pages)
    except CatalogueError as error:
        errors.show(str(error), f"The chart '{plain(chart.title)}' can't be shown.")


MOST_WHOLE = 30
"""Rows of a table that is drawn whole, as text; one of more can be scrolled, sorted and searched."""

_HEIGHT = 420
"""Pixels of a table that is scrolled."""

_ROW, _LINE, _MOST_LINES, _LETTERS = 35, 20, 4, 48
"""Pixels of a row and of each further line of its texts, how many lines are shown, and about how long one is."""

_NAMING = ("scheme", "dialogue_id", "record_id", "turn_index")
"""Columns that identify the turn or dialogue of a row."""

_LEADS = "_leads"


def draw_table(
    title: str,
    rows: pl.DataFrame,
    columns: Sequence[ChartField],
    *,
    of: int | None = None,
    leads: Sequence[str] | None = None,
) -> None:
    """Draw rows as a table, with their number; ``of`` is their number without a limit."""
    columns = long_last(columns, rows)
    rows = rows[[column.name for column in columns]]
    if rows.height <= MOST_WHOLE:
        st.html(table_html(title, rows, columns, leads))
    else:
        _draw_rows(rows, columns, leads)
    if of is not None and of > rows.height:
        st.caption(f"{rows.height:,} of {counted(of)}")
    elif rows.height > MOST_WHOLE:
        st.caption(counted(rows.height))


@st.fragment
def _draw_rows(rows: pl.DataFrame, columns: Sequence[ChartField], leads: Sequence[str] | None) -> None:
    """Draw any number of rows: as high as their texts need, up to some lines; and the chosen row."""
    config: dict[str, Any] = {column.name: _column(column, rows) for column in columns}
    linked = [pl.Series(_LEADS, leads, pl.String)] if leads is not None else []
    longest = max(map(_longest, rows.iter_columns()), default=0)
    height = _ROW + _LINE * (min(_MOST_LINES, max(1, ceil(longest / _LETTERS))) - 1)
    # By Arrow: of a Polars frame Streamlit makes a Pandas one.
    chosen = st.dataframe(
        rows.select(*linked, pl.all()).to_arrow(),
        column_config=config | {_LEADS: LINK},
        hide_index=True,
        placeholder=NOTHING,
        row_height=height,
        height=min(_ROW + 3 + height * rows.height, _HEIGHT),
        on_select="rerun",
        selection_mode="single-cell",
    )
    draw_chosen(chosen, lambda index: {column.title: cell_text(rows[column.name][index], column) for column in columns})


def _column(column: ChartField, rows: pl.DataFrame) -> Any:
    if column.format:
        return st.column_config.NumberColumn(column.title, format=NUMBERS[column.format].streamlit)
    return st.column_config.Column(column.title, width="large" if _longest(rows[column.name]) > _LETTERS else None)


def ranking_first(chart: Chart, columns: Sequence[ChartField]) -> list[ChartField]:
    """Return the columns of a table with those that rank its rows right after those that name them."""
    if not chart.largest_first:
        return list(columns)
    (by,) = [column for column in columns if column.name == chart.metrics[0]]
    others = [column for column in columns if column is not by]
    named = next((at for at, column in enumerate(others) if column.name not in _NAMING), len(others)) or 1
    return [*others[:named], by, *others[named:]]


def long_last(columns: Sequence[ChartField], rows: pl.DataFrame) -> list[ChartField]:
    """Return the columns with long texts last, or numbers would be out of sight on a phone."""
    return sorted(columns, key=lambda column: _longest(rows[column.name]) > _LETTERS)


def _longest(values: pl.Series) -> int:
    length = values.str.len_chars().max() if values.dtype == pl.String else 0
    return length if isinstance(length, int) else 0


LINK = st.column_config.LinkColumn("Open", display_text=OPEN, width=60)
"""A column of addresses."""


def draw_on_page(opened: ServedWarehouse, chart: Chart, choices: Choices, level: int, run: Rows) -> None:
    """Draw a chart, whose query is given to ``run``, below a heading of a level.

    Raises CatalogueError if it can't be computed.
    """
    of_view = metrics(opened.query_files).get(chart.view, {})
    chosen = narrowed(chart, choices, opened.columns.get(chart.view, ()))
    sql = chart_sql(chosen, of_view)
    with sql_of_chart(opened.rows, chart, opened.query_files):
        rows = run(counted_sql(chosen, of_view) if is_cut(chosen) else sql)
    left_out = cut(chosen, of_view, rows) if is_cut(chosen) else None
    rows = with_weekdays(chart, rows.drop(TOTAL, TIED, strict=False))
    columns = fields(chart, of_view)
    if chart.kind is ChartKind.NUMBER:
        receipt.draw(opened, chart.title, sql, number=_draw_number(chart, columns[0], rows))
        return
    heading(chart.title, chart.description, level)
    if rows.is_empty():
        st.caption(_why_empty(opened, chart, choices))
        return
    lead = leads(opened, chart, rows, choices)
    if left_out and left_out.note:
        st.caption(plain(left_out.note))
    if chart.kind is ChartKind.TABLE:
        ranked = ranking_first(chart, columns)
        draw_table(chart.title, rows, ranked, of=left_out.total if left_out else None, leads=lead)
        receipt.draw(opened, chart.title, sql)
    elif sentence := words.single(chart, columns, rows):
        st.markdown(plain(sentence))
        receipt.draw(opened, chart.title, sql)
    elif sentence := words.only_zero(chart, columns, rows):
        st.markdown(plain(sentence))
        _draw_what_it_shows(opened, chart, columns, rows, lead, sql)
    else:
        colours = palette(run, chart, of_view, opened.query_files)
        # Below a chart Streamlit leaves room for another line.
        drawn = draw(chart, of_view, rows, colours, lead).properties(padding={"bottom": 3})
        st.altair_chart(drawn, width="stretch", alt=words.alternative(chart, columns, rows))
        # Without the addresses of the pages, which lead nowhere from a file.
        _draw_what_it_shows(opened, chart, columns, rows, lead, sql, lambda: draw(chart, of_view, rows, colours))


def _draw_what_it_shows(
    opened: ServedWarehouse,
    chart: Chart,
    columns: list[ChartField],
    rows: pl.DataFrame,
    lead: list[str] | None,
    sql: str,
    drawn: Callable[[], Any] | None = None,
) -> None:
    """Draw, side by side, the controls that open the numbers of a chart, its files and its receipt."""
    with st.container(horizontal=True):
        with st.container(width="content"):
            _draw_numbers(chart, columns, rows, lead)
        if drawn:
            with st.container(width="content"):
                draw_files(chart.title, rows, drawn)
        with st.container(width="content"):
            receipt.draw(opened, chart.title, sql)


def heading(title: str, description: str, level: int) -> None:
    """Draw a heading of level 2 or 3, with a description next to it."""
    draw_heading = st.header if level == 2 else st.subheader
    draw_heading(plain(title), anchor=False, help=plain(description, lines=True) or None)


def _draw_number(chart: Chart, column: ChartField, rows: pl.DataFrame) -> str:
    """Draw a number, and return it as it is written."""
    assert column.metric  # noqa: S101 - a number has a metric and nothing else
    value = number(rows.item(), column.metric.format)
    # Streamlit cuts a metric's label that does not fit.
    with st.container(gap=None):
        st.caption(plain(chart.title), help=plain(chart.description or column.metric.description) or None)
        st.metric(plain(chart.title), value, label_visibility="collapsed")
    return value


@st.fragment
def _draw_numbers(chart: Chart, columns: list[ChartField], rows: pl.DataFrame, lead: list[str] | None) -> None:
    """Draw the control that opens the numbers of a chart, for readers who can't see or point at a mark.

    They are made on request, and the rest of the page stays as it is.
    """
    popover = st.popover(
        "Numbers", icon=":material/table:", type="tertiary", key=f"numbers {chart.title}", on_change="rerun"
    )
    if popover.open:
        with popover:
            draw_table(chart.title, with_units(chart, rows), columns, leads=lead)


_FILES = {"png": "image/png", "svg": "image/svg+xml", "csv": "text/csv"}


@st.fragment
def draw_files(title: str, rows: pl.DataFrame, drawn: Callable[[], Any]) -> None:
    """Draw the control that opens the files of a chart: two pictures, and its numbers; each is made on request."""
    popover = st.popover("Save", icon=":material/download:", type="tertiary", key=f"save {title}", on_change="rerun")
    if popover.open:
        files: dict[str, Callable[[], bytes]] = {
            "png": lambda: picture(drawn(), title, "png"),
            "svg": lambda: picture(drawn(), title, "svg"),
            "csv": lambda: rows.write_csv().encode(),
        }
        with popover.container(horizontal=True):
            for ending, make in files.items():
                st.download_button(
                    ending.upper(),
                    make,
                    file_name(title, ending),
                    _FILES[ending],
                    on_click="ignore",
                    key=f"{ending} {title}",
                )


def _why_empty(opened: ServedWarehouse, chart: Chart, choices: Choices) -> str:
    """Return the reason for an empty chart: the filters, or that nothing it counts, or not all files, were loaded."""
    if any(choices.values()):
        return "Nothing matches the filters."
    view = next((view for view in opened.catalogue.written_views if view.full_name == f"{BI}.{chart.view}"), None)
    what = f" ({view.comment.rstrip('.')})" if view else ""
    return plain(
        ". ".join(
            [f"Nothing that was loaded is counted in {BI}.{chart.view}{what}", *missing_files(opened.rows, chart)]
        )
    )
