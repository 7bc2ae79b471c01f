"""Format ``pairs``: instructions and their answers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.json import encode

from talkhouse.ingest.declared.declaration.model import PairFields
from talkhouse.ingest.declared.documents.pairs import Pairs
from talkhouse.ingest.decode import BadRecord, literals
from tests.declared.round_trip import TEXTS, declared, is_named_or_comes_back, mutated, read, records, same, written

FORMAT = Pairs(
    declared(
        "pairs",
        pair=PairFields(
            system=("system",), history=("history",), prompt=("instruction",), query=("input",), response=("output",)
        ),
    )
)
OF_LISTS = Pairs(
    declared("pairs", pair=PairFields(each=("log",), prompt=("user", "says"), query=("q",), response=("answer",)))
)


def turns(record: object, of: Pairs = FORMAT) -> list[tuple[str, str, str]]:
    return [(said.role, said.text, said.pointer) for said in read(of, record).said]


def problem(record: object, of: Pairs = FORMAT) -> tuple[str, str]:
    with pytest.raises(BadRecord) as caught:
        read(of, record)
    return caught.value.rule, caught.value.pointer


def test_what_is_said_comes_in_the_order_of_saying_it() -> None:
    record = {
        "output": "Ten.",
        "input": "Big ones.",
        "instruction": "And hard ones?",
        "history": [["Eggs?", "Seven minutes."]],
        "system": "You help cooks.",
    }
    assert turns(record) == [
        ("system", "You help cooks.", "/system"),
        ("user", "Eggs?", "/history/0/0"),
        ("assistant", "Seven minutes.", "/history/0/1"),
        ("user", "And hard ones?", "/instruction"),
        ("user", "Big ones.", "/input"),
        ("assistant", "Ten.", "/output"),
    ]
    assert read(FORMAT, record).response == 5


@pytest.mark.parametrize("absent", [{}, {"input": ""}, {"input": None}, {"system": "", "history": [], "input": ""}])
def test_what_is_empty_null_or_absent_is_no_turn_and_comes_back_as_it_was(absent: dict[str, Any]) -> None:
    record = absent | {"output": "Yes.", "instruction": "Salt?"}
    assert [text for _, text, _ in turns(record)] == ["Salt?", "Yes."]
    back, stored = written(FORMAT, record)
    assert same(back, encode(record))
    assert stored.loaded.extra is None


def test_an_empty_response_is_no_turn_and_named() -> None:
    talk = read(FORMAT, {"instruction": "Salt?", "output": ""})
    assert [said.text for said in talk.said] == ["Salt?"]
    assert talk.response is None
    assert [(finding.rule, finding.pointer) for finding in talk.findings] == [("GF-03", "/output")]
    assert "empty" in talk.findings[0].detail


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ({"instruction": "a"}, ""),
        ({"output": "a"}, ""),
        ({"instruction": "a", "output": None}, "/output"),
        ({"instruction": ["a"], "output": "b"}, "/instruction"),
        ({"instruction": "a", "output": 5}, "/output"),
        ({"instruction": "a", "output": "b", "system": {}}, "/system"),
        ({"instruction": "a", "output": "b", "history": "c"}, "/history"),
        ({"instruction": "a", "output": "b", "history": [["c", "d"], {"user": "e"}]}, "/history/1"),
        ({"instruction": "a", "output": "b", "history": [["c"]]}, "/history/0"),
        ({"instruction": "a", "output": "b", "history": [["c", None]]}, "/history/0/1"),
    ],
)
def test_what_is_missing_or_of_another_type_is_named_with_its_place(record: object, place: str) -> None:
    assert problem(record) == ("GF-01", place)


def test_a_history_with_an_empty_text_stays_as_it_is() -> None:
    record = {"history": [["Eggs?", ""], ["", "Well?"]], "instruction": "a", "output": "b"}
    assert [text for _, text, _ in turns(record)] == ["Eggs?", "Well?", "a", "b"]
    back, stored = written(FORMAT, record)
    assert same(back, encode(record))
    assert list(literals(stored.loaded.extra)) == ["history"]


LOG = {
    "id": 7,
    "log": [
        {"turn": 1, "user": {"says": "Salt?", "mood": "cross"}, "answer": "Yes."},
        {"answer": "More?", "q": None, "user": {"says": ""}, "turn": 1.50},
        {"user": {"says": "No."}, "q": "Thanks.", "answer": "Fine."},
    ],
}


def test_each_item_of_a_list_is_a_pair() -> None:
    assert turns(LOG, OF_LISTS) == [
        ("user", "Salt?", "/log/0"),
        ("assistant", "Yes.", "/log/0/answer"),
        ("assistant", "More?", "/log/1"),
        ("user", "No.", "/log/2"),
        ("user", "Thanks.", "/log/2/q"),
        ("assistant", "Fine.", "/log/2/answer"),
    ]
    back, stored = written(OF_LISTS, LOG)
    assert same(back, encode(LOG))
    assert list(literals(stored.loaded.extra)) == ["id"]
    assert bytes(literals(stored.turns[0].extra)["turn"]) == b"1"
    assert stored.turns[1].extra is None


def test_labels_inside_a_pair_are_about_its_first_turn() -> None:
    talk = read(OF_LISTS, LOG)
    assert {index: bytes(members.get("turn", b"")) for index, members in talk.messages.items()} == {
        0: b"1",
        2: b"1.5",
        3: b"",
    }
    assert talk.response == 5


def test_a_list_with_a_pair_without_words_stays_as_it_is() -> None:
    record = {"log": [{"user": {"says": "", "mood": "calm"}, "answer": ""}, {"user": {"says": "a"}, "answer": "b"}]}
    assert [text for _, text, _ in turns(record, OF_LISTS)] == ["a", "b"]
    back, stored = written(OF_LISTS, record)
    assert same(back, encode(record))
    assert [turn.extra for turn in stored.turns] == [None, None]
    assert [finding.pointer for finding in read(OF_LISTS, record).findings] == ["/log/0/answer"]


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ({}, ""),
        ({"log": None}, "/log"),
        ({"log": ["a"]}, "/log/0"),
        ({"log": [{"user": {}, "answer": "b"}]}, "/log/0/user"),
        ({"log": [{"user": {"says": "a"}}]}, "/log/0"),
        ({"log": [{"user": "a", "answer": "b"}]}, "/log/0/user"),
    ],
)
def test_what_is_wrong_inside_a_list_is_named_with_its_place(record: object, place: str) -> None:
    assert problem(record, OF_LISTS) == ("GF-01", place)


OPTIONAL = st.one_of(st.just(...), st.none(), TEXTS)
HISTORY = st.one_of(st.just(...), st.none(), st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
PAIR = {"system": OPTIONAL, "history": HISTORY, "instruction": TEXTS, "input": OPTIONAL, "output": TEXTS}


@given(records(PAIR))
def test_records_come_back(record: bytes) -> None:
    assert same(written(FORMAT, record)[0], record)


ITEM = records({"user": records({"says": TEXTS}).map(Raw), "q": OPTIONAL, "answer": TEXTS}).map(Raw)


@given(records({"log": st.lists(ITEM, max_size=3)}))
def test_records_of_lists_come_back(record: bytes) -> None:
    assert same(written(OF_LISTS, record)[0], record)


@given(mutated(PAIR))
def test_a_record_with_a_mutation_is_named_or_comes_back(record: bytes) -> None:
    assert is_named_or_comes_back(FORMAT, record)


@given(mutated({"user": records({"says": TEXTS}).map(Raw), "q": OPTIONAL, "answer": TEXTS}))
def test_a_pair_with_a_mutation_is_named_or_comes_back(pair: bytes) -> None:
    assert is_named_or_comes_back(OF_LISTS, encode({"log": [Raw(pair)]}))
