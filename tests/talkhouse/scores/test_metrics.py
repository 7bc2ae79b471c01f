"""Each metric against an independent one, on invented predictions with ties and gaps.

The others are scikit-learn, SciPy, ir_measures and NLTK where they agree with the publishers' programs, and else every
order of the candidates or the definition in plain Python.
"""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any

import duckdb
import ir_measures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import rel_entr
from sklearn import metrics
from sklearn.preprocessing import MultiLabelBinarizer

from talkhouse.scores.metrics import ScoreMetric
from talkhouse.scores.score import Scored
from tests.conftest import invented_examples
from tests.talkhouse.overlap.brute_force import is_letter_without_blanks, tokens
from tests.talkhouse.scores.conftest import Score
from tests.talkhouse.scores.invented import Invented


def named(done: Scored) -> dict[str, ScoreMetric]:
    return {metric.name: metric for metric in done.metrics}


def assert_equal(done: Scored, expected: dict[str, float | None]) -> None:
    found = named(done)
    for name, value in expected.items():
        assert found[name].value == (None if value is None else pytest.approx(value, rel=0, abs=1e-12)), name


def mean(numbers: list[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def lists_of(size: int, most: int, scores: st.SearchStrategy[int]) -> st.SearchStrategy[list[tuple[int, list[int]]]]:
    """Lists of scores of so many candidates, each with the position of the right one."""
    ranking = st.tuples(st.integers(0, size - 1), st.lists(scores, min_size=size, max_size=size))
    return st.lists(ranking, min_size=1, max_size=most)


def ranks(right: int, scores: list[int]) -> list[int]:
    """The rank of the right candidate in every order in which the candidates could have been before they are sorted."""
    orders = permutations(range(len(scores)))
    return [sorted(order, key=lambda place: -scores[place]).index(right) + 1 for order in orders]


def assert_means_over_orders(
    found: dict[str, ScoreMetric], every: list[list[int]], values: dict[str, Callable[[int], float]]
) -> None:
    for name, value in values.items():
        metric = found[name]
        assert metric.value == pytest.approx(mean([mean([*map(value, each)]) for each in every]), abs=1e-12), name
        if any(len(set(each)) > 1 for each in every):
            assert not metric.official
            assert metric.best == pytest.approx(mean([value(min(each)) for each in every]), abs=1e-12), name
            assert metric.worst == pytest.approx(mean([value(max(each)) for each in every]), abs=1e-12), name
        else:
            assert (metric.best, metric.worst) == (None, None)


def hit(cut: int) -> Callable[[int], float]:
    return lambda rank: float(rank <= cut)


def gain(rank: int) -> float:
    return 1 / math.log2(1 + rank) if rank <= 10 else 0.0


def reciprocal(rank: int) -> float:
    return 1 / rank


@pytest.mark.slow
@given(st.integers(2, 6).flatmap(lambda size: lists_of(size, 8, st.integers(0, 2))))
@invented_examples(40)
def test_ranks_under_ties_are_the_mean_over_all_orders(scored: Score, lists: list[tuple[int, list[int]]]) -> None:
    size = len(lists[0][1])
    gold = [{"candidates": [str(index) for index in range(size)], "gold_position": right} for right, _ in lists]
    done = scored("mpchat.next_response_prediction", gold, [{"scores": scores} for _, scores in lists])
    every = [ranks(right, scores) for right, scores in lists]
    cuts = (1, max(1, round(size * 0.2)), max(1, round(size * 0.5)))
    expected = {f"recall@{cut}": hit(cut) for cut in cuts} | {"mrr": reciprocal}
    assert named(done).keys() == expected.keys()
    assert_means_over_orders(named(done), every, expected)
    assert done.tied == sum(min(each) < max(each) for each in every)
    worst = metrics.label_ranking_average_precision_score(*arrays(lists))
    found = named(done)["mrr"]
    assert worst == pytest.approx(found.value if found.worst is None else found.worst, abs=1e-12)


def arrays(lists: list[tuple[int, list[int]]]) -> tuple[Any, Any]:
    right = np.array([[int(place == gold) for place in range(len(scores))] for gold, scores in lists])
    return right, np.array([scores for _, scores in lists], dtype=float)


@given(st.integers(2, 100).flatmap(lambda size: st.lists(st.permutations(range(size)), min_size=1, max_size=5)))
@invented_examples(40)
def test_ranks_without_ties_are_those_of_ir_measures(scored: Score, orders: list[list[int]]) -> None:
    """The right candidate is the first; a missing list counts as wrong, which there is a document of rank 0."""
    size = len(orders[0])
    gold = [{"candidate_texts": [str(index) for index in range(size)], "gold_position": 0} for _ in orders]
    done = scored("mpchat.speaker_identification", gold, [{"scores": order} for order in orders])
    cuts = (1, max(1, round(size * (0.2 if size <= 10 else 0.1))), max(1, round(size * 0.5)))
    measures = {f"recall@{cut}": ir_measures.R @ cut for cut in cuts} | {"mrr": ir_measures.RR}
    assert_equal(done, by_ir_measures(orders, measures))
    assert all(metric.official for metric in done.metrics)


def by_ir_measures(orders: list[list[int]], measures: dict[str, Any]) -> dict[str, float]:
    """The means of measures over lists of scores, the first of which is that of the right document."""
    right = [ir_measures.Qrel(str(query), "0", 1) for query in range(len(orders))]
    run = [
        ir_measures.ScoredDoc(str(query), str(place), float(score))
        for query, scores in enumerate(orders)
        for place, score in enumerate(scores)
    ]
    found = ir_measures.calc_aggregate([*measures.values()], right, run)
    return {name: found[measure] for name, measure in measures.items()}


def blocks(scored: Score, invented: Invented, lists: list[list[int]]) -> Scored:
    invented.replace_blocks("response_ranking_10", len(lists), len(lists[0]))
    return scored("mantis.response_ranking_10", None, [{"score": score} for scores in lists for score in scores])


@pytest.mark.slow
@given(st.integers(2, 6).flatmap(lambda size: lists_of(size, 6, st.integers(0, 2))))
@invented_examples(40)
def test_blocks_under_ties_are_the_mean_over_all_orders(
    scored: Score, invented: Invented, lists: list[tuple[int, list[int]]]
) -> None:
    scores = [scores for _, scores in lists]
    found = named(blocks(scored, invented, scores))
    cuts = {f"recall@{cut}": hit(cut) for cut in (1, 5, 10)} | {f"R_10@{cut}": hit(cut) for cut in (1, 2, 5)}
    assert_means_over_orders(found, [ranks(0, score) for score in scores], {"map": reciprocal, "ndcg": gain, **cuts})
    assert_means_over_orders(found, [ranks(0, score[:2]) for score in scores], {"R_2@1": hit(1)})


@pytest.mark.slow
@given(st.integers(2, 15).flatmap(lambda size: lists_of(size, 12, st.integers(0, 6))))
@invented_examples(40)
def test_gain_under_ties_is_that_of_scikit_learn(
    scored: Score, invented: Invented, lists: list[tuple[int, list[int]]]
) -> None:
    firsts = [(0, scores) for _, scores in lists]
    right, scores = arrays(firsts)
    done = blocks(scored, invented, [scores for _, scores in firsts])
    assert_equal(done, {"ndcg": metrics.ndcg_score(right, scores, k=10)})
    found = named(done)["map"]
    worst = metrics.label_ranking_average_precision_score(right, scores)
    assert worst == pytest.approx(found.value if found.worst is None else found.worst, abs=1e-12)


@given(st.integers(2, 51).flatmap(lambda size: st.lists(st.permutations(range(size)), min_size=1, max_size=4)))
@invented_examples(40)
def test_blocks_without_ties_are_those_of_ir_measures(
    scored: Score, invented: Invented, orders: list[list[int]]
) -> None:
    done = blocks(scored, invented, orders)
    whole = {"map": ir_measures.AP, "ndcg": ir_measures.nDCG @ 10}
    whole |= {f"recall@{cut}": ir_measures.R @ cut for cut in (1, 5, 10)}
    assert_equal(done, by_ir_measures(orders, whole))
    first = {f"R_10@{cut}": ir_measures.R @ cut for cut in (1, 2, 5)}
    assert_equal(done, by_ir_measures([scores[:10] for scores in orders], first))
    assert_equal(done, by_ir_measures([scores[:2] for scores in orders], {"R_2@1": ir_measures.R @ 1}))


ANSWERS = ["tea", "Tea!", "the tea ", "milk", "tea", "The", "-", "an ΟΔΟΣ", "οδος", "İ_\u00a0", "i\u0307"]
"""Candidates: some equal once normalised, two to the letter, some without a word."""


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.sampled_from(ANSWERS),
            st.lists(st.sampled_from(ANSWERS), min_size=5, max_size=5),
            st.none() | st.lists(st.integers(0, 2), min_size=5, max_size=5),
        ),
        min_size=1,
        max_size=4,
    )
)
@invented_examples(40)
def test_hits_are_by_text_and_over_all_orders(
    scored: Score, rows: list[tuple[str, list[str], list[int] | None]]
) -> None:
    """A hit is any candidate that normalises to the answer; the rank is that of the first that is the answer."""
    gold = [{"label": label, "label_candidates": candidates} for label, candidates, _ in rows]
    done = scored(
        "blended_skill_talk.guided_response", gold, [{"text": "tea", "scores": scores} for *_, scores in rows]
    )
    answered = [(label, candidates, scores) for label, candidates, scores in rows if scores is not None]
    if not answered:
        assert "hits@1" not in named(done)
        return
    every: dict[str, list[list[float]]] = {"hits@1": [], "hits@5": [], "hits@10": [], "rank": [], "mrr": []}
    for label, candidates, scores in answered:
        first = next((place for place, candidate in enumerate(candidates) if candidate.strip() == label.strip()), None)
        right = [normalised(candidate) == normalised(label) for candidate in candidates]
        orders = [sorted(order, key=lambda place: -scores[place]) for order in permutations(range(5))]
        for cut in (1, 5, 10):
            every[f"hits@{cut}"].append([float(any(right[place] for place in order[:cut])) for order in orders])
        every["rank"].append([6.0 if first is None else order.index(first) + 1.0 for order in orders])
        every["mrr"].append([1 / rank for rank in every["rank"][-1]])
    assert_equal(done, {name: mean([mean(each) for each in values]) for name, values in every.items()})
    for name, values in every.items():
        metric = named(done)[name]
        assert metric.of == len(answered)
        if metric.best is not None and metric.worst is not None:
            low, high = mean([min(each) for each in values]), mean([max(each) for each in values])
            assert sorted([metric.best, metric.worst]) == pytest.approx([low, high], abs=1e-12), name
        else:
            assert all(len(set(each)) == 1 for each in values), name


