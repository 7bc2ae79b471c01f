"""Time and memory of a lake and of six views on Spark, with one and two workers, beside DuckDB, as the rows grow.

    uv run python -m benchmarks.lake_growth [--share 0.005] [--times 1 4 16]

Makes warehouses of invented dialogues (``large_warehouse``, which says what a share is) of one size and of several
times that, and writes each as a lake. Then DuckDB, with two threads, and Spark, on workers with one core each on this
machine, write the rows of each view as Parquet. Memory is the largest resident set: of DuckDB's process, and of all of
Spark's together.
"""

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import psutil

import talkhouse
from benchmarks.large_warehouse import multiply
from benchmarks.memory import peak
from talkhouse.build.progress import Silent
from talkhouse.build.run import build
from talkhouse.lake import attach
from talkhouse.lake.write import write_lake
from talkhouse.lake_format.manifest import read
from talkhouse.schema import warehouse
from talkhouse.spark.sessions import session
from tests import spark_cluster

VIEWS = (
    "mpchat.next_response_prediction",
    "bi.context_turns",
    "bi.turn_agreement",
    "mantis.response_ranking_50",
    "blended_skill_talk.guided_response",
    "bi.annotations",
)

Times = dict[str, float]
"""Seconds of each view, and ``MB``."""


class Quiet:
    """Progress that nobody sees."""

    def begin(self, *_: object, **__: object) -> None:
        """Begin."""

    def advance(self, *_: object) -> None:
        """Go on."""


def apart(work: Callable[..., Times], *arguments: object) -> Times:
    """Run work in a process of its own, so that its memory is."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that work takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def make(path: Path, share: float) -> Times:
    """Make a warehouse."""
    build(path, Silent())
    with warehouse.create(path) as con:
        return {"seconds": timed(lambda: multiply(con, share)), "MB": peak()}


def write(path: Path, lake: Path) -> Times:
    """Write a lake."""
    return {"seconds": timed(lambda: write_lake(lake, [path], Quiet())), "MB": peak()}


def with_duckdb(path: Path, folder: Path) -> Times:
    """Write the rows of the views with DuckDB."""
    with talkhouse.open(path) as con:
        con.execute("set threads = 2")

        def one(view: str) -> duckdb.DuckDBPyConnection:
            return con.execute(f"copy (from {view}) to '{folder / view}.parquet' (compression zstd)")

        times = {view: timed(lambda view=view: one(view)) for view in VIEWS}  # type: ignore[misc]
    return times | {"MB": peak()}


def with_spark(lake: Path, folder: Path, workers: int) -> Times:
    """Write the rows of the views with Spark."""
    logs = folder / f"{workers} workers"
    logs.mkdir()
    rows = sum(table.rows for table in read(lake).tables)
    with spark_cluster.running(logs, workers) as cluster, session(cluster.url, rows=rows, folder=logs) as spark:
        attach(spark, lake)

        def one(view: str) -> None:
            spark.table(view).write.mode("overwrite").parquet(str(logs / view))

        times = {view: timed(lambda view=view: one(view)) for view in VIEWS}  # type: ignore[misc]
        return times | {"MB": sum(_peak(process) for process in psutil.Process().children(recursive=True))}


def _peak(process: psutil.Process) -> float:
    """Return the largest resident set of another process in megabytes."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=0.005)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 16])
    arguments = parser.parse_args()
    for factor in arguments.times:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path, lake = folder / "w.duckdb", folder / "lake"
            apart(make, path, arguments.share * factor)
            written = apart(write, path, lake)
            rows = sum(table.rows for table in read(lake).tables)
            print(f"\n{factor} times: {rows:,} rows; lake in {written['seconds']:.1f} s, {written['MB']:.0f} MB")
            found = {
                "DuckDB": apart(with_duckdb, path, folder),
                "1 worker": apart(with_spark, lake, folder, 1),
                "2 workers": apart(with_spark, lake, folder, 2),
            }
            for what in (*VIEWS, "MB"):
                figures = "  ".join(f"{engine} {times[what]:8.2f}" for engine, times in found.items())
                print(f"{what:40} {figures}", flush=True)


if __name__ == "__main__":
    main()
