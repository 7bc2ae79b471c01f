"""Resamples: each has the metrics that its rows would have as predictions of their own; draws; intervals and tests."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score, f1_score

from talkhouse.scores.comparison import _p_value, _subtracted
from talkhouse.scores.metrics import ScoreMetric
from talkhouse.scores.resampling import (
    RESAMPLES,
    Drawable,
    bootstrap,
    drawable,
    draws,
    interval,
    replaced,
    shuffled,
    swapped,
)
from talkhouse.scores.score import Scored, score
from talkhouse.scores.task import ScoreRequest, task
from talkhouse.scores.workspace import ScoringWorkspace
from tests.conftest import invented_examples
from tests.lanes import first_quick
from tests.talkhouse.scores.invented import Invented

Rows = list[tuple[dict[str, Any], dict[str, Any]]]
"""Gold and prediction of each example."""


class Warehouse:
    """Scores invented rows of a task, each dialogue of its own number of examples."""

    def __init__(self, sample: Path, folder: Path) -> None:
        self.invented = Invented(sample, folder / "talkhouse.duckdb")
        self.con = self.invented.con
        self.path = folder / "predictions.jsonl"

    def score(self, workspace: ScoringWorkspace, name: str, rows: Rows, **options: Any) -> Scored:
        """Score predictions of a task that has these rows."""
        self.invented.replace(name, [gold for gold, _ in rows])
        lines = [json.dumps({"example_index": index, **values}) + "\n" for index, (_, values) in enumerate(rows)]
        self.path.write_text("".join(lines), encoding="utf-8")
        wanted = task(name)
        return score(workspace, wanted, ScoreRequest([self.path], **options), wanted.query.thresholds[:1])

    def metrics(self, name: str, rows: Rows, **options: Any) -> list[ScoreMetric]:
        """Return the metrics of predictions alone."""
        with ScoringWorkspace(self.con) as workspace:
            return self.score(workspace, name, rows, **options).metrics

    @contextmanager
    def drawable(self, name: str, rows: Rows, **options: Any) -> Iterator[tuple[ScoringWorkspace, Drawable]]:
        """Score predictions, and yield what can be drawn from them."""
        with ScoringWorkspace(self.con) as workspace:
            query = f"select * from {self.score(workspace, name, rows).turns[0].scored}"
            with drawable(workspace, task(name), [query], query, **options) as of:
                yield workspace, of


def drawn(workspace: ScoringWorkspace, of: Drawable, sample: int) -> list[tuple[int, int, int]]:
    """Return the content of a resample: the dialogue's place there, and the run and the number of each example."""
    draws_of = draws(of, replaced(of), sample, sample + 1)
    return workspace.con.execute(
        f"select place, drawn.part, example_index from ({draws_of}) as drawn inner join {of.rows} using (part) "
        "order by all"
    ).fetchall()


def parts(workspace: ScoringWorkspace, of: Drawable) -> list[tuple[int, int]]:
    return workspace.con.execute(f"select sample, part from ({draws(of, replaced(of), 0, RESAMPLES)})").fetchall()


