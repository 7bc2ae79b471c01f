"""Databases of Talkhouse's own beside a warehouse: written in one step, and opened guarded where they are its own."""

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from types import MappingProxyType

import duckdb

from talkhouse.schema import warehouse
from talkhouse.schema.contents import strange
from talkhouse.schema.errors import (
    NotAWarehouse,
    OutputFailed,
    SchemaMismatch,
    TalkhouseError,
    UsageError,
    WarehouseDamaged,
)
from talkhouse.schema.guard import NO_SETTINGS, Settings, guard
from talkhouse.schema.sql import identifier, literal, quoted
from talkhouse.schema.warehouse import STORAGE_VERSION
from talkhouse.settings import database
from talkhouse.system.atomic_output import move_into_place, output_errors, private_folder
from talkhouse.system.cache import is_kept
from talkhouse.system.folders import target_of
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


def of_here(warehouse: Path) -> Path:
    """Return the warehouse that files lie beside: of a release, which never changes, the warehouse of here."""
    return (database() if is_kept(warehouse) else warehouse).resolve()


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
    if said := detach_if_hidden(con, attached, path):
        return said
    name = quoted(attached)
    ((kept, now),) = con.execute(
        f"select warehouse_fingerprint, $1 from {name}.main.run", [fingerprint(con, database)]
    ).fetchall()
    if kept == now:
        return None
    con.execute(f"detach {name}")
    said = f"the warehouse has changed since; compute it again with: {command}"
    return f"{path.name} is not there as {attached}: {said}"


def detach_if_hidden(con: duckdb.DuckDBPyConnection, attached: str, path: Path) -> str | None:
    """Detach a file whose name in SQL, ``attached``, the warehouse has for a schema; return what to say."""
    ((schemas,),) = con.execute(
        "select count(*) from system.main.duckdb_schemas() "
        "where database_name = system.main.current_database() and schema_name = $1",
        [attached],
    ).fetchall()
    if not schemas:
        return None
    con.execute(f"detach {quoted(attached)}")
    return f"{path.name} is not there as {attached}: the warehouse has a schema of that name"


