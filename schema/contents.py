"""What a DuckDB file has to have, and must not have, to be taken for a warehouse."""

import re
from collections.abc import Collection
from pathlib import Path

import duckdb

from talkhouse.schema.errors import NotAWarehouse

RESERVED = (
    "main",
    "meta",
    "bi",
    "shared",
    "checks",
    "metrics",
    "temp",
    "system",
    "memory",
    "information_schema",
    "pg_catalog",
)
"""Names that neither a corpus nor a database file may have."""

FOLDERS_OF_ALL = ("bi", "checks", "metrics")
"""Folders of SQL that is about all corpora."""

ID = re.compile(r"[a-z][a-z0-9_]*")
"""Ids of corpora, schemes and kinds: each becomes a part of names in SQL and of paths."""

_FIRST = "0001"
TABLES = {
    **dict.fromkeys(
        (
            *("main.annotations", "main.candidates", "main.corpora", "main.dialogues", "main.examples", "main.images"),
            *("main.labels", "main.participants", "main.persona_uses", "main.personas", "main.records", "main.schemes"),
            *("main.speakers", "main.texts", "main.turns", "meta.alembic_version", "meta.findings", "meta.loads"),
            *("meta.quarantine", "meta.rules", "meta.source_files"),
        ),
        _FIRST,
    ),
    **dict.fromkeys(("meta.checks", "meta.exceptions"), "0002"),
    **dict.fromkeys(("main.parts", "main.turn_speakers", "meta.query_files"), "0005"),
    "main.corpus_terms": "0006",
    "main.releases": "0007",
}
"""The tables of a warehouse, each with the schema revision that made it; to import SQLAlchemy for them takes time."""

_LONGEST = 100
"""Characters of a name that a message shows."""

_VERSION = "meta.alembic_version"
_REVISION = re.compile(r"(?!0000)[0-9]{4}")

# Functions are named in full: in a file, a macro of the same name would come before DuckDB's own.
_HERE = "database_name = system.main.current_database()"
_FOUND = f"select schema_name, table_name from system.main.duckdb_tables() where {_HERE}"
_IN_MAIN = f"schema_name = 'main' and not internal and {_HERE}"
_STRANGE = {
    "the macro": f"select function_name from system.main.duckdb_functions() where {_IN_MAIN}",
    "the type": f"select type_name from system.main.duckdb_types() where {_IN_MAIN}",
    "the trigger": f"select trigger_name from system.main.duckdb_triggers() where {_HERE}",
}
"""What could answer for DuckDB's own functions and types, or act where something is written; Talkhouse makes none."""


def revision(con: duckdb.DuckDBPyConnection, path: Path) -> str:
    """Return the schema revision of a warehouse, whose tables are tables; raises NotAWarehouse for any other file."""
    tables = {f"{schema}.{name}" for schema, name in con.execute(_FOUND).fetchall()}
    if _VERSION not in tables:
        raise NotAWarehouse(
            "this DuckDB database was not made by Talkhouse",
            where=path,
            expected="a schema 'meta' with a schema revision",
            found="other tables",
            next_step="name another file with --db FILE; Talkhouse leaves this one as it is",
        )
    found = [number for (number,) in con.execute(f"select version_num from {_VERSION} limit 2").fetchall()]
    if len(found) != 1 or not isinstance(found[0], str) or not _REVISION.fullmatch(found[0]):
        raise _refusal(path, "one schema revision, of four digits", f"{' and '.join(map(repr, found)) or 'none':.100}")
    missing = sorted(name for name, since in TABLES.items() if since <= found[0] and name not in tables)
    if missing:
        raise _refusal(path, "all tables of a warehouse, as tables", f"none named {', '.join(missing)}")
    _check_names(con, path, tables)
    return found[0]


def _check_names(con: duckdb.DuckDBPyConnection, path: Path, tables: Collection[str]) -> None:
    """Raise NotAWarehouse for ids of corpora, and folders of SQL, that no build has written."""
    # A stranger's columns may be of any type, and null.
    found = [("the corpus", name) for (name,) in con.execute("select corpus_id::varchar from main.corpora").fetchall()]
    if "meta.query_files" in tables:
        folders = con.execute("select distinct folder::varchar from meta.query_files").fetchall()
        found += [("the folder", name) for (name,) in folders if name not in FOLDERS_OF_ALL]
    for what, name in found:
        if name is None or name in RESERVED or not ID.fullmatch(name):
            expected = "names of lower case letters, digits and '_', and none of: " + ", ".join(RESERVED)
            raise _refusal(path, expected, f"{what} {name!r:.{_LONGEST}}")


def check_before_writing(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a warehouse in which something would act where rows are written; raises NotAWarehouse."""
    if what := strange(con):
        raise _refusal(path, "no triggers, and macros only in the schemas of corpora", what)


def strange(con: duckdb.DuckDBPyConnection) -> str | None:
    """Name what could answer for DuckDB's own functions and types in the current database; None for nothing."""
    for what, query in _STRANGE.items():
        if names := [name for (name,) in con.execute(query).fetchall()]:
            return f"{what} {', '.join(names)}"
    return None


def _refusal(path: Path, expected: str, found: str) -> NotAWarehouse:
    return NotAWarehouse(
        "the file was changed after Talkhouse made it, or made by something else",
        where=path,
        expected=expected,
        found=found,
        next_step="build it again from the publisher's files, or name another file with --db FILE",
    )
