"""Opens a warehouse, read-only, with a message for everything that can stand in the way."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import duckdb

from talkhouse.schema.contents import RESERVED, revision
from talkhouse.schema.errors import (
    BadName,
    NotAWarehouse,
    OpenedOtherwise,
    OutputFailed,
    QueryFailed,
    SchemaMismatch,
    TalkhouseError,
    WarehouseDamaged,
    WarehouseLocked,
    WarehouseMissing,
    error_text,
    is_full_disk,
)
from talkhouse.schema.guard import NO_SETTINGS, Settings, configure, guard
from talkhouse.schema.sql import literal, quoted

STORAGE_VERSION = "v1.2.0"
"""The oldest storage version that has zstd, so that BI tools with an older DuckDB can open the file."""

ROW_GROUP = 20_480
"""Rows of a row group: each is compressed when it is full, and an utterance may have a kilobyte."""

NOTHING_BESIDE: Mapping[str, Path] = MappingProxyType({})

HOUSEKEEPING = "meta"
"""The schema of everything that is about the build and not about the corpora."""


def check_name(path: Path, schemas: Iterable[str] = ()) -> None:
    """Refuse a file whose name is a schema: DuckDB names a database by what stands before the first dot of its file.

    ``name.view`` is then ambiguous, in whatever program, and so is every view that reads another of its schema.
    """
    stem = path.name.partition(".")[0]
    taken = {*RESERVED, *schemas}
    if stem in taken:
        other = f"{stem}_talks"
        while other in taken:
            other += "_"
        raise BadName(
            "a database file may not be named after a schema",
            where=path,
            expected="any other name; without --db it is talkhouse.duckdb",
            found=f"'{stem}', which is a schema inside it, so DuckDB would find {stem}.x ambiguous",
            next_step=f"leave --db out, or choose another name: --db {path.with_name(other + path.name[len(stem) :])}",
        )


def create(path: Path, *, guarded: bool = False) -> duckdb.DuckDBPyConnection:
    """Open a private file for writing, in the published storage version; make it where there is none.

    ``guarded``: what stands in the file already may be somebody else's.
    """
    con = duckdb.connect()
    options = f"row_group_size {ROW_GROUP}, storage_version '{STORAGE_VERSION}'"
    con.execute(f"attach {literal(str(path))} as {name(path)} ({options})")
    con.execute(f"use {name(path)}")
    if guarded:
        guard(con)
    return con


def another_connection(con: duckdb.DuckDBPyConnection, path: Path) -> duckdb.DuckDBPyConnection:
    """Open another connection to a file that is open for writing: for a transaction or a thread of its own."""
    other = con.cursor()
    other.execute(f"use {name(path)}")
    return other


def name(path: Path) -> str:
    """Return the name of a file's database in SQL."""
    return quoted(path.stem)


def connect(
    path: Path,
    shown: Path | None = None,
    *,
    beside: Mapping[str, Path] = NOTHING_BESIDE,
    settings: Settings = NO_SETTINGS,
    unsafe: bool = False,
) -> duckdb.DuckDBPyConnection:
    """Open a file read-only and guarded; messages name ``shown`` where the file is known under another name.

    It sees the file that is there now, whatever else the process has open: only its cursors share its instance.

    Files ``beside`` it are attached read-only under their names. ``settings`` are made before DuckDB takes no others.
    ``unsafe``: nothing is guarded, and a view in the file may read every other file that the user may read.

    Raises WarehouseMissing, WarehouseLocked (a writer holds it), OpenedOtherwise (this process holds it
    for writing), WarehouseDamaged or NotAWarehouse (not a DuckDB file, or unreadable).
    """
    shown = shown or path
    try:
        _check_file(path, shown)
        with explain_damage(shown):
            con = _attached(path)
            for other, file in beside.items():
                con.execute(f"attach {literal(str(file))} as {quoted(other)} (read_only)")
    except duckdb.Error as error:
        raise _explained(error, shown) from error
    except OSError as error:
        detail = error_text(error, path, another="name another with --db FILE")
        raise NotAWarehouse("the file can't be opened", where=shown, **detail) from error
    try:
        _check_log(path, shown)  # again: it may have come meanwhile
        (configure if unsafe else guard)(con, settings)
    except BaseException:
        con.close()
        raise
    return con


def _check_file(path: Path, shown: Path) -> None:
    """Refuse what is no file, and a name that no warehouse may have."""
    if not path.exists():
        raise WarehouseMissing(
            "there is no warehouse here",
            where=shown,
            next_step="build one with: talkhouse build   or name another with --db FILE",
        )
    if path.is_dir():
        raise NotAWarehouse(
            "the warehouse is a file, and this is a folder", where=shown, next_step="name it: --db FILE"
        )
    if not path.is_file():
        raise NotAWarehouse("the warehouse is a file, and this is not one", where=shown, next_step="name it: --db FILE")
    check_name(shown)
    _check_log(path, shown)


def _check_log(path: Path, shown: Path) -> None:
    """Refuse a write-ahead log of another user: DuckDB would take what it says for a part of the file."""
    log = path.with_name(f"{path.name}.wal")
    try:
        owner = log.lstat().st_uid
    except OSError:
        return
    if owner != path.stat().st_uid and owner != os.geteuid():
        raise NotAWarehouse(
            "a write-ahead log that another user has put next to the warehouse would be read as a part of it",
            where=log,
            expected="none, or one of the user whose file the warehouse is",
            found=f"a log of the user {owner}",
            next_step=f"remove it, and keep {shown.name} in a folder that others can't write to",
        )


