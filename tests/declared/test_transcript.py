"""Format ``transcript``, and the marks of speakers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import DialogueFields
from talkhouse.ingest.declared.documents.transcript import MOST_TURNS, Markers, Transcript
from talkhouse.ingest.decode import BadRecord
from tests.declared.records import comes_back, declared, is_named_or_comes_back, with_mutation, with_others

MARKS = {"Cook: ": "cook", "\nCook: ": "cook", "\nGuest: ": "guest", "\nGuest: Dr ": "doctor", "(.*)+$": "note"}
FORMAT = Transcript(declared("transcript", dialogue=DialogueFields(text=("text",)), markers=MARKS))


def cut(text: str, marks: dict[str, str] = MARKS) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in Markers(marks).cut(text, "/text")]


def test_turns_are_verbatim_from_mark_to_mark() -> None:
    text = "Cook: Soup?\r\n\nGuest: Yes,  please.\nAnd bread. \nCook: \nCook: Here."
    assert cut(text) == [
        ("cook", "Soup?\r\n"),
        ("guest", "Yes,  please.\nAnd bread. "),
        ("cook", ""),
        ("cook", "Here."),
    ]


def test_words_of_a_mark_inside_a_line_are_none() -> None:
    assert cut("Cook: They say Cook: or Guest: a lot.") == [("cook", "They say Cook: or Guest: a lot.")]


def test_a_mark_without_a_line_break_counts_only_at_the_beginning_where_others_have_one() -> None:
    marks = {"Cook: ": "cook", "\n\nGuest: ": "guest"}
    assert cut("Cook: a\nCook: b\n\nGuest: c", marks) == [("cook", "a\nCook: b"), ("guest", "c")]


def test_marks_without_line_breaks_begin_lines_where_none_has_one() -> None:
    marks = {"A: ": "a", "B: ": "b"}
    assert cut("A: one B: two\nB: three\r\nA: four", marks) == [
        ("a", "one B: two\n"),
        ("b", "three\r\n"),
        ("a", "four"),
    ]


def test_the_longest_mark_counts() -> None:
    assert cut("\nGuest: Dr Lee is here.\nGuest: Drat") == [("doctor", "Lee is here."), ("guest", "Drat")]


def test_a_long_text_is_cut_in_time_that_grows_with_it() -> None:
    # In the square of its length, this would take hours.
    assert cut("a" * 1_000_000, {"a": "x"}) == [("x", "a" * 999_999)]
    assert cut("\na" + "a" * 1_000_000, {"\na": "x", "\n" + "a" * 1000 + "b": "y"}) == [("x", "a" * 1_000_000)]
    assert cut("x" + "\n" * 300_000 + "b", {"x": "x", "\n\nb": "y", "\n\n\nc": "z"})[1:] == [("y", "")]


@pytest.mark.slow
def test_a_text_of_nothing_but_marks_is_refused() -> None:
    with pytest.raises(BadRecord, match="marks") as caught:
        cut("\n" * (MOST_TURNS + 2), {"\n": "x"})
    assert caught.value.rule == "GF-10"


PIECES = st.sampled_from([*MARKS, "\n", "\r\n", "Guest: ", "soup", "\U0001f35c", "\u2028", " "])
TRANSCRIPTS = st.lists(PIECES, max_size=8).map("".join)


@given(TRANSCRIPTS, st.dictionaries(st.sampled_from(["\n", "s", "Guest: ", "\nG"]), st.sampled_from("ab"), min_size=1))
def test_marks_and_texts_are_the_whole_text(text: str, marks: dict[str, str]) -> None:
    markers = Markers(marks)
    if markers.begin(text):
        turns = markers.cut(text, "")
        assert "".join(markers.mark_of(turn.role, turn.extra or {}) + turn.text for turn in turns) == text


@given(with_others({"text": TRANSCRIPTS.map("Cook: ".__add__).map(json.dumps)}, {}))
def test_records_come_back(record: str) -> None:
    assert comes_back(FORMAT, record)


@given(with_mutation({"text": TRANSCRIPTS.map(json.dumps)}))
def test_a_record_with_a_mutation_is_named_or_comes_back(record: str) -> None:
    assert is_named_or_comes_back(FORMAT, record)
