"""States of a warehouse released, verified, checked out and compared; beside its build and scans of its values.

    python -m benchmarks.scenarios.states WAREHOUSE [TASK ...]

reads every value of every table of a warehouse. With tasks it reads the tables twice, and makes the examples of each
once.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile

import duckdb

from benchmarks.scenario import Case, Scenario, Side, command, ingest, module
from benchmarks.scenarios.files import ARCHIVE, FOLDER, write_files
from talkhouse.schema.sql import quoted
from talkhouse.schema.tables import metadata, qualified

_FILES = 3_000
_TASK = "dbdc3.breakdown_detection"
_GONE = 30
"""Files that the state after has not."""


def _create(folder: Path) -> Case:
    write_files(folder, _FILES)
    warehouse, store = _load(folder, "w.duckdb"), folder / "new"
    own = command("release", "create", "new", "--db", warehouse, "--store", store, writes=store)
    return Case((own, _ingest(folder, "again.duckdb")), _FILES)


def _verify(folder: Path) -> Case:
    warehouse, store = _released(folder)
    scan = _scan("DuckDB, a scan of every value", warehouse)
    return Case((command("release", "verify", "kept", "--store", store), scan), _FILES)


def _checkout(folder: Path) -> Case:
    _, store = _released(folder)
    output = folder / "out.duckdb"
    own = command("release", "checkout", "kept", "--store", store, "--output", output, writes=output)
    return Case((own, _ingest(folder, "again.duckdb")), _FILES)


def _equal(folder: Path) -> Case:
    write_files(folder, _FILES)
    after = _load(folder, "after.duckdb")
    before = Path(copyfile(after, folder / "before.duckdb"))
    return _compared(before, after, "DuckDB, a scan of every value")


def _changed(folder: Path) -> Case:
    write_files(folder, _FILES)
    before = _load(folder, "before.duckdb")
    logs = sorted((folder / FOLDER).iterdir())
    for log in logs[:_GONE]:
        log.unlink()
    text = logs[_GONE].read_text(encoding="utf-8")
    logs[_GONE].write_text(text.replace('"breakdown": "O"', '"breakdown": "X"'), encoding="utf-8")
    return _compared(before, _load(folder, "after.duckdb"), "DuckDB, two scans and the examples", _TASK)


RELEASES = Scenario(
    name="releases",
    title="Make, verify and check out a release (DBDC3's shape)",
    cases={"create": _create, "verify": _verify, "checkout": _checkout},
    quick=("create",),
    bar={"create": 0.7, "verify": 12, "checkout": 0.5},
    measure="cpu",
    notes=("Whole processes. A release hashes every value by SHA-256 and runs the checks; a scan uses DuckDB's hash.",),
)

DIFF = Scenario(
    name="diff",
    title="Say what differs between two states (DBDC3's shape)",
    cases={"equal": _equal, "changed": _changed},
    quick=("equal", "changed"),
    bar={"equal": 4, "changed": 3},
    measure="cpu",
    notes=(
        f"Whole processes. Of the state that changed, {_GONE} files of {_FILES:,} are gone and the votes of one are "
        "others. A scan hashes every value of one state by DuckDB's hash; the examples are made by the task's view.",
        "Three times two scans and the examples is six scans, and three times what the examples cost.",
    ),
)


def _load(folder: Path, name: str) -> Path:
    """Load the files into a warehouse of a name, and return it."""
    subprocess.run(_ingest(folder, name).command, check=True, capture_output=True)
    return folder / name


def _ingest(folder: Path, name: str) -> Side:
    return ingest("dbdc3", folder / ARCHIVE, database=folder / name)


def _released(folder: Path) -> tuple[Path, Path]:
    """Make files, a warehouse and a release of it; return the warehouse and the store."""
    write_files(folder, _FILES)
    warehouse, store = _load(folder, "w.duckdb"), folder / "kept"
    release = command("release", "create", "kept", "--db", warehouse, "--store", store)
    subprocess.run(release.command, check=True, capture_output=True)
    return warehouse, store


def _compared(before: Path, after: Path, name: str, *tasks: str) -> Case:
    return Case((command("diff", before, after, "--exit-zero"), _scan(name, after, *tasks)), _FILES)


def _scan(name: str, warehouse: Path, *tasks: str) -> Side:
    return module(name, __name__, warehouse, *tasks, is_part=False)


def scan_tables(path: Path, tasks: Sequence[str] = ()) -> None:
    """Hash every value by DuckDB's own function."""
    with duckdb.connect(path, read_only=True) as con:
        for table in [*metadata.tables.values()] * (2 if tasks else 1):
            values = ", ".join(f"sum(hash({quoted(column.name)}))" for column in table.columns)
            con.execute(f"select {values} from {qualified(table)}").fetchall()
        for task in tasks:
            con.execute(f"create or replace temp table examples as from {task}")


if __name__ == "__main__":
    scan_tables(Path(sys.argv[1]), sys.argv[2:])
