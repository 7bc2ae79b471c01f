"""What a warehouse says of itself: its build, its corpora with their licences, its files, findings and views."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from talkhouse import queries
from talkhouse.schema.sql import dicts, identifier, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.relations import columns_of, relation

_STRUCTURED = ("authors", "reference")


def build(con: duckdb.DuckDBPyConnection, database: str) -> dict[str, Any] | None:
    """Return the last build: its number, its end (UTC), Talkhouse's version, the hash of its views, the revision."""
    return next(iter(dicts(con.execute(sql_of(__file__, "last_build", database=quoted(database))))), None)


def corpora(con: duckdb.DuckDBPyConnection, database: str) -> list[dict[str, Any]]:
    """Return the corpora, sorted by id: title, licence, terms, citation, whether it is a sample or made.

    ``authors`` is a list of objects with family and given, ``reference`` an object; each is None if not declared.
    """
    found = dicts(con.execute(sql_of(__file__, "corpora", database=quoted(database))))
    return [
        {key: json.loads(value) if key in _STRUCTURED and value else value for key, value in corpus.items()}
        for corpus in found
    ]


def own_corpora(con: duckdb.DuckDBPyConnection, database: str) -> set[str]:
    """Return the corpora that a page of TOML declares, as those of one's own are."""
    query = f"select corpus_id from {quoted(database)}.main.corpora where declaration is not null"
    return {str(corpus_id) for (corpus_id,) in con.execute(query).fetchall()}


def fingerprint(con: duckdb.DuckDBPyConnection, database: str) -> str:
    """Return the fingerprint that tells a warehouse from others, and from itself after a build that changed something.

    Not when it was built: the same files, read by the same code, make the same rows.
    """
    ((text,),) = con.execute(sql_of(__file__, "fingerprint", database=database)).fetchall()
    return str(text)


QUESTIONS = {
    "motivation": "Why was it made?",
    "composition": "What is in it?",
    "collection": "How was it collected?",
    "labelling": "How was it labelled?",
    "uses": "What is it for?",
    "limits": "What can't it show?",
    "quirks": "What surprises in its files?",
    "sources": "Where is this from?",
}
"""What each part of a datasheet answers, in the order of a page."""

NOT_PUBLISHED = "not published"
"""Shown in place of an unknown value."""


def datasheets(con: duckdb.DuckDBPyConnection, database: str) -> dict[str, dict[str, Any]]:
    """Return the datasheets by corpus, those that are declared: texts, and of quirks and sources lists of texts."""
    rows = con.execute(f"select corpus_id, datasheet from {quoted(database)}.main.corpora where datasheet is not null")
    return {corpus_id: json.loads(datasheet) for corpus_id, datasheet in rows.fetchall()}


def status(con: duckdb.DuckDBPyConnection, path: Path, versions: Mapping[str, int]) -> dict[str, Any]:
    """Count what a warehouse holds: ``build`` (None before the first), ``corpora``, ``findings_without_corpus``.

    Times are UTC; of a corpus ``files_from`` and ``files_until`` are when the first and the last of its files were
    changed on disk, and ``read_at`` is when the last build ended that read any of them.
    ``versions``: of the readers of corpora here; None stands for that of others.
    """
    (counts,) = dicts(con.execute(queries.of_command("status")))
    for corpus in counts["corpora"]:
        corpus["current_reader_version"] = versions.get(corpus["corpus_id"])
    return {"database": str(path), "bytes": path.stat().st_size, **counts}


@dataclass(frozen=True)
class Inventory:
    """What a dry run built: its files by what became of them, its findings."""

    files: list[dict[str, Any]]
    findings: list[dict[str, Any]]


def findings(con: duckdb.DuckDBPyConnection, corpus_id: str | None = None) -> list[dict[str, Any]]:
    """Return the findings of a warehouse or of one corpus, the most severe first."""
    return dicts(con.execute(queries.of_command("findings"), {"corpus": corpus_id}))


def files(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the files of each corpus by what became of them, with the first names and the reason."""
    return dicts(con.execute(queries.of_command("source_files")))


_VIEWS = """
select schema_name as schema, view_name as name, comment
from duckdb_views()
where not internal and database_name = current_database()
order by all
"""


def views(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """List every view: schema, name, what a row is, and the number of rows."""
    described = dicts(con.execute(_VIEWS))
    for view in described:
        name = identifier(view["schema"], view["name"])
        view["rows"] = con.execute(f"select count(*) from {name}").fetchall()[0][0]
    return described


def view(con: duckdb.DuckDBPyConnection, name: str) -> dict[str, Any]:
    """Return one view or table with its columns; UsageError lists similar names."""
    described = relation(con, name)
    source = identifier(described["schema"], described["name"])
    rows = con.execute(f"select count(*) from {source}").fetchall()[0][0]
    return {**described, "rows": rows, "columns": columns_of(con, described["schema"], described["name"])}