LABELS = ["Reasoning", "Solution", "Moderation", "wrong"]


@given(st.lists(st.tuples(st.sampled_from(LABELS[:3]), st.sampled_from([*LABELS, None])), min_size=1, max_size=12))
@invented_examples(40)
def test_classes(scored: Score, pairs: list[tuple[str, str | None]]) -> None:
    pairs = [("Solution", "Solution"), *pairs]  # a file has at least one row
    done = scored(
        "delidata.probing_target",
        [{"label": gold} for gold, _ in pairs],
        [{"label": label} if label else {} for _, label in pairs],
        missing="wrong",
        unknown="wrong",
    )
    gold, labels = [gold for gold, _ in pairs], [label or "" for _, label in pairs]
    classes = sorted({*gold, *labels} - {""})  # what is missing is of no class
    scores = metrics.precision_recall_fscore_support(gold, labels, labels=classes, zero_division=0)
    expected = {
        f"{name} ({kind})": value
        for name, values in zip(("precision", "recall", "F1"), scores[:3], strict=True)
        for kind, value in zip(classes, values, strict=True)
    }
    for average in ("macro", "micro", "weighted"):
        expected[f"F1 {average}"] = metrics.f1_score(gold, labels, labels=classes, average=average, zero_division=0)
    expected["accuracy"] = metrics.accuracy_score(gold, labels)
    assert_equal(done, expected)
    assert named(done).keys() == expected.keys()


