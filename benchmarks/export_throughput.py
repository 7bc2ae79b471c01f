"""Speed and memory of ``export`` in every format, beside DuckDB's own COPY of the same query.

    uv run python -m benchmarks.export_throughput --rows 1000000

Invents a view of so many rows, and one of three times as many: about 1 kB of text and two lists each, stored in
another order than the published one. Each export runs in a process of its own; the peak is the process's largest
resident set, interpreter included. COPY gets the same memory limit and the same folder to sort in.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import talkhouse
from benchmarks.memory import peak
from talkhouse.build.progress import Silent
from talkhouse.build.run import build
from talkhouse.query.export import export, settings
from talkhouse.query.formats import ExportFormat
from talkhouse.query.selection import select
from talkhouse.schema.sql import literal
from talkhouse.system.atomic_output import private_folder
from talkhouse.warehouse.opened import Warehouse, opened

VIEW = "dbdc3.breakdown_detection_invented"
"""Named like a view of one split, so that it is sorted as such a view is."""

COPIES = {
    "parquet": "format parquet, compression zstd",
    "csv": "format csv",
    "tsv": "format csv, delimiter '\t'",
    "jsonl": "format json",
}
"""What COPY has; it writes no Arrow without an extension."""


def invent(path: Path, rows: int) -> None:
    """Make a warehouse with a view of so many rows."""
    build(path, Silent())
    path.chmod(0o644)
    with duckdb.connect(path) as con:
        con.execute("set memory_limit = '2GB'")
        con.execute(
            "create table main.invented as select 'dbdc3' as release, "
            "if(hash(i) % 10 = 0, 'dev', 'eval') as split, i as example_index, 'dbdc3:' || i as dialogue_id, "
            "[md5(i::varchar), 'a \"word\"', md5((i + 1)::varchar)] as context, "
            "repeat(md5(i::varchar) || ' é' || chr(10), 26) as utterance, "
            "if(i % 3 = 0, null, i % 7) as turn_index, i / 3.0::double as prob_o, [i, i + 1] as counts "
            f"from range({rows}) invented(i) order by hash(i)"
        )
        con.execute(f"create view {VIEW} as from main.invented")


def talkhouse_export(path: Path, file_format: str, output: Path) -> None:
    """Export as the command does."""
    with opened(path, settings=settings(output)) as warehouse:
        export(warehouse, VIEW, output, file_format=ExportFormat(file_format))


def duckdb_copy(path: Path, file_format: str, output: Path) -> None:
    """Let DuckDB write the same rows in the same order."""
    limits = {**settings(output), "memory_limit": "1GB", "enable_progress_bar": False}
    with talkhouse.open(path, settings=limits, unsafe=True) as con, private_folder(output):
        con.execute(f"copy ({select(Warehouse(con), VIEW).sql()}) to {literal(str(output))} ({COPIES[file_format]})")


WAYS = {"export": talkhouse_export, "copy": duckdb_copy}


def measure(path: Path, way: str, file_format: str) -> dict[str, float]:
    """Write one file in a process of its own: seconds, peak and file megabytes; nothing where memory was too little."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        output = Path(folder) / f"rows.{file_format}"
        result: dict[str, float] = json.loads(_apart("--write", way, file_format, str(path), str(output)))
        return result and result | {"megabytes": output.stat().st_size / 1e6}


def _apart(*arguments: str) -> str:
    """Run this module in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.export_throughput", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def compare(rows: int) -> None:
    """Print a line for each size, format and way."""
    print("| rows | format | by | seconds | rows/s | MB | MB/s | peak MB |\n|---|---|---|---|---|---|---|---|")
    for number in (rows, 3 * rows):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "talkhouse.duckdb"
            _apart("--invent", str(number), str(path))
            for file_format in ExportFormat:
                for way in WAYS if file_format in COPIES else ("export",):
                    cells = _cells(measure(path, way, file_format), number)
                    print(f"| {number:,} | {file_format} | {way} | {cells} |", flush=True)


def _cells(found: dict[str, float], rows: int) -> str:
    if not found:
        return "out of memory | | | | "
    seconds, size = found["seconds"], found["megabytes"]
    return f"{seconds:.1f} | {rows / seconds:,.0f} | {size:,.0f} | {size / seconds:,.0f} | {found['peak']:,.0f}"


def main() -> None:
    """Measure, or (``--write``) be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--write", nargs=4, metavar=("WAY", "FORMAT", "DB", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--invent", nargs=2, metavar=("ROWS", "DB"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.invent:
        invent(Path(arguments.invent[1]), int(arguments.invent[0]))
        return
    if not arguments.write:
        compare(arguments.rows)
        return
    way, file_format, path, output = arguments.write
    begun = time.perf_counter()
    try:
        WAYS[way](Path(path), file_format, Path(output))
    except duckdb.OutOfMemoryException:
        print("{}")
        return
    seconds = time.perf_counter() - begun
    print(json.dumps({"seconds": seconds, "peak": peak()}))


if __name__ == "__main__":
    main()
