"""The tables and views of a warehouse against those that this Talkhouse makes: a lake has exactly these."""

from pathlib import Path

import duckdb
from duckdb_engine import Dialect

from talkhouse.lake_format.columns import Columns, check_columns, columns_of_all, mismatch
from talkhouse.queries.catalogue import Catalogue
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.opened import Warehouse

_VIEWS = "select schema_name || '.' || view_name from duckdb_views() where database_name = ? and not internal"


def check_tables(con: duckdb.DuckDBPyConnection, database: str, path: Path) -> None:
    """Raise SchemaMismatch for a warehouse with a table less than are declared, or one with other columns.

    Tables that somebody has added are none of the lake's.
    """
    check_columns(declared_columns(con), columns_of_all(con, database), path)


def declared_columns(con: duckdb.DuckDBPyConnection) -> Columns:
    """Describe the tables as they are declared, with the types as DuckDB calls them."""
    dialect = Dialect()
    columns = [(qualified(table), column) for table in metadata.tables.values() for column in table.columns]
    # A text is declared with its compression, which is no part of the type.
    types = [str(column.type.compile(dialect)).partition(" USING ")[0] for _, column in columns]
    distinct = sorted({*types})
    query = f"select {', '.join(f'typeof(null::{type_})' for type_ in distinct)}"
    (names,) = con.execute(query).fetchall()
    called = dict(zip(distinct, names, strict=True))
    declared: dict[str, dict[str, str]] = {name: {} for name, _ in columns}
    for (name, column), type_ in zip(columns, types, strict=True):
        declared[name][column.name] = called[type_]
    return declared


def check_views(warehouse: Warehouse, catalogue: Catalogue) -> None:
    """Raise SchemaMismatch for a warehouse with a view more or less than the catalogue, with those of single splits."""
    there = {name for (name,) in warehouse.con.execute(_VIEWS, [warehouse.database]).fetchall()}
    written = {view.full_name for view in catalogue.views}
    if missing := sorted(written - there):
        raise mismatch("a view is missing", warehouse.path, missing[0], "")
    if others := sorted(there - written - warehouse.split_views.keys()):
        raise mismatch("there is a view that the catalogue does not have", warehouse.path, "", others[0])
