"""Files derived from a warehouse, next to it: tied to its build, and derived again after another."""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import duckdb

from talkhouse.schema.contents import strange
from talkhouse.schema.errors import SchemaMismatch
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import identifier, literal
from talkhouse.schema.warehouse import STORAGE_VERSION, connect
from talkhouse.settings import version
from talkhouse.system.cache import Cache
from talkhouse.system.files import target_of
from talkhouse.warehouse import sidecar
from talkhouse.warehouse.build_facts import fingerprint
from talkhouse.warehouse.byte_copy import MOST_CHANGED, TooMuchChanged, WrittenFiles, free_share
from talkhouse.warehouse.opened import Warehouse

RESULT, WORK = "talkhouse_result", "talkhouse_work"
"""Names in SQL, while such a file is made: the file itself, and a database for what is needed meanwhile."""

_OPTIONS = f"read_write, storage_version '{STORAGE_VERSION}'"

_WRITTEN = WrittenFiles(Cache("beside", ".txt", most=256))
"""The files that were made, each with what decides what is in it."""

_PATIENCE = 600.0
"""Seconds to wait for another process that makes the same file."""
MEMORY: Settings = MappingProxyType({"memory_limit": "20%"})
"""Of the machine, as for other commands that the pages run; what does not fit is on the disk meanwhile."""

_VECTOR = re.compile(r"^FLOAT\[[1-9][0-9]*\]$")

Fill = Callable[[Warehouse, Path, str], None]
"""Fills the tables in RESULT of a warehouse with a fingerprint; the folder is there for anything else.

They are empty, or those of an earlier build; raises TooMuchChanged where they are not worth changing."""


