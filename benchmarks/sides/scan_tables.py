"""Reads every value of every table of a warehouse, for what only has to be read; and makes the examples of tasks.

python -m benchmarks.sides.scan_tables WAREHOUSE [TASK ...]

With tasks it reads the tables twice, and makes the examples of each once.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb

from talkhouse.schema.sql import quoted
from talkhouse.schema.tables import metadata, qualified


def scan_tables(path: Path, tasks: Sequence[str] = ()) -> None:
    """Hash every value by DuckDB's own function."""
    with duckdb.connect(path, read_only=True) as con:
        for table in [*metadata.tables.values()] * (2 if tasks else 1):
            values = ", ".join(f"sum(hash({quoted(column.name)}))" for column in table.columns)
            con.execute(f"select {values} from {qualified(table)}").fetchall()
        for task in tasks:
            con.execute(f"create or replace temp table examples as from {task}")


if __name__ == "__main__":
    scan_tables(Path(sys.argv[1]), sys.argv[2:])
