"""Examples below the turn: several of one turn, told apart by ``item_index`` in keys, templates and the fingerprint."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.export.selection import Filters
from talkhouse.releases.create import ReleaseRequest, create
from talkhouse.schema.errors import TalkhouseError
from talkhouse.scores.examples import choose, create_examples
from talkhouse.scores.predictions import template
from talkhouse.scores.saved_runs import path_for
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import ScoringWorkspace
from talkhouse.warehouse.rows_hash import splits
from tests.commands import run
from tests.samples import GROUPS
from tests.talkhouse.scores.invented import Invented, score_once

TASK = "delidata.probing_target"
FRAMES = [(0, 0, "Reasoning"), (0, 1, "Solution"), (2, 0, "Moderation"), (None, None, "Solution")]
"""turn_index, item_index and label of each example; the last is a whole record."""


ROWS = [
    {"record_id": "delidata/invented/0", "turn_index": turn, "item_index": item, "label": label}
    for turn, item, label in FRAMES
]


@pytest.fixture(scope="module")
def con(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    invented = Invented(sample, tmp_path_factory.mktemp("items") / "talkhouse.duckdb")
    invented.replace(TASK, ROWS)
    return invented.con


def scored(con: duckdb.DuckDBPyConnection, path: Path, rows: list[dict[str, Any]]) -> float | None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = score_once(con, task(TASK), ScoreRequest(paths=(path,)))
    return {metric.name: metric.value for metric in done.metrics}["accuracy"]


def predictions(*without: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in without} for row in ROWS]


def test_items_of_a_turn_are_told_apart(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = predictions()
    assert scored(con, tmp_path / "right.jsonl", rows[::-1]) == 1
    rows[0]["label"], rows[1]["label"] = rows[1]["label"], rows[0]["label"]
    assert scored(con, tmp_path / "swapped.jsonl", rows) == 0.5


@pytest.mark.slow
def test_a_key_without_the_item_is_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    with pytest.raises(TalkhouseError, match=r"no column 'item_index'[\s\S]*--template"):
        scored(con, tmp_path / "p.jsonl", predictions("item_index"))


@pytest.mark.slow
def test_keys_that_contradict_each_other_are_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = [{"example_index": index, **row} for index, row in enumerate(predictions())]
    assert scored(con, tmp_path / "both.jsonl", rows) == 1
    rows[1]["item_index"] = 7
    with pytest.raises(TalkhouseError, match=r"item_index are not those[\s\S]*turn_index 0 item_index 1"):
        scored(con, tmp_path / "other.jsonl", rows)


def test_the_template_has_items_where_there_are_some(con: duckdb.DuckDBPyConnection) -> None:
    with ScoringWorkspace(con) as workspace:
        for name, has_items in ((TASK, True), ("dbdc3.breakdown_detection", False)):
            wanted = task(name)
            (published, *_) = splits(con, *name.split("."))
            chosen = choose(con, wanted, Filters(published.split, published.release))
            query = template(wanted, create_examples(workspace, wanted, chosen))
            assert ("item_index" in [column for column, *_ in con.execute(f"describe {query}").fetchall()]) == has_items


def test_the_fingerprint_is_that_of_before_unless_there_are_items(con: duckdb.DuckDBPyConnection) -> None:
    before = (
        "concat_ws(chr(31), coalesce(release, ''), split, example_index, record_id, coalesce(turn_index::varchar, ''))"
    )
    rows = con.execute(
        f"select corpus_id || '.' || task, lower(lpad(to_hex(bit_xor(md5_number({before}))), 32, '0')), "
        "count(item_index) from main.examples group by corpus_id, task, release, split"
    ).fetchall()
    assert len(rows) > 10
    for name, fingerprint, items in rows:
        assert (fingerprint in {published.fingerprint for published in splits(con, *name.split("."))}) == (items == 0)


# Saved runs say what became of their examples; those that have changed are never compared as if they had not.

OUTCOMES = f"{GROUPS}.outcome"
SCORE = ["score", OUTCOMES, "--baseline", "majority", "--save"]

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


@pytest.mark.slow
def test_runs_say_whether_their_examples_hold(warehouse: Path) -> None:
    create(warehouse.parent / "releases", warehouse, ReleaseRequest("2026-11"))
    assert run(*SCORE, "mine", cwd=warehouse.parent).returncode == 0
    (mine,) = listed(warehouse).values()
    assert (mine["examples_now"], mine["examples_changed"], mine["release"]) == ("same", None, "2026-11")
    manifest = json.loads((warehouse.parent / "releases/releases/2026-11/release.json").read_text())
    (task,) = [item for item in manifest["tasks"] if item["task"] == OUTCOMES]
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
    assert run("scores", cwd=warehouse.parent).stdout.count(OUTCOMES) == 2
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
