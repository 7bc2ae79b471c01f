"""The views for BI tools say what plain Python makes of the tables, for whatever corpus is there."""

import math
from collections import Counter, defaultdict
from typing import Any

import duckdb
import krippendorff
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.charts.declarations import metrics
from talkhouse.ingest.registry import corpora
from talkhouse.queries.catalogue import BI, DEFAULT_ROOT
from tests.conftest import invented_examples
from tests.data_files import data_of
from tests.queries.bi_rows import PART, UNIT, VIEWS, Row, by, grouped, label_of, rate, read, records_of, several_at_once

PLAIN = {"VARCHAR", "INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP"}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.full_name)
def test_columns_are_plain(view: Any, con: duckdb.DuckDBPyConnection) -> None:
    types = {row["column_type"] for row in read(con, f"describe {view.full_name}")}
    assert types <= PLAIN | ({"INTEGER[]"} if view.full_name == "bi.turn_paths" else set())


def test_shared_views_name_no_corpus() -> None:
    for path in (DEFAULT_ROOT / BI).rglob("*.sql"):
        assert not [corpus for corpus in corpora() if corpus in path.read_text(encoding="utf-8")]


def test_corpora_count_what_the_tables_have(con: duckdb.DuckDBPyConnection) -> None:
    counts = data_of(__file__)["counts"]
    found = by(read(con, "from bi.corpora"), "corpus_id")
    assert found.keys() == corpora().keys()
    records = records_of(con)
    for column, (table, key) in counts.items():
        rows = read(con, f"from {table}")
        if column.startswith("default_"):
            rows = [row for row in rows if records[row["record_id"]]["is_default"]]
        of_corpus = Counter((row[key] or "").replace("/", ":").split(":")[0] for row in rows)
        assert {corpus: row[column] for corpus, row in found.items()} == {name: of_corpus[name] for name in found}
    built = read(con, "select finished_at from meta.loads")[-1]["finished_at"]
    assert {row["built_at"] for row in found.values()} == {built}


def test_splits_have_the_sizes_of_the_tasks(con: duckdb.DuckDBPyConnection) -> None:
    key = ("corpus_id", "task", "release", "split", "is_default")
    key_of_split = key[:4]
    turns = Counter(row["dialogue_id"] for row in read(con, "from main.turns"))
    records = records_of(con)
    examples = grouped(
        [row | {"is_default": records[row["record_id"]]["is_default"]} for row in read(con, "from main.examples")], *key
    )
    found = by(read(con, "from bi.split_publications"), *key)
    assert found.keys() == examples.keys()
    for split in read(con, "from bi.splits"):
        parts = [row for key, row in found.items() if key[:4] == tuple(split[name] for name in key_of_split)]
        for count in ("example_count", "dialogue_count", "turn_count"):
            assert split[count] == sum(row[count] for row in parts)
        assert split["default_example_count"] == sum(row["example_count"] for row in parts if row["is_default"])
        assert split["example_share"] == pytest.approx(sum(row["example_share"] for row in parts))
        assert {split["standard_split"]} == {row["standard_split"] for row in parts}
    for key, row in found.items():
        mine = examples[key]
        ids = {example["dialogue_id"] for example in mine} - {None}
        of_task = sum(len(rows) for other, rows in examples.items() if other[:3] == key[:3])
        assert row["example_count"] == len(mine)
        assert row["dialogue_count"] == len(ids)
        assert row["turn_count"] == sum(turns[dialogue_id] for dialogue_id in ids)
        assert row["example_share"] == pytest.approx(len(mine) / of_task)
        assert {row["standard_split"]} == {records[example["record_id"]]["standard_split"] for example in mine}


def test_subsets_have_the_sizes_of_the_records(con: duckdb.DuckDBPyConnection) -> None:
    turns = Counter(row["dialogue_id"] for row in read(con, "from main.turns"))
    labels = Counter(row["record_id"] for row in read(con, "from main.annotations where label is not null"))
    examples = Counter(row["record_id"] for row in read(con, "from main.examples"))
    every_record = list(records_of(con).values())
    for record in every_record:  # What is in no release says more of a dialogue.
        record["is_default"] |= record["release"] is None and record["split"] is None
    records = grouped(every_record, *PART)
    found = by(read(con, "from bi.subsets"), *PART)
    assert found.keys() == records.keys()
    for key, row in found.items():
        ids = {record["dialogue_id"] for record in records[key]} - {None}
        assert row["record_count"] == len(records[key])
        assert row["dialogue_count"] == len(ids)
        assert row["turn_count"] == sum(turns[dialogue_id] for dialogue_id in ids)
        assert row["label_count"] == sum(labels[record["record_id"]] for record in records[key])
        assert row["example_count"] == sum(examples[record["record_id"]] for record in records[key])


