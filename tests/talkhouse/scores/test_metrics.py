"""Each metric against a second implementation in plain Python, on invented predictions with ties and gaps."""

import json
import math
import string
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.scores.score import Request, Scored, score
from talkhouse.scores.tasks import task
from tests.conftest import invented_examples
from tests.talkhouse.scores.invented import Invented

Score = Callable[..., Scored]


@pytest.fixture(scope="module")
def scored(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Score]:
    """Score predictions of a task that has these rows."""
    folder = tmp_path_factory.mktemp("metrics")
    one = Invented(sample, folder / "talkhouse.duckdb")

    def run(name: str, gold: list[dict[str, Any]], rows: list[dict[str, Any]], **options: Any) -> Scored:
        one.replace(name, gold)
        path = folder / "predictions.jsonl"
        lines = [json.dumps({"example_index": index, **row}) + "\n" for index, row in enumerate(rows) if row]
        path.write_text("".join(lines), encoding="utf-8")
        return score(one.con, task(name), Request([path], **options))

    yield run
    one.con.close()


def values(done: Scored) -> dict[str, float | None]:
    return {one.name: one.value for one in done.metrics}


def mean(numbers: list[float]) -> float:
    return math.fsum(numbers) / len(numbers)


@given(
    st.integers(2, 6).flatmap(
        lambda size: st.lists(
            st.tuples(st.integers(0, size - 1), st.lists(st.integers(0, 2), min_size=size, max_size=size)),
            min_size=1,
            max_size=6,
        )
    )
)
@invented_examples(200)
def test_ranks_under_ties_are_the_mean_over_all_orders(scored: Score, lists: list[tuple[int, list[int]]]) -> None:
    """The oracle sorts the candidates in every order in which they could have been."""
    size = len(lists[0][1])
    gold = [{"candidates": [str(index) for index in range(size)], "gold_position": right} for right, _ in lists]
    done = scored("mpchat.next_response_prediction", gold, [{"scores": scores} for _, scores in lists])
    ranks = [
        [sorted(order, key=lambda place: -scores[place]).index(right) + 1 for order in permutations(range(size))]
        for right, scores in lists
    ]
    half, part = max(1, round(size * 0.5)), max(1, round(size * 0.2))
    found = {one.name: one for one in done.metrics}
    assert found.keys() == {"recall@1", f"recall@{part}", f"recall@{half}", "mrr"}
    for name, value in [
        *((f"recall@{cut}", lambda rank, cut=cut: float(rank <= cut)) for cut in (1, part, half)),
        ("mrr", lambda rank: 1 / rank),
    ]:
        assert found[name].value == pytest.approx(mean([mean([*map(value, each)]) for each in ranks]), abs=1e-12)
        if done.tied:
            assert found[name].best == pytest.approx(mean([value(min(each)) for each in ranks]), abs=1e-12)
            assert found[name].worst == pytest.approx(mean([value(max(each)) for each in ranks]), abs=1e-12)
    assert done.tied == sum(min(each) < max(each) for each in ranks)


LABELS = ["Reasoning", "Solution", "Moderation", "wrong"]


@given(st.lists(st.tuples(st.sampled_from(LABELS[:3]), st.sampled_from([*LABELS, None])), min_size=1, max_size=12))
@invented_examples(200)
def test_classes(scored: Score, pairs: list[tuple[str, str | None]]) -> None:
    pairs = [("Solution", "Solution"), *pairs]  # a file has at least one row
    done = scored(
        "delidata.probing_target",
        [{"label": gold} for gold, _ in pairs],
        [{"label": label} if label else {} for _, label in pairs],
        missing="wrong",
        unknown="wrong",
    )
    found = values(done)
    classes = {gold for gold, _ in pairs} | {label for _, label in pairs if label}
    each = {}
    for one in classes:
        hits = sum(gold == label == one for gold, label in pairs)
        said, right = sum(label == one for _, label in pairs), sum(gold == one for gold, _ in pairs)
        each[one] = (2 * hits / (said + right), right)
        assert found[f"precision ({one})"] == pytest.approx(hits / said if hits else 0, abs=1e-12)
        assert found[f"recall ({one})"] == pytest.approx(hits / right if hits else 0, abs=1e-12)
    assert found["F1 macro"] == pytest.approx(mean([value for value, _ in each.values()]), abs=1e-12)
    assert found["F1 weighted"] == pytest.approx(sum(f * n for f, n in each.values()) / len(pairs), abs=1e-12)
    assert found["accuracy"] == pytest.approx(mean([float(gold == label) for gold, label in pairs]), abs=1e-12)


