"""The first command of a newcomer: what it costs beyond the libraries that it imports."""

import sys
from pathlib import Path

from benchmarks.scenario import Case, Scenario, Side, talkhouse

_IMPORTS = "import duckdb, polars, sqlalchemy"


def _build(folder: Path) -> Case:
    database = folder / "samples.duckdb"
    return Case(
        "samples",
        (
            talkhouse("build", "--db", database, name="talkhouse build", writes=database),
            Side("python, imports alone", (sys.executable, "-c", _IMPORTS)),
        ),
    )


SCENARIO = Scenario(
    name="samples",
    title="Build from nothing: the bundled samples",
    cases={"samples": _build},
    quick=("samples",),
    bar={"samples": 2.5},
    measure="cpu",
    notes=("Both are whole processes; ours makes a warehouse of five corpora with its checks and views.",),
)
