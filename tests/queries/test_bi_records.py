"""Publications, speakers, words, gold labels, annotators and findings: what plain Python makes of the tables."""

import re
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.queries.catalogue import catalogue
from tests.conftest import invented_examples
from tests.queries.bi_rows import PART, UNIT, Row, by, grouped, label_of, rate, read, records_of, several_at_once, total

Key = tuple[Any, ...]


def publications(con: duckdb.DuckDBPyConnection) -> dict[str, Row]:
    """Find the first record of each dialogue in each subset, by record."""
    records = [row for row in records_of(con).values() if row["dialogue_id"]]
    found = {}
    for (_, *_), mine in grouped(records, "dialogue_id").items():
        in_splits = [row for row in mine if row["split"] is not None] or mine
        for rows in grouped(in_splits, *PART).values():
            first = min(rows, key=lambda row: (row["record_index"], row["record_id"]))
            found[first["record_id"]] = first
    return found


def turns_of(con: duckdb.DuckDBPyConnection) -> dict[str, list[Row]]:
    turns = read(con, "from main.turns order by dialogue_id, turn_index")
    return {dialogue_id: rows for (dialogue_id,), rows in grouped(turns, "dialogue_id").items()}


def test_a_publication_has_the_lengths_of_its_dialogue(con: duckdb.DuckDBPyConnection) -> None:
    dialogues, turns = by(read(con, "from main.dialogues"), "dialogue_id"), turns_of(con)
    words = {(row["dialogue_id"], row["turn_index"]): row["word_count"] for row in read(con, "from bi.turns")}
    annotated = read(con, "from main.annotations")
    annotations = Counter(row["record_id"] for row in annotated)
    labels = Counter(row["record_id"] for row in annotated if row["label"] is not None)
    expected = publications(con)
    found = by(read(con, "from bi.record_dialogues"), "record_id")
    assert found.keys() == expected.keys()
    for record_id, row in found.items():
        mine = turns[row["dialogue_id"]]
        places = ("dialogue_id", *PART, "standard_split")
        assert [row[name] for name in places] == [expected[record_id][name] for name in places]
        facts = ("native_id", "language", "domain", "title")
        assert [row[name] for name in facts] == [dialogues[row["dialogue_id"]][name] for name in facts]
        assert row["turn_count"] == len(mine)
        assert row["speaker_count"] == len({turn["speaker_id"] for turn in mine})
        messages = [turn for turn in mine if turn["kind"] == "message"]
        assert row["character_count"] == sum(len(turn["text"]) for turn in messages)
        assert row["word_count"] == sum(words[turn["dialogue_id"], turn["turn_index"]] for turn in messages)
        assert (row["label_count"], row["annotation_count"]) == (labels[record_id], annotations[record_id])
        assert row["turn_count_bin"] == row["turn_count"] - row["turn_count"] % 5
        assert row["word_count_bin"] == row["word_count"] - row["word_count"] % 50
    for rows in grouped(list(found.values()), "dialogue_id", "release", "split").values():
        first = min(rows, key=lambda row: row["subset"])
        assert [row["record_id"] for row in rows if row["is_first_in_split"]] == [first["record_id"]]


def test_a_publication_has_the_turns_of_its_dialogue(con: duckdb.DuckDBPyConnection) -> None:
    turns = turns_of(con)
    speakers = by(read(con, "from main.speakers"), "speaker_id")
    talks = by(read(con, "from bi.record_dialogues"), "record_id")
    found = grouped(read(con, "from bi.record_turns order by turn_index"), "record_id")
    assert found.keys() == {(record_id,) for record_id in talks}
    for (record_id,), rows in found.items():
        talk = talks[record_id]
        for row, turn in zip(rows, turns[talk["dialogue_id"]], strict=True):
            same = (*PART, "standard_split", "dialogue_id", "is_first_in_split", "language", "domain")
            assert [row[name] for name in same] == [talk[name] for name in same]
            same = ("turn_index", "speaker_id", "role", "kind", "text", "said_at")
            assert [row[name] for name in same] == [turn[name] for name in same]
            speaker = speakers[turn["speaker_id"]]
            assert (row["speaker_name"], row["speaker_kind"]) == (speaker["name"], speaker["kind"])
            assert row["character_count"] == len(turn["text"])
            assert row["word_count_bin"] == row["word_count"] - row["word_count"] % 10
        assert total([row for row in rows if row["kind"] == "message"], "word_count") == talk["word_count"]