CODES = ["OQ", "FD", "FQ", "IR"]


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(CODES), min_size=1, max_size=3, unique=True),
            st.lists(st.sampled_from(CODES), min_size=0, max_size=4),
        ),
        min_size=1,
        max_size=8,
    )
)
@invented_examples(200)
def test_intents(scored: Score, pairs: list[tuple[list[str], list[str]]]) -> None:
    found = values(
        scored(
            "mantis.intent_prediction",
            [{"intents": gold} for gold, _ in pairs],
            [{"labels": labels} for _, labels in pairs],
        )
    )
    classes = {one for gold, _ in pairs for one in gold}
    sets = [({*gold}, {*labels} & classes) for gold, labels in pairs]
    cells = {
        one: (
            sum(one in gold & labels for gold, labels in sets),
            sum((one in gold) + (one in labels) for gold, labels in sets),
        )
        for one in classes
    }
    assert found["accuracy"] == pytest.approx(mean([len(a & b) / len(a | b) for a, b in sets]), abs=1e-12)
    assert found["F1 macro"] == pytest.approx(mean([2 * hits / both for hits, both in cells.values()]), abs=1e-12)
    total = sum(both for _, both in cells.values())
    assert found["F1 micro"] == pytest.approx(2 * sum(hits for hits, _ in cells.values()) / total, abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from(["+", "-", "0"]), st.integers(0, 4)), min_size=1, max_size=20))
@invented_examples(200)
def test_average_precision(scored: Score, pairs: list[tuple[str, int]]) -> None:
    """The oracle goes down the distinct scores, as scikit-learn's step definition does."""
    done = scored(
        "delidata.change_of_mind",
        [{"label": label} for label, _ in pairs],
        [{"label": "0", "score": number} for _, number in pairs],
    )
    found = values(done)

    def precision(part: list[tuple[str, int]]) -> float | None:
        positives = sum(label == "+" for label, _ in part)
        steps = [
            (
                sum(label == "+" for label, number in part if number == limit),
                [label == "+" for label, number in part if number >= limit],
            )
            for limit in {number for _, number in part}
        ]
        return sum(new / positives * mean([*map(float, above)]) for new, above in steps) if positives else None

    groups = [precision(pairs[start : start + 7]) for start in range(0, len(pairs), 7)]
    with_positive = [one for one in groups if one is not None]
    expected = precision(pairs)
    assert found["average precision"] == (None if expected is None else pytest.approx(expected, abs=1e-12))
    if with_positive:
        assert found["average precision by group"] == pytest.approx(mean(with_positive), abs=1e-12)
    assert found["groups without a positive"] == groups.count(None)
    assert not any(one.official for one in done.metrics)


def normalised(text: str) -> list[str]:
    """ParlAI's rule for these texts, which are ASCII."""
    plain = "".join(" " if letter in string.punctuation else letter for letter in text.lower())
    return [word for word in plain.split() if word not in ("a", "an", "the")]


TEXTS = st.lists(st.sampled_from(["tea", "The", "a", "milk!", "jam-pot", "Tea", "."]), max_size=7).map(" ".join)


