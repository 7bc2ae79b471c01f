"""A copy of the tables on PostgreSQL, beside a bare COPY of the same bytes."""

import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, module
from benchmarks.shapes.publish import CANDIDATES, invent

_SIDE = "benchmarks.sides.to_postgres"
_TURNS = {"50,000 turns": 50_000, "1 million turns": 1_000_000}


def _case(folder: Path, *, name: str) -> Case:
    warehouse, files = folder / "talkhouse.duckdb", folder / "files"
    invent(warehouse, _TURNS[name])
    files.mkdir()
    subprocess.run([sys.executable, "-m", _SIDE, "dump", str(warehouse), str(files)], check=True)
    return Case(
        name,
        (
            module("talkhouse publish", _SIDE, "publish", warehouse),
            module("PostgreSQL, a bare COPY", _SIDE, "copy", files),
        ),
        size=_TURNS[name],
    )


SCENARIO = Scenario(
    name="publish",
    title="Publish the tables to PostgreSQL",
    cases={name: partial(_case, name=name) for name in _TURNS},
    quick=("50,000 turns",),
    bar={"1 million turns": 1 / 0.3},
    grows=True,
    notes=(
        f"{CANDIDATES} candidates for each turn. The tables are published with keys, relations, indexes and "
        "statistics, and every row is compared; COPY writes the same bytes into tables without keys.",
        "A rate of 0.3 is a ratio of 3.3.",
        "Processor time and memory are of the client: the server is no descendant of it.",
    ),
)