def test_a_dialogue_without_a_split_is_not_lost(toy: duckdb.DuckDBPyConnection) -> None:
    """Records without a split (backgrounds, lists) count only for a dialogue that has no other record."""
    for table in ("records", "dialogues", "annotations"):
        toy.execute(f"delete from main.{table}")
    toy.execute("insert into main.dialogues (dialogue_id, corpus_id) values ('toy:a', 'toy'), ('toy:b', 'toy')")
    toy.executemany(
        "insert into main.records (record_id, corpus_id, dialogue_id, split, subset, record_index, source_file_id, "
        "source_pointer, extra) values (?, 'toy', ?, ?, ?, ?, 'f', '', ?)",
        [
            ("toy/1", "toy:a", "train", "talks", 1, None),
            ("toy/2", "toy:a", "train", "talks", 0, None),
            ("toy/3", "toy:a", "train", "labels", 0, None),
            ("toy/4", "toy:a", None, "lists", 0, None),
            ("toy/5", "toy:a", "test", "talks", 0, '{"repeats": "toy/1"}'),
            ("toy/6", "toy:b", None, "lists", 0, None),
        ],
    )
    query = "select record_id, is_first_in_split, turn_count, turn_count_bin from bi.record_dialogues order by all"
    assert toy.execute(query).fetchall() == [("toy/2", False, 0, 0), ("toy/3", True, 0, 0), ("toy/6", True, 0, 0)]
    for table in ("records", "dialogues"):
        toy.execute(f"delete from main.{table}")


def assert_binned(rows: list[Row], column: str, part: str, whole: str) -> None:
    """Find the tenth that a share is in, by whole numbers; fractions err at the bounds."""
    for row in rows:
        tenths = [tenth for tenth in range(11) if tenth * row[whole] <= row[part] * 10]
        assert row[column] == (tenths[-1] * 10 if row[whole] else None)


def test_speakers_have_shares_of_the_messages(con: duckdb.DuckDBPyConnection) -> None:
    talks = grouped(read(con, "from bi.record_turns where kind = 'message'"), "record_id")
    found = grouped(read(con, "from bi.speaker_shares"), "record_id")
    assert found.keys() == talks.keys()
    for key, rows in found.items():
        speakers = grouped(talks[key], "speaker_id")
        assert {(row["speaker_id"],) for row in rows} == speakers.keys()
        words = {speaker: total(turns, "word_count") for (speaker,), turns in speakers.items()}
        for row in rows:
            mine = speakers[(row["speaker_id"],)]
            assert row["speaker_count"] == len(speakers)
            assert (row["turn_count"], row["dialogue_turn_count"]) == (len(mine), len(talks[key]))
            assert row["character_count"] == sum(len(turn["text"]) for turn in mine)
            assert row["dialogue_character_count"] == sum(len(turn["text"]) for turn in talks[key])
            assert (row["word_count"], row["dialogue_word_count"]) == (words[row["speaker_id"]], sum(words.values()))
            assert row["role"] == min(turn["role"] for turn in mine)
            assert row["word_rank"] == 1 + sum(number > row["word_count"] for number in words.values())
            assert row["is_dominant"] == (row["word_count"] > sum(words.values()) - row["word_count"])
        assert total(rows, "turn_share") == pytest.approx(1)
        assert_binned(rows, "word_percent_bin", "word_count", "dialogue_word_count")