def test_examples_and_their_context_are_rows(con: duckdb.DuckDBPyConnection) -> None:
    key = ("corpus_id", "task", "release", "split", "example_index")
    turns = by(read(con, "from main.turns"), "dialogue_id", "turn_index")
    names = {row["speaker_id"]: row["name"] for row in read(con, "from main.speakers")}
    records = by(read(con, "from main.records"), "record_id")
    examples = by(read(con, "from main.examples"), *key)
    found = by(read(con, "from bi.examples"), *key)
    context = grouped(read(con, "from bi.context_turns"), *key)
    assert found.keys() == examples.keys()
    for key, row in found.items():
        example, record = examples[key], records[examples[key]["record_id"]]
        turn = turns.get((example["dialogue_id"], example["turn_index"]), {})
        assert row["text"] == turn.get("text")
        assert row["speaker_name"] == names.get(turn.get("speaker_id"))
        assert {name: row[name] for name in ("subset", "standard_split", "source_file_id", "source_pointer")} == {
            name: record[name] for name in ("subset", "standard_split", "source_file_id", "source_pointer")
        }
        end = example["turn_index"]
        before = [
            (index, end and end - index, turn["text"], names[turn["speaker_id"]])
            for (dialogue_id, index), turn in turns.items()
            if dialogue_id == example["dialogue_id"] and (end is None or index < end)
        ]
        texts = [(row["context_turn_index"], row["distance"], row["text"], row["speaker_name"]) for row in context[key]]
        assert sorted(texts) == sorted(before)


def test_turns_and_dialogues_have_their_lengths_and_positions(con: duckdb.DuckDBPyConnection) -> None:
    turns = by(read(con, "from main.turns"), "dialogue_id", "turn_index")
    talks = grouped(list(turns.values()), "dialogue_id")
    records = grouped(read(con, "from main.records"), "dialogue_id")
    found = by(read(con, "from bi.turns"), "dialogue_id", "turn_index")
    assert found.keys() == turns.keys()
    for (dialogue_id, index), row in found.items():
        before = turns.get((dialogue_id, index - 1), {})
        assert (row["previous_role"], row["previous_text"]) == (before.get("role"), before.get("text"))
        assert row["turns_after"] == len(talks[(dialogue_id,)]) - 1 - index
        assert row["character_count"] == len(row["text"])
    dialogues = by(read(con, "from bi.dialogues"), "dialogue_id")
    assert dialogues.keys() == {dialogue_id for (dialogue_id,) in talks}
    for dialogue_id, row in dialogues.items():
        mine = talks[(dialogue_id,)]
        assert row["turn_count"] == len(mine)
        assert row["speaker_count"] == len({turn["speaker_id"] for turn in mine})
        messages = [turn for turn in mine if turn["kind"] == "message"]
        assert row["word_count"] == sum(found[dialogue_id, turn["turn_index"]]["word_count"] for turn in messages)
        assert row["character_count"] == sum(len(turn["text"]) for turn in messages)
        assert row["first_said_at"] == min((turn["said_at"] for turn in mine if turn["said_at"]), default=None)
        assert row["record_count"] == len(records[(dialogue_id,)])


@given(st.text(alphabet="ab\u00a0\u3000ü \t\n\r\f", max_size=30))
def test_words_are_runs_without_white_space(toy: duckdb.DuckDBPyConnection, text: str) -> None:
    words = [word for word in text.translate({ord(space): " " for space in "\t\n\r\f"}).split(" ") if word]
    assert toy.execute("select bi.word_count(?)", [text]).fetchall() == [(len(words),)]


@pytest.mark.parametrize(
    ("language", "expected"),
    [("en", True), ("ja", False), ("zh-Hans", False), ("TH", False), ("zha", True), (None, True)],
)
def test_languages_without_spaces(toy: duckdb.DuckDBPyConnection, language: str | None, *, expected: bool) -> None:
    assert toy.execute("select bi.has_spaces(?)", [language]).fetchall() == [(expected,)]


