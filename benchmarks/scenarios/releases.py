"""A release made, verified and checked out, beside the build of its warehouse and a scan of its values."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from benchmarks.scenario import Case, Scenario, Side, ingest, module, talkhouse
from benchmarks.shapes import dbdc3

_FILES = 3_000


def _made(folder: Path) -> tuple[Side, Path, Path]:
    """Make files, a warehouse and a release of it; return the side that builds, the warehouse and the store."""
    dbdc3.loose(folder, _FILES)
    build = ingest("dbdc3", folder / dbdc3.FOLDER.split("/")[0])
    warehouse, store = Path(build.command[-1]), folder / "kept"
    warehouse.parent.mkdir()
    made = talkhouse("release", "create", "kept", "--db", warehouse, "--store", store)
    for side in (build, made):
        subprocess.run(side.command, check=True, capture_output=True)
    return build, warehouse, store


def _create(folder: Path) -> Case:
    build, warehouse, _ = _made(folder)
    store = folder / "new"
    ours = talkhouse("release", "create", "new", "--db", warehouse, "--store", store, writes=store)
    again = folder / "again.duckdb"
    other = Side("talkhouse ingest", (*build.command[:-1], str(again)), again)
    return Case("create", (ours, other), size=_FILES)


def _verify(folder: Path) -> Case:
    _, warehouse, store = _made(folder)
    scan = module("DuckDB, a scan of every value", "benchmarks.sides.scan_tables", warehouse, is_part=False)
    return Case("verify", (talkhouse("release", "verify", "kept", "--store", store), scan), size=_FILES)


def _checkout(folder: Path) -> Case:
    build, _, store = _made(folder)
    output, again = folder / "out.duckdb", folder / "again.duckdb"
    ours = talkhouse("release", "checkout", "kept", "--store", store, "--output", output, writes=output)
    other = Side("talkhouse ingest", (*build.command[:-1], str(again)), again)
    return Case("checkout", (ours, other), size=_FILES)


_CASES: dict[str, Callable[[Path], Case]] = {"create": _create, "verify": _verify, "checkout": _checkout}

SCENARIO = Scenario(
    name="releases",
    title="Make, verify and check out a release (DBDC3's shape)",
    cases=_CASES,
    quick=("create",),
    bar={"create": 0.7, "verify": 12, "checkout": 0.5},
    measure="cpu",
    notes=("Whole processes. A release hashes every value by SHA-256 and runs the checks; a scan uses DuckDB's hash.",),
)
