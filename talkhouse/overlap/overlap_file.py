"""The file of an overlap, ``NAME.overlap.duckdb`` next to ``NAME.duckdb``: its tables, and how one is recognised.

It holds keys and counts, no text. Somebody else's file is neither read nor changed, and one that was made to harm
reaches nothing: it is opened guarded, and only tables are read.
"""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from talkhouse.overlap.request import VERDICTS, Unit
from talkhouse.schema.contents import strange
from talkhouse.schema.errors import SchemaMismatch
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import dicts, literal
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.toml_files import toml_of
from talkhouse.warehouse.sidecar import (
    COUNT,
    FULL,
    POSITIVE,
    SHARE,
    SOME,
    Values,
    columns_of_tables,
    format_of_run,
    is_ours,
    not_ours,
    one_of,
    open_beside,
    or_null,
    path_beside,
)

ENDING = ".overlap.duckdb"

SCHEMA = "overlap"
"""The name in SQL that it is attached under."""

FORMAT = 2
"""Number of the format; 1 had no ``run.templates``."""

KINDS = ("same", "exact", "normalised", "near", "contains")
"""From the closest; the first that holds is a match's kind."""

_COUNTS = "coalesce(list_min(map_values({0})), 0) >= 0 and list_count(map_values({0})) = cardinality({0})"

_VALUES: Values = {
    "run": {SHARE: ["threshold", "contains"], FULL: ["compared", "against"], _COUNTS: ["templates"]},
    "places": {SOME: ["place", "corpus_id"]},
    "units": {one_of(Unit): ["unit"], SOME: ["place"], POSITIVE: ["units"], COUNT: ["owners", "short_units"]},
    "matches": {
        one_of(Unit): ["unit", "other_unit"],
        SOME: ["place", "owner", "other_place", "other_owner", "is_phrase"],
        one_of(KINDS): ["kind"],
        COUNT: ["tokens", "words", "shared", "matches"],
        POSITIVE: ["total"],
    },
    "examples": {
        SOME: ["corpus_id", "task", "example_index"],
        one_of(VERDICTS): ["verdict"],
        or_null(one_of(KINDS)): ["dialogue_kind", "turn_kind", "context_kind"],
    },
}


def path_for(warehouse_path: Path) -> Path:
    """Return the path that the overlap of a warehouse is written to."""
    return path_beside(warehouse_path, ENDING)


def path_to_read(warehouse_path: Path) -> Path:
    """Return the path that the overlap of a warehouse is read from.

    Where there is none, that is an ``overlap.duckdb`` of an older Talkhouse, which had one for all warehouses of a
    folder: its fingerprint identifies its warehouse. It is never written.
    """
    path = path_for(warehouse_path)
    older = warehouse_path.resolve().with_name("overlap.duckdb")
    return older if not os.path.lexists(path) and is_ours(older, open_overlap) else path


@dataclass(frozen=True)
class OverlapTable:
    """A table of the file: what a row is, and of each column its type and what it says."""

    comment: str
    columns: dict[str, tuple[str, str]]


@cache
def tables() -> dict[str, OverlapTable]:
    """Return the tables that the file has, by their names."""
    return msgspec.convert(toml_of(__file__, "overlap_file"), dict[str, OverlapTable])


def create_tables(con: duckdb.DuckDBPyConnection, database: str) -> None:
    """Create the tables and the view in an attached database that is empty; their rows come later."""
    for table, declared in tables().items():
        name = f"{database}.main.{table}"
        columns = ", ".join(f"{column} {kind}" for column, (kind, _) in declared.columns.items())
        con.execute(f"create table {name} ({columns})")
        comments = {column: words for column, (_, words) in declared.columns.items()}
        _comment(con, "table", name, declared.comment, comments)
    # The view names its tables without their database, so that it works under whatever name it is attached.
    con.execute(f"use {database}")
    con.execute(f"create view matrix as {sql_of(__file__, 'matrix')}")
    words = "How many units of a place match what stands in another."
    _comment(con, "view", "matrix", words, toml_of(__file__, "matrix"))


def _comment(con: duckdb.DuckDBPyConnection, kind: str, name: str, comment: str, columns: dict[str, str]) -> None:
    con.execute(f"comment on {kind} {name} is {literal(comment)}")
    for column, words in columns.items():
        con.execute(f"comment on column {name}.{column} is {literal(words)}")


_not_ours = not_ours(
    "a file that talkhouse overlap made", "move it away, name another with --output FILE, or replace it with --force"
)


def open_overlap(path: Path, settings: Settings = NO_SETTINGS) -> duckdb.DuckDBPyConnection:
    """Open a file of an overlap read-only, in a database of its own, with these settings.

    Raises UsageError for what is none, WarehouseLocked where another process has it open for writing, and
    SchemaMismatch for one of a newer Talkhouse.
    """
    return open_beside(path, _check_content, _VALUES, _not_ours, settings)


def kept_run(path: Path) -> dict[str, Any] | None:
    """Return the row of the table ``run``, or None if there is no file. Raises what ``open_overlap`` raises."""
    if not os.path.lexists(path):
        return None
    with open_overlap(path) as con:
        (row,) = dicts(con.execute("from main.run"))
    return row


def attachable(warehouse_path: Path) -> dict[str, Path]:
    """Return the overlap of a warehouse by the name that it is attached under; nothing where there is none of ours."""
    path = path_to_read(warehouse_path)
    return {SCHEMA: path} if is_ours(path, open_overlap) else {}


def _check_content(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise UsageError where the tables are not those that Talkhouse makes."""
    if what := strange(con):
        raise _not_ours(path, what)
    stored = columns_of_tables(con)
    if (number := format_of_run(con, path, stored, _not_ours)) > FORMAT:
        raise SchemaMismatch(
            "the overlap is of a newer Talkhouse than this",
            where=path,
            expected=f"format {FORMAT}",
            found=f"format {number}",
            next_step="upgrade Talkhouse, or move the file away",
        )
    for table, declared in tables().items():
        wanted = {column: kind.upper() for column, (kind, _) in declared.columns.items()}
        if number == 1 and table == "run":
            del wanted["templates"]
        if stored.get(table) != wanted:
            raise _not_ours(path, f"a database without the table {table} that Talkhouse makes")