def words_of(text: str) -> list[str]:
    """Find the words of a text, without regular expressions of the view's kind."""
    letters = "".join(char if char.isalpha() or char == "'" else " " for char in text.lower().replace("\u2019", "'"))
    return [word.strip("'") for run in letters.split() for word in re.sub("'{2,}", " ", run).split() if word.strip("'")]


def test_words_are_counted_by_place_role_and_kind(con: duckdb.DuckDBPyConnection) -> None:
    columns = ("corpus_id", "release", "is_default", "split", "standard_split", "language", "role", "kind")
    uses: Counter[Key] = Counter()
    in_turns: Counter[Key] = Counter()
    for row in read(con, "from bi.record_turns where is_first_in_split"):
        place = tuple(row[name] for name in columns)
        words = words_of(row["text"])
        uses.update((*place, word) for word in words)
        in_turns.update((*place, word) for word in set(words))
    found = by(read(con, "from bi.words"), *columns, "word")
    assert {key: row["use_count"] for key, row in found.items()} == uses
    assert {key: row["turn_count"] for key, row in found.items()} == in_turns
    assert {row["letter_count"] - len(row["word"]) for row in found.values()} == {0}


@given(st.text(alphabet="abÄé'\u2019 .-1\nß話す", max_size=30))
def test_a_word_is_a_run_of_letters(toy: duckdb.DuckDBPyConnection, text: str) -> None:
    for table in ("records", "dialogues", "turns"):
        toy.execute(f"delete from main.{table}")
    toy.execute("insert into main.dialogues (dialogue_id, corpus_id) values ('toy:a', 'toy')")
    toy.execute(
        "insert into main.turns (dialogue_id, turn_index, role, kind, text) values ('toy:a', 0, 'user', 'message', ?)",
        [text],
    )
    toy.execute(
        "insert into main.records (record_id, corpus_id, dialogue_id, record_index, source_file_id, source_pointer) "
        "values ('toy/a', 'toy', 'toy:a', 0, 'f', '')"
    )
    found = {row["word"]: (row["use_count"], row["turn_count"]) for row in read(toy, "from bi.words")}
    assert found == {word: (count, 1) for word, count in Counter(words_of(text)).items()}
    for table in ("records", "dialogues", "turns"):
        toy.execute(f"delete from main.{table}")


LABELLED = [view for view in catalogue().views if view.label_column]


def test_tasks_with_labels_say_so_in_their_heads() -> None:
    of_delidata = ("change_of_mind", "deliberation_type", "nonprobing_target", "outcome", "probing_target")
    assert {view.full_name for view in LABELLED} >= {
        *("dbdc3.breakdown_detection", "mantis.intent_prediction", *(f"delidata.{name}" for name in of_delidata))
    }


def test_gold_labels_are_those_of_the_task_views(con: duckdb.DuckDBPyConnection) -> None:
    expected: dict[Key, list[str]] = {}
    for view in LABELLED:
        column = view.label_column
        for row in read(con, f"from {view.full_name}"):
            labels = row[column] if view.labels else [row[column]]
            expected[view.schema, view.name, row.get("release"), row["split"], row["example_index"]] = labels
    examples = by(read(con, "from main.examples"), "corpus_id", "task", "release", "split", "example_index")
    records = by(read(con, "from main.records"), "record_id")
    meanings = {(row["scheme"], row["label"]): row["meaning"] for row in read(con, "from main.labels")}
    schemes = {(view.schema, view.name): view.scheme for view in LABELLED}
    made_by_tasks = {(view.schema, view.name): view.label_meanings for view in LABELLED}
    query = "from bi.example_labels order by label_index"
    found = grouped(read(con, query), "corpus_id", "task", "release", "split", "example_index")
    assert {key: [row["label"] for row in rows] for key, rows in found.items()} == {
        key: labels for key, labels in expected.items() if labels
    }
    for key, rows in found.items():
        for index, row in enumerate(rows):
            assert (row["label_index"], row["label_count"]) == (index, len(rows))
            same = ("record_id", "dialogue_id", "turn_index")
            assert [row[name] for name in same] == [examples[key][name] for name in same]
            same = ("subset", "standard_split")
            assert [row[name] for name in same] == [records[row["record_id"]][name] for name in same]
            meaning = made_by_tasks[key[:2]].get(row["label"])
            assert row["label_meaning"] == meanings.get((schemes[key[:2]], row["label"]), meaning)
            assert row["label_meaning"]
    assert {len(rows) for rows in found.values()} > {1}, "some example has several labels"


