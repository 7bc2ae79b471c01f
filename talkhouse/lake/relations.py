"""The tables and views of a warehouse against those that this Talkhouse makes: a lake has exactly these."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import duckdb

from talkhouse import migrations
from talkhouse.queries.catalogue import Catalogue
from talkhouse.schema.errors import SchemaMismatch
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.opened import Warehouse

_COLUMNS = """
select schema_name || '.' || table_name, column_name, data_type
from duckdb_columns()
where database_name = coalesce(?, current_database()) and not internal
order by all
"""
_VIEWS = "select schema_name || '.' || view_name from duckdb_views() where database_name = ? and not internal"

Columns = Mapping[str, Mapping[str, str]]
"""Table or view -> column -> type in DuckDB's words."""


def columns_of_all(con: duckdb.DuckDBPyConnection, database: str | None = None) -> Columns:
    """Describe all tables and views of a database, or of the current one."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for name, column, type_ in con.execute(_COLUMNS, [database]).fetchall():
        found[name][column] = type_
    return dict(found)


def check_tables(con: duckdb.DuckDBPyConnection, database: str, path: Path) -> None:
    """Raise SchemaMismatch for a warehouse with a table less than are declared, or one with other columns.

    Tables that somebody has added are none of the lake's.
    """
    with duckdb.connect() as new:
        migrations.make(new)
        expected = columns_of_all(new)
    check_columns(
        {qualified(table): expected[qualified(table)] for table in metadata.tables.values()},
        columns_of_all(con, database),
        path,
    )


def check_columns(expected: Columns, found: Columns, where: Path) -> None:
    """Raise SchemaMismatch for the first relation that is missing, or has other columns."""
    for name, columns in expected.items():
        there = found.get(name, {})
        if there != columns:
            raise _mismatch(
                f"{name} is not as this Talkhouse makes it" if there else f"{name} is missing",
                where,
                ", ".join(f"{column} {type_}" for column, type_ in columns.items() if there.get(column) != type_),
                ", ".join(f"{column} {type_}" for column, type_ in there.items() if columns.get(column) != type_),
            )


def check_views(warehouse: Warehouse, catalogue: Catalogue) -> None:
    """Raise SchemaMismatch for a warehouse with a view more or less than the catalogue, with those of single splits."""
    found = {name for (name,) in warehouse.con.execute(_VIEWS, [warehouse.database]).fetchall()}
    written = {view.full_name for view in catalogue.views}
    if missing := sorted(written - found):
        raise _mismatch("a view is missing", warehouse.path, missing[0], "")
    if others := sorted(found - written - warehouse.split_views.keys()):
        raise _mismatch("there is a view that the catalogue does not have", warehouse.path, "", others[0])


def _mismatch(what: str, where: Path, expected: str, found: str) -> SchemaMismatch:
    return SchemaMismatch(
        what,
        where=where,
        expected=expected,
        found=found,
        next_step="build it again with: talkhouse build   and keep views of your own in another file",
    )
