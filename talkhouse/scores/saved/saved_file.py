"""The file of saved runs, ``scores.duckdb`` beside the warehouse: what may stand there, and what is ours.

Somebody else's file is neither read nor changed, and one that was made to harm reaches nothing: it is opened guarded.
"""

import os
from pathlib import Path

import duckdb

from talkhouse.schema.contents import strange
from talkhouse.schema.errors import SchemaMismatch, UsageError
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.settings import database
from talkhouse.system.cache import is_kept
from talkhouse.warehouse.beside import columns_of_tables, open_beside

FILE = "scores.duckdb"

FORMAT = 3
"""Number of the format; files of before there were numbers have none."""

HASHES = ("release", "content_id", "content_hash", "rows_hash")
"""What a run says of the state of its examples."""

_ADDED = {"metrics_sha256", "low", "high", "where_expression", "where_fingerprint", *HASHES}
"""Columns that older files do not have."""

_TEXTS = "VARCHAR[]"
_COLUMNS = {
    "runs": {
        "run": "VARCHAR",
        "task": "VARCHAR",
        "splits": _TEXTS,
        "releases": _TEXTS,
        "subsets": _TEXTS,
        "view_fingerprint": "VARCHAR",
        "predictions_sha256": _TEXTS,
        "examples": "BIGINT",
        "missing": "BIGINT",
        "tied": "BIGINT",
        "talkhouse_version": "VARCHAR",
        "saved_at": "TIMESTAMP",
        "metrics_sha256": "VARCHAR",
        "where_expression": "VARCHAR",
        "where_fingerprint": "VARCHAR",
        **dict.fromkeys(HASHES, "VARCHAR"),
    },
    "metrics": {
        "run": "VARCHAR",
        "position": "INTEGER",
        "threshold": "DOUBLE",
        "slice": "VARCHAR",
        "metric": "VARCHAR",
        "value": "DOUBLE",
        "official": "BOOLEAN",
        "best": "DOUBLE",
        "worst": "DOUBLE",
        "numerator": "BIGINT",
        "denominator": "BIGINT",
        "low": "DOUBLE",
        "high": "DOUBLE",
    },
}


def path_for(warehouse: Path) -> Path:
    """Return where the runs of a warehouse are saved: beside it, those of a release beside the warehouse of here."""
    return (database() if is_kept(warehouse) else warehouse).resolve().with_name(FILE)


def open_saved(path: Path, settings: Settings = NO_SETTINGS) -> duckdb.DuckDBPyConnection:
    """Open a file of saved runs read-only, in a database of its own.

    Raises UsageError for what is none, WarehouseLocked where another process has it open for writing, and
    SchemaMismatch for one of a newer Talkhouse.
    """
    return open_beside(path, _check_content, _not_ours, settings)


def check_writable(path: Path) -> None:
    """Raise UsageError for a file that is not to be written, or has changes of another program beside it."""
    info = path.stat()
    if not info.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise UsageError("the file is read-only", where=path, next_step=f"allow it with: chmod u+w '{path}'")
    log = path.with_name(f"{path.name}.wal")
    if log.exists():
        raise UsageError(
            "another program has changed the file, and its changes are not in it yet",
            where=path,
            found=f"{log.name} beside it",
            next_step=f"put them into it with: duckdb '{path}' -c checkpoint",
        )


def _check_content(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise UsageError where the tables are not those that Talkhouse makes."""
    tables = columns_of_tables(con)
    if "format" in tables:
        _check_format(con, path, tables["format"])
    for table, columns in _COLUMNS.items():
        there = tables.get(table, {})
        if there != {name: kind for name, kind in columns.items() if name not in _ADDED - there.keys()}:
            raise _not_ours(path, f"a database without the table {table} that Talkhouse makes")
    if "comparison" in tables:
        raise _not_ours(path, "a table comparison, which is a view in ours")
    if what := strange(con):
        raise _not_ours(path, what)


def _check_format(con: duckdb.DuckDBPyConnection, path: Path, columns: dict[str, str]) -> None:
    rows = con.execute("select version from main.format").fetchall() if columns == {"version": "INTEGER"} else []
    if len(rows) != 1 or rows[0][0] is None:
        raise _not_ours(path, "a table format that Talkhouse did not make")
    if rows[0][0] > FORMAT:
        raise SchemaMismatch(
            "the saved runs are of a newer Talkhouse than this",
            where=path,
            expected=f"format {FORMAT} or older",
            found=f"format {rows[0][0]}",
            next_step="upgrade Talkhouse, or move the file away",
        )


def _not_ours(path: Path, found: str) -> UsageError:
    return UsageError(
        "this is not a file of saved runs, and was left as it is",
        where=path,
        expected="no file, or one that talkhouse score --save made",
        found=found,
        next_step="move it away: saved runs have this name",
    )
