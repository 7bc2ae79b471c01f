"""The two states that are compared: found, checked, brought to one schema in private, and opened in one connection."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from talkhouse import migrations
from talkhouse.queries.views import create_views
from talkhouse.schema import contents, warehouse
from talkhouse.schema.errors import NotAWarehouse
from talkhouse.schema.guard import Settings
from talkhouse.schema.sql import quoted
from talkhouse.system import interrupt
from talkhouse.system.folders import temporary_folder
from talkhouse.warehouse import build_facts
from talkhouse.warehouse.opened import Warehouse


@dataclass(frozen=True)
class State:
    """A warehouse that is compared with another."""

    path: Path
    name: str
    """What the user called it."""
    release: str | None = None
    content_id: str | None = None


@dataclass(frozen=True)
class Side:
    """One of the two states, as it is open."""

    state: State
    database: str
    """Its name in SQL."""
    build: dict[str, Any]
    revision: str
    """Its schema revision, before it was migrated."""
    shape: dict[str, dict[str, str]]
    """The types of the columns of its tables, by table, before it was migrated."""
    views: dict[str, str]
    """The SQL of its views and macros, but for the views of splits."""
    is_migrated: bool
    of_release: str | None = None
    """The publisher's release whose rows alone are compared."""

    @property
    def sql(self) -> str:
        """Its name as SQL writes it."""
        return quoted(self.database)


@dataclass(frozen=True)
class Sides:
    """Both states, open in one connection."""

    con: duckdb.DuckDBPyConnection
    before: Side
    after: Side

    def __iter__(self) -> Iterator[Side]:
        return iter((self.before, self.after))


@contextmanager
def opened_states(
    before: State,
    after: State,
    *,
    between: tuple[str, str] | None = None,
    same_views: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> Iterator[Sides]:
    """Open two states read-only and guarded.

    ``between``: two of the publisher's releases that one state has; ``same_views``: both get the views that this
    Talkhouse makes. What is not at the newest schema revision is copied and migrated. Raises what ``opened`` raises.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        shapes, paths, migrated = [], [], []
        for number, state in enumerate((before, after)):
            shapes.append(_checked(state.path))
            paths.append(folder / f"side_{number}.duckdb")
            migrated.append(_prepare(state.path, paths[-1], same_views=same_views, on_step=on_step))
        is_one = between is not None or before.path.samefile(after.path)
        beside = {} if is_one else {"side_1": paths[1]}
        settings: Settings = {"enable_progress_bar": False, "temp_directory": str(folder / "sorting")}
        con = warehouse.connect(paths[0], before.path, alone=True, beside=beside, settings=settings)
        stack.callback(con.close)
        stop = stack.enter_context(interrupt.stoppable(con, None))
        names = ("side_0", "side_0" if is_one else "side_1")
        sides = [
            _side(con, name, state, *shape, is_migrated=is_migrated)
            for name, state, shape, is_migrated in zip(names, (before, after), shapes, migrated, strict=True)
        ]
        if between is not None:
            sides = [replace(side, of_release=release) for side, release in zip(sides, between, strict=True)]
        yield Sides(con, *sides)
        stop.check()


def _checked(path: Path) -> tuple[str, dict[str, dict[str, str]]]:
    """Return the schema revision of a warehouse that this Talkhouse can read, and the columns of its tables."""
    con = warehouse.connect(path, alone=True)
    try:
        warehouse.check_revision(revision := _revision(con, path), migrations.head(), path)
        shape: dict[str, dict[str, str]] = {}
        columns = con.execute(
            "select schema_name || '.' || table_name, column_name, data_type from duckdb_columns() "
            "where database_name = current_database() and schema_name in ('main', 'meta') and table_oid in "
            "(select table_oid from duckdb_tables() where database_name = current_database()) order by all"
        )
        for table, column, kind in columns.fetchall():
            shape.setdefault(table, {})[column] = kind
    finally:
        con.close()
    return revision, shape


def _revision(con: duckdb.DuckDBPyConnection, path: Path) -> str:
    """Return the schema revision of the current database; NotAWarehouse where it could answer for DuckDB itself."""
    revision = contents.revision(con, path)
    contents.check_before_writing(con, path)
    return revision


def _prepare(path: Path, private: Path, *, same_views: bool, on_step: Callable[[str], None]) -> bool:
    """Put a warehouse under another name, or a copy of it that is migrated or gets other views; say if migrated."""
    held = warehouse.connect(path, alone=True)
    try:
        is_old = _revision(held, path) != migrations.head()
        if is_old or same_views:
            shutil.copyfile(path, private)
            private.chmod(0o600)
        else:
            private.symlink_to(path.absolute())
    finally:
        held.close()
    if is_old:
        on_step(f"migrating a copy of {path}")
        migrations.upgrade(private)
    if same_views:
        _make_views(private)
    return is_old


def _make_views(private: Path) -> None:
    """Replace the views of a copy by those that this Talkhouse makes."""
    con = warehouse.create(private, guarded=True)
    try:
        create_views(con, Warehouse(con).catalogue)
    finally:
        con.close()


def _side(
    con: duckdb.DuckDBPyConnection,
    database: str,
    state: State,
    revision: str,
    shape: dict[str, dict[str, str]],
    *,
    is_migrated: bool,
) -> Side:
    """Describe an open state; it is checked again, as the file may have been replaced meanwhile."""
    con.execute(f"use {quoted(database)}")
    if _revision(con, state.path) != migrations.head():
        raise NotAWarehouse("the file was replaced while it was read", where=state.path, next_step="try again")
    build = build_facts.build(con, database) or {}
    return Side(state, database, build, revision, shape, _views(con), is_migrated)


def _views(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the SQL of views and macros by name; views of splits are left out, which say nothing of their own."""
    rows = con.execute(
        "select schema_name || '.' || view_name, sql from duckdb_views() "
        "where not internal and database_name = current_database() union all "
        "select schema_name || '.' || function_name, concat_ws(' ', parameters, macro_definition) "
        "from duckdb_functions() where not internal and database_name = current_database() order by all"
    ).fetchall()
    of_splits = Warehouse(con).split_views
    return {name: sql for name, sql in rows if name not in of_splits}
