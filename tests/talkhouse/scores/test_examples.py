"""Examples below the turn: several of one turn, told apart by ``item_index`` in keys, templates and the fingerprint."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.export.selection import Filters
from talkhouse.schema.errors import TalkhouseError
from talkhouse.scores.examples import choose, create_examples
from talkhouse.scores.predictions import template
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import ScoringWorkspace
from talkhouse.warehouse.rows_hash import splits
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
