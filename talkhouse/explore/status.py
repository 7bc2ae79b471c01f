"""What is in a warehouse: corpora with their counts, files, findings, and the build."""

from pathlib import Path
from typing import Any

import duckdb

from talkhouse import queries
from talkhouse.schema.sql import dicts


def status(con: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Any]:
    """Count what a warehouse holds: ``build`` (None before the first), ``corpora``, ``findings_without_corpus``."""
    (counts,) = dicts(con.execute(queries.of_command("status")))
    return {"database": str(path), "bytes": path.stat().st_size, **counts}
