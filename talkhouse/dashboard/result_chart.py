"""A chart of the rows of any query, by two choices: what stands along, and which number; perhaps by a third column."""

import polars as pl
import streamlit as st

from talkhouse.charts import words
from talkhouse.charts.declared import Chart, ChartKind, Metric, NumberFormat
from talkhouse.charts.draw import draw
from talkhouse.charts.fields import fields
from talkhouse.charts.questions import MOST_SERIES
from talkhouse.dashboard.tables import Table
from talkhouse.dashboard.text import plain

KINDS = {"Table": None, "Bars": ChartKind.BAR, "Lines": ChartKind.LINE}


def put_choice() -> ChartKind | None:
    """Draw the choice of how rows are shown; None is a table."""
    chosen = st.segmented_control("As", list(KINDS), default="Table", required=True, key="as", bind="query-params")
    return KINDS[chosen or "Table"]


def put(table: Table, kind: ChartKind) -> None:
    """Draw the choices of columns, then the chart of them; say why there is none."""
    rows = _drawable(table)
    numbers = [name for name, dtype in rows.schema.items() if dtype.is_numeric()]
    if not numbers or len(rows.columns) < 2:
        st.info("A chart needs a column of numbers, and another one to stand along: select both.")
        return
    first, second, third = st.columns(3)
    x = first.selectbox("Along", rows.columns, key="along", bind="query-params")
    values = [name for name in numbers if name != x]
    series = [name for name in rows.columns if name != x and rows[name].n_unique() <= MOST_SERIES]
    y = second.selectbox("Number", values, key="number", bind="query-params")
    by = third.selectbox(
        "By", [name for name in series if name != y], index=None, placeholder="Nothing", key="by", bind="query-params"
    )
    if y is None:
        st.info("There is one column of numbers: choose another one to stand along.")
        return
    _put_chart(rows, chart_of(kind, x, y, by))


def chart_of(kind: ChartKind, x: str, y: str, by: str | None) -> Chart:
    """Return the chart of a number along a column, perhaps by another one."""
    return Chart(title=y, kind=kind, view="", metrics=(y,), x=x, by=(by,) if by else (), width=12)


def _put_chart(rows: pl.DataFrame, chart: Chart) -> None:
    (y,) = chart.metrics
    kept = rows.filter(rows[y].is_not_null())
    if kept.is_empty():
        st.caption("There are no numbers in this column.")
        return
    number_format = NumberFormat.INTEGER if kept[y].dtype.is_integer() else NumberFormat.DECIMAL
    metrics = {y: Metric(title=y, sql="", format=number_format)}
    if kept[list(chart.columns)].is_duplicated().any():
        shared = plain(" and ".join(chart.columns))
        st.caption(f"Several rows have the same {shared}: they are drawn on top of one another.")
    alternative = words.alternative(chart, fields(chart, metrics), kept)
    st.altair_chart(draw(chart, metrics, kept), width="stretch", alt=alternative)


def _drawable(table: Table) -> pl.DataFrame:
    """Return rows with numbers as such, whole ones as integers."""
    return table.texts.with_columns(_whole(values) for values in table.numbers.values())


def _whole(values: pl.Series) -> pl.Series:
    known = values.drop_nulls()
    return values.cast(pl.Int64) if (known == known.round()).all() else values
