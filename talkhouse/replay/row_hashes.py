"""Counts and hashes the rows of one corpus in each table: equal where the rows are equal."""

import duckdb
from sqlalchemy import JSON, Column

from talkhouse.schema.tables import metadata, owned_by, qualified

RowHashes = dict[str, tuple[int, int | None]]


def row_hashes(con: duckdb.DuckDBPyConnection, corpus_id: str) -> RowHashes:
    """Count and hash the rows of a corpus in every table that has rows of corpora; their order does not matter.

    JSON is compared without the blanks between its parts, which say nothing.
    """
    return {
        qualified(table): con.execute(
            f"select count(*), bit_xor(hash({', '.join(map(_value, table.columns))})) "
            f"from {qualified(table)} where {owned_by(table, corpus_id)}"
        ).fetchall()[0]
        for table in metadata.tables.values()
        if table.info["owner"]
    }


def _value(column: Column[object]) -> str:
    if not isinstance(column.type, JSON):
        return f'"{column.name}"'
    text = f'"{column.name}"::varchar'
    return f"if(json_valid({text}), json({text})::varchar, {text})"