def test_annotations_carry_what_they_are_about(con: duckdb.DuckDBPyConnection) -> None:
    key = ("record_id", "turn_index", "persona_set", "persona_position", "scheme", "annotator_index", "item_index")
    records = records_of(con)
    texts = {(row["dialogue_id"], row["turn_index"]): row["text"] for row in read(con, "from main.turns")}
    meanings = {(row["scheme"], row["label"]): row["meaning"] for row in read(con, "from main.labels")}
    labels = by(read(con, "from main.annotations"), *key)
    found = by(read(con, "from bi.annotations"), *key)
    assert found.keys() == labels.keys()
    for key, row in found.items():
        label = labels[key]
        assert (row["label"], row["value"]) == (label["label"], label["value"])
        assert row["label_meaning"] == meanings.get((label["scheme"], label["label"]))
        assert row["text"] == texts.get((label["dialogue_id"], label["turn_index"]))
        assert [row[name] for name in PART] == [records[label["record_id"]][name] for name in PART]


def votes_of(con: duckdb.DuckDBPyConnection) -> dict[tuple[Any, ...], Counter[str]]:
    """Count the labels of every unit of a scheme in which nobody gives two at once."""
    rows = read(con, "from main.annotations")
    votes: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    together = several_at_once(con)
    for row in rows:
        label = label_of(row)
        if row["scheme"] not in together and label is not None:
            votes[tuple(row[name] for name in UNIT)][label] += 1
    return votes


def test_turns_agree_as_their_votes_do(con: duckdb.DuckDBPyConnection) -> None:
    votes = votes_of(con)
    counted = grouped(read(con, "from bi.label_counts where scheme_kind = 'single_label'"), *UNIT)
    assert {unit: {row["label"]: row["vote_count"] for row in rows} for unit, rows in counted.items()} == votes
    turns = by(read(con, "from bi.turn_pairs"), "dialogue_id", "turn_index")
    previous = ("previous_speaker_name", "previous_role", "previous_text")
    found = by(read(con, "from bi.turn_agreement"), *UNIT)
    assert any(row["previous_text"] for row in found.values())
    assert found.keys() == {unit for unit, counts in votes.items() if counts.total() > 1} != set()
    for unit, row in found.items():
        shares = [count / votes[unit].total() for count in votes[unit].values()]
        ranking = sorted(votes[unit].items(), key=lambda item: (-item[1], item[0]))
        labels = list(votes[unit].elements())
        pairs = [label == other for at, label in enumerate(labels) for other in labels[at + 1 :]]
        assert row["annotator_count"] == len(labels)
        assert (row["majority_label"], row["majority_count"]) == ranking[0]
        assert row["majority_share"] == max(shares)
        assert row["is_tied"] == (len(ranking) > 1 and ranking[0][1] == ranking[1][1])
        assert row["distinct_label_count"] == len(ranking)
        assert row["entropy"] == pytest.approx(-sum(share * math.log2(share) for share in shares))
        assert row["pairwise_agreement"] == pytest.approx(sum(pairs) / len(pairs))
        turn = turns.get((row["dialogue_id"], row["turn_index"]), {})
        assert [row[name] for name in previous] == [turn.get(name) for name in previous]


def test_a_tie_goes_to_the_label_that_comes_first(toy: duckdb.DuckDBPyConnection) -> None:
    rate(toy, {"toy/a/0": [["sad", "glad", "sad", "glad", "cross"], ["sad", "sad"], ["sad", None]]})
    found = read(toy, "select turn_index, majority_label, is_tied, entropy from bi.turn_agreement order by turn_index")
    assert [(row["turn_index"], row["majority_label"], row["is_tied"]) for row in found] == [
        (0, "glad", True),
        (1, "sad", False),
    ]
    assert math.copysign(1, found[1]["entropy"]) == 1, "no minus zero"


def test_labels_are_counted_alike_wherever_they_are_shown(con: duckdb.DuckDBPyConnection) -> None:
    """What only has a number, or an empty list, is an annotation and no label."""
    records = records_of(con)
    rows = [row for row in read(con, "from main.annotations") if records[row["record_id"]]["is_default"]]
    counted = sum(row["label"] is not None for row in rows)
    assert 0 < counted < len(rows)
    shown = {
        f"{view}.{name}": con.execute(f"select {metric.sql} from bi.{view} where {where}").fetchone()
        for view, name, where in (
            ("corpora", "label_count", "true"),
            ("subsets", "label_count", "is_default"),
            ("annotations", "label_count", "is_default"),
            ("schemes", "label_count", "true"),
        )
        for metric in [metrics()[view][name]]
    }
    assert set(shown.values()) == {(counted,)}, shown


