"""Rows into a small table."""

from collections.abc import Iterable, Sequence
from itertools import chain

import duckdb


def insert(con: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Sequence[object]]) -> None:
    """Insert rows, all columns in the table's order, by one statement: a statement takes a millisecond."""
    given = list(rows)
    if given:
        marks = "(" + ", ".join("?" for _ in given[0]) + ")"
        values = ", ".join(marks for _ in given)
        con.execute(f"insert into {table} values {values}", list(chain.from_iterable(given)))