class Connection(duckdb.DuckDBPyConnection):
    """A connection to a file that is attached, and the current database of its cursors, too."""

    __slots__ = ()
    __module__ = duckdb.DuckDBPyConnection.__module__  # by which other libraries, such as Polars, know DuckDB

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return another connection to the same databases."""
        other = super().cursor()
        ((first,),) = other.execute(_FIRST_FILE).fetchall()
        other.execute(f"use {quoted(first)}")
        other.__class__ = type(self)
        return other

    duplicate = cursor


_FIRST_FILE = (
    "select database_name from system.main.duckdb_databases() where path is not null order by database_oid limit 1"
)


def _attached(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a file read-only in an instance of DuckDB of its own.

    By its path, all connections of a process would share one instance: its settings, and the file that was there when
    the first of them was opened, also after a build has put another in its place.
    """
    con = duckdb.connect()
    con.__class__ = Connection  # DuckDB makes no other class, and its cursors would begin without the file
    con.execute(f"set temp_directory = {literal(f'{path}.tmp')}")  # as DuckDB does for a file that it opens itself
    con.execute(f"attach {literal(str(path))} as {name(path)} (read_only)")
    con.execute(f"use {name(path)}")
    return con


def _explained(error: duckdb.Error, shown: Path) -> TalkhouseError:
    """Return why DuckDB can't open a file."""
    message = str(error)
    if "Could not set lock" in message:
        return WarehouseLocked(
            "another process holds the file open for writing",
            where=shown,
            found=message.split(". See also")[0],
            next_step="close that process; readers should open the file read-only",
        )
    if "Unique file handle conflict" in message:
        return OpenedOtherwise(
            "this process has the file open for writing",
            where=shown,
            expected="connections that only read it",
            found=message,
            next_step="close the other connection (in SQLAlchemy: engine.dispose()), or read in another process",
        )
    return NotAWarehouse(
        "this is not a warehouse",
        where=shown,
        expected="a DuckDB database that Talkhouse made",
        found=message,
        next_step="name another file with --db FILE; Talkhouse leaves this one as it is",
    )


_DAMAGE = ("Corrupt database file", "Could not read enough bytes", "Failed to load metadata pointer")
"""What DuckDB says where a block has another checksum, or is missing."""


@contextmanager
def explain_damage(path: Path) -> Iterator[None]:
    """Turn what DuckDB raises where a file is damaged into WarehouseDamaged."""
    try:
        yield
    except duckdb.Error as error:
        if not any(words in str(error) for words in _DAMAGE):
            raise
        raise WarehouseDamaged(
            "the warehouse is damaged, and was left as it is",
            where=path,
            expected="a file whose blocks match their checksums",
            found=str(error).splitlines()[0],
            next_step="restore an earlier copy, or move the file away and build again from the publisher's files",
        ) from error


_WRITTEN = re.compile(r'write file "([^"]+)"')
"""The file that DuckDB could not write."""


@contextmanager
def explain_failures(path: Path) -> Iterator[None]:
    """Turn what DuckDB raises for what stands in a file into an error that says so: it may be somebody else's."""
    try:
        with explain_damage(path):
            yield
    except duckdb.Error as error:
        found = str(error).strip().splitlines()[0]
        if is_full_disk(error):
            file = _WRITTEN.search(found)
            raise OutputFailed(
                "there is no room on the disk for DuckDB's temporary files; the warehouse is unchanged",
                where=file[1] if file else path,
                found=found,
                next_step="make room there; where the command has a --memory-limit, raise it",
            ) from error
        if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException):
            raise QueryFailed(
                "DuckDB has not enough memory to read the warehouse, or the file can't be read",
                where=path,
                found=found,
                next_step="make room; where the command has a --memory-limit, raise it",
            ) from error
        raise NotAWarehouse(
            "the warehouse can't be read: something in it is not as Talkhouse makes it",
            where=path,
            expected="tables and views as Talkhouse makes them; a view that somebody added can't read other files",
            found=found,
            next_step="build it again from the publisher's files; if you did so just now, please report this error",
        ) from error


def check_revision(revision_of_file: str, head: str, path: Path) -> None:
    """Refuse a file with a newer schema, which this Talkhouse can't read."""
    if revision_of_file > head:
        raise SchemaMismatch(
            "the warehouse has a newer schema than this Talkhouse",
            where=path,
            expected=f"revision {head} or older",
            found=f"revision {revision_of_file}",
            next_step="upgrade Talkhouse, or build another file with --db FILE",
        )


def open_warehouse(
    path: Path,
    head: str,
    *,
    beside: Mapping[str, Path] = NOTHING_BESIDE,
    settings: Settings = NO_SETTINGS,
    unsafe: bool = False,
) -> duckdb.DuckDBPyConnection:
    """Open a warehouse read-only for queries; ``head`` is the schema revision that the caller understands.

    ``beside``, ``settings`` and ``unsafe`` are as in ``connect``. Raises what ``connect`` and ``contents.revision``
    raise, and SchemaMismatch.
    """
    con = connect(path, beside=beside, settings=settings, unsafe=unsafe)
    try:
        revision_of_file = revision(con, path)
        check_revision(revision_of_file, head, path)
        if revision_of_file < head:
            raise SchemaMismatch(
                "the warehouse has an older schema than this Talkhouse",
                where=path,
                expected=f"revision {head}",
                found=f"revision {revision_of_file}",
                next_step=f"bring it up to date with: talkhouse migrate --db {shlex.quote(str(path))}",
            )
        _check_ambiguity(con, path)
    except BaseException:
        con.close()
        raise
    return con


def _check_ambiguity(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a file that was renamed to the name of one of its own schemas."""
    rows = con.execute("select schema_name from duckdb_schemas() where database_name = current_database()")
    check_name(path, (name for (name,) in rows.fetchall()))
