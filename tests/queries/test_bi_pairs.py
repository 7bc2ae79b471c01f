"""The views of turns with those around them, and of personas by split, say what plain Python makes of the tables."""

import re
from collections import Counter
from typing import Any

import duckdb

from tests.queries.bi_rows import by, grouped, read


def words(text: str | None) -> set[str]:
    return set(re.findall(r"[^\W\d_]{5,}", (text or "").lower()))


def test_a_turn_stands_between_the_one_before_and_the_one_after(con: duckdb.DuckDBPyConnection) -> None:
    turns = by(read(con, "from bi.turns"), "dialogue_id", "turn_index")
    pairs = by(read(con, "from bi.turn_pairs"), "dialogue_id", "turn_index")
    assert pairs.keys() == turns.keys()
    for (dialogue_id, index), pair in pairs.items():
        here = turns[dialogue_id, index]
        assert {name: pair[name] for name in pair.keys() & here.keys()} == {
            name: here[name] for name in pair.keys() & here.keys()
        }
        for side, other in (("previous", index - 1), ("next", index + 1)):
            beside = turns.get((dialogue_id, other), dict[str, Any]())
            for name in ("speaker_name", "role", "kind", "text", "word_count"):
                assert pair[f"{side}_{name}"] == beside.get(name)
        assert pair["gap_seconds"] == seconds(turns.get((dialogue_id, index - 1)), here)
        assert pair["next_gap_seconds"] == seconds(here, turns.get((dialogue_id, index + 1)))
    assert {pair["is_same_speaker"] for pair in pairs.values()} == {True, False, None}
    assert any(pair["gap_seconds"] for pair in pairs.values())


def seconds(before: dict[str, Any] | None, after: dict[str, Any] | None) -> float | None:
    if not before or not after:
        return None
    if before["said_at"] and after["said_at"]:
        return float(round((after["said_at"] - before["said_at"]).total_seconds(), 3))
    if before["end_ms"] is not None and after["start_ms"] is not None:
        return float(after["start_ms"] - before["end_ms"]) / 1000
    return None


def test_a_labelled_turn_has_the_labels_before_and_after_it(con: duckdb.DuckDBPyConnection) -> None:
    votes = read(con, "from bi.label_counts where scheme_kind = 'single_label' and persona_set is null")
    counts = grouped([row for row in votes if row["turn_index"] is not None], "record_id", "scheme", "turn_index")
    found = by(read(con, "from bi.labelled_turns"), "record_id", "scheme", "turn_index")
    assert found.keys() == counts.keys()
    for key, rows in counts.items():
        first = min(rows, key=lambda row: (-row["vote_count"], row["label"]))
        mine = found[key]
        assert (mine["label"], mine["vote_count"]) == (first["label"], first["vote_count"])
        assert mine["is_tied"] == (sum(row["vote_count"] == first["vote_count"] for row in rows) > 1)
    for (record_id, scheme), rows in grouped(list(found.values()), "record_id", "scheme").items():
        labels = [row["label"] for row in sorted(rows, key=lambda row: row["turn_index"])]
        for row, before, after in zip(
            sorted(rows, key=lambda row: row["turn_index"]), [None, *labels], [*labels[1:], None], strict=False
        ):
            assert (row["previous_label"], row["next_label"]) == (before, after), (record_id, scheme)


def test_a_turn_counts_once_in_the_default_publication(con: duckdb.DuckDBPyConnection) -> None:
    rows = read(con, "from bi.labelled_turns")
    default = Counter((row["scheme"], row["dialogue_id"], row["turn_index"]) for row in rows if row["is_default"])
    assert set(default.values()) == {1}
    assert default.keys() == {(row["scheme"], row["dialogue_id"], row["turn_index"]) for row in rows}
    assert len(rows) > len(default)


def test_personas_of_two_splits_are_those_that_people_of_both_have(con: duckdb.DuckDBPyConnection) -> None:
    uses = read(
        con,
        "select corpus_id, split, persona_uses.* from main.persona_uses "
        "inner join main.records using (record_id) where persona_uses.speaker_id is not null",
    )
    known = read(con, "select persona_id, corpus_id, text, image_file from main.personas")
    alike = grouped(known, "corpus_id", "text", "image_file").values()
    first = {row["persona_id"]: min(persona["persona_id"] for persona in rows) for rows in alike for row in rows}
    assert any(persona_id != other for persona_id, other in first.items()), "ids differ where a score does"
    uses = [use | {"persona_id": first[use["persona_id"]]} for use in uses]
    of_split = {key: {row["persona_id"] for row in rows} for key, rows in grouped(uses, "corpus_id", "split").items()}
    shared = by(read(con, "from bi.shared_personas"), "corpus_id", "split", "other_split")
    assert shared.keys() == {
        (*split, other[1]) for split in of_split for other in of_split if split[0] == other[0] and split != other
    }
    for (corpus_id, split, other), row in shared.items():
        mine = [use for use in uses if (use["corpus_id"], use["split"]) == (corpus_id, split)]
        common = of_split[corpus_id, split] & of_split[corpus_id, other]
        assert (row["persona_count"], row["shared_count"]) == (len(of_split[corpus_id, split]), len(common))
        assert row["dialogue_count"] == len({use["dialogue_id"] for use in mine})
        assert row["sharing_dialogue_count"] == len({use["dialogue_id"] for use in mine if use["persona_id"] in common})
    assert {row["shared_count"] > 0 for row in shared.values()} == {True, False}
    splits = by(read(con, "from bi.persona_splits"), "corpus_id", "split", "persona_id")
    assert splits.keys() == {(*key, persona_id) for key, personas in of_split.items() for persona_id in personas}
    for (corpus_id, _, persona_id), row in splits.items():
        count = sum(persona_id in personas for (of_corpus, _), personas in of_split.items() if of_corpus == corpus_id)
        assert (row["split_count"], row["is_shared"]) == (count, count > 1)
    speakers = by(read(con, "from bi.speaker_personas"), "corpus_id", "split", "speaker_id")
    people = grouped(uses, "corpus_id", "split", "speaker_id")
    assert {key: row["persona_count"] for key, row in speakers.items()} == {
        key: len({use["persona_id"] for use in rows}) for key, rows in people.items()
    }


def test_a_turn_shares_words_with_the_persona_of_who_says_it(con: duckdb.DuckDBPyConnection) -> None:
    uses = read(con, "select persona_uses.*, text from main.persona_uses inner join main.personas using (persona_id)")
    of_person = grouped(uses, "record_id", "speaker_id")
    rows = read(con, "from bi.persona_words")
    assert rows
    for row in rows:
        persona = words(" ".join(use["text"] for use in of_person[row["record_id"], row["speaker_id"]]))
        spoken = words(row["text"])
        assert (row["persona_word_count"], row["word_count"]) == (len(persona), len(spoken))
        assert row["shared_word_count"] == len(persona & spoken)
        assert row["shared_words"] == (", ".join(sorted(persona & spoken)) or None)
    assert any(row["shared_words"] for row in rows)
