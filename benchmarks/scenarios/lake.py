"""A lake of a warehouse's tables, beside DuckDB's own COPY of them."""

import subprocess
from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, Side, module, talkhouse
from benchmarks.shapes.publish import CANDIDATES, invent

_TURNS = {"50,000 turns": 50_000, "500,000 turns": 500_000, "2 million turns": 2_000_000}


def _copy(name: str, warehouse: Path, folder: Path, *how: str) -> Side:
    return module(name, "benchmarks.sides.copy_tables", warehouse, folder, *how, writes=folder, is_part=False)


def _case(folder: Path, *, name: str) -> Case:
    warehouse = folder / "w.duckdb"
    invent(warehouse, _TURNS[name])
    again = talkhouse("lake", folder / "again", "--db", warehouse, name="talkhouse lake, nothing changed")
    subprocess.run(again.command, check=True, capture_output=True)
    return Case(
        name,
        (
            talkhouse("lake", folder / "lake", "--db", warehouse, name="talkhouse lake", writes=folder / "lake"),
            _copy("DuckDB, COPY, sorted", warehouse, folder / "by_grain", "sorted"),
            _copy("DuckDB, COPY", warehouse, folder / "plain"),
            again,
        ),
        size=_TURNS[name],
    )


SCENARIO = Scenario(
    name="lake",
    title="Write a lake",
    cases={name: partial(_case, name=name) for name in _TURNS},
    quick=("50,000 turns",),
    grows=True,
    notes=(
        f"{CANDIDATES} candidates for each turn; whole processes. The lake is sorted too, hashed before (every row) "
        "and after (every file), split by corpus, and has the views.",
    ),
)
