"""Tables of the page: titles over cells that are text already."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import duckdb

from talkhouse.charts.declared import NumberFormat
from talkhouse.charts.formats import number

MOST_ROWS = 200
"""Rows of a table that are shown at most; a note says where the others are."""


@dataclass(frozen=True)
class Table:
    """Rows under the titles of their columns."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = field(default_factory=frozenset)
    """The columns of numbers, from 0."""
    note: str = ""
    """Where the rows are that are left out."""


def table(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    heads: Mapping[str, NumberFormat | None],
    source: str = "",
    **values: object,
) -> Table:
    """Make a table of a query: ``heads`` has the titles of its columns, and how those of numbers are written.

    ``source`` names the view that has all rows, where there may be too many.
    """
    rows = con.execute(f"{sql} limit {MOST_ROWS + 1}" if source else sql, values or None).fetchall()
    formats = list(heads.values())
    return made(list(heads), formats, rows, source)


def made(
    heads: Sequence[str], formats: Sequence[NumberFormat | None], rows: Iterable[Sequence[Any]], source: str
) -> Table:
    """Make a table of values, at most MOST_ROWS of them."""
    found = list(rows)
    shown = [[cell(value, how) for value, how in zip(row, formats, strict=True)] for row in found[:MOST_ROWS]]
    numbers = frozenset(index for index, how in enumerate(formats) if how is not None)
    note = f"The first {MOST_ROWS} rows; all of them are in {source}." if len(found) > MOST_ROWS else ""
    return Table(heads, shown, numbers, note)


def cell(value: Any, how: NumberFormat | None = None) -> str:
    """Write a value as people read it; an en dash for none."""
    if value is None or how is not None:
        return number(value, how or NumberFormat.INTEGER)
    return value.isoformat(" ", "seconds") if isinstance(value, datetime) else str(value)
