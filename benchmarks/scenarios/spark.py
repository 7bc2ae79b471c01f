"""Six views on Spark over a lake, with one and two workers, compared with DuckDB over the warehouse.

    python -m benchmarks.scenarios.spark WAREHOUSE FOLDER
    python -m benchmarks.scenarios.spark LAKE FOLDER WORKERS

write the rows of the views as Parquet, with DuckDB or with Spark, and print what each took. DuckDB has two threads.
Spark has workers with one core each on this machine, which are started before.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import talkhouse
from benchmarks.clock import Times, timed
from benchmarks.scenario import Case, Scenario, Side, command, large_warehouse, module
from talkhouse.schema.sql import literal

_SHARES = {"40,000 rows": 0.005, "160,000 rows": 0.02, "610,000 rows": 0.08}


def _case(share: float, folder: Path) -> Case:
    warehouse, lake = large_warehouse(folder, share), folder / "lake"
    subprocess.run(command("lake", lake, "--db", warehouse).command, check=True, capture_output=True)
    return Case(
        (
            _write("DuckDB, 2 threads", warehouse, folder / "duckdb"),
            _write("Spark, 1 worker", lake, folder / "one", "1"),
            _write("Spark, 2 workers", lake, folder / "two", "2"),
        ),
        share,
    )


def _write(name: str, rows: Path, folder: Path, *workers: str) -> Side:
    return module(name, __name__, rows, folder, *workers, writes=folder)


SCENARIO = Scenario(
    name="spark",
    title="Views over a lake on Spark",
    cases={name: partial(_case, share) for name, share in _SHARES.items()},
    quick=(),
    grows=True,
    notes=(
        "Rows are written as Parquet. Spark's cluster and session are there before; its memory is that of all of them.",
        "Needs Java, and the packages of the group spark: uv run --group bench --group spark python -m benchmarks.",
    ),
)


_VIEWS = (
    "mpchat.next_response_prediction",
    "bi.context_turns",
    "bi.turn_agreement",
    "mantis.response_ranking_50",
    "blended_skill_talk.guided_response",
    "bi.annotations",
)


def with_duckdb(path: Path, folder: Path) -> dict[str, Times]:
    """Write the rows of the views with DuckDB."""
    with talkhouse.open(path, unsafe=True) as con:
        con.execute("set threads = 2")

        def write(view: str) -> None:
            con.execute(f"copy (from {view}) to {literal(str(folder / view))} (format parquet, compression zstd)")

        return {view: timed(write, view) for view in _VIEWS}


def with_spark(lake: Path, folder: Path, workers: int) -> dict[str, Times]:
    """Write the rows of the views with Spark."""
    from talkhouse.lake import attach
    from talkhouse.lake_format.lake_manifest import read
    from talkhouse.spark.sessions import session
    from tests import spark_cluster

    rows = sum(table.rows for table in read(lake).tables)
    with spark_cluster.running(folder, workers) as cluster, session(cluster.url, rows=rows, folder=folder) as spark:
        attach(spark, lake)

        def write(view: str) -> None:
            spark.table(view).write.mode("overwrite").parquet(str(folder / view))

        return {view: timed(write, view) for view in _VIEWS}


def main() -> None:
    """Write what the arguments say."""
    path, folder, *workers = sys.argv[1:]
    Path(folder).mkdir()
    rows, files = Path(path), Path(folder)
    print(json.dumps(with_spark(rows, files, int(*workers)) if workers else with_duckdb(rows, files)))


if __name__ == "__main__":
    main()