@pytest.fixture(scope="module")
def warehouse(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    built = Warehouse(sample, tmp_path_factory.mktemp("resampling"))
    yield built
    built.con.close()


def distribution(draw: random.Random) -> dict[str, float]:
    numbers = [draw.randint(0, 4), draw.randint(0, 4), draw.randint(1, 4)]
    return {f"prob_{label}": number / sum(numbers) for label, number in zip("otx", numbers, strict=True)}


def invent(name: str, sizes: list[int], seed: int) -> Rows:
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


FEW = 8
"""Resamples where each is looked at: the draws are those of the first of a thousand."""


def check_resamples(warehouse: Warehouse, name: str, rows: Rows) -> None:
    """Score the rows of a resample again as a split of their own, with each dialogue as often as it was drawn."""
    with warehouse.drawable(name, rows, resamples=FEW) as (workspace, of):
        (values,) = bootstrap(workspace, of)
        samples = {sample: drawn(workspace, of, sample) for sample in (0, FEW - 1)}
    for sample, places in samples.items():
        again_rows = [
            ({**rows[index][0], "dialogue_id": f"drawn:{place}"}, rows[index][1]) for place, _, index in places
        ]
        again = {metric.name: metric.value for metric in warehouse.metrics(name, again_rows) if not metric.is_count}
        known = {metric: found[sample] for metric, found in values.items() if found[sample] is not None}
        wanted = {metric: value for metric, value in again.items() if value is not None}
        assert known == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("name", first_quick(TASKS))
def test_a_resample_scores_what_its_rows_score(warehouse: Warehouse, name: str) -> None:
    check_resamples(warehouse, name, invent(name, [2, 4, 1, 3], 5))


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
@given(sizes=SIZES, seed=st.integers(0, 1000))
@invented_examples(12)
def test_any_resample_scores_what_its_rows_score(warehouse: Warehouse, name: str, sizes: list[int], seed: int) -> None:
    check_resamples(warehouse, name, invent(name, sizes, seed))


@given(sizes=SIZES, seed=st.integers(0, 1000))
@invented_examples(30)
def test_other_metrics_than_means_agree_with_scikit_learn(warehouse: Warehouse, sizes: list[int], seed: int) -> None:
    name = "delidata.change_of_mind"
    rows = invent(name, sizes, seed)
    with warehouse.drawable(name, rows, resamples=FEW) as (workspace, of):
        (values,) = bootstrap(workspace, of)
        samples = [[rows[index] for _, _, index in drawn(workspace, of, sample)] for sample in range(FEW)]
    for sample, pairs in enumerate(samples):
        gold = [row["label"] for row, _ in pairs]
        macro = f1_score(gold, [row["label"] for _, row in pairs], average="macro", zero_division=0)
        assert values["F1 macro"][sample] == pytest.approx(macro, abs=1e-12)
        positive = [label == "+" for label in gold]
        if any(positive):
            precision = average_precision_score(positive, [row["score"] for _, row in pairs])
            assert values["average precision"][sample] == pytest.approx(precision, abs=1e-12)
        else:
            assert values.get("average precision", [None] * FEW)[sample] is None


def one_label(dialogues: list[list[bool]]) -> Rows:
    return [
        ({"label": "Solution", "dialogue_id": f"delidata:{number}"}, {"label": "Solution" if hit else "Reasoning"})
        for number, hits in enumerate(dialogues)
        for hit in hits
    ]


TARGET = "delidata.probing_target"


@pytest.mark.parametrize("dialogues", [13, 64])
def test_each_dialogue_is_as_likely_at_each_place(warehouse: Warehouse, dialogues: int) -> None:
    """By chi-squared tests, of all draws and of how often a resample has the first dialogue; a power of two too."""
    with warehouse.drawable(TARGET, one_label([[True]] * dialogues)) as (workspace, of):
        rows = parts(workspace, of)
    assert len(rows) == RESAMPLES * dialogues
    every = Counter(part for _, part in rows)
    assert stats.chisquare([every[part] for part in range(dialogues)]).pvalue > 0.001
    first = Counter(Counter(sample for sample, part in rows if part == 0).values())
    first[0] = RESAMPLES - sum(first.values())
    often = [first[0], first[1], first[2], RESAMPLES - first[0] - first[1] - first[2]]
    chances = [stats.binom.pmf(times, dialogues, 1 / dialogues) for times in range(3)]
    assert stats.chisquare(often, [RESAMPLES * chance for chance in (*chances, 1 - sum(chances))]).pvalue > 0.001


@pytest.mark.slow
def test_resamples_are_not_the_same_draw_in_another_order(warehouse: Warehouse) -> None:
    with warehouse.drawable(TARGET, one_label([[True]] * 16)) as (workspace, of):
        rows = parts(workspace, of)
    shapes = {
        tuple(sorted(Counter(part for _, part in found).values()))
        for _, found in itertools.groupby(sorted(rows), key=lambda row: row[0])
    }
    assert len(shapes) > 10


@pytest.mark.slow
def test_an_interval_is_that_of_scipy(warehouse: Warehouse) -> None:
    """Nearly: SciPy draws others. Dialogues have one example, and then several, all right or all wrong."""
    draw = random.Random(5)  # noqa: S311
    for size in (1, 6):
        hits = [draw.random() < 0.7 for _ in range(80)]
        with warehouse.drawable(TARGET, one_label([[hit] * size for hit in hits])) as (workspace, of):
            low, high = interval(bootstrap(workspace, of)[0]["accuracy"])
        found = stats.bootstrap((hits,), np.mean, method="percentile", n_resamples=5_000, rng=1).confidence_interval
        assert (low, high) == pytest.approx(tuple(found), abs=0.02)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60))
