"""Copies rows from DuckDB to PostgreSQL: DuckDB writes the lines and their hashes, which pass through in batches."""

from collections.abc import Callable, Iterable
from typing import Any

import duckdb
from psycopg import Connection

from schema.sql import quoted
from talkhouse.postgres.plan import Kind, Relation
from talkhouse.postgres.row_text import Proof, hash_here, line, proof

OnRows = Callable[[int], None]
"""Is called with the number of rows that were copied since the last call."""

_BATCH_ROWS = 2048


def copy_rows(
    con: duckdb.DuckDBPyConnection, server: Connection[Any], relation: Relation, target: str, on_rows: OnRows
) -> Proof:
    """Copy a table, or the rows of a view, to an empty table that this transaction made; return what proves them."""
    import pyarrow.compute

    columns = ", ".join(quoted(column.name) for column in relation.columns)
    rows = total = 0
    # FREEZE: whoever sees the table sees its rows, whenever his transaction began, and no vacuum has to follow.
    with server.cursor() as cursor, cursor.copy(f"copy {target} ({columns}) from stdin (freeze)".encode()) as copy:
        for batch in _batches(con, relation):
            copy.write(_bytes(batch.column("line")))
            rows += batch.num_rows
            total += pyarrow.compute.sum(batch.column("hash")).as_py()
            on_rows(batch.num_rows)
    return proof(rows, total)


def _batches(con: duckdb.DuckDBPyConnection, relation: Relation) -> Iterable[Any]:
    """Read the rows as lines; those of a view in the published order, those of a table as they are stored."""
    selection = relation.selection
    source = selection.source if relation.kind is Kind.TABLE else f"({selection.sql()})"
    query = f"select {line(relation.columns)} as line, {hash_here(relation.columns)} as hash from {source}"
    return con.sql(query).to_arrow_reader(_BATCH_ROWS)


def _bytes(texts: Any) -> memoryview:
    """Return the bytes of all texts of an Arrow array, one after the other, without copying them."""
    _, offsets, data = texts.buffers()
    ends = memoryview(offsets).cast("q")
    return memoryview(data)[ends[texts.offset] : ends[texts.offset + len(texts)]]