def test_a_list_of_texts_is_not_made_for_a_label(con: duckdb.DuckDBPyConnection) -> None:
    """DuckDB prunes what the view does not need: no context is assembled."""
    query = "explain select label, count(*) from bi.example_labels where corpus_id = 'dbdc3' group by label"
    (plan,) = [row["explain_value"] for row in read(con, query)]
    assert "list(" not in plan
    assert "Table" in plan


def compared(units: dict[Key, list[Row]]) -> dict[Key, Counter[str]]:
    """Compare each label with those of the others, annotator by annotator, for places in records."""
    counts: dict[Key, Counter[str]] = defaultdict(Counter)
    for rows in units.values():
        votes = Counter(row["label"] for row in rows)
        most = [label for label, count in votes.items() if count == max(votes.values())]
        for at, row in enumerate(rows):
            if not row["annotator_id"]:
                continue
            count = counts[row["scheme"], *(row[name] for name in PART[1:]), row["annotator_id"]]
            others = [other["label"] for index, other in enumerate(rows) if index != at]
            count["label_count"] += 1
            count["compared_count"] += bool(others)
            count["decided_count"] += bool(others) and len(most) == 1
            count["with_majority_count"] += bool(others) and most == [row["label"]]
            count["other_label_count"] += len(others)
            count["same_label_count"] += others.count(row["label"])
    return counts


ANNOTATOR = ("scheme", *PART[1:], "annotator_id")
COUNTS = ("label_count", "compared_count", "decided_count", "with_majority_count")
COUNTS += ("other_label_count", "same_label_count")


def assert_compared(con: duckdb.DuckDBPyConnection) -> dict[Key, Row]:
    places = records_of(con)
    labels = read(con, "from main.annotations")
    together = several_at_once(con)
    units = defaultdict(list)
    for row in labels:
        label = row["label"] if row["label"] is not None or row["value"] is None else str(row["value"])
        if row["scheme"] not in together and label is not None:
            place = {name: places[row["record_id"]][name] for name in PART}
            units[tuple(row[name] for name in UNIT)].append(row | place | {"label": label})
    expected = compared(units)
    found = by(read(con, "from bi.annotators"), *ANNOTATOR)
    assert found.keys() == expected.keys()
    assert_binned(list(found.values()), "agreement_percent_bin", "same_label_count", "other_label_count")
    for key, row in found.items():
        assert {name: row[name] for name in COUNTS} == {name: expected[key][name] for name in COUNTS}
    return found


def test_annotators_are_compared_with_the_others(con: duckdb.DuckDBPyConnection) -> None:
    assert len(assert_compared(con)) > 100


LABEL = st.sampled_from([None, "a", "b", "c"])
UNITS = st.lists(st.lists(LABEL, min_size=4, max_size=4), max_size=6)


@invented_examples(60)
@given(first=UNITS, other=UNITS, unnamed=UNITS)
def test_what_annotators_agree_on_adds_up_to_the_agreement_of_all(
    toy: duckdb.DuckDBPyConnection, first: list[Any], other: list[Any], unnamed: list[Any]
) -> None:
    rate(toy, {"toy/a/0": first, "toy/a/1": other, "toy/-/0": unnamed})
    if not any(label for unit in first + other + unnamed for label in unit):
        assert read(toy, "from bi.annotators") == []
        return
    found = list(assert_compared(toy).values())
    units = read(toy, "from bi.turn_agreement")
    assert total(found, "same_label_count") == 2 * total(units, "same_pair_count")
    assert total(found, "other_label_count") == 2 * total(units, "pair_count")
    decided = [unit for unit in units if not unit["is_tied"]]
    assert total(found, "with_majority_count") == total(decided, "majority_count")
    assert total(found, "decided_count") == total(decided, "annotator_count")


