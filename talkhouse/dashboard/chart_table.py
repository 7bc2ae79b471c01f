"""The rows of a chart as a table: titles, numbers as their metrics have them, links, and how many rows there are."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import Any

import polars as pl
import streamlit as st

from talkhouse.charts.fields import Field
from talkhouse.charts.formats import NOTHING, NUMBERS, number
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.text import plain

MOST_WHOLE = 30
"""Rows of a table that is drawn whole, as text; one of more can be scrolled, sorted and searched."""

_HEIGHT = 420
"""Pixels of a table that is scrolled."""

_ROW, _LINE, _MOST_LINES, _LETTERS = 35, 20, 4, 48
"""Pixels of a row and of each further line of its texts, how many lines are shown, and about how long one is."""

_LEADS = "_leads"


def put(
    rows: pl.DataFrame, columns: Sequence[Field], *, of: int | None = None, leads: Sequence[str] | None = None
) -> None:
    """Draw rows as a table, and say how many there are; ``of`` is how many there would be without a limit."""
    if rows.height <= MOST_WHOLE:
        st.markdown(lines(rows, columns, leads))
    else:
        config = {column.name: _column(column, rows) for column in columns}
        linked = [pl.Series(_LEADS, leads, pl.String)] if leads is not None else []
        put_rows(rows.select(*linked, pl.all()), config | {_LEADS: LINK})
    if of is not None and of > rows.height:
        st.caption(f"{rows.height:,} of {counted(of)}")
    elif rows.height > MOST_WHOLE:
        st.caption(counted(rows.height))


def lines(rows: pl.DataFrame, columns: Sequence[Field], leads: Sequence[str] | None = None) -> str:
    """Return rows as a table of Markdown: nothing is cut, and a screen reader reads it; texts are as they are."""
    linked = [f"[{_READ}](<{address}>)" for address in leads] if leads is not None else None
    titles = [*(["Open"] if linked else []), *(plain(column.title) for column in columns)]
    sides = [*(["---"] if linked else []), *("---:" if column.format else "---" for column in columns)]
    cells = [[*([linked[index]] if linked else []), *_cells(row, columns)] for index, row in enumerate(rows.to_dicts())]
    return "\n".join(f"| {' | '.join(line)} |" for line in (titles, sides, *cells))


def _cells(row: Mapping[str, Any], columns: Sequence[Field]) -> Iterator[str]:
    for column in columns:
        value = row[column.name]
        if value is None:
            yield NOTHING
        else:
            yield number(value, column.format) if column.format else plain(_text(value))


def _text(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)


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


def _column(column: Field, rows: pl.DataFrame) -> Any:
    if column.format:
        return st.column_config.NumberColumn(column.title, format=NUMBERS[column.format].streamlit)
    return st.column_config.Column(column.title, width="large" if _longest(rows[column.name]) > _LETTERS else None)


def _longest(values: pl.Series) -> int:
    length = values.str.len_chars().max() if values.dtype == pl.String else 0
    return length if isinstance(length, int) else 0


def _row_height(rows: pl.DataFrame) -> int:
    longest = max((_longest(rows[name]) for name in rows.columns if name != _LEADS), default=0)
    return _ROW + _LINE * (min(_MOST_LINES, max(1, ceil(longest / _LETTERS))) - 1)


_READ = "Read"
LINK = st.column_config.LinkColumn("Open", display_text=_READ, width=60)
"""A column of addresses."""
