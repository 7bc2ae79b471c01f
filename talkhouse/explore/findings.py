"""What was quarantined or warned about in a warehouse: the rule, where, what was found, and what to do about it."""

from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse import queries
from talkhouse.schema.sql import dicts


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
