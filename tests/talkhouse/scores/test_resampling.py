"""Resamples: each has the metrics that its rows would have as predictions of their own; draws; intervals and tests."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score, f1_score

from talkhouse.scores import resampling
from talkhouse.scores.comparison import _p_value, _subtracted
from talkhouse.scores.intervals import interval
from talkhouse.scores.resampling import RESAMPLES, Values, bootstrap, create_drawable, shuffled
from talkhouse.scores.score import Request, Scored, score
from talkhouse.scores.tasks import task
from tests.conftest import invented_examples
from tests.talkhouse.scores.invented import Invented

Rows = list[tuple[dict[str, Any], dict[str, Any]]]
"""Gold and prediction of each example."""


class Warehouse:
    """Scores invented rows of a task, each dialogue of its own number of examples."""

    def __init__(self, sample: Path, folder: Path) -> None:
        self.invented = Invented(sample, folder / "talkhouse.duckdb")
        self.con = self.invented.con
        self.path = folder / "predictions.jsonl"

    def score(self, name: str, rows: Rows, **options: Any) -> Scored:
        """Score predictions of a task that has these rows; ``scored`` is what each of them scores."""
        self.invented.replace(name, [gold for gold, _ in rows])
        lines = [json.dumps({"example_index": index, **one}) + "\n" for index, (_, one) in enumerate(rows)]
        self.path.write_text("".join(lines), encoding="utf-8")
        return score(self.con, task(name), Request([self.path], **options), task(name).thresholds[:1])

    def drawn(self, sample: int) -> list[tuple[int, int, int]]:
        """Return what a resample has: the dialogue's place there, and the run and the number of each example."""
        return self.con.execute(
            "select place, drawn.part, example_index from drawn inner join drawable using (part) "
            "where sample = ? order by all",
            [sample],
        ).fetchall()


