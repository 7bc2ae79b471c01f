"""The two states that are compared: found, checked, brought to one schema in private, and opened in one connection."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from talkhouse import migrations
from talkhouse.ingest.progress import Progress
from talkhouse.queries.views import create_views
from talkhouse.releases.manifest import MANIFEST, NAME
from talkhouse.releases.store import names, store_of
from talkhouse.schema import contents, warehouse
from talkhouse.schema.errors import NotAWarehouse, UsageError
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.settings import RELEASE_PREFIX
from talkhouse.system import interrupt
from talkhouse.system.files import temporary_folder
from talkhouse.warehouse import build_facts
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import split_views
from talkhouse.warehouse.sidecar import columns_of_tables


@dataclass(frozen=True)
class State:
    """A warehouse that is compared with another."""

    path: Path
    name: str
    """The user's name for it."""
    release: str | None = None
    content_id: str | None = None


@contextmanager
def found_state(name: str, store: Path | None, progress: Progress, on_note: Callable[[str], None]) -> Iterator[State]:
    """Yield the state that a name means, a file before a release of that name; UsageError if there is none."""
    path, named = Path(name), name.removeprefix(RELEASE_PREFIX)
    releases = names(store_of(store)) if NAME.fullmatch(named) else []
    if named == name and path.is_dir() and not (path / MANIFEST).exists():
        from talkhouse.load.run import build  # takes its time, as do releases: most states are files

        with temporary_folder() as folder:
            built = folder / "built.duckdb"
            build(built, progress, data=path)
            yield State(built, name)
    elif named == name and path.is_file():
        if name in releases:
            on_note(f"{name} is a file here, which is compared; the release is {RELEASE_PREFIX}{name}")
        yield State(path, name)
    elif named in releases or path.is_dir():
        from talkhouse.releases.checkout import find, resolve

        release = find(named, store).release
        yield State(resolve(named, store, as_released=True), name, release.name, release.content_id)
    else:
        raise UsageError(
            f"there is no '{named}'",
            expected="a warehouse file, the name or folder of a release, or a data folder",
            found=f"no file, no folder, and no release in {store_of(store)}",
            next_step="list the releases with: talkhouse release list",
        )


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
    """The SQL of its views and macros by name; if they differ from the other side's, without views of splits."""
    is_migrated: bool
    of_release: str | None = None
    """The publisher's release whose rows alone are compared."""
    release_as: str | None = None
    """The name under which it is compared, that of the other side's."""

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
def _stopped_by_ctrl_c(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    with interrupt.stoppable(con, None) as stop:
        yield
        stop.check()


@contextmanager
def opened_states(
    before: State,
    after: State,
    *,
    between: tuple[str, str] | None = None,
    same_views: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
    settings: Settings = NO_SETTINGS,
    stopping: Callable[[duckdb.DuckDBPyConnection], AbstractContextManager[object]] = _stopped_by_ctrl_c,
) -> Iterator[Sides]:
    """Open two states read-only and guarded.

    ``between``: two of the publisher's releases that one state has; ``same_views``: both get the views that this
    Talkhouse makes. What is not at the newest schema revision is copied and migrated. ``stopping`` stops the queries.
    Raises the errors of ``opened``.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        paths, outdated = [], []
        for number, state in enumerate((before, after)):
            paths.append(folder / f"side_{number}.duckdb")
            outdated.append(_prepare(state.path, paths[-1], same_views=same_views, on_step=on_step))
        is_one = between is not None or before.path.samefile(after.path)
        beside = {} if is_one else {"side_1": paths[1]}
        own: Settings = {"enable_progress_bar": False, "temp_directory": str(folder / "sorting")}
        con = warehouse.connect(paths[0], before.path, beside=beside, settings={**own, **settings})
        stack.callback(con.close)
        stack.enter_context(stopping(con))
        sides = [
            _side(con, "side_0", before, outdated[0]),
            _side(con, "side_0" if is_one else "side_1", after, outdated[1]),
        ]
        if sides[0].views != sides[1].views:
            sides = [replace(side, views=_without_splits(con, side)) for side in sides]
        if between is not None:
            old, new = between
            sides = [replace(side, of_release=of, release_as=new) for side, of in zip(sides, (old, new), strict=True)]
        yield Sides(con, *sides)


class _Outdated(NamedTuple):
    """The original schema of a migrated warehouse."""

    revision: str
    shape: dict[str, dict[str, str]]


def _prepare(path: Path, private: Path, *, same_views: bool, on_step: Callable[[str], None]) -> _Outdated | None:
    """Put a warehouse under another name, or a copy of it that is migrated or gets other views."""
    held = warehouse.connect(path)
    try:
        revision = contents.revision(held, path)
        warehouse.check_revision(revision, migrations.head(), path)
        outdated = None if revision == migrations.head() else _Outdated(revision, _shape(held))
        if outdated or same_views:
            contents.check_before_writing(held, path)
            shutil.copyfile(path, private)
            private.chmod(0o600)
        else:
            private.symlink_to(path.absolute())
    finally:
        held.close()
    if outdated:
        on_step(f"migrating a copy of {path}")
        migrations.upgrade(private)
    if same_views:
        con = warehouse.create(private, guarded=True)
        try:
            create_views(con, Warehouse(con).catalogue)
        finally:
            con.close()
    return outdated


def _shape(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Return the types of the columns of the tables of the current database."""
    schemas = ("main", HOUSEKEEPING)
    return {
        f"{schema}.{table}": columns for schema in schemas for table, columns in columns_of_tables(con, schema).items()
    }


def _side(con: duckdb.DuckDBPyConnection, database: str, state: State, outdated: _Outdated | None) -> Side:
    """Describe an open state; it is checked here, as the file may have been replaced meanwhile."""
    con.execute(f"use {quoted(database)}")
    if (revision := contents.revision(con, state.path)) != migrations.head():
        raise NotAWarehouse("the file was replaced while it was read", where=state.path, next_step="try again")
    contents.check_before_writing(con, state.path)  # a macro could answer for DuckDB's own functions
    build = build_facts.build(con, database) or {}
    was = outdated or _Outdated(revision, _shape(con))
    views = dict(con.execute(sql_of(__file__, "view_definitions")).fetchall())
    return Side(state, database, build, was.revision, was.shape, views, is_migrated=outdated is not None)


def _without_splits(con: duckdb.DuckDBPyConnection, side: Side) -> dict[str, str]:
    """Return the views of a side but for those of splits, which add nothing."""
    con.execute(f"use {side.sql}")
    of_splits = split_views(con, side.database)
    return {name: sql for name, sql in side.views.items() if name not in of_splits}
