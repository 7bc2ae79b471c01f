"""Writes the invented view to a file, and prints what that took.

    python -m benchmarks.sides.export_rows {export,copy} WAREHOUSE FILE

``export`` is the command's way; ``copy`` lets DuckDB write the same rows in the same order, with the same memory limit
and folder to sort in. The format is that of the file's name.
"""

import json
import sys
from pathlib import Path

import talkhouse
from benchmarks.shapes.export import VIEW
from benchmarks.sides.clock import timed
from talkhouse.query.export import export, settings
from talkhouse.query.formats import ExportFormat
from talkhouse.query.selection import select
from talkhouse.schema.sql import literal
from talkhouse.system.atomic_output import private_folder
from talkhouse.warehouse.opened import Warehouse, opened

COPIES = {
    "parquet": "format parquet, compression zstd",
    "csv": "format csv",
    "tsv": "format csv, delimiter '\t'",
    "jsonl": "format json",
}
"""What COPY has; it writes no Arrow without an extension."""


def talkhouse_export(path: Path, output: Path) -> None:
    """Export as the command does."""
    with opened(path, settings=settings(output)) as warehouse:
        export(warehouse, VIEW, output, file_format=ExportFormat(output.suffix[1:]), force=True)


def duckdb_copy(path: Path, output: Path) -> None:
    """Let DuckDB write the same rows in the same order."""
    limits = {**settings(output), "memory_limit": "1GB", "enable_progress_bar": False}
    with talkhouse.open(path, settings=limits, unsafe=True) as con, private_folder(output):
        query = select(Warehouse(con), VIEW).sql()
        con.execute(f"copy ({query}) to {literal(str(output))} ({COPIES[output.suffix[1:]]})")


def main() -> None:
    """Write what the arguments say."""
    way, *paths = sys.argv[1:]
    path, output = map(Path, paths)
    write = {"export": talkhouse_export, "copy": duckdb_copy}[way]
    print(json.dumps(timed(write, path, output)))


if __name__ == "__main__":
    main()
