"""What a staged file begins as: a copy of the published file in which only what changed is replaced, or the template.

The first is for a file that a build of this user has published here, untouched since, with the tables, macros and views
of today's template: the user's cache folder has a note of it. What a stranger may have changed, and what an older
Talkhouse has made, is copied row by row into a copy of the template, a warehouse with all tables, macros, views and
comments, and no rows.

To make a template takes longer than the rest of a small build, and every build of one Talkhouse needs the same. So that
of Talkhouse's own SQL is made with the wheel, any other is kept in the user's cache folder, and they are copied; where
it is in neither, or the copy can't be read, it is made again.
"""

import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse import migrations, queries, schema
from talkhouse.load.metadata import delete_replaced
from talkhouse.load.plan import Plan, Present
from talkhouse.load.workspace import PUBLISHED, Workspace
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.views import create_split_views, create_views
from talkhouse.schema import warehouse
from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.guard import guard
from talkhouse.schema.sql import literal, quoted
from talkhouse.system.cache import Cache, code_of, key_of
from talkhouse.warehouse.byte_copy import MOST_CHANGED, free_share

MOST_FREE = 1 / 8
"""Share of a file that may be free room; beyond, all rows are written anew, which is worth that much room."""

FORMAT = 1
"""Raised when this module makes another template of the same catalogue; the code of other rooms is hashed."""

KEPT = Cache("template", ".duckdb", most=8)
"""Each change of a view makes another."""

Splits = Mapping[str, Iterable[str]]
"""The splits that each corpus declares."""


class BaseCopy(NamedTuple):
    """A staged file that has all that is kept."""

    con: duckdb.DuckDBPyConnection
    """Open for writing."""
    passed: frozenset[str]
    """The checks that had found nothing in the published file."""


def open_copy(workspace: Workspace, plan: Plan, known: Present) -> BaseCopy | None:
    """Copy the published file, delete what is not kept, and open it for writing; None where it is not to be copied."""
    template = template_key(known.catalogue, known.splits)
    if PUBLISHED.note_of(workspace.published) != template or _share_that_goes(workspace, plan) > MOST_CHANGED:
        return None
    open_template(workspace.fresh, known.catalogue, known.splits).close()
    # It is held open meanwhile, so that no process writes to it while it is copied.
    with warehouse.connect(workspace.old, shown=workspace.published):
        shutil.copyfile(workspace.old, workspace.stage)
    workspace.stage.chmod(0o600)
    con = warehouse.create(workspace.stage)
    try:
        if free_share(con, workspace.stage.stem) <= MOST_FREE:
            _drop_others(con, workspace.fresh)
            return BaseCopy(con, delete_replaced(con, plan, known))
    except (duckdb.Error, TalkhouseError):
        con.close()
        raise
    con.close()
    workspace.start_again()
    return None


def _share_that_goes(workspace: Workspace, plan: Plan) -> float:
    """Return the share of the sources' bytes whose rows are not kept as they are."""
    with warehouse.connect(workspace.old, shown=workspace.published) as con:
        sizes = con.execute(
            "select corpus_id, sum(size)::double from meta.source_files where kind <> 'archive' group by all"
        ).fetchall()
    stays = sum(size for corpus_id, size in sizes if corpus_id in plan.keep or corpus_id in plan.changes)
    return 1 - float(stays / (sum(size for _, size in sizes) or 1))


def _drop_others(con: duckdb.DuckDBPyConnection, template: Path) -> None:
    """Drop the views and schemas that the template lacks, such as views of splits that files had.

    Whoever completes the warehouse makes those again that it should have.
    """
    con.execute(f"attach {literal(str(template))} as {quoted(_TEMPLATE)} (read_only)")
    of = "select schema_name{} from {} where not internal and database_name = {}"
    for kind, column, listed in (("view", ", view_name", "duckdb_views()"), ("schema", "", "duckdb_schemas()")):
        here, there = (of.format(column, listed, name) for name in ("current_database()", literal(_TEMPLATE)))
        for name in con.execute(f"{here} except {there} order by all").fetchall():
            con.execute(f"drop {kind} {quoted(*name)}")
    con.execute(f"detach {quoted(_TEMPLATE)}")


_TEMPLATE = "_template"
"""The template's name beside a warehouse; no corpus can have it, which a schema would share."""


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
