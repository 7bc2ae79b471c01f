"""Reads every value of every table of a warehouse, for what only has to be read.

python -m benchmarks.sides.scan_tables WAREHOUSE
"""

import sys
from pathlib import Path

import duckdb

from talkhouse.schema.sql import quoted
from talkhouse.schema.tables import metadata, qualified


def scan_tables(path: Path) -> None:
    """Hash every value by DuckDB's own function."""
    with duckdb.connect(path, read_only=True) as con:
        for table in metadata.tables.values():
            values = ", ".join(f"sum(hash({quoted(column.name)}))" for column in table.columns)
            con.execute(f"select {values} from {qualified(table)}").fetchall()


if __name__ == "__main__":
    scan_tables(Path(sys.argv[1]))
