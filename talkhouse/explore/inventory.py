"""What is in a warehouse: corpora and counts, findings, and views with their columns."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from talkhouse import queries
from talkhouse.schema.sql import dicts, identifier
from talkhouse.warehouse.relations import columns_of, relation


def status(con: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Any]:
    """Count what a warehouse holds: ``build`` (None before the first), ``corpora``, ``findings_without_corpus``."""
    (counts,) = dicts(con.execute(queries.of_command("status")))
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
