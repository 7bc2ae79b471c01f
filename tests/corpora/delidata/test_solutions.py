"""The view of who holds which solution says what plain Python makes of the tracker."""

import json
from itertools import product
from typing import Any

import duckdb

from tests.queries.bi_rows import by, grouped, read


def test_solutions_are_what_the_tracker_has_of_the_people_of_a_group(con: duckdb.DuckDBPyConnection) -> None:
    turns = by(read(con, "from main.turns"), "dialogue_id", "turn_index")
    groups = read(con, "from main.dialogues where corpus_id = 'delidata'")
    cards = {row["dialogue_id"]: json.loads(row["extra"])["cards"] for row in groups}
    people = read(con, "from main.participants inner join main.speakers using (speaker_id) where kind = 'human'")
    names = {(row["dialogue_id"], row["name"]): row["speaker_id"] for row in people}
    tracked = grouped(
        read(con, "from main.annotations where scheme = 'delidata.tracker' order by turn_index"),
        *("record_id", "dialogue_id", "annotator_id", "turn_index"),
    )
    expected, last = dict[tuple[str, int, str], tuple[Any, ...]](), dict[tuple[str, str], str]()
    for (record_id, dialogue_id, name, turn_index), labels in tracked.items():
        held = {row["label"] for row in labels} - {None}
        if (dialogue_id, name) not in names or "N/A" in held:
            continue
        solution = ", ".join(card for card in cards[dialogue_id] if card in held) or "none"
        person = names[dialogue_id, name]
        before = last.get((record_id, person))
        last[record_id, person] = solution
        is_changed = before not in (None, solution)
        messages = [turn for turn in range(turn_index) if turns[dialogue_id, turn]["kind"] == "message"]
        message = messages[-1] if is_changed and messages else None
        row = turns[dialogue_id, turn_index]
        expected[record_id, turn_index, person] = (
            solution,
            score(held),
            before,
            before is None,
            is_changed,
            (row["kind"], row["speaker_id"]) == ("submit", person),
            message,
            None if message is None else turns[dialogue_id, message]["text"],
        )
    columns = "solution, score, previous_solution, is_first, is_changed, is_submit, message_turn_index, message_text"
    found = by(read(con, "from bi.delidata_solutions"), "record_id", "turn_index", "speaker_id")
    assert {key: tuple(row[name] for name in columns.split(", ")) for key, row in found.items()} == expected
    for mine in grouped(list(found.values()), "record_id", "speaker_id").values():
        mine.sort(key=lambda row: row["turn_index"])
        assert [row["is_last"] for row in mine] == [row is mine[-1] for row in mine]
        assert {(row["first_solution_type"], row["first_score"]) for row in mine} == {
            (mine[0]["solution_type"], mine[0]["score"])
        }
    assert {row["solution_type"] == "vowel, odd" for row in found.values() if row["score"] == 1} == {True}
    assert {(row["is_changed"], row["is_submit"]) for row in found.values()} == set(product((False, True), repeat=2))
    assert {row["solution"] for row in found.values()} > {"none"}


def score(cards: set[str]) -> float:
    """Score a solution as the publisher does."""
    vowels, consonants = (
        {card for card in cards if card.isalpha() and (card in "AEIOUY") == is_vowel} for is_vowel in (True, False)
    )
    odd, even = ({card for card in cards if card.isdigit() and int(card) % 2 == rest} for rest in (1, 0))
    return (bool(vowels) + bool(odd) + (not consonants) + (not even)) / 4