TYPES = ["Probing", "Non-probing-deliberation", "None", "0"]


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES)), min_size=1, max_size=12), st.booleans())
@invented_examples(40)
def test_types_are_three_classes_or_as_published_four(
    scored: Score, pairs: list[tuple[str, str]], as_published: bool
) -> None:
    done = scored(
        "delidata.deliberation_type",
        [{"label": gold} for gold, _ in pairs],
        [{"label": label} for _, label in pairs],
        as_published=as_published,
    )
    joined = {} if as_published else {"None": "0"}
    gold, labels = ([joined.get(label, label) for label in side] for side in zip(*pairs, strict=True))
    assert_equal(done, {"F1 macro": metrics.f1_score(gold, labels, average="macro", zero_division=0)})
    assert named(done)["F1 macro"].official == (not as_published)


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
@invented_examples(40)
def test_intents(scored: Score, pairs: list[tuple[list[str], list[str]]]) -> None:
    """The classes are those of gold; a code outside of them is left out, and one that comes twice counts once."""
    pairs = [(["OQ", "FD"], ["OQ"]), *pairs]  # scikit-learn takes one class alone for a binary task
    done = scored(
        "mantis.intent_prediction",
        [{"intents": gold} for gold, _ in pairs],
        [{"labels": labels} for _, labels in pairs],
    )
    classes = sorted({label for gold, _ in pairs for label in gold})
    cells = MultiLabelBinarizer(classes=classes)
    gold = cells.fit_transform([gold for gold, _ in pairs])
    labels = cells.transform([{*labels} & {*classes} for _, labels in pairs])
    expected = {
        "accuracy": metrics.jaccard_score(gold, labels, average="samples", zero_division=0),
        "F1 micro": metrics.f1_score(gold, labels, average="micro", zero_division=0),
        "F1 macro": metrics.f1_score(gold, labels, average="macro", zero_division=0),
    }
    for label, value in zip(classes, metrics.f1_score(gold, labels, average=None, zero_division=0), strict=True):
        expected[f"F1 ({label})"] = value
    assert_equal(done, expected)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(["+", "-", "0"]), st.integers(0, 4)), min_size=1, max_size=20))
