"""Saved runs say what became of their examples; those that have changed are never compared as if they had not."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.releases.create import ReleaseRequest, create
from talkhouse.scores.saved_runs import path_for
from tests.commands import run
from tests.samples import GROUPS

TASK = f"{GROUPS}.outcome"
SCORE = ["score", TASK, "--baseline", "majority", "--save"]

TO_RENUMBER = "update main.examples set example_index = example_index + 100 where task = 'outcome'"
TO_CHANGE = (
    "update main.annotations set label = case label when 'True' then 'False' else 'True' end, value = value + 1 "
    "where record_id = (select min(record_id) from main.examples where task = 'outcome')"
)
TO_REMOVE = "delete from main.examples where task = 'outcome'"


def changed(warehouse: Path, sql: str) -> None:
    with duckdb.connect(warehouse) as con:
        con.execute(sql)


def listed(warehouse: Path) -> dict[str, dict[str, Any]]:
    done = run("scores", "--json", cwd=warehouse.parent)
    assert done.returncode == 0, done.stderr
    return {row["run"]: row for row in json.loads(done.stdout)}


def test_runs_say_whether_their_examples_hold(warehouse: Path) -> None:
    create(warehouse.parent / "releases", warehouse, ReleaseRequest("2026-11"))
    assert run(*SCORE, "mine", cwd=warehouse.parent).returncode == 0
    (mine,) = listed(warehouse).values()
    assert (mine["examples_now"], mine["examples_changed"], mine["release"]) == ("same", None, "2026-11")
    manifest = json.loads((warehouse.parent / "releases/releases/2026-11/release.json").read_text())
    (task,) = [item for item in manifest["tasks"] if item["task"] == TASK]
    assert (mine["content_id"], mine["content_hash"], mine["rows_hash"]) == (
        manifest["content_id"],
        task["content_hash"],
        task["rows_hash"],
    )
    changed(warehouse, TO_RENUMBER)
    assert listed(warehouse)["mine"]["examples_now"] == "renumbered"
    assert "by example_index not" in run("scores", cwd=warehouse.parent).stdout
    changed(warehouse, TO_CHANGE)
    now = listed(warehouse)["mine"]
    assert (now["examples_now"], now["examples_changed"]) == ("changed", 1)
    assert f"mine: its examples have changed since it was scored: 1 of {task['rows']}" in (
        run("scores", cwd=warehouse.parent).stdout
    )


@pytest.mark.slow
def test_runs_of_other_contents_are_not_compared(warehouse: Path) -> None:
    assert run(*SCORE, "before", cwd=warehouse.parent).returncode == 0
    changed(warehouse, TO_CHANGE)
    assert run(*SCORE, "after", cwd=warehouse.parent).returncode == 0
    runs = listed(warehouse)
    assert runs["before"]["view_fingerprint"] == runs["after"]["view_fingerprint"]
    # Without a release at hand their number is unknown.
    assert [(runs[name]["examples_now"], runs[name]["examples_changed"]) for name in ("before", "after")] == [
        ("changed", None),
        ("same", None),
    ]
    assert run("scores", cwd=warehouse.parent).stdout.count(TASK) == 2
    done = run("scores", "--compare", "before", "after", cwd=warehouse.parent)
    assert (done.returncode, "they differ in content hash" in done.stderr) == (2, True)


@pytest.mark.slow
def test_examples_may_be_gone_and_older_runs_know_nothing(warehouse: Path) -> None:
    assert run(*SCORE, "mine", cwd=warehouse.parent).returncode == 0
    with duckdb.connect(warehouse) as con:
        con.execute(TO_REMOVE)
    assert listed(warehouse)["mine"]["examples_now"] == "gone"
    with duckdb.connect(path_for(warehouse)) as con:
        con.execute("drop view comparison")
        for column in ("release", "content_id", "content_hash", "rows_hash"):
            con.execute(f"alter table runs drop column {column}")
        con.execute("update format set version = 2")
    assert listed(warehouse)["mine"]["examples_now"] == "unknown"
    assert listed(warehouse)["mine"]["release"] is None
