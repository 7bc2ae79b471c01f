"""Scores of invented predictions of invented examples."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from talkhouse.scores.score import Scored
from talkhouse.scores.task import ScoreRequest, task
from tests.talkhouse.scores.invented import Invented, score_once

Score = Callable[..., Scored]


@pytest.fixture(scope="module")
def invented(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Invented]:
    """A private copy of the sample, whose examples can be replaced."""
    invented = Invented(sample, tmp_path_factory.mktemp("invented") / "talkhouse.duckdb")
    yield invented
    invented.con.close()


@pytest.fixture(scope="module")
def scored(invented: Invented, tmp_path_factory: pytest.TempPathFactory) -> Score:
    """Score predictions of a task that has these rows; an empty prediction is none at all."""
    path = tmp_path_factory.mktemp("predictions") / "predictions.jsonl"

    def run(
        name: str,
        gold: list[dict[str, Any]] | None,
        rows: list[dict[str, Any]],
        thresholds: Sequence[float] = (),
        **options: Any,
    ) -> Scored:
        if gold is not None:
            invented.replace(name, gold)
        lines = [json.dumps({"example_index": index, **row}) + "\n" for index, row in enumerate(rows) if row]
        path.write_text("".join(lines), encoding="utf-8")
        return score_once(invented.con, task(name), ScoreRequest([path], **options), thresholds)

    return run