def alpha_of(units: list[list[str | None]], level: str = "nominal") -> float | None:
    """Ask the library; it refuses where only one label occurs among units with two labels or more."""
    paired = [unit for unit in units if sum(label is not None for label in unit) > 1]
    labels = sorted({label for unit in paired for label in unit if label is not None})
    if len(labels) < 2:
        return None
    counts = numpy.array([[unit.count(label) for label in labels] for unit in units])
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement=level))


def kappa_of(units: list[list[str | None]]) -> float | None:
    """Fleiss' kappa by the formulas of the paper, or None if the number of raters varies."""
    rated = [[label for label in unit if label is not None] for unit in units]
    rated = [unit for unit in rated if len(unit) > 1]
    everything = Counter(label for unit in rated for label in unit)
    if len({len(unit) for unit in rated}) != 1 or len(everything) < 2:
        return None
    raters = len(rated[0])
    of_units = [
        (sum(count**2 for count in Counter(unit).values()) - raters) / (raters * (raters - 1)) for unit in rated
    ]
    by_chance = sum((count / everything.total()) ** 2 for count in everything.values())
    return (sum(of_units) / len(of_units) - by_chance) / (1 - by_chance)


def close(value: float | None) -> Any:
    return None if value is None else pytest.approx(value, abs=1e-9)


LABELS = st.sampled_from(["a", "b", "c", "d", None])
TABLES = st.integers(1, 5).flatmap(
    lambda raters: st.lists(st.lists(LABELS, min_size=raters, max_size=raters), max_size=8)
)
FULL_TABLES = st.integers(2, 5).flatmap(
    lambda raters: st.lists(st.lists(st.sampled_from("abc"), min_size=raters, max_size=raters), min_size=1, max_size=8)
)


def assert_agreement(row: Row | None, units: list[list[str | None]]) -> None:
    """Compare a row with the library; units with fewer than two labels are left out, and no row is of none."""
    paired = [unit for unit in units if sum(label is not None for label in unit) > 1]
    if row is None:
        assert not paired
        return
    assert row["unit_count"] == len(paired) > 0
    assert row["rating_count"] == sum(label is not None for unit in paired for label in unit)
    assert row["krippendorff_alpha"] == close(alpha_of(units))
    assert row["fleiss_kappa"] == close(kappa_of(units))


@invented_examples(60)
@given(first=TABLES | FULL_TABLES, other=TABLES | FULL_TABLES, unnamed=TABLES | FULL_TABLES)
def test_agreement_is_that_of_the_library(
    toy: duckdb.DuckDBPyConnection, first: list[Any], other: list[Any], unnamed: list[Any]
) -> None:
    rate(toy, {"toy/a/0": first, "toy/a/1": other, "toy/-/0": unnamed})
    subsets = by(read(toy, "from bi.subset_agreement"), "release", "subset")
    for part, units in ((("a", "0"), first), (("a", "1"), other), ((None, "0"), unnamed)):
        assert_agreement(subsets.get(part), units)
    rows = read(toy, "from bi.scheme_agreement")
    (of_all,) = [row for row in rows if row["is_default"]] or [None]
    assert_agreement(of_all, first + other + unnamed)
    releases = by([row for row in rows if not row["is_default"]] or rows, "release")
    for release, units in (("a", first + other), (None, unnamed)):
        assert_agreement(releases.get(release), units)
    alphas = [alpha for units in (first, other, unnamed) if (alpha := alpha_of(units)) is not None]
    if of_all:
        assert of_all["subset_count"] == len(alphas)
        assert of_all["subset_alpha_low"] == close(min(alphas, default=None))
        assert of_all["subset_alpha_high"] == close(max(alphas, default=None))


@invented_examples(60)
@given(first=TABLES | FULL_TABLES, other=TABLES | FULL_TABLES)
def test_ordinal_agreement_is_that_of_the_library(
    toy: duckdb.DuckDBPyConnection, first: list[Any], other: list[Any]
) -> None:
    toy.execute("begin")
    try:
        rate(toy, {"toy/a/0": first, "toy/-/0": other})
        assert {row["krippendorff_alpha_ordinal"] for row in read(toy, "from bi.scheme_agreement")} <= {None}
        toy.execute("update main.schemes set scale = 'ordered'")
        toy.execute("delete from main.labels")
        toy.execute(
            "insert into main.labels by name select 'toy.mood' as scheme, label, label_index "
            "from unnest(['a', 'b', 'c', 'd']) with ordinality as known (label, label_index)"
        )
        rows = read(toy, "from bi.scheme_agreement")
        expected = {True: first + other, "a": first, None: other}
        for row in rows:
            units = expected[True if row["is_default"] else row["release"]]
            assert row["krippendorff_alpha"] == close(alpha_of(units))
            assert row["krippendorff_alpha_ordinal"] == close(alpha_of(units, "ordinal"))
    finally:
        toy.execute("rollback")


