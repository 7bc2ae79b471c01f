"""Verifies a release: the bytes of its files, then their rows, then that these are the contents it is named after."""

from pathlib import Path

import duckdb

from talkhouse.lake_format import lake_manifest
from talkhouse.releases.manifest import MANIFEST, ReleasedTable
from talkhouse.releases.objects import rows_of
from talkhouse.releases.store import Problem, Stored, problems_of_bytes, read
from talkhouse.schema.errors import ReleaseDamaged
from talkhouse.schema.guard import guard
from talkhouse.schema.sql import quoted
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.warehouse.content_ids import contents_of
from talkhouse.warehouse.opened import opened
from talkhouse.warehouse.rows_hash import VOLATILE, RowsHash, rows_hash


def verify(store: Path, name: str) -> list[Problem]:
    """Return the defects of a release; UsageError if there is no such release."""
    try:
        stored = read(store, name)
    except ReleaseDamaged as error:
        return [Problem(MANIFEST, error.found or error.what)]
    problems = problems_of_bytes(stored)
    changed = {problem.file for problem in problems}
    with duckdb.connect() as con:
        guard(con)
        for table in stored.release.tables:
            if table.file not in changed and (problem := _problem_of_rows(con, stored, table)):
                problems.append(problem)
    return problems


def _problem_of_rows(con: duckdb.DuckDBPyConnection, stored: Stored, table: ReleasedTable) -> Problem | None:
    try:
        with rows_of(stored, table) as rows:
            con.register("rows_of_object", rows)
            found = rows_hash(con, "from rows_of_object", without=VOLATILE.get(table.table, frozenset()))
            con.unregister("rows_of_object")
    except (ReleaseDamaged, duckdb.Error) as error:
        return Problem(table.file, f"can't be read: {str(error).splitlines()[0]}")
    is_same = found == RowsHash(table.rows, table.rows_hash)
    return None if is_same else Problem(table.file, "other rows")


POSTGRESQL = ("postgresql://", "postgres://")
"""How the address of a copy begins."""


def differs(store: Path, name: str, other: str) -> list[Problem]:
    """Compare a release with a warehouse, by its rows, or with a lake or a copy in PostgreSQL, by the id they carry."""
    release = read(store, name).release
    if other.startswith(POSTGRESQL):
        found = _id_of_copy(other)
    elif Path(other).is_dir():
        found = lake_manifest.read(Path(other)).content_id
    else:
        with opened(Path(other)) as warehouse:
            warehouse.con.execute(f"use {quoted(warehouse.database)}")
            corpora = [corpus.corpus_id for corpus in release.corpora]
            found = contents_of(warehouse.con, warehouse.database, corpora).content_id
    # An address may have a password in it.
    shown = "the copy in PostgreSQL" if other.startswith(POSTGRESQL) else other
    return [] if found == release.content_id else [Problem(shown, "not of this release's content_id")]


def _id_of_copy(url: str) -> str | None:
    from talkhouse.postgres.record import read_record
    from talkhouse.postgres.server import connected

    with connected(url) as server:
        published = read_record(server, HOUSEKEEPING)
    return None if published is None else published.content_id