@invented_examples(40)
def test_average_precision(scored: Score, pairs: list[tuple[str, int]]) -> None:
    """Of all, and as the mean over the dialogues, each of 7 rows, that have a positive."""
    done = scored(
        "delidata.change_of_mind",
        [{"label": label} for label, _ in pairs],
        [{"label": "0", "score": number} for _, number in pairs],
    )

    def precision(part: list[tuple[str, int]]) -> float | None:
        right = [label == "+" for label, _ in part]
        return metrics.average_precision_score(right, [number for _, number in part]) if any(right) else None

    groups = [precision(pairs[start : start + 7]) for start in range(0, len(pairs), 7)]
    positive = [group for group in groups if group is not None]
    assert_equal(
        done,
        {
            "average precision": precision(pairs),
            "average precision by group": mean(positive) if positive else None,
            "groups without a positive": groups.count(None),
        },
    )
    assert not any(metric.official for metric in done.metrics)


OUTCOMES = ["gain", "same", "loss"]


@given(st.lists(st.tuples(st.sampled_from(OUTCOMES), st.sampled_from(OUTCOMES)), min_size=1, max_size=12))
@invented_examples(40)
def test_outcomes(scored: Score, pairs: list[tuple[str, str]]) -> None:
    """A gain is positive, same and loss are not; the area is null where gold has but one of them."""
    done = scored("delidata.outcome", [{"label": gold} for gold, _ in pairs], [{"label": label} for _, label in pairs])
    gold, labels = ([value == "gain" for value in side] for side in zip(*pairs, strict=True))
    area = metrics.roc_auc_score(gold, labels) if len(set(gold)) == 2 else None
    assert_equal(done, {"ROC AUC": area, "accuracy (gain)": metrics.accuracy_score(gold, labels)})
    assert {metric.name for metric in done.metrics if metric.official} == {"ROC AUC", "accuracy (gain)"}


def normalised(text: str) -> list[str]:
    """ParlAI's rule, by Python's own lower case, words and white space."""
    plain = "".join(" " if letter in string.punctuation else letter for letter in text.lower())
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


TEXTS = st.lists(st.sampled_from(["tea", "The", "a", "milk!", "jam-pot", "Tea", "."]), max_size=7).map(" ".join)
LETTERS = st.text(st.sampled_from("茶が飲ชา้tea 。!Aガ"), max_size=9)


@pytest.mark.slow
@given(st.text(st.sampled_from("aAnthe'_-.İΣςσé\u00a0\u2003\u200b\x1c\n\t 的٣") | st.characters(codec="utf-8")))
@invented_examples(400)
def test_texts_are_normalised_as_by_python(con: duckdb.DuckDBPyConnection, text: str) -> None:
    assert con.execute("select metrics.normalised(?)", [text]).fetchall() == [(" ".join(normalised(text)),)]