def test_the_worked_example_of_krippendorff_2011(toy: duckdb.DuckDBPyConnection) -> None:
    """Four observers and twelve units, of which the last has one label: alpha is .743."""
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    units = [[None if label == "." else label for label in unit] for unit in zip(*observers, strict=True)]
    rate(toy, {"toy/a/0": units})
    (row,) = read(toy, "from bi.scheme_agreement")
    assert round(row["krippendorff_alpha"], 3) == 0.743
    assert (row["unit_count"], row["rating_count"], row["fleiss_kappa"]) == (11, 40, None)
    assert (row["min_annotator_count"], row["max_annotator_count"]) == (2, 4)


def test_the_textbook_example_of_fleiss_kappa(toy: duckdb.DuckDBPyConnection) -> None:
    """Fourteen raters, ten subjects, five categories: kappa is .210, as statistics textbooks compute it."""
    counts = ["0000e", "02642", "00356", "03920", "22811", "77000", "32630", "25322", "65210", "02237"]
    units = [[str(label) for label, count in enumerate(row) for _ in range(int(count, 15))] for row in counts]
    rate(toy, {"toy/a/0": units})
    (row,) = read(toy, "from bi.subset_agreement")
    assert round(row["fleiss_kappa"], 3) == 0.210
    assert (row["unit_count"], row["distinct_label_count"], row["identified_annotator_count"]) == (10, 5, 14)


def test_annotators_are_counted_where_they_are_identified(con: duckdb.DuckDBPyConnection) -> None:
    records = records_of(con)
    people = defaultdict(set)
    for row in read(con, "from main.annotations"):
        part = (row["scheme"], *(records[row["record_id"]][name] for name in PART[1:]))
        people[part] |= {row["annotator_id"]} - {None, ""}
    found = by(read(con, "from bi.subset_agreement"), "scheme", *PART[1:])
    assert {key: row["identified_annotator_count"] for key, row in found.items()} == {
        key: len(people[key]) or None for key in found
    }
    assert None in {row["identified_annotator_count"] for row in found.values()}


def test_one_label_has_no_alpha_and_a_file_given_twice_counts_once(toy: duckdb.DuckDBPyConnection) -> None:
    rate(toy, {"toy/a/0": [["a", "a"], ["a", "a", "a"]]})
    (row,) = read(toy, "from bi.scheme_agreement")
    assert (row["krippendorff_alpha"], row["fleiss_kappa"], row["observed_disagreement"]) == (None, None, 0)
    rate(toy, {"toy/a/0": [["a", "b"]]}, extra='{"repeats": "toy/a/9"}')
    assert read(toy, "from bi.scheme_agreement") == read(toy, "from bi.label_counts") == []


def test_labels_that_go_together_count_the_annotators_who_give_them(con: duckdb.DuckDBPyConnection) -> None:
    together = several_at_once(con)
    raters: dict[tuple[Any, ...], dict[int, set[str | None]]] = defaultdict(lambda: defaultdict(set))
    for row in read(con, "from main.annotations"):
        if row["scheme"] in together:
            raters[tuple(row[name] for name in UNIT)][row["annotator_index"]].add(label_of(row))
    expected = {
        (*unit, label): (sum(label in labels for labels in annotators.values()), len(annotators))
        for unit, annotators in raters.items()
        for label in set().union(*annotators.values()) - {None}
    }
    found = by(read(con, "from bi.label_counts where scheme_kind <> 'single_label'"), *UNIT, "label")
    assert {key: (row["vote_count"], row["annotator_count"]) for key, row in found.items()} == expected
    assert max(count for _, count in expected.values()) > 1


