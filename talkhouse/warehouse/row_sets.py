"""What tells sets of rows apart, whatever order they come in: their number, and the sum of DuckDB's hashes of them.

Two others are published, and so stay what they are: the fingerprint of a split, which exports and saved scores have
(``fingerprint.py``), and the hash that PostgreSQL has to compute too (``postgres/row_text.py``).
"""

from typing import NamedTuple

import duckdb
from duckdb import sqltypes
from sqlalchemy import JSON, Column

from talkhouse.schema.sql import quoted
from talkhouse.schema.tables import metadata, owned_by, qualified

_FLOATS = ("double", "float")
_NESTED = ("array", "list", "map", "struct", "tuple", "union", "variant")


class RowSet(NamedTuple):
    """Equal for the same rows of the same types; it holds for one version of DuckDB, whose hashes these are."""

    rows: int
    hash: str
    """The sum of the hashes, in hex digits."""


def row_set(con: duckdb.DuckDBPyConnection, query: str) -> RowSet:
    """Count and hash the rows of a query."""
    relation = con.sql(query)
    types = ", ".join(map(str, relation.types)).replace("'", "''")
    names = [f"c{index}" for index in range(len(relation.types))]
    values = ", ".join(_hashed(name, kind) for name, kind in zip(names, relation.types, strict=True))
    # The types go first: DuckDB's hash of a date is that of its number.
    total = f"select count(*), sum(hash('{types}', {values})) from ({query}) as rows({', '.join(names)})"
    ((rows, hashes),) = con.execute(total).fetchall()
    return RowSet(rows, f"{hashes or 0:x}")


def _hashed(name: str, kind: sqltypes.DuckDBPyType) -> str:
    """Write what is hashed of a value: DuckDB's hashes of 0.0 and -0.0 are the same, and of [] and null."""
    if kind.id in _FLOATS:
        return f"if(isnan({name}), 'nan', {name}::varchar)"
    return f"to_json({name})::varchar" if kind.id in _NESTED else name


def row_sets_of(con: duckdb.DuckDBPyConnection, corpus_id: str) -> dict[str, RowSet]:
    """Count and hash the rows of a corpus in every table that has rows of corpora.

    JSON is compared without the blanks between its parts, which say nothing.
    """
    return {
        qualified(table): row_set(
            con,
            f"select {', '.join(map(_without_blanks, table.columns))} from {qualified(table)} "
            f"where {owned_by(table, corpus_id)}",
        )
        for table in metadata.tables.values()
        if table.info["owner"]
    }


def _without_blanks(column: Column[object]) -> str:
    name = quoted(column.name)
    if not isinstance(column.type, JSON):
        return name
    return f"if(json_valid({name}::varchar), json({name}::varchar)::varchar, {name}::varchar)"