@pytest.mark.slow
@given(st.text(st.sampled_from("aAnthe'_-.İΣςσé\u00a0\u2003\u200b\x00\x1c\n\t 的٣") | st.characters(codec="utf-8")))
@invented_examples(400)
def test_lower_case_has_the_words_of_the_normalised_text(con: duckdb.DuckDBPyConnection, text: str) -> None:
    """Scores of guided responses rely on it: a candidate without a word of the answer is not compared with it."""
    query = "select metrics.lower_case(text), metrics.normalised(text) from (select ?::varchar as text)"
    ((lower, words),) = con.execute(query, [text]).fetchall()
    assert lower == text.lower()
    assert all(word in lower for word in words.split(" "))


@given(st.lists(st.tuples(TEXTS | LETTERS, st.none() | TEXTS | LETTERS), min_size=1, max_size=8))
@example([("茶が好き。", "茶が好き")])
@invented_examples(40)
def test_texts(scored: Score, pairs: list[tuple[str, str | None]]) -> None:
    done = scored(
        "delidata.probing_generation", [{"probing": gold} for gold, _ in pairs], [{"text": text} for _, text in pairs]
    )
    answered = [(normalised(gold), normalised(text)) for gold, text in pairs if text is not None]
    assert_equal(done, {"exs": len(pairs)})
    assert_equal(done, {"accuracy": mean([float(gold == text) for gold, text in answered]) if answered else None})
    assert_texts(done, answered, "")
    has_letters = any(is_letter_without_blanks(letter) for gold, _ in pairs for token in cut(gold) for letter in token)
    assert any("(letters)" in name for name in named(done)) == bool(has_letters and answered)
    if has_letters and answered:
        assert_texts(done, [(cut(gold), cut(text)) for gold, text in pairs if text is not None], " (letters)")


def cut(text: str) -> list[str]:
    plain = " ".join(normalised(text))
    return [token for token in tokens(plain) if any(unicodedata.category(letter)[0] in "LMN" for letter in token)]


def assert_texts(done: Scored, answered: list[tuple[list[str], list[str]]], ending: str) -> None:
    """The metrics of texts, by the words of the right one and of the one that was said."""
    shared = [(Counter(gold) & Counter(text)).total() for gold, text in answered]
    precision = [common / len(text) if common else 0.0 for common, (_, text) in zip(shared, answered, strict=True)]
    recall = [common / len(gold) if common else 0.0 for common, (gold, _) in zip(shared, answered, strict=True)]
    expected: dict[str, list[float]] = {
        "precision": precision,
        "recall": recall,
        "f1": [2 * p * r / (p + r) if p else 0.0 for p, r in zip(precision, recall, strict=True)],
    }
    for size in (1, 2, 3, 4):
        expected[f"bleu-{size}"] = [bleu(gold or [""], text or [""], size) for gold, text in answered]
    grams = {size: [grams_of(text, size) for _, text in answered] for size in (1, 2)}
    for size, each in grams.items():
        expected[f"intradistinct-{size}"] = [distinct(items) for items in each]
    assert_equal(done, {name + ending: mean(numbers) if answered else None for name, numbers in expected.items()})
    for size, each in grams.items():
        together = distinct([gram for items in each for gram in items]) if answered else None
        assert_equal(done, {f"interdistinct-{size}{ending}": together})
    assert {named(done)[name + ending].of for name in expected} == {len(answered)}


def bleu(gold: list[str], text: list[str], size: int) -> float:
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu  # takes longer to import than most tests

    smoothing = SmoothingFunction(epsilon=1e-12).method1
    return float(sentence_bleu([gold], text, weights=[1 / size] * size, smoothing_function=smoothing))


def grams_of(words: list[str], size: int) -> list[tuple[str, ...]]:
    return [*zip(*(words[start:] for start in range(size)), strict=False)]


def distinct(grams: list[tuple[str, ...]]) -> float:
    return max(len(set(grams)), 1e-12) / max(len(grams), 1e-5)


VOTES = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)


