"""Two data folders of invented dialogues in publishers' formats, and what differs, counted beforehand."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run
from tests.talkhouse.diff.test_difference import diffed

STATES = Path(__file__).with_name("states.tar.gz")
DIFFERING = ("removed", "added", "changed", "moved", "moved_in", "moved_out", "renumbered")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data before and after, a warehouse of each, and what is expected."""
    folder = tmp_path_factory.mktemp("states")
    with tarfile.open(STATES) as archive:
        archive.extractall(folder, filter="data")
    for name in ("before", "after"):
        assert run("build", "--data", folder / name, "--db", folder / f"{name}.duckdb").returncode == 0
    return folder


def moving(rows: list[dict[str, Any]], *key: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return by key what is not still, but for what a build says of itself."""
    return {
        tuple(row[name] for name in key): {name: value for name, value in row.items() if name != "verdict"}
        for row in rows
        if any(row.get(name) for name in DIFFERING) and not str(row.get("table")).startswith("meta.")
    }


@pytest.mark.slow
def test_what_differs_is_as_it_was_counted(states: Path) -> None:
    expected = json.loads((states / "expected.json").read_text())
    found = diffed(states / "before.duckdb", states / "after.duckdb")
    assert found["renumbered"] == expected["renumbered"]
    table, task = ("table", "corpus"), ("task", "release", "split")
    assert moving(found["tables"], *table) == {tuple(row[name] for name in table): row for row in expected["tables"]}
    assert moving(found["tasks"], *task) == {tuple(row[name] for name in task): row for row in expected["tasks"]}
    turns = [row for row in found["changes"] if (row["relation"], row["change"]) == ("main.turns", "changed")]
    shown = json.loads(json.dumps(turns))
    assert [{name: row[name] for name in row if name != "key_before"} for row in shown] == expected["changed_turns"]


@pytest.mark.slow
def test_data_folders_give_the_same_bytes_as_their_warehouses(states: Path) -> None:
    """No time, path or host is in it."""
    of_folders = run("diff", "before", "after", "--json", cwd=states)
    of_files = run("diff", "before.duckdb", "after.duckdb", "--json", cwd=states)
    assert (of_folders.returncode, of_files.returncode) == (1, 1)
    assert of_folders.stdout == of_files.stdout
    assert json.loads(of_files.stdout)["equal"] is False


@pytest.mark.slow
def test_back_again_the_same_rows_differ(states: Path) -> None:
    before, after = states / "before.duckdb", states / "after.duckdb"
    there, back = diffed(before, after)["tables"], diffed(after, before)["tables"]
    same = ("table", "corpus", "changed", "moved", "renumbered", "columns")
    assert [[row[name] for name in (*same, "removed", "added")] for row in there] == [
        [row[name] for name in (*same, "added", "removed")] for row in back
    ]