def columns_of_tables(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Return the columns of each table with their types, in DuckDB's words."""
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in con.execute(_TABLES).fetchall():
        tables.setdefault(table, {})[column] = kind
    return tables


def check_format(
    con: duckdb.DuckDBPyConnection, path: Path, newest: int, not_ours: Callable[[Path, str], UsageError]
) -> None:
    """Raise SchemaMismatch where a file's table ``format`` names a newer one; what ``not_ours`` makes of another table.

    Of a file that users write to, and which an older Talkhouse may have begun.
    """
    is_known = columns_of_tables(con).get("format") == {"version": "INTEGER"}
    rows = con.execute("select version from main.format").fetchall() if is_known else []
    if len(rows) != 1 or rows[0][0] is None:
        raise not_ours(path, "a table format that Talkhouse did not make")
    if rows[0][0] > newest:
        raise SchemaMismatch(
            "the file is of a newer Talkhouse than this",
            where=path,
            expected=f"format {newest} or older",
            found=f"format {rows[0][0]}",
            next_step="upgrade Talkhouse, or move the file away",
        )


def check_writable(path: Path) -> None:
    """Raise UsageError for a file that is not to be written, or has changes of another program beside it."""
    info = path.stat()
    if not info.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise UsageError("the file is read-only", where=path, next_step=f"allow it with: chmod u+w '{path}'")
    log = path.with_name(f"{path.name}.wal")
    if log.exists():
        raise UsageError(
            "another program has changed the file, and its changes are not in it yet",
            where=path,
            found=f"{log.name} beside it",
            next_step=f"put them into it with: duckdb '{path}' -c checkpoint",
        )


_PATIENCE_OF_WRITERS = 60
"""Seconds for which another process may write a file that users write to; that takes less than one."""


@contextmanager
def changed_beside(
    path: Path, open_file: Callable[[Path], duckdb.DuckDBPyConnection], schema: str
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to a private copy, which replaces the file at the end; readers keep the one they opened.

    ``open_file`` opens, and checks, a file that is there; ``schema`` is SQL that makes what is missing. Waits for
    another process that writes the file.
    """
    with private_folder(path, patience=_PATIENCE_OF_WRITERS) as folder:
        part = folder / path.name
        if os.path.lexists(path):
            with open_file(path):  # held open meanwhile, so that nobody writes to it
                check_writable(path)
                copyfile(path, part, follow_symlinks=False)
        with duckdb.connect(part) as con:
            guard(con)
            con.execute(schema)
            yield con
            con.execute("checkpoint")
        move_into_place(part, path)


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


RESULT, WORK = "talkhouse_result", "talkhouse_work"
"""Names in SQL, while such a file is made: the file itself, and a database for what is needed meanwhile."""

_PATIENCE = 600.0
"""Seconds to wait for another process that makes the same file."""
MEMORY: Settings = MappingProxyType({"memory_limit": "20%"})
"""Of the machine, as for other commands that the pages run; what does not fit is on the disk meanwhile."""

_VECTOR = re.compile(r"^FLOAT\[[1-9][0-9]*\]$")

Fill = Callable[[Warehouse, Path, str], None]
"""Creates the tables in RESULT, of a warehouse with a fingerprint; the folder is there for anything else."""


@dataclass(frozen=True)
class FileBeside:
    """A kind of file that is made of a warehouse, beside it: NAME.search.duckdb beside NAME.duckdb."""

    ending: str
    schema: str
    """The name in SQL that it is attached under."""
    what: str
    """What it is, in words, such as ``index of texts``."""
    made_by: str
    """The command that makes it."""
    number: int
    """Of its format."""
    tables: Mapping[str, Mapping[str, str]]
    """The tables with their columns; ``FLOAT[n]`` stands for a vector of any length. ``run``, of one row, has the
    columns ``format`` and ``warehouse_fingerprint``."""
    more_room: str
    """What to do where there is no room for it."""

    def path(self, warehouse: Path) -> Path:
        """Return where the file of a warehouse is: beside it, that of a release beside the warehouse of here."""
        return of_here(warehouse).with_name(f"{warehouse.resolve().stem}{self.ending}")

    def open(self, path: Path, settings: Settings = NO_SETTINGS) -> duckdb.DuckDBPyConnection:
        """Open a file read-only, in a database of its own; raises what ``open_beside`` raises, and SchemaMismatch."""
        return open_beside(path, self._check_content, self._not_ours, settings)

    def attachable(self, warehouse: Path) -> dict[str, Path]:
        """Return the file of a warehouse by the name that it is attached under; nothing where there is none of ours."""
        path = self.path(warehouse)
        return {self.schema: path} if is_ours(path, self.open) else {}

    def state(self, path: Path, fingerprint_of_warehouse: str) -> str:
        """Return why there is no file of a warehouse at a path, in words, or "" where there is one.

        Raises UsageError for a file that is none of ours.
        """
        if not os.path.lexists(path):
            return f"there is no {self.what} yet"
        try:
            with self.open(path) as con:
                ((kept,),) = con.execute("select warehouse_fingerprint from main.run").fetchall()
        except SchemaMismatch:
            return f"the {self.what} is of another Talkhouse"
        return "" if kept == fingerprint_of_warehouse else f"the warehouse has changed since its {self.what} was made"

    def state_beside(self, warehouse: Warehouse) -> str:
        """Return ``state`` of the file beside a warehouse."""
        return self.state(self.path(warehouse.path), fingerprint(warehouse.con, identifier(warehouse.database)))

    def make(
        self, warehouse: Path, fill: Fill, say: Callable[[str], None], settings: Settings = MEMORY, *, anew: bool
    ) -> Path:
        """Make the file of a warehouse, and return it; without ``anew`` one that another process has made stays.

        ``say`` is told why it is made. One process makes it, others wait; it appears whole or not at all. Raises
        UsageError where a file that is not ours is in its place, or where it can't be written, OutputFailed where there
        is no room.
        """
        path = self.path(warehouse)
        with writing_beside(warehouse, path, self.more_room, settings, patience=_PATIENCE) as (of, folder):
            con = of.con
            now = fingerprint(con, identifier(of.database))
            if not (why := self.state(path, now)) and not anew:
                return path
            say(why)
            part = folder / path.name
            for name, file in ((RESULT, part), (WORK, folder / "work.duckdb")):
                con.execute(f"attach {literal(str(file))} as {name} (read_write, storage_version '{STORAGE_VERSION}')")
            con.execute(f"use {WORK}")  # so that no macro of the warehouse answers for a function
            fill(of, folder, now)
            of.check_complete()
            con.execute(f"checkpoint {RESULT}")
            con.execute(f"detach {RESULT}")
            shutil.copymode(warehouse, part)  # who may not read the one may not read the other
            part.replace(target_of(path))
        return path

    def create(self, con: duckdb.DuckDBPyConnection, table: str, rows: str) -> None:
        """Create a table of the file of the rows of a query, by the places of their columns."""
        columns = ", ".join(f"{name}::{kind} as {name}" for name, kind in self.tables[table].items())
        names = ", ".join(self.tables[table])
        con.execute(f"create table {RESULT}.main.{table} as select {columns} from ({rows}) as found({names})")

    def create_run(self, con: duckdb.DuckDBPyConnection, values: Mapping[str, object]) -> None:
        """Create the table ``run`` of one row, with values beside the number of the format."""
        row = {"format": self.number, **values}
        columns = ", ".join(f"${name}::{kind} as {name}" for name, kind in self.tables["run"].items())
        con.execute(f"create table {RESULT}.main.run as select {columns}", row)

    def _check_content(self, con: duckdb.DuckDBPyConnection, path: Path) -> None:
        """Raise UsageError where the tables are not those that Talkhouse makes."""
        if what := strange(con):
            raise self._not_ours(path, what)
        tables = columns_of_tables(con)
        if (number := format_of_run(con, path, tables, self._not_ours)) != self.number:
            raise SchemaMismatch(
                f"the {self.what} is of another Talkhouse than this",
                where=path,
                expected=f"format {self.number}",
                found=f"format {number}",
                next_step=f"make it again with: {self.made_by}",
            )
        found = {
            table: {name: _VECTOR.sub("FLOAT[n]", kind) for name, kind in columns.items()}
            for table, columns in tables.items()
        }
        if found != self.tables:
            raise self._not_ours(path, "other tables than those that Talkhouse makes")

    def _not_ours(self, path: Path, found: str) -> UsageError:
        return UsageError(
            f"this is no {self.what} that {' '.join(self.made_by.split()[:2])} made, and was left as it is",
            where=path,
            expected="no file, or one of ours",
            found=found,
            next_step="move it away",
        )
