"""Predictions that can't be scored: each is refused with how many rows, the first of them, and what to do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from schema.errors import UsageError
from talkhouse.scores.refusals import BadPredictions
from talkhouse.scores.score import Request, Scored, score
from talkhouse.scores.tasks import task
from tests.talkhouse.scores.invented import Invented

Rows = list[dict[str, Any]]
LABELS = ["Reasoning", "Solution", "Moderation"]


@pytest.fixture
def con(sample: Path, tmp_path: Path) -> duckdb.DuckDBPyConnection:
    """Eight examples with labels, and four lists of five candidates."""
    one = Invented(sample, tmp_path / "talkhouse.duckdb")
    one.replace("delidata.probing_target", [{"label": LABELS[index % 3]} for index in range(8)])
    one.replace(
        "mpchat.next_response_prediction", [{"candidates": list("abcde"), "gold_position": 0} for _ in range(4)]
    )
    return one.con


@pytest.fixture
def scored(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> Callable[..., Scored]:
    """Score rows, written as JSON Lines."""

    def run(rows: Rows, name: str = "delidata.probing_target", **options: Any) -> Scored:
        path = tmp_path / "predictions.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return score(con, task(name), Request([path], **options))

    return run


def right() -> Rows:
    return [{"example_index": index, "label": LABELS[index % 3]} for index in range(8)]


def lists() -> Rows:
    return [{"example_index": index, "scores": [5.0, 4.0, 3.0, 2.0, 1.0]} for index in range(4)]


BROKEN: dict[str, tuple[Callable[[Rows], object], str]] = {
    "missing": (lambda rows: rows.pop(3), r"no prediction: 1\n.*example_index 3"),
    "twice": (lambda rows: rows.append(dict(rows[2])), r"more than one prediction: 1\n.*example_index 2"),
    "surplus": (lambda rows: rows.append({"example_index": 8, "label": "Solution"}), r"not in what is scored: 1"),
    "other label": (lambda rows: rows[0].update(label="Sun"), r"does not have: 1\n(.*\n)*.*'Sun'"),
    "near label": (lambda rows: rows[0].update(label="solution "), r"near 'Solution', which is another label"),
    "no label": (lambda rows: rows[1].update(label=None), r"rows without a 'label': 1"),
    "half a number": (lambda rows: rows[1].update(example_index=1.5), r"not whole numbers: 1\n.*1\.5"),
    "other record": (lambda rows: [row.update(record_id="other") for row in rows], r"not those of their example_index"),
    "other build": (lambda rows: rows[0].update(view_fingerprint="0" * 32), r"another build: 1"),
    "other split": (lambda rows: rows[0].update(split="train"), r"not in what is scored: 1|more than one"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_labels(name: str, scored: Callable[..., Scored]) -> None:
    rows = right()
    BROKEN[name][0](rows)
    if name == "other split":
        rows = [{"split": "test", **row} for row in rows]
    with pytest.raises(BadPredictions, match=BROKEN[name][1]) as caught:
        scored(rows)
    assert caught.value.next_step


BROKEN_LISTS: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({"scores": [1, 2, 3, 4, float("nan")]}, "not a finite number: 1"),
    "infinity": ({"scores": [1, 2, 3, 4, float("inf")]}, "not a finite number: 1"),
    "null": ({"scores": [1, 2, 3, 4, None]}, "not a finite number: 1"),
    "short": ({"scores": [1, 2]}, "2 scores for 5 candidates"),
    "text": ({"scores": ["a"] * 5}, "not a finite number: 1"),
    "position twice": ({"scores": None, "ranking": [0, 0]}, "a position twice, null or beyond"),
    "position beyond": ({"scores": None, "ranking": [5]}, "a position twice, null or beyond"),
}


@pytest.mark.parametrize("name", BROKEN_LISTS)
def test_broken_lists(name: str, scored: Callable[..., Scored]) -> None:
    rows = lists()
    rows[2] |= BROKEN_LISTS[name][0]
    with pytest.raises(BadPredictions, match=BROKEN_LISTS[name][1]):
        scored(rows, "mpchat.next_response_prediction")


def test_missing_ones_count_as_wrong_if_that_is_wanted(scored: Callable[..., Scored]) -> None:
    done = scored(right()[:6], missing="wrong")
    found = {one.name: one for one in done.metrics}
    assert (done.missing, found["accuracy"].count, found["accuracy"].of) == (2, 6, 8)
    assert not any(one.official for one in done.metrics)


def test_unknown_labels_count_as_wrong_if_that_is_wanted(scored: Callable[..., Scored]) -> None:
    rows = right()
    rows[0]["label"] = "solution"
    done = scored(rows, unknown="wrong")
    found = {one.name: one for one in done.metrics}
    assert found["accuracy"].count == 7
    assert found["F1 macro"].value == pytest.approx((2 * 2 / 5 + 1 + 1 + 0) / 4)
    assert "near 'Solution'" in done.warnings[0]


def test_scores_come_in_four_forms(scored: Callable[..., Scored]) -> None:
    name = "mpchat.next_response_prediction"
    first = scored([{"example_index": index, "scores": [3, 9, 1, 0, 0]} for index in range(4)], name).metrics
    ranked = [{"example_index": index, "ranking": [1, 0, 2, 3, 4]} for index in range(4)]
    assert scored(ranked, name).metrics == first
    rows = [
        {"example_index": index, "position": place, "score": value}
        for index in range(4)
        for place, value in reversed([*enumerate([3, 9, 1, 0, 0])])
    ]
    assert scored(rows, name).metrics == first
    by_record = [
        {"record_id": f"mpchat/invented/{index}", "turn_index": 0, "ranking": [1, 0]} for index in reversed(range(4))
    ]
    assert scored(by_record, name).metrics == first


def test_ties_are_an_expectation_and_not_official(scored: Callable[..., Scored]) -> None:
    done = scored(
        [{"example_index": index, "scores": [0] * 5} for index in range(4)], "mpchat.next_response_prediction"
    )
    found = {one.name: one for one in done.metrics}
    assert done.tied == 4
    assert (found["recall@1"].value, found["recall@1"].best, found["recall@1"].worst) == (0.2, 1, 0)
    assert found["mrr"].value == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5)
    assert not found["mrr"].official


def test_thresholds_are_shares(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        score(con, task("dbdc3.breakdown_detection"), Request([]), [1.5])
    with pytest.raises(UsageError, match="has no threshold"):
        score(con, task("delidata.probing_target"), Request([]), [0.5])


def test_only_tasks_with_metrics_can_be_scored() -> None:
    with pytest.raises(UsageError, match=r"dbdc3\.breakdown_detection"):
        task("dbdc3.breakdown")
