"""Databases of Talkhouse's own next to a warehouse: written in one step, and opened guarded where they are its own."""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from shutil import copyfile

import duckdb

from talkhouse.schema import errors, warehouse
from talkhouse.schema.guard import NO_SETTINGS, Settings, guard
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.settings import local_database
from talkhouse.system.atomic_output import move_into_place, output_errors, private_folder
from talkhouse.system.cache import is_kept
from talkhouse.warehouse.build_facts import fingerprint
from talkhouse.warehouse.opened import Warehouse, opened

Values = Mapping[str, Mapping[str, Collection[str]]]
"""Table -> SQL that is true of its rows in every file that Talkhouse has written -> the columns that it is asked of,
which stand for {0} in it; {1} is the table."""

SOME = "{0} is not null"
COUNT = "{0} >= 0"
POSITIVE = "{0} >= 1"
FINITE = "isfinite({0})"
SHARE = "{0} between 0 and 1"
TIME = "{0} between '0001-01-01'::timestamp and '9999-12-31 23:59:59.999999'::timestamp"
"""A time that Python can count."""
FULL = "list_count({0}) = len({0})"
"""A list without nulls, which may be empty."""
ONCE = "{0} not in (select {0} from main.{1} group by all having count(*) > 1)"


NotOurs = Callable[[Path, str], errors.UsageError]
"""Makes the error for a file that Talkhouse has not made, of its path and of what was found in it."""


def not_ours(what: str, next_step: str = "move it away") -> NotOurs:
    """Return a function that makes the error; ``what`` is what the file should be, such as ``a file of notes``."""

    def error(path: Path, found: str) -> errors.UsageError:
        message = f"this is not {what}, and was left as it is"
        return errors.UsageError(
            message, where=path, expected="no file, or one of ours", found=found, next_step=next_step
        )

    return error


def one_of(words: Iterable[str]) -> str:
    """Return the condition that a column has one of some words."""
    return f"{{0}} in ({', '.join(map(literal, words))})"


def or_null(condition: str) -> str:
    """Return the condition that another one holds, or that there is nothing."""
    return f"({{0}} is null or {condition})"


def of_here(warehouse: Path) -> Path:
    """Return the warehouse that files lie next to: for a release, which never changes, the local warehouse."""
    return (local_database() if is_kept(warehouse) else warehouse).resolve()


def path_beside(warehouse: Path, ending: str) -> Path:
    """Return the path of a file derived from a warehouse: next to it, or for a release next to the local one."""
    return of_here(warehouse).with_name(f"{warehouse.resolve().stem}{ending}")