@pytest.fixture(scope="module")
def warehouse(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    one = Warehouse(sample, tmp_path_factory.mktemp("resampling"))
    yield one
    one.con.close()


def distribution(draw: random.Random) -> dict[str, float]:
    numbers = [draw.randint(0, 4), draw.randint(0, 4), draw.randint(1, 4)]
    return {f"prob_{label}": one / sum(numbers) for label, one in zip("otx", numbers, strict=True)}


def invent(name: str, sizes: list[int], seed: int) -> Rows:
    """Invent gold and predictions for dialogues of so many examples."""
    draw = random.Random(seed)  # noqa: S311
    texts = ["tea", "the milk", "jam pot", "jam and tea", ""]
    codes = ["OQ", "FD", "FQ", "IR"]
    makers: dict[str, Any] = {
        "delidata.change_of_mind": lambda: (
            {"label": draw.choice("+-0")},
            {"label": draw.choice("+-0"), "score": draw.randint(0, 5)},
        ),
        "dbdc3.breakdown_detection": lambda: (
            {**distribution(draw), "release": "dbdc3"},
            {**distribution(draw), "label": draw.choice("OTX")},
        ),
        "mpchat.next_response_prediction": lambda: (
            {"candidates": ["a", "b", "c", "d"], "gold_position": draw.randint(0, 3)},
            {"scores": [draw.randint(0, 2) for _ in range(4)]},
        ),
        "mantis.intent_prediction": lambda: (
            {"intents": draw.sample(codes, draw.randint(1, 3))},
            {"labels": draw.sample(codes, draw.randint(0, 3))},
        ),
        "blended_skill_talk.guided_response": lambda: (
            {"label": "tea", "label_candidates": draw.sample(["tea", "milk", "jam"], 3)},
            {"text": draw.choice([*texts, None]), "scores": draw.choice([None, [1, 2, 2], [3, 2, 1]])},
        ),
    }
    corpus = name.partition(".")[0]
    found = []
    for dialogue, size in enumerate(sizes):
        for place in range(size):
            gold, prediction = makers[name]()
            if "intents" in gold and place == 0:
                gold["intents"] = codes  # what no example has is left out, before rows are drawn
            found.append(({"dialogue_id": f"{corpus}:{dialogue}", **gold}, prediction))
    return found


TASKS = [
    "delidata.change_of_mind",
    "dbdc3.breakdown_detection",
    "mpchat.next_response_prediction",
    "mantis.intent_prediction",
    "blended_skill_talk.guided_response",
]
SIZES = st.lists(st.integers(1, 4), min_size=2, max_size=6)


@pytest.mark.parametrize("name", TASKS)
@given(sizes=SIZES, seed=st.integers(0, 1000))
@invented_examples(20)
def test_a_resample_scores_what_its_rows_score(warehouse: Warehouse, name: str, sizes: list[int], seed: int) -> None:
    """The rows of a resample are scored again as a split of their own, with each dialogue as often as it was drawn."""
    rows = invent(name, sizes, seed)
    warehouse.score(name, rows)
    (values,) = bootstrap(warehouse.con, create_drawable(warehouse.con, task(name), ["select * from scored"]))
    for sample in (0, RESAMPLES - 1):
        drawn = [
            ({**rows[index][0], "dialogue_id": f"drawn:{place}"}, rows[index][1])
            for place, _, index in warehouse.drawn(sample)
        ]
        again = {one.name: one.value for one in warehouse.score(name, drawn).metrics if not one.is_count}
        warehouse.score(name, rows)
        known = {metric: found[sample] for metric, found in values.items() if found[sample] is not None}
        wanted = {metric: value for metric, value in again.items() if value is not None}
        assert known == pytest.approx(wanted, abs=1e-12)


@given(sizes=SIZES, seed=st.integers(0, 1000))
@invented_examples(30)
def test_other_metrics_than_means_agree_with_scikit_learn(warehouse: Warehouse, sizes: list[int], seed: int) -> None:
    name = "delidata.change_of_mind"
    rows = invent(name, sizes, seed)
    warehouse.score(name, rows)
    (values,) = bootstrap(warehouse.con, create_drawable(warehouse.con, task(name), ["select * from scored"]))
    for sample in range(0, RESAMPLES, 250):
        drawn = [rows[index] for _, _, index in warehouse.drawn(sample)]
        gold = [one["label"] for one, _ in drawn]
        macro = f1_score(gold, [one["label"] for _, one in drawn], average="macro", zero_division=0)
        assert values["F1 macro"][sample] == pytest.approx(macro, abs=1e-12)
        positive = [label == "+" for label in gold]
        if any(positive):
            precision = average_precision_score(positive, [one["score"] for _, one in drawn])
            assert values["average precision"][sample] == pytest.approx(precision, abs=1e-12)
        else:
            assert values.get("average precision", [None] * RESAMPLES)[sample] is None


def one_label(warehouse: Warehouse, dialogues: list[list[bool]]) -> Values:
    """Return the resampled values for dialogues of right and wrong labels."""
    rows: Rows = [
        ({"label": "Solution", "dialogue_id": f"delidata:{number}"}, {"label": "Solution" if hit else "Reasoning"})
        for number, hits in enumerate(dialogues)
        for hit in hits
    ]
    warehouse.score("delidata.probing_target", rows)
    of = create_drawable(warehouse.con, task("delidata.probing_target"), ["select * from scored"])
    return bootstrap(warehouse.con, of)[0]


@pytest.mark.parametrize("dialogues", [8, 13, 64])
def test_each_dialogue_is_as_likely_at_each_place(warehouse: Warehouse, dialogues: int) -> None:
    """By chi-squared tests, of all draws and of how often a resample has the first dialogue; a power of two too."""
    one_label(warehouse, [[True]] * dialogues)
    rows = warehouse.con.execute("select sample, part from drawn").fetchall()
    assert len(rows) == RESAMPLES * dialogues
    every = Counter(part for _, part in rows)
    assert stats.chisquare([every[part] for part in range(dialogues)]).pvalue > 0.001
    first = Counter(Counter(sample for sample, part in rows if part == 0).values())
    first[0] = RESAMPLES - sum(first.values())
    often = [first[0], first[1], first[2], RESAMPLES - first[0] - first[1] - first[2]]
    chances = [stats.binom.pmf(times, dialogues, 1 / dialogues) for times in range(3)]
    expected = [RESAMPLES * chance for chance in (*chances, 1 - sum(chances))]
    assert stats.chisquare(often, expected).pvalue > 0.001


def test_resamples_are_not_the_same_draw_in_another_order(warehouse: Warehouse) -> None:
    one_label(warehouse, [[True]] * 16)
    rows = warehouse.con.execute("select sample, part from drawn").fetchall()
    shapes = {
        tuple(sorted(Counter(part for _, part in found).values()))
        for _, found in itertools.groupby(sorted(rows), key=lambda row: row[0])
    }
    assert len(shapes) > 10


def test_an_interval_is_that_of_scipy(warehouse: Warehouse) -> None:
    """Nearly: SciPy draws others. Dialogues have one example, and then several, all right or all wrong."""
    draw = random.Random(5)  # noqa: S311
    for size in (1, 6):
        hits = [draw.random() < 0.7 for _ in range(80)]
        low, high = interval(one_label(warehouse, [[hit] * size for hit in hits])["accuracy"])
        found = stats.bootstrap((hits,), np.mean, method="percentile", n_resamples=5_000, rng=1).confidence_interval
        assert (low, high) == pytest.approx(tuple(found), abs=0.02)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60))
