"""Small helpers for SQL: names and texts as SQL writes them; rows as dictionaries, in a small table, as Arrow data."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Protocol

import duckdb


def literal(text: str) -> str:
    """Write a text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Write a name, in double quotes where it needs them."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else quoted(name)


def quoted(name: str) -> str:
    """Write a name in double quotes, whatever it is: also one that is a word of SQL."""
    return '"' + name.replace('"', '""') + '"'


def dicts(cursor: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Fetch all rows of an executed query, each as a dictionary."""
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def insert(con: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Sequence[object]]) -> None:
    """Insert rows, all columns in the table's order, by one statement: a statement takes a millisecond."""
    taken = list(rows)
    if taken:
        parameters = "(" + ", ".join("?" for _ in taken[0]) + ")"
        values = ", ".join(parameters for _ in taken)
        con.execute(f"insert into {table} values {values}", list(chain.from_iterable(taken)))


class _ArrowRows(Protocol):
    """What gives its rows as a stream of Arrow data: a frame of Polars, a relation of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule."""


class ArrowStream:
    """Rows as a stream of Arrow data, whose texts DuckDB reads where they lie; of a frame it would copy them."""

    def __init__(self, rows: _ArrowRows) -> None:
        """Wrap rows, to be read once."""
        self._capsule = rows.__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the capsule (the Arrow PyCapsule interface)."""
        return self._capsule
