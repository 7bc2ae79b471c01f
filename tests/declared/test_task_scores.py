"""Declared tasks are scored by the metrics of their kind, from predictions in files, with slices and intervals."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.scores.options import Baseline
from talkhouse.scores.score import Scored
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import BadPredictions
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run
from tests.declared.talks_in_files import build_talks, declared
from tests.declared.test_tasks import FILES, TASKS
from tests.talkhouse.scores.invented import score_once

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_talks(tmp_path_factory.mktemp("salon"), FILES, declared(*TASKS))


@pytest.fixture(scope="module")
def con(warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with talkhouse.open(warehouse) as opened:
        yield opened


def scored(con: duckdb.DuckDBPyConnection, name: str, *paths: Path, **options: Any) -> Scored:
    return score_once(con, task(f"salon.{name}", Warehouse(con).catalogue), ScoreRequest(paths, **options))


def values(scored: Scored, slice_: str | None = None) -> dict[str, float | None]:
    return {metric.name: metric.value for metric in scored.metrics if metric.slice == slice_}


def predicted(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    path = tmp_path / "predicted.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", [each.name for each in TASKS])
def test_no_metric_of_a_declared_task_is_official(con: duckdb.DuckDBPyConnection, name: str) -> None:
    shown = scored(con, name, baseline=Baseline.ORACLE, split="train")
    assert shown.metrics
    assert not any(metric.official for metric in shown.metrics)
    assert str(shown.task.query.remark).startswith("no metric is official: the task comes from corpus.toml")


def test_labels_without_a_majority_are_not_scored(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = [{"example_index": index, "label": "calm"} for index in range(3)]
    shown = values(scored(con, "mood", predicted(tmp_path, *rows), split="train"))
    assert shown["accuracy"] == 0.5
    assert shown["F1 macro"] == pytest.approx(1 / 3)
    assert shown["recall (cross)"] == 0


def test_where_no_example_has_a_majority_there_is_no_number(tmp_path: Path) -> None:
    torn = {"id": "a", "turns": [["user", "Hi"]], "labels": [[0, "mood", 0, 0, "calm"], [0, "mood", 1, 0, "cross"]]}
    mood = next(each for each in TASKS if each.name == "mood")
    with talkhouse.open(build_talks(tmp_path, {"train.json": [torn]}, declared(mood))) as con:
        assert scored(con, "mood", baseline=Baseline.MAJORITY).metrics == []


def test_an_unknown_label_is_refused_where_labels_are_declared(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = [{"example_index": index, "label": "angry"} for index in range(3)]
    with pytest.raises(BadPredictions, match=r"'angry' \(3 rows\)"):
        scored(con, "mood", predicted(tmp_path, *rows), split="train")
    assert values(scored(con, "topic", predicted(tmp_path, *rows[:2]), split="train"))["accuracy"] == 0


def test_spans_are_right_where_start_end_and_label_are(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    spans = {"example_index": 0, "labels": ["14:18:room", "4:5:room", "4:5:room"]}
    shown = values(scored(con, "place", predicted(tmp_path, spans), split="test"))
    assert shown["precision"] == 0.5
    assert shown["recall"] == pytest.approx(1 / 3)
    assert shown["F1"] == pytest.approx(0.4)
    assert shown["recall (thing)"] == 0


def test_what_is_no_span_is_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = predicted(tmp_path, {"example_index": 0, "labels": ["4:5:room", "4-5"]})
    with pytest.raises(BadPredictions, match="a span that is not START:END:LABEL: 4-5"):
        scored(con, "place", path, split="test")


@pytest.mark.parametrize(
    ("prediction", "accuracy"),
    [
        ({"scores": [0.5, 0.25]}, 1),
        ({"scores": [-2, 0]}, 0),
        ({"scores": [1, 1]}, 0.5),
        ({"ranking": [0]}, 1),
        ({"ranking": [1]}, 0),
    ],
)
def test_a_preference_is_two_scores_or_a_choice(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, prediction: dict[str, list[float]], accuracy: float
) -> None:
    path = predicted(tmp_path, {"example_index": 0, **prediction})
    assert values(scored(con, "better", path)) == {"accuracy": accuracy}


def test_generated_turns_are_compared_with_what_was_said(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = [{"example_index": index, "text": "yes 🥶 in hall"} for index in range(3)]
    shown = scored(con, "reply", predicted(tmp_path, *rows), split="test", by=["turn_index"])
    assert values(shown, "turn_index=1")["f1"] == 1
    assert values(shown)["f1"] == pytest.approx(1 / 3)


def test_a_template_is_filled_in_and_scored_with_intervals(warehouse: Path, tmp_path: Path) -> None:
    empty, filled = tmp_path / "empty.csv", tmp_path / "filled.csv"
    run("score", "salon.topic", "--template", empty, "--split", "train", "--db", warehouse)
    head, *rows = empty.read_text(encoding="utf-8").splitlines()
    assert head.endswith('"turn_index","label","view_fingerprint"')
    filled.write_text("\n".join([head, *(row.replace(",,,", ',,"tea",') for row in rows)]), encoding="utf-8")
    shown = run("score", "salon.topic", filled, "--interval", "--json", "--db", warehouse).stdout
    (accuracy,) = [metric for metric in json.loads(shown)["metrics"] if metric["name"] == "accuracy"]
    assert (accuracy["value"], accuracy["low"], accuracy["high"]) == (0.5, 0, 1)
