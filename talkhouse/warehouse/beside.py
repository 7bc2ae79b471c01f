"""Databases of Talkhouse's own beside a warehouse: opened guarded, and only where they are ones that it made."""

import stat
from collections.abc import Callable
from pathlib import Path

import duckdb

from talkhouse.schema import warehouse
from talkhouse.schema.errors import NotAWarehouse, UsageError, WarehouseDamaged
from talkhouse.schema.guard import NO_SETTINGS, Settings

# Functions are named in full: in a file, a macro of the same name would come before DuckDB's own.
_TABLES = """
select tables.table_name, columns.column_name, columns.data_type
from system.main.duckdb_tables() as tables
inner join system.main.duckdb_columns() as columns
    on columns.database_name = tables.database_name and columns.table_oid = tables.table_oid
where tables.database_name = system.main.current_database() and tables.schema_name = 'main'
order by tables.table_name, columns.column_index
"""


def open_beside(
    path: Path,
    check: Callable[[duckdb.DuckDBPyConnection, Path], None],
    not_ours: Callable[[Path, str], UsageError],
    settings: Settings = NO_SETTINGS,
) -> duckdb.DuckDBPyConnection:
    """Open a file read-only, in a database of its own, once ``check`` has passed its content.

    Raises what ``not_ours`` makes of what was found in place of a file of ours, WarehouseLocked where another process
    has it open for writing, and what ``check`` raises.
    """
    info = path.lstat()
    if not stat.S_ISREG(info.st_mode):
        raise not_ours(
            path, {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder"}.get(stat.S_IFMT(info.st_mode), "no file")
        )
    if not info.st_size:
        raise not_ours(path, "an empty file")
    try:
        con = warehouse.connect(path, alone=True, settings=settings)
    except (NotAWarehouse, WarehouseDamaged) as error:
        raise not_ours(path, error.found or error.what) from error
    try:
        check(con, path)
    except BaseException:
        con.close()
        raise
    return con


def columns_of_tables(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Return the columns of each table with their types, in DuckDB's words."""
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in con.execute(_TABLES).fetchall():
        tables.setdefault(table, {})[column] = kind
    return tables
