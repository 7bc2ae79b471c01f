"""Two states compared, equal ones and ones of which some files differ, beside scans of the values of one."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

from benchmarks.scenario import Case, Scenario, ingest, module, talkhouse
from benchmarks.shapes import dbdc3

_FILES = 3_000
_TASK = "dbdc3.breakdown_detection"
_GONE = 30
"""Files that the state after has not."""


def _built(folder: Path) -> Path:
    """Load the files, and return the warehouse under a name of its own."""
    build = ingest("dbdc3", folder / dbdc3.FOLDER.split("/")[0])
    made = Path(build.command[-1])
    made.parent.mkdir(exist_ok=True)
    subprocess.run(build.command, check=True, capture_output=True)
    return made


def _case(name: str, before: Path, after: Path, side: str, *tasks: str) -> Case:
    ours = talkhouse("diff", before, after, "--exit-zero")
    scan = module(side, "benchmarks.sides.scan_tables", after, *tasks, is_part=False)
    return Case(name, (ours, scan), size=_FILES)


def _equal(folder: Path) -> Case:
    dbdc3.loose(folder, _FILES)
    after = _built(folder)
    return _case("equal", Path(copyfile(after, folder / "before.duckdb")), after, "DuckDB, a scan of every value")


def _changed(folder: Path) -> Case:
    dbdc3.loose(folder, _FILES)
    before = _built(folder).rename(folder / "before.duckdb")
    logs = sorted((folder / dbdc3.FOLDER).iterdir())
    for log in logs[:_GONE]:
        log.unlink()
    said = logs[_GONE].read_text(encoding="utf-8")
    logs[_GONE].write_text(said.replace('"breakdown": "O"', '"breakdown": "X"'), encoding="utf-8")
    return _case("changed", before, _built(folder), "DuckDB, two scans and the examples", _TASK)


_CASES: dict[str, Callable[[Path], Case]] = {"equal": _equal, "changed": _changed}

SCENARIO = Scenario(
    name="diff",
    title="Say what differs between two states (DBDC3's shape)",
    cases=_CASES,
    quick=("equal", "changed"),
    bar={"equal": 4, "changed": 3},
    measure="cpu",
    notes=(
        f"Whole processes. Of the state that changed, {_GONE} files of {_FILES:,} are gone and the votes of one are "
        "others. A scan hashes every value of one state by DuckDB's hash; the examples are made by the task's view.",
        "Three times two scans and the examples is six scans, and three times what the examples cost.",
    ),
)
