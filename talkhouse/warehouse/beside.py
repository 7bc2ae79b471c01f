"""Databases of Talkhouse's own beside a warehouse: written in one step, and opened guarded where they are its own."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb

from talkhouse.schema import warehouse
from talkhouse.schema.errors import NotAWarehouse, OutputFailed, TalkhouseError, UsageError, WarehouseDamaged
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import quoted
from talkhouse.system.atomic_output import output_errors, private_folder
from talkhouse.warehouse.build_facts import fingerprint
from talkhouse.warehouse.opened import Warehouse, opened

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


def is_ours(path: Path, open_file: Callable[[Path], duckdb.DuckDBPyConnection]) -> bool:
    """Whether there is a file that Talkhouse made, and that can be read."""
    if not os.path.lexists(path):
        return False
    try:
        open_file(path).close()
    except TalkhouseError:
        return False
    return True


def detach_unless_fitting(
    con: duckdb.DuckDBPyConnection, database: str, attached: str, path: Path, command: str
) -> str | None:
    """Detach a file that is of another state of the warehouse, the current ``database``; return what to say.

    ``attached`` is its name in SQL; its table ``run`` has the fingerprint of the warehouse that ``command`` read.
    """
    name = quoted(attached)
    ((schemas,),) = con.execute(
        "select count(*) from system.main.duckdb_schemas() "
        "where database_name = system.main.current_database() and schema_name = $1",
        [attached],
    ).fetchall()
    if not schemas:
        ((kept, now),) = con.execute(
            f"select warehouse_fingerprint, $1 from {name}.main.run", [fingerprint(con, database)]
        ).fetchall()
        if kept == now:
            return None
    con.execute(f"detach {name}")
    said = (
        "the warehouse has a schema of that name"
        if schemas
        else f"the warehouse has changed since; compute it again with: {command}"
    )
    return f"{path.name} is not there as {attached}: {said}"


def columns_of_tables(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Return the columns of each table with their types, in DuckDB's words."""
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in con.execute(_TABLES).fetchall():
        tables.setdefault(table, {})[column] = kind
    return tables


@contextmanager
def writing_beside(
    path: Path, output: Path, more_room: str, settings: Settings = NO_SETTINGS, *, patience: float = 0
) -> Iterator[tuple[Warehouse, Path]]:
    """Open a warehouse to compute a file beside it, in the private folder that is yielded too, and is removed.

    The connection writes and spills there and nowhere else. Raises what ``private_folder`` and ``opened`` raise, and
    OutputFailed, whose next step is ``more_room``, where memory or the disk is full.
    """
    with private_folder(output, patience=patience) as folder:
        folder = folder.absolute()
        made = {
            "allowed_directories": [f"{folder}{os.sep}"],
            "temp_directory": str(folder / "spilled"),
            **settings,
        }
        with opened(path, settings=made, alone=True) as opened_warehouse, _explained(output, more_room):
            yield opened_warehouse, folder


@contextmanager
def _explained(output: Path, more_room: str) -> Iterator[None]:
    """Turn what DuckDB raises where memory or the disk is full into an error that says so."""
    try:
        with output_errors(output):
            yield
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise OutputFailed(
            "there is not enough memory, or no room on the disk; what was there before is unchanged",
            where=output,
            found=str(error).strip().splitlines()[0],
            next_step=more_room,
        ) from error


def format_of_run(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    tables: Mapping[str, Mapping[str, str]],
    not_ours: Callable[[Path, str], UsageError],
) -> int:
    """Return the number of a file's format, which its table ``run`` of one row has; ``tables``: their columns.

    Raises what ``not_ours`` makes of what was found in place of that.
    """
    if tables.get("run", {}).get("format") != "INTEGER":
        raise not_ours(path, "a database without the table run that Talkhouse makes")
    formats = [number for (number,) in con.execute("select format from main.run limit 2").fetchall()]
    if len(formats) != 1 or formats[0] is None:
        raise not_ours(path, "a table run that Talkhouse did not make")
    return int(formats[0])
