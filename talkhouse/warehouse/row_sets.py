"""What tells sets of rows apart, whatever order they come in, and the fingerprint of a published split."""

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


_ROW = (
    "concat_ws(chr(31), coalesce(release, ''), split, example_index::varchar, record_id, "
    "coalesce(turn_index::varchar, ''), item_index::varchar)"
)
"""An example as text; what joins its parts stands in no key, and who has no item_index has no such part."""

FINGERPRINT = f"lower(lpad(to_hex(bit_xor(md5_number({_ROW}))), 32, '0'))"
"""SQL: 32 hex digits over rows of ``main.examples`` in any order: the exclusive or of the MD5 of each row."""


class Split(NamedTuple):
    """The examples of a task in one release and split."""

    release: str | None
    split: str
    fingerprint: str
    rows: int


def splits(con: duckdb.DuckDBPyConnection, corpus_id: str, task: str) -> list[Split]:
    """List the releases and splits of a task, with the fingerprint of each; empty for what is no task."""
    rows = con.execute(
        f"select release, split, {FINGERPRINT}, count(*) from main.examples where corpus_id = ? and task = ? "
        "group by release, split order by release nulls first, split",
        [corpus_id, task],
    )
    return [Split(*row) for row in rows.fetchall()]