@invented_examples(100)
def test_the_ends_of_an_interval_are_percentiles(values: list[float]) -> None:
    assert interval([*values, None]) == pytest.approx(np.percentile(values, [2.5, 97.5]).tolist(), abs=1e-12)


def test_one_dialogue_has_no_interval(warehouse: Warehouse) -> None:
    found = warehouse.metrics("delidata.change_of_mind", invent("delidata.change_of_mind", [4], 0), interval=True)
    assert {(result.low, result.high) for result in found} == {(None, None)}
    assert interval([None] * 5) == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_neither_threads_nor_steps_change_a_resample(warehouse: Warehouse, name: str) -> None:
    rows = invent(name, [1, 3, 2, 5, 4, 2, 2, 3], 7)
    found = []
    for threads, step in ((1, 2_000_000), (4, 2_000_000), (3, 400)):
        warehouse.con.execute(f"set threads = {threads}")
        with warehouse.drawable(name, rows, resamples=60, at_once=step) as (workspace, of):
            found.append(bootstrap(workspace, of))
    warehouse.con.execute("reset threads")
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_a_metric_has_an_interval_and_a_count_has_none(warehouse: Warehouse, name: str) -> None:
    for metric in warehouse.metrics(name, invent(name, [1, 3, 2, 5], 7), interval=True):
        assert metric.is_count == (metric.low is None), metric.name
        assert metric.low is None or metric.high is None or metric.low <= metric.high


@contextmanager
def two_runs(warehouse: Warehouse, hits: list[tuple[bool, bool]]) -> Iterator[tuple[ScoringWorkspace, Drawable]]:
    """Yield two runs over dialogues of two examples, both right or both wrong."""
    with ScoringWorkspace(warehouse.con) as both:
        tables = []
        for run in (0, 1):
            rows = one_label([2 * [pair[run]] for pair in hits])
            with ScoringWorkspace(warehouse.con) as workspace:
                tables.append(both.create("run", f"from {warehouse.score(workspace, TARGET, rows).turns[0].scored}"))
        queries = [f"select * from {table}" for table in tables]
        with drawable(both, task(TARGET), queries, queries[0]) as of:
            assert (of.runs, of.dialogues) == (2, len(hits))
            yield both, of


@pytest.mark.slow
def test_a_p_value_is_near_that_of_all_swaps(warehouse: Warehouse) -> None:
    """Of nine dialogues there are 512 ways to swap them; SciPy tries them all."""
    hits = [(True, False)] * 5 + [(False, True)] + [(True, True)] * 3
    with two_runs(warehouse, hits) as (workspace, of):
        first, second = shuffled(workspace, of)
    differences = _subtracted([first, second], "accuracy")
    difference = float(np.mean([int(b) - int(a) for a, b in hits]))
    exact = stats.permutation_test(
        ([int(a) for a, _ in hits], [int(b) for _, b in hits]),
        lambda first, other, axis: np.mean(other, axis=axis) - np.mean(first, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    ).pvalue
    assert _p_value(difference, differences) == pytest.approx(exact, abs=0.04)


@pytest.mark.slow
def test_a_swap_changes_both_runs(warehouse: Warehouse) -> None:
    """What one run loses the other gains; each dialogue is in each run once, and swapped in half of the resamples."""
    with two_runs(warehouse, [(True, False), (True, True), (False, True), (True, False)]) as (workspace, of):
        first, second = shuffled(workspace, of)
        swaps = workspace.con.execute(
            "select part // 2, count_if(part % 2 <> sample % 2), count(*) "
            f"from ({draws(of, swapped(), 0, RESAMPLES)}) group by all"
        ).fetchall()
    for a, b in zip(first["accuracy"], second["accuracy"], strict=True):
        assert (a or 0) + (b or 0) == pytest.approx(1.25)
    for _, times, total in swaps:
        assert total == 2 * RESAMPLES
        assert stats.binomtest(times // 2, RESAMPLES).pvalue > 0.001


def test_a_p_value_counts_what_was_seen() -> None:
    assert _p_value(0.5, [0.1, -0.2, 0.3]) == 1 / 4
    assert _p_value(0.3, [0.1, -0.3, 0.3 - 1e-15]) == 3 / 4
    assert _p_value(0.0, [0.1, 0.0]) == 1
