"""Time and memory of ``talkhouse lake``, beside DuckDB's own COPY of the same tables.

    uv run python -m benchmarks.lake_throughput --turns 1000000

Invents a warehouse with so many turns and eight candidates for each. Then, each as a process of its own: the lake is
written, and written again where nothing has changed; DuckDB copies each table to a Parquet file with zstd, as the rows
come and sorted by grain. The lake is sorted too, hashed before (every row) and after (every file), split by corpus, and
has the views.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

from benchmarks.command import TALKHOUSE
from benchmarks.publish_throughput import invent
from talkhouse.schema.sql import literal
from talkhouse.schema.tables import metadata, qualified


def copy_tables(path: Path, folder: Path, *, is_sorted: bool) -> None:
    """Copy every table of a warehouse to a file."""
    with duckdb.connect(path, read_only=True) as con:
        con.execute(f"set temp_directory = {literal(str(folder / 'sorting'))}")
        for table in metadata.tables.values():
            order = f" order by {', '.join(table.info['grain'])}" if is_sorted else ""
            target = literal(str(folder / f"{qualified(table)}.parquet"))
            con.execute(f"copy (from {qualified(table)}{order}) to {target} (format parquet, compression zstd)")


def measure(*command: str) -> dict[str, float]:
    """Run a command: seconds, and peak megabytes."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.command", *command], check=True, stdout=subprocess.PIPE)
    used: dict[str, float] = json.loads(done.stdout)
    return used


def size(folder: Path) -> float:
    """Return the megabytes of all files of Parquet in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*.parquet")) / 1e6


def compare(turns: int) -> None:
    """Print what each takes."""
    with tempfile.TemporaryDirectory() as name:
        path, lake, plain, by_grain = (Path(name) / one for one in ("w.duckdb", "lake", "plain", "by_grain"))
        subprocess.run([sys.executable, "-m", __spec__.name, "--invent", str(turns), str(path)], check=True)
        for folder in (plain, by_grain):
            folder.mkdir()
        write = [*TALKHOUSE, "lake", str(lake), "--db", str(path)]
        copy = [sys.executable, "-m", __spec__.name, "--copy", str(path)]
        taken = {
            "lake": (measure(*write), lake),
            "lake, nothing changed": (measure(*write), lake),
            "COPY": (measure(*copy, str(plain)), plain),
            "COPY, sorted": (measure(*copy, str(by_grain), "sorted"), by_grain),
        }
        base = taken["COPY, sorted"][0]
        print(f"{turns:,} turns, {8 * turns:,} candidates, {path.stat().st_size / 1e6:,.0f} MB of warehouse")
        print("| by | seconds | of sorted COPY's | peak MB | of sorted COPY's | MB of Parquet |")
        print("|---|---|---|---|---|---|")
        for by, (used, folder) in taken.items():
            seconds, peak = used["process"], used["peak"]
            print(
                f"| {by} | {seconds:.1f} | {seconds / base['process']:.2f} | {peak:,.0f} | {peak / base['peak']:.2f} "
                f"| {size(folder):,.0f} |"
            )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--invent", nargs=2, metavar=("TURNS", "PATH"), help=argparse.SUPPRESS)
    parser.add_argument("--copy", nargs="+", metavar="PATH", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.invent:
        invent(Path(arguments.invent[1]), int(arguments.invent[0]))
    elif arguments.copy:
        path, folder, *is_sorted = arguments.copy
        copy_tables(Path(path), Path(folder), is_sorted=bool(is_sorted))
    else:
        compare(arguments.turns)


if __name__ == "__main__":
    main()