def test_a_tie_has_no_majority_and_nobody_is_compared_alone(toy: duckdb.DuckDBPyConnection) -> None:
    rate(toy, {"toy/a/0": [["a", "b"], ["a", None], ["a", "a"]]})
    first, _ = read(toy, "from bi.annotators order by annotator_id")
    assert [first[name] for name in COUNTS] == [3, 2, 1, 1, 2, 1]
    assert (first["with_majority_share"], first["agreement_share"]) == (1, 0.5)
    rate(toy, {"toy/a/0": [["a", None]]})
    (alone,) = read(toy, "from bi.annotators")
    assert (alone["with_majority_share"], alone["agreement_share"]) == (None, None)
    rate(toy, {"toy/a/0": [["a", "b"]]}, extra='{"repeats": "toy/a/9"}')
    assert read(toy, "from bi.annotators") == read(toy, "from bi.annotations") == []


def test_findings_have_their_rules_and_places(con: duckdb.DuckDBPyConnection) -> None:
    rules = by(read(con, "from meta.rules"), "rule")
    records = by(read(con, "from main.records"), "record_id")
    findings = by(read(con, "from meta.findings"), "corpus_id", "finding_index")
    found = by(read(con, "from bi.findings"), "corpus_id", "finding_index")
    assert found.keys() == findings.keys() != set()
    severities = ["reject_file", "reject_dialogue", "reject_example", "warn", "note"]
    for key, row in found.items():
        finding, rule = findings[key], rules[row["rule"]]
        assert {name: row[name] for name in finding} == finding
        assert (row["condition"], row["remedy"]) == (rule["condition"], rule["remedy"])
        assert severities[row["severity_rank"] - 1] == row["severity"]
        record = records.get(finding["record_id"], {})
        same = ("release", "split", "standard_split", "subset")
        assert [row[name] for name in same] == [record.get(name) for name in same]


# What changed between two publications of a turn, computed from the labels in another way.


def test_changes_are_those_between_the_votes(con: duckdb.DuckDBPyConnection) -> None:
    order = {(row["corpus_id"], row["release"]): row["release_index"] for row in read(con, "from main.releases")}
    records, together = records_of(con), several_at_once(con)
    votes: dict[Any, dict[Any, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for row in read(con, "from main.annotations where dialogue_id is not null and turn_index is not null"):
        record, label = records[row["record_id"]], label_of(row)
        place = record["corpus_id"], record["release"]
        if place in order and label is not None and row["scheme"] not in together:
            turn = row["dialogue_id"], row["turn_index"], row["scheme"]
            votes[turn][order[place], record["release"], row["record_id"]][label] += 1
    found = by(
        read(con, "from bi.label_changes"), "dialogue_id", "turn_index", "scheme", "release_before", "release_after"
    )
    expected = 0
    for turn, publications in votes.items():
        for before, after in combinations(sorted(publications), 2):
            row, expected = found[*turn, before[1], after[1]], expected + 1
            first, second = publications[before], publications[after]
            distance = sum(
                abs(Fraction(first[label], first.total()) - Fraction(second[label], second.total()))
                for label in first | second
            )
            assert row["change"] == pytest.approx(float(distance / 2))
            assert row["is_changed"] == (distance > 0)
            assert (row["record_id_before"], row["record_id_after"]) == (before[2], after[2])
            assert row["is_default"] == records[before[2]]["is_default"]
            for name, count in (("before", first), ("after", second)):
                assert row[f"votes_{name}"] == ", ".join(f"{label} {count[label]}" for label in sorted(count))
                assert row[f"majority_{name}"] == min(count, key=lambda label: (-count[label], label))
            assert row["is_majority_changed"] == (row["majority_before"] != row["majority_after"])
    assert len(found) == expected > 0
    assert {row["is_changed"] for row in found.values()} == {True, False}
