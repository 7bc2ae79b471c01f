"""One declared chart on a page: its title, what is drawn or said in its place, its numbers and its receipt."""

import polars as pl
import streamlit as st

from talkhouse.charts import words
from talkhouse.charts.colours import palette
from talkhouse.charts.declarations import metrics
from talkhouse.charts.declared import Chart, ChartKind
from talkhouse.charts.draw import draw
from talkhouse.charts.fields import ChartField, Rows, fields, number
from talkhouse.charts.marks import with_units
from talkhouse.charts.query import TIED, TOTAL, Choices, chart_sql, counted_sql, narrowed, sql_of_chart
from talkhouse.charts.view_cache import missing_files
from talkhouse.charts.words import cut, is_cut
from talkhouse.dashboard import chart_table, receipt
from talkhouse.dashboard.leads import leads
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.queries.catalogue import BI


def put(opened: Warehouse, chart: Chart, choices: Choices, level: int, run: Rows) -> None:
    """Draw a chart, whose query is given to ``run``, below a heading of a level.

    CatalogueError where it can't be computed.
    """
    of_view = metrics(opened.query_files).get(chart.view, {})
    chosen = narrowed(chart, choices, opened.columns.get(chart.view, ()))
    sql = chart_sql(chosen, of_view)
    with sql_of_chart(opened.rows, chart, opened.query_files):
        rows = run(counted_sql(chosen, of_view) if is_cut(chosen) else sql)
    left_out = cut(chosen, of_view, rows) if is_cut(chosen) else None
    rows = rows.drop(TOTAL, TIED, strict=False)
    columns = fields(chart, of_view)
    if chart.kind is ChartKind.NUMBER:
        receipt.put(opened, chart.title, sql, number=_put_number(chart, columns[0], rows))
        return
    heading(chart.title, chart.description, level)
    if rows.is_empty():
        st.caption(_why_empty(opened, chart, choices))
        return
    lead = leads(opened, chart, rows, choices)
    if left_out and left_out.note:
        st.caption(plain(left_out.note))
    if chart.kind is ChartKind.TABLE:
        ranked = chart_table.ranking_first(chart, columns)
        chart_table.put(chart.title, rows, ranked, of=left_out.total if left_out else None, leads=lead)
        receipt.put(opened, chart.title, sql)
    elif sentence := words.single(chart, columns, rows):
        st.markdown(plain(sentence))
        receipt.put(opened, chart.title, sql)
    elif sentence := words.only_zero(chart, columns, rows):
        st.markdown(plain(sentence))
        _put_what_it_shows(opened, chart, columns, rows, lead, sql)
    else:
        colours = palette(run, chart, of_view, opened.query_files)
        # Below a chart Streamlit leaves room for another line.
        drawn = draw(chart, of_view, rows, colours, lead).properties(padding={"bottom": 0})
        st.altair_chart(drawn, width="stretch", alt=words.alternative(chart, columns, rows))
        _put_what_it_shows(opened, chart, columns, rows, lead, sql)


def _put_what_it_shows(
    opened: Warehouse, chart: Chart, columns: list[ChartField], rows: pl.DataFrame, lead: list[str] | None, sql: str
) -> None:
    """Draw, side by side, what opens the numbers of a chart and its receipt."""
    with st.container(horizontal=True):
        with st.container(width="content"):
            _put_numbers(chart, columns, rows, lead)
        with st.container(width="content"):
            receipt.put(opened, chart.title, sql)


def heading(title: str, description: str, level: int) -> None:
    """Draw a heading of level 2 or 3, with what is to be known beside it."""
    put_heading = st.header if level == 2 else st.subheader
    put_heading(plain(title), anchor=False, help=plain(description, lines=True) or None)


def _put_number(chart: Chart, column: ChartField, rows: pl.DataFrame) -> str:
    """Draw a number, and return it as it is written."""
    assert column.metric  # noqa: S101 - a number has a metric and nothing else
    value = number(rows.item(), column.metric.format)
    # Streamlit cuts the label of a metric where it does not fit.
    with st.container(gap=None):
        st.caption(plain(chart.title), help=plain(chart.description or column.metric.description) or None)
        st.metric(plain(chart.title), value, label_visibility="collapsed")
    return value


@st.fragment
def _put_numbers(chart: Chart, columns: list[ChartField], rows: pl.DataFrame, lead: list[str] | None) -> None:
    """Draw what opens the numbers of a chart: those who can't see or point at a mark read them, and open it, there.

    They are made when they are asked for, and the rest of the page stays as it is.
    """
    popover = st.popover(
        "Numbers", icon=":material/table:", type="tertiary", key=f"numbers {chart.title}", on_change="rerun"
    )
    if popover.open:
        with popover:
            chart_table.put(chart.title, with_units(chart, rows), columns, leads=lead)


def _why_empty(opened: Warehouse, chart: Chart, choices: Choices) -> str:
    """Say why a chart has no rows: by what was chosen, or as nothing of the kind, or not all files, were loaded."""
    if any(choices.values()):
        return "Nothing fits what was chosen."
    view = next((one for one in opened.catalogue.written_views if one.full_name == f"{BI}.{chart.view}"), None)
    what = f" ({view.comment.rstrip('.')})" if view else ""
    return plain(
        ". ".join(
            [f"Nothing that was loaded is counted in {BI}.{chart.view}{what}", *missing_files(opened.rows, chart)]
        )
    )
