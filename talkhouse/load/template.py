"""The template that every build begins with: a warehouse with all tables, macros, views and comments, and no rows.

To make one takes longer than the rest of a small build, and every build of one Talkhouse needs the same. So that of
Talkhouse's own SQL is made with the wheel, any other is kept in the user's cache folder, and they are copied; where it
is in neither, or the copy can't be read, it is made again.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import duckdb

from talkhouse import migrations, queries, schema
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.views import create_split_views, create_views
from talkhouse.schema import warehouse
from talkhouse.schema.guard import guard
from talkhouse.system.cache import Cache, code_of, key_of

FORMAT = 1
"""Raised when this module makes another template of the same catalogue; the code of other rooms is hashed."""

KEPT = Cache("template", ".duckdb", most=8)
"""Each change of a view makes another."""

Splits = Mapping[str, Iterable[str]]
"""The splits that each corpus declares."""


def open_template(path: Path, catalogue: Catalogue, splits: Splits) -> duckdb.DuckDBPyConnection:
    """Copy the template to a new path, or make it there, and open it for writing."""
    key = template_key(catalogue, splits)
    KEPT.copy_to(path, key)
    if (con := _open_copy(path)) is not None:
        return con
    path.unlink(missing_ok=True)
    _make(path, catalogue, splits)
    KEPT.keep_copy(path, key)
    return warehouse.create(path)


def template_key(catalogue: Catalogue, splits: Splits) -> str:
    """Hash all that decides what is in a template: DuckDB's version, the SQL, and the code that makes it."""
    having_tasks = {task.schema for task in catalogue.examples}  # the splits of others make no view
    declared = sorted((corpus, *names) for corpus, names in splits.items() if corpus in having_tasks)
    code = code_of(schema, migrations, queries)
    return key_of(str(FORMAT), duckdb.__version__, warehouse.STORAGE_VERSION, catalogue.hash, str(declared), code)


def _open_copy(path: Path) -> duckdb.DuckDBPyConnection | None:
    """Open a copy; None if it is incomplete (its blocks have checksums, but an empty file opens as a new one)."""
    if not path.exists():
        return None
    try:
        con = warehouse.create(path)
    except duckdb.Error:
        return None
    with suppress(duckdb.Error):  # such as: there is no such table
        if con.execute("select version_num from meta.alembic_version").fetchall() == [(migrations.head(),)]:
            return con
    con.close()
    return None


def _make(path: Path, catalogue: Catalogue, splits: Splits) -> None:
    with warehouse.create(path) as con:
        # Hundreds of small statements: no other thread has to wake for them.
        con.execute("set threads = 1")
        migrations.make(con)
        # Some of the SQL may be a warehouse's, kept for a corpus that can't be read here: it reaches nothing else.
        guard(con)
        con.execute("begin")
        create_views(con, catalogue)
        create_split_views(con, catalogue, splits)
        con.execute("commit")
        con.execute("checkpoint")
