"""The warehouse that the pages read: opened read-only and sandboxed, and again after each build."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl
import streamlit as st

from talkhouse import migrations
from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.fields import frame
from talkhouse.charts.view_cache import Connect, ViewCache, often_asked
from talkhouse.dialogues.schemes import Schemes, schemes_of, schemes_sql
from talkhouse.export import sandbox
from talkhouse.queries.catalogue import BI, Catalogue, catalogue_of
from talkhouse.schema import warehouse
from talkhouse.schema.errors import QueryFailed
from talkhouse.schema.sql_files import sql_of
from talkhouse.settings import database
from talkhouse.warehouse import query_files

SECONDS = 30.0
"""Seconds that a query of a page may take."""

MEMORY = "30%"
"""Of the machine, for the queries of all pages; those of the console, and files, are made by commands."""

MEMORY_BESIDE = "5%"
"""Of the machine, for a file next to the warehouse: the shares of all that the pages run are added up in
``talkhouse.dashboard.download``."""

NEW_BUILD_SECONDS = 5
"""Seconds between checks for a new build."""

ONE_BESIDE = threading.Lock()
"""Each opening has its own memory: so there is one at a time."""

ONE_READS = threading.Lock()
"""Held by the page that runs the code of a corpus: a reader or writer is made for one thread, and imported late."""

_CACHED = 500
"""Results that are kept; each is at most some thousand rows."""

_MOST_LABELS = 1_000
"""Labels of a scheme that pages know in their order."""

CORPORA = sql_of(__file__, "corpora")
"""The query of the corpora on the home page."""

_COLUMNS = f"""
select table_name, list(column_name order by column_index) from duckdb_columns()
where schema_name = '{BI}' and database_name = current_database() group by table_name
"""
"""Of all views at once: to ask for each takes as long."""


@dataclass(frozen=True)
class Version:
    """One published state of a file: a build puts a new file in its place."""

    path: Path
    inode: int
    changed: int
    """When it was last changed, in nanoseconds."""


class ServedWarehouse:
    """One version of the warehouse, open until its last user releases it; the first user is its opener.

    Drawn pages refer to it for minutes after their tab was closed: that does not keep it open.
    """

    def __init__(self, version: Version) -> None:
        self.version = version
        settings = sandbox.settings(memory=MEMORY)
        self._con = warehouse.open_warehouse(version.path, migrations.head(), settings=settings)

        with warehouse.another_connection(self._con, version.path) as con:
            self.query_files = query_files.files(con, con.execute("select current_database()").fetchall()[0][0])
            self.columns: dict[str, list[str]] = dict(con.execute(_COLUMNS).fetchall())
        """The SQL and the charts of its views; the columns of each view of ``bi``."""
        self._held: ViewCache | None = None
        self._holding = threading.Lock()
        self._users, self._counting = 1, threading.Lock()

    @property
    def catalogue(self) -> Catalogue:
        """The SQL of its views, and their declarations."""
        return catalogue_of(self.query_files)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Keep it open inside; run the page again if it is closed, as another has replaced it."""
        with self._counting:
            if not self._users:
                st.rerun()
            self._users += 1
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        """Have one user less, and close it after the last one."""
        with self._counting:
            self._users -= 1
            if not self._users:
                self._con.close()

    @contextmanager
    def connection(self, seconds: float = SECONDS) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open a connection whose queries are stopped after some seconds, with QueryFailed."""
        with (
            self.used(),
            warehouse.another_connection(self._con, self.version.path) as con,
            limited(con, self.version.path, seconds),
        ):
            yield con

    def rows(self, sql: str, values: Mapping[str, object] | None = None) -> pl.DataFrame:
        """Return all rows of a query; a second time from memory."""
        return _rows(self.connection, self.version, sql, dict(values or {}), str)

    def schemes(self, corpus_id: str) -> Schemes:
        """Return the annotation schemes of a corpus, each with its first labels."""
        sql = schemes_sql("starts_with(schemes.scheme, $corpus || '.')", _MOST_LABELS)
        return schemes_of(self.rows(sql, {"corpus": corpus_id}).iter_rows())

    def rows_of_pages(self, sql: str) -> pl.DataFrame:
        """Return all rows of a query that pages ask as they are; a view that several of them ask is computed once."""
        with self._holding:  # not at once: pages without charts work even if a dashboard is broken
            if self._held is None:
                declared = [file.dashboard for file in dashboards(self.query_files)]
                often = often_asked(declared, metrics(self.query_files), self.columns, [CORPORA])
                self._held = ViewCache(self.connection, f"{self.version.path.stem}_held", often)
        return _rows(self.connection, self.version, sql, {}, self._held.sql)


@contextmanager
def beside(path: Path, connect: Callable[..., duckdb.DuckDBPyConnection]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a file next to the warehouse for a moment, sandboxed: its writers need exclusive access."""
    settings = sandbox.settings(memory=MEMORY_BESIDE)
    with ONE_BESIDE, connect(path, settings=settings) as con, limited(con, path):
        yield con


