"""Six views on Spark over a lake, with one and two workers, beside DuckDB over the warehouse, as the rows grow."""

import subprocess
from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, Side, module, talkhouse
from benchmarks.shapes.large_warehouse import in_common

_SHARES = {"40,000 rows": 0.005, "160,000 rows": 0.02, "610,000 rows": 0.08}


def _write(name: str, rows: Path, folder: Path, *workers: str) -> Side:
    return module(name, "benchmarks.sides.write_views", rows, folder, *workers, writes=folder)


def _case(folder: Path, *, name: str) -> Case:
    warehouse, lake = in_common(folder, _SHARES[name]), folder / "lake"
    subprocess.run(talkhouse("lake", lake, "--db", warehouse).command, check=True, capture_output=True)
    return Case(
        name,
        (
            _write("DuckDB, 2 threads", warehouse, folder / "duckdb"),
            _write("Spark, 1 worker", lake, folder / "one", "1"),
            _write("Spark, 2 workers", lake, folder / "two", "2"),
        ),
        size=_SHARES[name],
    )


SCENARIO = Scenario(
    name="spark",
    title="Views over a lake on Spark",
    cases={name: partial(_case, name=name) for name in _SHARES},
    quick=(),
    grows=True,
    notes=(
        "Rows are written as Parquet. Spark's cluster and session are there before; its memory is that of all of them.",
        "Needs Java, and the packages of the group spark: uv run --group bench --group spark python -m benchmarks.",
    ),
)
