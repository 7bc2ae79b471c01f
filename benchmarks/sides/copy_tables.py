"""Copies every table of a warehouse to a Parquet file with DuckDB's COPY.

    python -m benchmarks.sides.copy_tables WAREHOUSE FOLDER [sorted]

``sorted``: by the table's grain, as a lake is.
"""

import sys
from pathlib import Path

import duckdb

from talkhouse.schema.sql import literal
from talkhouse.schema.tables import metadata, qualified


def copy_tables(path: Path, folder: Path, *, is_sorted: bool) -> None:
    """Copy every table to a file."""
    folder.mkdir()
    with duckdb.connect(path, read_only=True) as con:
        con.execute(f"set temp_directory = {literal(str(folder / 'sorting'))}")
        for table in metadata.tables.values():
            order = f" order by {', '.join(table.info['grain'])}" if is_sorted else ""
            target = literal(str(folder / f"{qualified(table)}.parquet"))
            con.execute(f"copy (from {qualified(table)}{order}) to {target} (format parquet, compression zstd)")


if __name__ == "__main__":
    copy_tables(Path(sys.argv[1]), Path(sys.argv[2]), is_sorted=sys.argv[3:] == ["sorted"])