@contextmanager
def limited(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    seconds: float = SECONDS,
    next_step: str = "choose fewer rows: one corpus, one split",
) -> Iterator[None]:
    """Stop the queries inside after some seconds, with QueryFailed; report a damaged file."""
    stopped, done = threading.Event(), threading.Event()

    def watch() -> None:
        if not done.wait(seconds):
            stopped.set()
        # Again and again: DuckDB forgets an interrupt that comes between two queries.
        while not done.wait(0.1):
            con.interrupt()

    threading.Thread(target=watch, daemon=True).start()
    try:
        with warehouse.explain_damage(path):
            yield
    except Exception as error:  # DuckDB raises several for a query that was interrupted
        if not stopped.is_set():
            raise
        raise QueryFailed(
            "the query took too long and was stopped", expected=f"an end within {seconds:g} s", next_step=next_step
        ) from error
    finally:
        done.set()


def path() -> Path:
    """Return the warehouse's path."""
    return database().absolute()


def version(file: Path | None = None) -> Version | None:
    """Return the version of the warehouse, or of another file, that lies at its path now, or None if there is none."""
    file = file or path()
    try:
        found = file.stat()
    except OSError:
        return None
    return Version(file, found.st_ino, found.st_mtime_ns)


_run: ContextVar[ExitStack | None] = ContextVar("_run", default=None)


@contextmanager
def page_run() -> Iterator[None]:
    """Keep the result of ``current`` open until the end, even if a build replaces it meanwhile."""
    with ExitStack() as users:
        before = _run.set(users)
        try:
            yield
        finally:
            _run.reset(before)


def current() -> ServedWarehouse:
    """Return the warehouse that lies at the path now; raises a TalkhouseError if none can be opened."""
    opened = _open(version() or Version(path(), 0, 0))
    if users := _run.get():
        users.enter_context(opened.used())
    return opened


@st.cache_resource(max_entries=1, show_spinner=False, on_release=ServedWarehouse.release)
def _open(version: Version) -> ServedWarehouse:
    opened = ServedWarehouse(version)
    threading.Thread(target=_release_when_replaced, args=(version,), daemon=True).start()
    return opened


def _release_when_replaced(opened: Version) -> None:
    """Release a version as soon as another lies at its path: there may be no page that would ask for that one."""
    while version(opened.path) == opened:
        time.sleep(NEW_BUILD_SECONDS)
    _open.clear(opened)


@st.cache_data(max_entries=_CACHED, show_spinner=False)
def _rows(
    _connect: Connect,
    version: Version,  # noqa: ARG001 - by it, and not by what has it open, is a result known again
    sql: str,
    values: dict[str, object],
    _held: Callable[[str], str],
) -> pl.DataFrame:
    """Return all rows of a query; ``_held`` writes it for the tables that hold what it asks."""
    asked = _held(sql)
    with _connect() as con:
        return frame(con, asked, values)
