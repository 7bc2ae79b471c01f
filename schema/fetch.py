"""Rows as dictionaries, by the names of their columns."""

from typing import Any

import duckdb


def dicts(cursor: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Fetch all rows of an executed query, each as a dictionary."""
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