@given(
    st.lists(st.tuples(VOTES, st.sampled_from(["O", "T", "X", "o", None]), VOTES), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.5, 0.9]),
)
@invented_examples(40)
def test_breakdowns(scored: Score, turns: list[tuple[list[int], str | None, list[int]]], threshold: float) -> None:
    """None is a row without a prediction: wrong, as an unknown label is, which leaves the script's recalls."""
    turns = [([1, 0, 0], "O", [1, 0, 0]), *turns]  # a file has at least one row
    names = ("prob_o", "prob_t", "prob_x")
    pairs = [([n / sum(gold) for n in gold], label, [n / sum(votes) for n in votes]) for gold, label, votes in turns]
    done = scored(
        "dbdc3.breakdown_detection",
        [{**dict(zip(names, gold, strict=True)), "release": "dbdc3"} for gold, _, _ in pairs],
        [{"label": label, **dict(zip(names, votes, strict=True))} if label else {} for _, label, votes in pairs],
        [threshold],
        missing="wrong",
        unknown="wrong",
    )
    gold, lenient = (
        [strict_label(votes, threshold) for votes, *_ in pairs],
        [is_lenient(votes, threshold) for votes, *_ in pairs],
    )
    labels = [label or "" for _, label, _ in pairs]
    expected = by_class(gold, labels)
    declared = [place for place, label in enumerate(labels) if label != "o"]
    of_script = by_class([gold[place] for place in declared], [labels[place] for place in declared])
    expected |= {"Recall (X) of all rows": expected["Recall (X)"], "Recall (X)": of_script["Recall (X)"]}
    expected["F-measure (X)"] = of_script["F-measure (X)"]
    says = [label in ("T", "X") for label in labels]
    expected["Precision (T+X)"] = metrics.precision_score(lenient, says, zero_division=0)
    expected["Recall (T+X) of all rows"] = metrics.recall_score(lenient, says, zero_division=0)
    rows = [lenient[place] for place in declared], [says[place] for place in declared]
    expected["Recall (T+X)"] = metrics.recall_score(*rows, zero_division=0)
    expected["F-measure (T+X)"] = metrics.f1_score(*rows, zero_division=0)
    known = [label if label in "OTX" and label else "other" for label in labels]
    matrix = metrics.confusion_matrix(gold, known, labels=["O", "T", "X", "other"])
    for row, label in enumerate("OTX"):
        expected |= {f"Gold {label}, predicted {other}": matrix[row][column] for column, other in enumerate("OTX")}
    expected["Predicted other or nothing"] = known.count("other")
    assert_equal(done, expected | distances(pairs))


def strict_label(shares: list[float], threshold: float) -> str:
    return "OTX"[shares.index(max(shares))] if max(shares) >= threshold else "O"


def is_lenient(shares: list[float], threshold: float) -> bool:
    """Whether T and X together outweigh O."""
    breakdown = shares[1] + shares[2]
    return not (shares[0] >= breakdown and shares[0] >= threshold) and breakdown >= max(shares[0], threshold)


def by_class(gold: list[str], labels: list[str]) -> dict[str, float | None]:
    scores = metrics.precision_recall_fscore_support(gold, labels, labels=[*"OTX"], zero_division=0)
    found: dict[str, float | None] = {"Accuracy": metrics.accuracy_score(gold, labels)}
    for name, values in zip(("Precision", "Recall", "F-measure"), scores[:3], strict=True):
        found |= {f"{name} ({label})": value for label, value in zip("OTX", values, strict=True)}
    return found


def distances(pairs: list[tuple[list[float], str | None, list[float]]]) -> dict[str, float | None]:
    """Mean divergence and error in each grouping; where nothing is predicted, the worst that there is."""
    found: dict[str, float | None] = {}
    for name, join in (
        ("O,T,X", lambda p: p),
        ("O,T+X", lambda p: [p[0], p[1] + p[2]]),
        ("O+T,X", lambda p: [p[0] + p[1], p[2]]),
    ):
        both = [(np.array(join(gold)), np.array(join(votes))) if label else None for gold, label, votes in pairs]
        worst = 2 / 3 if name == "O,T,X" else 1.0
        errors = [worst if pair is None else metrics.mean_squared_error(*pair) for pair in both]
        found[f"JS divergence ({name})"] = mean([1.0 if pair is None else divergence(*pair) for pair in both])
        found[f"Mean squared error ({name})"] = mean(errors)
    return found


def divergence(first: Any, other: Any) -> float:
    middle = (first + other) / 2
    return float((rel_entr(first, middle).sum() + rel_entr(other, middle).sum()) / 2 / np.log(2))
