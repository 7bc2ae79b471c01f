"""The rows of a chart as a table: titles, numbers as their metrics have them, links, and how many rows there are."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import polars as pl
import streamlit as st

from talkhouse.charts.declared import Chart
from talkhouse.charts.fields import NOTHING, NUMBERS, ChartField
from talkhouse.dashboard.table_html import OPEN, table_html
from talkhouse.dashboard.tables import counted

MOST_WHOLE = 30
"""Rows of a table that is drawn whole, as text; one of more can be scrolled, sorted and searched."""

_HEIGHT = 420
"""Pixels of a table that is scrolled."""

_ROW, _LINE, _MOST_LINES, _LETTERS = 35, 20, 4, 48
"""Pixels of a row and of each further line of its texts, how many lines are shown, and about how long one is."""

_NAMING = ("scheme", "dialogue_id", "record_id", "turn_index")
"""Columns that say which turn or dialogue a row is about."""

_LEADS = "_leads"


def put(
    title: str,
    rows: pl.DataFrame,
    columns: Sequence[ChartField],
    *,
    of: int | None = None,
    leads: Sequence[str] | None = None,
) -> None:
    """Draw rows as a table, and say how many there are; ``of`` is how many there would be without a limit."""
    columns = long_last(columns, rows)
    rows = rows[[column.name for column in columns]]
    if rows.height <= MOST_WHOLE:
        st.html(table_html(title, rows, columns, leads))
    else:
        config = {column.name: _column(column, rows) for column in columns}
        linked = [pl.Series(_LEADS, leads, pl.String)] if leads is not None else []
        put_rows(rows.select(*linked, pl.all()), config | {_LEADS: LINK})
    if of is not None and of > rows.height:
        st.caption(f"{rows.height:,} of {counted(of)}")
    elif rows.height > MOST_WHOLE:
        st.caption(counted(rows.height))


def put_rows(rows: pl.DataFrame, config: Mapping[str, Any]) -> None:
    """Draw rows, of whatever number, with columns as configured: as high as their texts need, up to some lines."""
    height = _row_height(rows)
    # By Arrow: of a Polars frame Streamlit makes a Pandas one.
    st.dataframe(
        rows.to_arrow(),
        column_config=dict(config),
        hide_index=True,
        placeholder=NOTHING,
        row_height=height,
        height=min(_ROW + 3 + height * rows.height, _HEIGHT),
    )


def _column(column: ChartField, rows: pl.DataFrame) -> Any:
    if column.format:
        return st.column_config.NumberColumn(column.title, format=NUMBERS[column.format].streamlit)
    return st.column_config.Column(column.title, width="large" if _longest(rows[column.name]) > _LETTERS else None)


def ranking_first(chart: Chart, columns: Sequence[ChartField]) -> list[ChartField]:
    """Return the columns of a table with what its rows are ranked by right behind what names them."""
    if not chart.largest_first:
        return list(columns)
    (by,) = [column for column in columns if column.name == chart.metrics[0]]
    others = [column for column in columns if column is not by]
    named = next((at for at, column in enumerate(others) if column.name not in _NAMING), len(others)) or 1
    return [*others[:named], by, *others[named:]]


def long_last(columns: Sequence[ChartField], rows: pl.DataFrame) -> list[ChartField]:
    """Return the columns with those of long texts behind the others, or numbers would be out of sight on a phone."""
    return sorted(columns, key=lambda column: _longest(rows[column.name]) > _LETTERS)


def _longest(values: pl.Series) -> int:
    length = values.str.len_chars().max() if values.dtype == pl.String else 0
    return length if isinstance(length, int) else 0


def _row_height(rows: pl.DataFrame) -> int:
    longest = max((_longest(rows[name]) for name in rows.columns if name != _LEADS), default=0)
    return _ROW + _LINE * (min(_MOST_LINES, max(1, ceil(longest / _LETTERS))) - 1)


LINK = st.column_config.LinkColumn("Open", display_text=OPEN, width=60)
"""A column of addresses."""