@given(st.lists(st.tuples(TEXTS, st.none() | TEXTS), min_size=1, max_size=8))
@invented_examples(200)
def test_texts(scored: Score, pairs: list[tuple[str, str | None]]) -> None:
    done = scored(
        "delidata.probing_generation",
        [{"probing": gold} for gold, _ in pairs],
        [{"text": text} for _, text in pairs],
    )
    found = {one.name: one for one in done.metrics}
    said = [(normalised(gold), normalised(text)) for gold, text in pairs if text is not None]
    shared = [(Counter(gold) & Counter(text)).total() for gold, text in said]
    expected = {
        "accuracy": [float(gold == text) for gold, text in said],
        "precision": [one / len(text) if one else 0.0 for one, (_, text) in zip(shared, said, strict=True)],
        "recall": [one / len(gold) if one else 0.0 for one, (gold, _) in zip(shared, said, strict=True)],
        "f1": [
            2 * one / (len(gold) + len(text)) if one else 0.0 for one, (gold, text) in zip(shared, said, strict=True)
        ],
        "bleu-1": [bleu_1(gold or [""], text or [""]) for gold, text in said],
    }
    assert found["exs"].value == len(pairs)
    for name, numbers in expected.items():
        assert found[name].of == len(said)
        if said:
            assert found[name].value == pytest.approx(mean(numbers), abs=1e-12), name


def bleu_1(gold: list[str], text: list[str]) -> float:
    shared = (Counter(gold) & Counter(text)).total()
    return shared / len(text) * min(1, math.exp(1 - len(gold) / len(text)))


LABELS_OF_TURNS = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)


@given(st.lists(st.tuples(LABELS_OF_TURNS, st.sampled_from("OTX"), LABELS_OF_TURNS), min_size=1, max_size=8))
@invented_examples(200)
def test_breakdowns(scored: Score, turns: list[tuple[list[int], str, list[int]]]) -> None:
    """The script's formulas, written again from the specification."""
    pairs = [([n / sum(gold) for n in gold], label, [n / sum(given) for n in given]) for gold, label, given in turns]
    names = ("prob_o", "prob_t", "prob_x")
    found = values(
        scored(
            "dbdc3.breakdown_detection",
            [{**dict(zip(names, gold, strict=True)), "release": "dbdc3"} for gold, _, _ in pairs],
            [{"label": label, **dict(zip(names, given, strict=True))} for _, label, given in pairs],
        )
    )
    strict = ["OTX"[gold.index(max(gold))] for gold, _, _ in pairs]
    lenient = [o < t + x for (o, t, x), _, _ in pairs]
    right = [gold == label for gold, (_, label, _) in zip(strict, pairs, strict=True)]
    x_hits = sum(hit and gold == "X" for hit, gold in zip(right, strict, strict=True))
    said, tx_said = sum(label == "X" for _, label, _ in pairs), [label in "TX" for _, label, _ in pairs]
    tx_hits = sum(one and both for one, both in zip(lenient, tx_said, strict=True))
    assert found["Accuracy"] == pytest.approx(mean([*map(float, right)]), abs=1e-12)
    assert found["Precision (X)"] == pytest.approx(x_hits / said if x_hits else 0, abs=1e-12)
    assert found["Recall (X)"] == pytest.approx(x_hits / strict.count("X") if x_hits else 0, abs=1e-12)
    assert found["Precision (T+X)"] == pytest.approx(tx_hits / sum(tx_said) if tx_hits else 0, abs=1e-12)
    assert found["Recall (T+X)"] == pytest.approx(tx_hits / sum(lenient) if tx_hits else 0, abs=1e-12)
    for name, group in (
        ("O,T,X", lambda p: p),
        ("O,T+X", lambda p: [p[0], p[1] + p[2]]),
        ("O+T,X", lambda p: [p[0] + p[1], p[2]]),
    ):
        both = [(group(gold), group(given)) for gold, _, given in pairs]
        assert found[f"JS divergence ({name})"] == pytest.approx(mean([divergence(*one) for one in both]), abs=1e-12)
        errors = [mean([(p - q) ** 2 for p, q in zip(*one, strict=True)]) for one in both]
        assert found[f"Mean squared error ({name})"] == pytest.approx(mean(errors), abs=1e-12)


def divergence(one: list[float], other: list[float]) -> float:
    middle = [(p + q) / 2 for p, q in zip(one, other, strict=True)]
    halves = [sum(p * math.log2(p / m) for p, m in zip(own, middle, strict=True) if p) for own in (one, other)]
    return sum(halves) / 2