@dataclass(frozen=True)
class FileBeside:
    """A kind of file derived from a warehouse, next to it: NAME.search.duckdb next to NAME.duckdb."""

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
    values: sidecar.Values
    """What holds for the tables."""
    more_room: str
    """What to do where there is no room for it."""

    def path(self, warehouse: Path) -> Path:
        """Return the path of a warehouse's file."""
        return sidecar.path_beside(warehouse, self.ending)

    def open(self, path: Path, settings: Settings = NO_SETTINGS) -> duckdb.DuckDBPyConnection:
        """Open a file read-only, in a database of its own; raises what ``open_beside`` raises, and SchemaMismatch."""
        return sidecar.open_beside(path, self._check_content, self.values, self._not_ours, settings)

    def attachable(self, warehouse: Path) -> dict[str, Path]:
        """Return the file of a warehouse by the name that it is attached under; nothing where there is none of ours."""
        path = self.path(warehouse)
        return {self.schema: path} if sidecar.is_ours(path, self.open) else {}

    def state(self, path: Path, fingerprint_of_warehouse: str) -> str:
        """Return the reason why a path has no file of a warehouse, or "" if it has one.

        Raises UsageError for a file that is none of ours.
        """
        if not os.path.lexists(path):
            return f"there is no {self.what} yet"
        try:
            with self.open(path) as con:
                ((stored,),) = con.execute("select warehouse_fingerprint from main.run").fetchall()
        except SchemaMismatch:
            return f"the {self.what} is of another Talkhouse"
        return "" if stored == fingerprint_of_warehouse else f"the warehouse has changed since its {self.what} was made"

    def state_beside(self, warehouse: Warehouse) -> str:
        """Return ``state`` of the file next to a warehouse."""
        return self.state(self.path(warehouse.path), fingerprint(warehouse.con, identifier(warehouse.database)))

    def make(
        self, warehouse: Path, fill: Fill, say: Callable[[str], None], settings: Settings = MEMORY, *, anew: bool
    ) -> Path:
        """Make the file of a warehouse, and return it; without ``anew`` one that another process has made stays.

        It begins as a copy of the one that is there, if that was made by this user and this Talkhouse, and is no older
        format; else empty. ``say`` is told why it is made. One process makes it, others wait; it appears whole or not
        at all. Raises UsageError where a file that is not ours is in its place, or where it can't be written,
        OutputFailed where there is no room.
        """
        path = self.path(warehouse)
        with sidecar.writing_beside(warehouse, path, self.more_room, settings, patience=_PATIENCE) as (of, folder):
            con = of.con
            now = fingerprint(con, identifier(of.database))
            if not (why := self.state(path, now)) and not anew:
                return path
            say(why)
            part = folder / path.name
            con.execute(f"attach {literal(str(folder / 'work.duckdb'))} as {WORK} ({_OPTIONS})")
            con.execute(f"use {WORK}")  # so that no macro of the warehouse answers for a function
            try:
                self._copy(path, part)
                self._attach(con, part)
                if free_share(con, RESULT) > MOST_CHANGED:
                    raise TooMuchChanged
                fill(of, folder, now)
            except TooMuchChanged:
                con.execute(f"detach {RESULT}")
                for file in folder.glob(f"{path.name}*"):
                    file.unlink()
                self._attach(con, part)
                fill(of, folder, now)
            of.check_complete()
            con.execute(f"checkpoint {RESULT}")
            con.execute(f"detach {RESULT}")
            shutil.copymode(warehouse, part)  # who may not read the one may not read the other
            # A log that somebody's killed process has left is of the former file, and DuckDB would read it.
            path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
            part.replace(target_of(path))
            _WRITTEN.keep_note(path, self._note())
        return path

    def _copy(self, path: Path, part: Path) -> None:
        """Copy the file that is there, where it is known what wrote it."""
        if _WRITTEN.note_of(path) == self._note():
            with connect(path):  # held open meanwhile, so that no process writes to it
                shutil.copyfile(path, part)

    def _note(self) -> str:
        """Return the note on a file: all that decides what is in it, apart from the warehouse."""
        return f"{self.schema} {self.number} {version()} {duckdb.__version__}"

    def _attach(self, con: duckdb.DuckDBPyConnection, part: Path) -> None:
        """Attach a file that is to be written, and create the tables that it lacks, but those of vectors."""
        con.execute(f"attach {literal(str(part))} as {RESULT} ({_OPTIONS})")
        for table, columns in self.tables.items():
            if "FLOAT[n]" in columns.values():
                continue
            names = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            con.execute(f"create table if not exists {RESULT}.main.{table} ({names})")

    def create(self, con: duckdb.DuckDBPyConnection, table: str, rows: str) -> None:
        """Create a table of the file of the rows of a query, by the places of their columns, in place of its own."""
        con.execute(f"create or replace table {RESULT}.main.{table} as {self._typed(table, rows)}")

    def insert(self, con: duckdb.DuckDBPyConnection, table: str, rows: str) -> None:
        """Insert the rows of a query into a table of the file, by the places of their columns."""
        con.execute(f"insert into {RESULT}.main.{table} {self._typed(table, rows)}")

    def _typed(self, table: str, rows: str) -> str:
        columns = ", ".join(f"{name}::{kind} as {name}" for name, kind in self.tables[table].items())
        return f"select {columns} from ({rows}) as found({', '.join(self.tables[table])})"

    def create_run(self, con: duckdb.DuckDBPyConnection, values: Mapping[str, object]) -> None:
        """Create the table ``run`` of one row, with values in addition to the format's number."""
        row = {"format": self.number, **values}
        columns = ", ".join(f"${name}::{kind} as {name}" for name, kind in self.tables["run"].items())
        con.execute(f"create or replace table {RESULT}.main.run as select {columns}", row)

    def _check_content(self, con: duckdb.DuckDBPyConnection, path: Path) -> None:
        """Raise UsageError where the tables are not those that Talkhouse makes."""
        if what := strange(con):
            raise self._not_ours(path, what)
        tables = sidecar.columns_of_tables(con)
        if (number := sidecar.format_of_run(con, path, tables, self._not_ours)) != self.number:
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

    @property
    def _not_ours(self) -> sidecar.NotOurs:
        return sidecar.not_ours(f"the {self.what} that {' '.join(self.made_by.split()[:2])} made")
