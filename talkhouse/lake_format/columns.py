"""The columns of tables and views, against those that this Talkhouse makes: a lake has exactly these."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import duckdb

from talkhouse.schema.errors import SchemaMismatch

_COLUMNS = """
select schema_name || '.' || table_name, column_name, data_type
from duckdb_columns()
where database_name = coalesce(?, current_database()) and not internal
order by all
"""

Columns = Mapping[str, Mapping[str, str]]
"""Table or view -> column -> type in DuckDB's words."""


def columns_of_all(con: duckdb.DuckDBPyConnection, database: str | None = None) -> Columns:
    """Describe all tables and views of a database, or of the current one."""
    relations: dict[str, dict[str, str]] = defaultdict(dict)
    for name, column, type_ in con.execute(_COLUMNS, [database]).fetchall():
        relations[name][column] = type_
    return dict(relations)


def check_columns(expected: Columns, actual: Columns, where: Path) -> None:
    """Raise SchemaMismatch for the first relation that is missing, or has other columns."""
    for name, columns in expected.items():
        there = actual.get(name, {})
        if there != columns:
            raise mismatch(
                f"{name} is not as this Talkhouse makes it" if there else f"{name} is missing",
                where,
                ", ".join(f"{column} {type_}" for column, type_ in columns.items() if there.get(column) != type_),
                ", ".join(f"{column} {type_}" for column, type_ in there.items() if columns.get(column) != type_),
            )


def mismatch(problem: str, where: Path, expected: str, found: str) -> SchemaMismatch:
    """Return the error of tables or views that are not as this Talkhouse makes them."""
    return SchemaMismatch(
        problem,
        where=where,
        expected=expected,
        found=found,
        next_step="build it again with: talkhouse build   and keep views of your own in another file",
    )
