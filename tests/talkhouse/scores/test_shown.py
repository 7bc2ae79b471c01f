"""What ``score`` prints: the official metrics, and all numbers with ``--all``, at the width of a terminal."""

import json
from collections import Counter
from pathlib import Path

import pytest

import talkhouse
from tests.commands import run as start

EVAL = ("dbdc3.breakdown_detection", "--release", "dbdc3", "--split", "eval")


def shown(sample: Path, *arguments: str) -> str:
    done = start("score", *arguments, "--baseline", "random", "--db", sample, env={"COLUMNS": "80"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_official_metrics_are_printed(sample: Path) -> None:
    text = shown(sample, *EVAL)
    lines = text.splitlines()
    assert lines[0] == "dbdc3.breakdown_detection dbdc3 eval: 26 examples, official metrics"
    assert len(lines) < 60
    assert max(map(len, lines)) <= 80
    assert "Recall (O)" not in text
    assert "subset=" not in text
    assert lines[-1] == "with --all: 18 more metrics and counts, and the numbers by subset"


def test_official_values_come_first_in_json(sample: Path) -> None:
    data = json.loads(start("score", *EVAL, "--baseline", "majority", "--json", "--db", sample).stdout)
    with talkhouse.open(sample) as con:
        query = "select prob_o, prob_t, prob_x from dbdc3.breakdown_detection_eval where release = 'dbdc3'"
        votes = con.execute(query).fetchall()
    labels = Counter(max(range(3), key=lambda label: (row[label], -label)) for row in votes)
    assert data["official"]["Accuracy"] == max(labels.values()) / len(votes)
    assert (next(iter(data)), len(data["official"]), data["official_threshold"]) == ("official", 18, 0)
    found = start("score", "delidata.change_of_mind", "--baseline", "random", "--json", "--db", sample)
    assert json.loads(found.stdout)["official"] == {}


def test_all_numbers_are_printed(sample: Path) -> None:
    text = shown(sample, *EVAL, "--all")
    assert "Recall (O)" in text
    assert "subset=" in text
    assert "with --all" not in text
    assert len(text.splitlines()) > 200


@pytest.mark.slow
def test_slices_that_are_asked_for_are_printed(sample: Path) -> None:
    text = shown(sample, *EVAL, "--by", "subset", "--threshold", "0")
    assert "subset=" in text
    assert text.splitlines()[-1] == "with --all: 18 more metrics and counts"


@pytest.mark.parametrize(
    ("name", "metric", "hidden"),
    [
        ("delidata.change_of_mind", "average precision", "precision (+)"),
        ("delidata.probing_generation", "bleu-4", "bleu-1"),
    ],
)
def test_a_task_without_official_metrics_shows_its_main_ones(sample: Path, name: str, metric: str, hidden: str) -> None:
    text = shown(sample, name)
    assert "official metrics" not in text
    assert "no metric is official" in text
    assert metric in text
    assert hidden not in text


@pytest.mark.slow
def test_ranks_under_ties_are_printed_with_their_bounds(sample: Path) -> None:
    done = start("score", "mantis.response_ranking_10", "--baseline", "uniform", "--split", "test", "--db", sample)
    assert "map" in done.stdout
    assert "best" in done.stdout
    assert "ties at the right candidate" in done.stdout
    assert "official metrics" not in done.stdout
