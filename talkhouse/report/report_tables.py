"""Tables of the page: titles over cells that are text already."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import duckdb

from talkhouse.charts.declared import NumberFormat
from talkhouse.charts.fields import number

MOST_ROWS = 200
"""Rows of a table that are in the page at most; a note says where the others are."""

_AT_ONCE = 15
"""Rows that are shown before one asks for the others."""

_FEW = 5
"""Rows that are too few to be asked for."""

_LONG_WORD = 20
"""Letters of a word that is broken where a column is narrow."""

_BREAKS = re.compile(r"[\s-]+")
"""Where browsers begin a new line."""

ID = ("dialogue_id", "record_id")
"""Columns whose values lead to a dialogue."""


@dataclass(frozen=True)
class ReportTable:
    """Rows under the titles of their columns."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = field(default_factory=frozenset)
    """The columns of numbers, from 0."""
    ids: frozenset[int] = field(default_factory=frozenset)
    """The columns of ids of dialogues and records, from 0."""
    turns: Sequence[int | None] = ()
    """The turn that each row is about, where the rows are of turns."""
    note: str = ""
    """Where the rows are that are left out."""

    @cached_property
    def whole_words(self) -> frozenset[int]:
        """The columns, from 0, whose words are short enough to stay whole."""
        return frozenset(
            index
            for index in range(len(self.heads))
            if all(len(word) <= _LONG_WORD for row in self.rows for word in _BREAKS.split(row[index]))
        )

    @property
    def parts(self) -> list[Sequence[tuple[Sequence[str], int | None]]]:
        """The rows that are shown, and those that one asks for, if there are any; each with its turn."""
        most = _AT_ONCE if len(self.rows) > _AT_ONCE + _FEW else len(self.rows)
        rows = list(zip(self.rows, self.turns or [None] * len(self.rows), strict=True))
        return [part for part in (rows[:most], rows[most:]) if part]


def table(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    heads: Mapping[str, NumberFormat | None],
    source: str = "",
    **values: object,
) -> ReportTable:
    """Make a table of a query: ``heads`` has the titles of its columns, and how those of numbers are written.

    ``source`` names the view that has all rows, where there may be too many. A column that is empty is left out.
    """
    rows = con.execute(f"{sql} limit {MOST_ROWS + 1}" if source else sql, values or None).fetchall()
    return _filled(list(heads.items()), rows, source)


def of_rows(
    rows: Iterable[Mapping[str, Any]], heads: Mapping[str, tuple[str, NumberFormat | None]], source: str = ""
) -> ReportTable:
    """Make a table of rows by the names of their columns, each with its title and how its numbers are written.

    ``source`` names the view that has all rows, where there may be too many.
    """
    return _filled(list(heads.values()), [[row[name] for name in heads] for row in rows], source)


def _filled(
    heads: Sequence[tuple[str, NumberFormat | None]], rows: Sequence[Sequence[Any]], source: str
) -> ReportTable:
    """Make a table without the columns that are empty in all rows."""
    kept = [index for index in range(len(heads)) if not rows or any(row[index] is not None for row in rows)]
    return made(
        [heads[index][0] for index in kept],
        [heads[index][1] for index in kept],
        [[row[index] for index in kept] for row in rows],
        source,
    )


def made(
    heads: Sequence[str],
    formats: Sequence[NumberFormat | None],
    rows: Iterable[Sequence[Any]],
    source: str,
    ids: Iterable[int] = (),
    turn: int | None = None,
) -> ReportTable:
    """Make a table of values, at most MOST_ROWS of them.

    ``ids``: the columns that lead to a dialogue; ``turn``: the column that says to which turn of it.
    """
    found = list(rows)
    shown = [[cell(value, how) for value, how in zip(row, formats, strict=True)] for row in found[:MOST_ROWS]]
    numbers = frozenset(index for index, how in enumerate(formats) if how is not None)
    note = f"The first {MOST_ROWS} rows; all of them are in {source}." if len(found) > MOST_ROWS else ""
    turns = [row[turn] for row in found[:MOST_ROWS]] if turn is not None else []
    return ReportTable(heads, shown, numbers, frozenset(ids), turns, note)


def cell(value: Any, how: NumberFormat | None = None) -> str:
    """Write a value as people read it; an en dash for none."""
    if value is None or how is not None:
        return number(value, how or NumberFormat.INTEGER)
    return value.isoformat(" ", "seconds") if isinstance(value, datetime) else str(value)
