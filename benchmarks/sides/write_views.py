"""Writes the rows of six views as Parquet, with DuckDB or with Spark, and prints what each took.

    python -m benchmarks.sides.write_views WAREHOUSE FOLDER
    python -m benchmarks.sides.write_views LAKE FOLDER WORKERS

DuckDB has two threads. Spark has workers with one core each on this machine, which are started before.
"""

import json
import sys
from pathlib import Path

import talkhouse
from benchmarks.sides.clock import Times, timed
from talkhouse.lake import attach
from talkhouse.lake_format.lake_manifest import read
from talkhouse.schema.sql import literal
from talkhouse.spark.sessions import session
from tests import spark_cluster

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