def test_every_scheme_is_there_and_says_why_it_is_not_compared(con: duckdb.DuckDBPyConnection) -> None:
    schemes = by(read(con, "from bi.schemes"), "scheme")
    assert schemes.keys() == {row["scheme"] for row in read(con, "from main.schemes")}
    compared = {row["scheme"] for row in read(con, "from bi.scheme_agreement")}
    assert {name for name, row in schemes.items() if row["why_not_compared"] is None} == compared
    assert {row["why_not_compared"] for row in schemes.values()} == {
        None,
        "one annotator",
        "several labels at once",
        "numbers, no labels",
    }


@pytest.mark.parametrize(
    ("kind", "why"), [("multi_label", "several labels at once"), ("structure", "parts of a structure")]
)
def test_a_scheme_is_what_it_is_declared_to_be(toy: duckdb.DuckDBPyConnection, kind: str, why: str) -> None:
    toy.execute("begin")
    rate(toy, {"toy/a/0": [["a", "b"]]})
    reason = "select kind, is_kind_declared, why_not_compared, unit_count, max_annotator_count from bi.schemes"
    assert toy.execute(reason).fetchall() == [("single_label", False, None, 1, 2)]
    toy.execute(f"update main.schemes set kind = '{kind}'")
    assert toy.execute(reason).fetchall() == [(kind, True, why, 1, 2)]
    assert read(toy, "from bi.turn_agreement") == read(toy, "from bi.annotators") == []
    shares = "select label, vote_count, annotator_count, vote_share from bi.label_counts order by label"
    assert toy.execute(shares).fetchall() == [("a", 1, 2, 0.5), ("b", 1, 2, 0.5)]
    toy.execute("rollback")


def test_a_scheme_with_several_labels_at_once_is_not_compared(toy: duckdb.DuckDBPyConnection) -> None:
    rate(toy, {"toy/a/0": [["a", "b"], ["a", "a"]]})
    assert len(read(toy, "from bi.turn_agreement")) == 2
    toy.execute(
        "insert into main.annotations (record_id, turn_index, scheme, annotator_index, item_index, label) "
        "values ('toy/a/0', 0, 'toy.mood', 0, 1, 'c')"
    )
    assert read(toy, "from bi.turn_agreement") == []
    assert read(toy, "from bi.scheme_agreement") == []


def test_the_interval_of_alpha_is_that_of_a_jackknife_of_infinitesimal_steps(toy: duckdb.DuckDBPyConnection) -> None:
    """The derivative of alpha by the weight of each record, taken by small steps (Efron 1982)."""
    random = numpy.random.default_rng(0)
    records = {
        f"toy/a/{name}": [list(random.choice(["a", "b", "c"], 4, p=odds)) for _ in range(3 + name)]
        for name, odds in enumerate(random.dirichlet([1, 1, 1], 12))
    }
    rate(toy, {name: [[str(label) for label in unit] for unit in units] for name, units in records.items()})
    counts = [numpy.array([[unit.count(label) for label in "abc"] for unit in units]) for units in records.values()]
    labels = numpy.array([count.sum(axis=0) for count in counts])
    differing = numpy.array([((4 - count) * count).sum() / 3 for count in counts])

    def alpha(weights: Any) -> float:
        shares = weights @ labels / (whole := float((weights @ labels).sum()))
        expected = (1 - (shares**2).sum()) * labels.sum() / (labels.sum() - 1)
        return 1 - float(weights @ differing) / whole / float(expected)

    slopes = [(alpha(1 + change) - alpha(1 - change)) / 2e-6 for change in 1e-6 * numpy.eye(12)]
    margin = 1.96 * math.sqrt(sum(slope**2 for slope in slopes) * 12 / 11)
    (row,) = read(toy, "from bi.scheme_agreement")
    assert row["krippendorff_alpha"] == pytest.approx(alpha(numpy.ones(12)))
    assert row["krippendorff_alpha_low"] == pytest.approx(row["krippendorff_alpha"] - margin, rel=1e-6)
    assert row["krippendorff_alpha_high"] == pytest.approx(row["krippendorff_alpha"] + margin, rel=1e-6)


@pytest.mark.parametrize(
    ("units", "reading"),
    [
        ([["a", "a"], ["b", "b"]] * 4, "reliable"),
        ([["a", "b"], ["b", "a"]] * 4, "not told apart from chance"),
        ([["a", "a"]] * 9, None),
    ],
)
def test_a_reading_says_what_alpha_allows(toy: duckdb.DuckDBPyConnection, units: list[Any], reading: str) -> None:
    rate(toy, {"toy/a/0": units, "toy/a/1": units})
    assert [row["reading"] for row in read(toy, "from bi.scheme_agreement")] == [reading]
