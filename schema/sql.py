"""Small helpers for SQL: names and texts as SQL writes them; rows as dictionaries, in a small table, as Arrow data."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any, Protocol

import duckdb


def literal(text: str) -> str:
    """Write a text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(*path: str) -> str:
    """Write a name, or the parts of a qualified one, in double quotes where any engine needs them."""
    plain = re.compile(r"[a-z_][a-z0-9_]*")
    return ".".join(name if plain.fullmatch(name) and name not in reserved_words() else quoted(name) for name in path)


def quoted(*path: str) -> str:
    """Write a name, or the parts of a qualified one, in double quotes, whatever they are."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in path)


@cache
def reserved_words() -> frozenset[str]:
    """Return the words of SQL that no name may be without quotes."""
    query = "select keyword_name from system.main.duckdb_keywords() where keyword_category <> 'unreserved'"
    with duckdb.cursor() as con:
        return frozenset(_WORDS_OF_OTHERS.union(name for (name,) in con.execute(query).fetchall()))


_WORDS_OF_OTHERS = {
    *("current_catalog", "current_date", "current_role", "current_schema", "current_time", "current_timestamp"),
    *("current_user", "localtime", "localtimestamp", "session_user", "system_user", "user"),
    *("alter", "drop", "force", "grant", "insert", "install", "revoke", "rollback"),
}
"""Names to DuckDB, but not to PostgreSQL, or to sqlglot, which translates views for Spark."""


def dicts(cursor: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Fetch all rows of an executed query, each as a dictionary."""
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def column_types(con: duckdb.DuckDBPyConnection, query: str) -> dict[str, str]:
    """Return the columns of a query, table or view by name, in order, with DuckDB's types."""
    return {name: kind for name, kind, *_ in con.execute(f"describe {query}").fetchall()}


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
