"""The first command of a newcomer: what it costs beyond the libraries that it imports."""

import sys
from pathlib import Path

from benchmarks.scenario import TALKHOUSE, Case, Scenario, Side, talkhouse

_IMPORTS = "import duckdb, polars, sqlalchemy"


_LIBRARIES = Side("python, imports alone", (sys.executable, "-c", _IMPORTS))


def _build(folder: Path) -> Case:
    database = folder / "samples.duckdb"
    return Case("samples", (talkhouse("build", "--db", database, name="talkhouse build", writes=database), _LIBRARIES))


def _first(folder: Path) -> Case:
    cache = folder / "cache"
    command = (
        "env",
        f"XDG_CACHE_HOME={cache}",
        *TALKHOUSE,
        "build",
        "--dry-run",
        "--db",
        str(folder / "samples.duckdb"),
    )
    return Case("first on a machine", (Side("talkhouse build --dry-run", command, writes=cache), _LIBRARIES))


SCENARIO = Scenario(
    name="samples",
    title="Build from nothing: the bundled samples",
    cases={"samples": _build, "first on a machine": _first},
    quick=("samples", "first on a machine"),
    bar={"samples": 2.5},
    limit={"samples": 1.5, "first on a machine": 2},
    measure="cpu",
    notes=(
        "All are whole processes; ours makes a warehouse of five corpora with its checks and views.",
        "The first on a machine has an empty cache folder: it copies what came with the code, if of its DuckDB.",
    ),
)