@invented_examples(100)
def test_the_ends_of_an_interval_are_percentiles(values: list[float]) -> None:
    assert interval([*values, None]) == pytest.approx(np.percentile(values, [2.5, 97.5]).tolist(), abs=1e-12)


def test_one_dialogue_has_no_interval(warehouse: Warehouse) -> None:
    rows = invent("delidata.change_of_mind", [4], 0)
    done = warehouse.score("delidata.change_of_mind", rows, interval=True)
    assert {(one.low, one.high) for one in done.metrics} == {(None, None)}
    assert interval([None] * 5) == (None, None)


@pytest.mark.parametrize("name", TASKS)
def test_neither_threads_nor_steps_change_an_interval(
    warehouse: Warehouse, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = invent(name, [1, 3, 2, 5, 4, 2, 2, 3], 7)
    found = []
    for threads, step in ((1, 2_000_000), (4, 2_000_000), (3, 1_000)):
        monkeypatch.setattr(resampling, "_AT_ONCE", step)
        warehouse.con.execute(f"set threads = {threads}")
        found.append(warehouse.score(name, rows, interval=True).metrics)
    warehouse.con.execute("reset threads")
    assert found[0] == found[1] == found[2]
    for one in found[0]:
        assert one.is_count == (one.low is None), one.name
        assert one.low is None or one.high is None or one.low <= one.high


def two_runs(warehouse: Warehouse, hits: list[tuple[bool, bool]]) -> list[Values]:
    """Return the swapped values of two runs over dialogues of two examples, both right or both wrong."""
    for run in (0, 1):
        rows: Rows = [
            ({"label": "Solution", "dialogue_id": f"delidata:{number}"}, {"label": label})
            for number, both in enumerate(hits)
            for label in 2 * ["Solution" if both[run] else "Reasoning"]
        ]
        warehouse.score("delidata.probing_target", rows)
        warehouse.con.execute(f"create or replace temp table run_{run} as from scored")
    of = create_drawable(warehouse.con, task("delidata.probing_target"), ["select * from run_0", "select * from run_1"])
    assert (of.runs, of.dialogues) == (2, len(hits))
    return shuffled(warehouse.con, of)


def test_a_p_value_is_near_that_of_all_swaps(warehouse: Warehouse) -> None:
    """Of nine dialogues there are 512 ways to swap them; SciPy tries them all."""
    hits = [(True, False)] * 5 + [(False, True)] + [(True, True)] * 3
    first, second = two_runs(warehouse, hits)
    differences = _subtracted([first, second], "accuracy")
    difference = float(np.mean([int(b) - int(a) for a, b in hits]))
    exact = stats.permutation_test(
        ([int(a) for a, _ in hits], [int(b) for _, b in hits]),
        lambda one, other, axis: np.mean(other, axis=axis) - np.mean(one, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    ).pvalue
    assert _p_value(difference, differences) == pytest.approx(exact, abs=0.04)


def test_a_swap_changes_both_runs(warehouse: Warehouse) -> None:
    """What one run loses the other gains; each dialogue is in each run once, and swapped in half of the resamples."""
    first, second = two_runs(warehouse, [(True, False), (True, True), (False, True), (True, False)])
    for a, b in zip(first["accuracy"], second["accuracy"], strict=True):
        assert (a or 0) + (b or 0) == pytest.approx(1.25)
    swapped = warehouse.con.execute(
        "select part // 2, count_if(part % 2 <> sample % 2), count(*) from drawn group by all"
    ).fetchall()
    for _, times, total in swapped:
        assert total == 2 * RESAMPLES
        assert stats.binomtest(times // 2, RESAMPLES).pvalue > 0.001


def test_a_p_value_counts_what_was_seen() -> None:
    assert _p_value(0.5, [0.1, -0.2, 0.3]) == 1 / 4
    assert _p_value(0.3, [0.1, -0.3, 0.3 - 1e-15]) == 3 / 4
    assert _p_value(0.0, [0.1, 0.0]) == 1