def open_beside(
    path: Path,
    check: Callable[[duckdb.DuckDBPyConnection, Path], None],
    values: Values,
    not_ours: NotOurs,
    settings: Settings = NO_SETTINGS,
) -> duckdb.DuckDBPyConnection:
    """Open a file read-only, in a database of its own, once ``check`` has passed its tables, which have these values.

    Raises what ``not_ours`` makes of what was found in place of Talkhouse's file, also while it is read in a ``with``,
    WarehouseLocked where another process has it open for writing, and what ``check`` raises.
    """
    info = path.lstat()
    if not stat.S_ISREG(info.st_mode):
        raise not_ours(
            path, {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder"}.get(stat.S_IFMT(info.st_mode), "no file")
        )
    if not info.st_size:
        raise not_ours(path, "an empty file")
    try:
        con = warehouse.connect(path, settings=settings)
    except (errors.NotAWarehouse, errors.WarehouseDamaged) as error:
        raise not_ours(path, error.found or error.what) from error
    con.__class__ = _connection_to(path, not_ours)
    try:
        check(con, path)
        if found := strange_value(con, columns_of_tables(con), values):
            raise not_ours(path, found)
    except BaseException:
        con.close()
        raise
    return con


TRIPPED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # by a value that is not expected


def _connection_to(path: Path, not_ours: NotOurs) -> type[duckdb.DuckDBPyConnection]:
    """Return the class of connections to a file whose queries, and whose readers, fail for what is in the file."""

    @contextmanager
    def explained() -> Iterator[None]:
        try:
            with warehouse.explain_damage(path):
                yield
        except (duckdb.InterruptException, duckdb.IOException, duckdb.OutOfMemoryException):
            raise
        except (duckdb.Error, errors.WarehouseDamaged) as error:
            raise not_ours(path, getattr(error, "found", None) or errors.described(error)) from error

    class Connection(warehouse.Connection):
        __slots__ = ()
        __module__ = warehouse.Connection.__module__

        execute = explained()(warehouse.Connection.execute)
        fetchall = explained()(warehouse.Connection.fetchall)

        def __exit__(self, kind: object, error: object, trace: object) -> None:
            self.close()  # which is all that DuckDB's own does
            # Not for an error of DuckDB, which may be of the warehouse, nor where what the user typed is no Unicode.
            if isinstance(error, TRIPPED) and not isinstance(error, UnicodeEncodeError):
                raise not_ours(path, errors.described(error)) from error

    return Connection


def is_ours(path: Path, open_file: Callable[[Path], duckdb.DuckDBPyConnection]) -> bool:
    """Whether there is a file that Talkhouse made, and that can be read."""
    if not os.path.lexists(path):
        return False
    try:
        open_file(path).close()
    except errors.TalkhouseError:
        return False
    return True


def detach_unless_fitting(
    con: duckdb.DuckDBPyConnection, database: str, attached: str, path: Path, command: str
) -> str | None:
    """Detach a file that is not of the warehouse as it is, the current ``database``; return the message.

    ``attached`` is its name in SQL; its table ``run`` has the fingerprint of the warehouse that ``command`` read.
    """
    if problem := detach_if_hidden(con, attached, path):
        return problem
    name = quoted(attached)
    ((recorded, now),) = con.execute(
        f"select warehouse_fingerprint, $1 from {name}.main.run", [fingerprint(con, database)]
    ).fetchall()
    if recorded == now:
        return None
    con.execute(f"detach {name}")
    problem = f"it is of another warehouse, or this one has changed since; compute it again with: {command}"
    return f"{path.name} is not there as {attached}: {problem}"


def detach_if_hidden(con: duckdb.DuckDBPyConnection, attached: str, path: Path) -> str | None:
    """Detach a file whose name in SQL, ``attached``, the warehouse has for a schema; return the message."""
    ((schemas,),) = con.execute(
        "select count(*) from system.main.duckdb_schemas() "
        "where database_name = system.main.current_database() and schema_name = $1",
        [attached],
    ).fetchall()
    if not schemas:
        return None
    con.execute(f"detach {quoted(attached)}")
    return f"{path.name} is not there as {attached}: the warehouse has a schema of that name"


def columns_of_tables(con: duckdb.DuckDBPyConnection, schema: str = "main") -> dict[str, dict[str, str]]:
    """Return the columns of each table of a schema with their types, in DuckDB's words."""
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in con.execute(sql_of(__file__, "table_columns"), [schema]).fetchall():
        tables.setdefault(table, {})[column] = kind
    return tables


@cache
def columns_of_schema(schema: str) -> dict[str, dict[str, str]]:
    """Return the columns of the tables that SQL makes, with their types."""
    with duckdb.connect() as con:
        guard(con)
        con.execute(schema)
        return columns_of_tables(con)


def check_format(con: duckdb.DuckDBPyConnection, path: Path, newest: int, not_ours: NotOurs) -> None:
    """Raise SchemaMismatch where a file's table ``format`` names a newer one; what ``not_ours`` makes of another table.

    Of a file that users write to, and which an older Talkhouse may have begun.
    """
    is_known = columns_of_tables(con).get("format") == {"version": "INTEGER"}
    rows = con.execute("select version from main.format").fetchall() if is_known else []
    if len(rows) != 1 or rows[0][0] is None:
        raise not_ours(path, "a table format that Talkhouse did not make")
    if rows[0][0] > newest:
        raise errors.SchemaMismatch(
            "the file is of a newer Talkhouse than this",
            where=path,
            expected=f"format {newest} or older",
            found=f"format {rows[0][0]}",
            next_step="upgrade Talkhouse, or move the file away",
        )


def check_writable(path: Path) -> None:
    """Raise UsageError for a file that is not to be written, or has another program's changes next to it."""
    info = path.stat()
    if not info.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise errors.UsageError("the file is read-only", where=path, next_step=f"allow it with: chmod u+w '{path}'")
    log = path.with_name(f"{path.name}.wal")
    if log.exists():
        raise errors.UsageError(
            "another program has changed the file, and its changes are not in it yet",
            where=path,
            found=f"{log.name} next to it",
            next_step=f"put them into it with: duckdb '{path}' -c checkpoint",
        )


_PATIENCE = 60
"""Seconds for which another process may write a file that users write to; that takes less than one."""


_BLOCK = 16_384
"""Bytes of a block, DuckDB's least: each small table takes one, and by default it would have 256 KiB."""


@contextmanager
def changed_beside(
    path: Path, of: Path, open_file: Callable[[Path], duckdb.DuckDBPyConnection], schema: str
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to a private copy, which replaces the file at the end; readers keep the one they opened.

    ``open_file`` opens, and checks, a file that is there; ``schema`` is SQL that makes what is missing. A new file is
    closed to users who may not read ``of``, the warehouse. Waits for another process that writes the file.
    """
    with private_folder(path, patience=_PATIENCE) as folder:
        part = folder / path.name
        if os.path.lexists(path):
            with open_file(path):  # held open meanwhile, so that no process writes to it
                check_writable(path)
                copyfile(path, part, follow_symlinks=False)
        with (
            _explained(path, "make room on the disk, and type the command again"),
            duckdb.connect(part, config={"default_block_size": str(_BLOCK)}) as con,
        ):
            guard(con)
            con.execute(schema)
            yield con
            con.execute("checkpoint")
            ((is_loose,),) = con.execute(
                f"select free_blocks > used_blocks or block_size > {_BLOCK} from pragma_database_size()"
            ).fetchall()
        if is_loose:
            part = _compacted(part)
        readable = of.stat().st_mode & 0o444
        part.chmod(part.stat().st_mode & (readable | readable >> 1))
        move_into_place(part, path)


def _compacted(path: Path) -> Path:
    """Return a copy of a database, next to it, in small blocks, and without the free ones that DuckDB keeps."""
    copy = path.with_name(f"compacted-{path.name}")
    with duckdb.connect() as con:
        guard(con, {"allowed_directories": [f"{path.parent}{os.sep}"]})
        con.execute(f"attach {literal(str(path))} as loose (read_only)")
        con.execute(f"attach {literal(str(copy))} as compact (read_write, block_size {_BLOCK})")
        try:
            con.execute("copy from database loose to compact")
        except duckdb.Error:  # for what users have put into it; it stays as large as it is
            return path
        con.execute("checkpoint compact")
    return copy


@contextmanager
def writing_beside(
    path: Path, output: Path, more_room: str, settings: Settings = NO_SETTINGS, *, patience: float = 0
) -> Iterator[tuple[Warehouse, Path]]:
    """Open a warehouse to compute a file next to it, in the private folder that is yielded too, and is removed.

    The connection writes and spills there and nowhere else. Raises what ``private_folder`` and ``opened`` raise, and
    OutputFailed, whose next step is ``more_room``, where memory or the disk is full.
    """
    with private_folder(output, patience=patience) as folder:
        folder = folder.absolute()
        all_settings = {
            "allowed_directories": [f"{folder}{os.sep}"],
            "temp_directory": str(folder / "spilled"),
            **settings,
        }
        with opened(path, settings=all_settings) as opened_warehouse, _explained(output, more_room):
            yield opened_warehouse, folder


_UNSURE = (duckdb.OutOfMemoryException, duckdb.IOException)


@contextmanager
def _explained(output: Path, more_room: str) -> Iterator[None]:
    """Turn what DuckDB raises where memory or the disk is full into an error that says so."""
    try:
        with output_errors(output):
            yield
    except duckdb.Error as error:
        if not (is_full := errors.is_full_disk(error)) and not isinstance(error, _UNSURE):
            raise
        short = "no room on the disk" if is_full else "not enough memory, or no room on the disk"
        raise errors.OutputFailed(
            f"there is {short}; what was there before is unchanged",
            where=output,
            found=str(error).strip().splitlines()[0],
            next_step=more_room,
        ) from error


def format_of_run(
    con: duckdb.DuckDBPyConnection, path: Path, tables: Mapping[str, Mapping[str, str]], not_ours: NotOurs
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


def strange_value(con: duckdb.DuckDBPyConnection, tables: Mapping[str, Collection[str]], values: Values) -> str | None:
    """Say where a file with these tables has a value that Talkhouse does not write, or None if there is none.

    One query asks all. DuckDB answers most of it from what it keeps of each column, and reads few of millions of rows.
    """
    asked = [
        (f"{table}.{column}", f"from main.{table} where not coalesce({true.format(column, table)}, false)")
        for table, conditions in values.items()
        for true, columns in conditions.items()
        for column in columns
        if column in tables[table]  # an older format may not have it
    ]
    (found,) = con.execute(f"select {', '.join(f'(select count(*) {rows})' for _, rows in asked)}").fetchall()
    for (place, _), count in zip(asked, found, strict=True):
        if count:
            return f"{place}: a value that Talkhouse does not write ({count:,} row{'' if count == 1 else 's'})"
    return None
