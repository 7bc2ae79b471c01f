"""Format ``pairs``: instructions and their answers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import PairFields
from talkhouse.ingest.declared.documents.answer_formats import Pairs
from talkhouse.ingest.decode import BadRecord, literals
from tests.declared.json_texts import TEXTS, lists, with_others
from tests.declared.round_trip import comes_back, declared, is_named_or_comes_back, read, stored, with_mutation

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
    return [(said.role, said.text, said.pointer) for said in read(of, record).turns]


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
    rows = stored(FORMAT, record)
    assert rows.loaded.extra is None


def test_an_empty_response_is_no_turn_and_named() -> None:
    talk = read(FORMAT, {"instruction": "Salt?", "output": ""})
    assert [said.text for said in talk.turns] == ["Salt?"]
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
        ({"instruction": "a", "output": []}, "/output"),
        ({"instruction": "a", "output": [{}, "b"]}, "/output"),
        ({"instruction": "a", "output": [{"role": "user"}]}, "/output/0"),
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
    rows = stored(FORMAT, record)
    assert list(literals(rows.loaded.extra)) == ["history"]


def test_prompt_and_response_may_be_lists_of_messages() -> None:
    record = {
        "output": [{"content": "Seven.", "role": "assistant", "weight": 1}],
        "label": True,
        "system": "Be brief.",
        "history": [["Hi", "Yes?"]],
        "instruction": [
            {"role": "user", "content": "Eggs?"},
            {"role": "user", "content": [{"type": "text", "text": "x"}]},
        ],
        "input": "Soft ones.",
    }
    assert turns(record)[3:] == [
        ("user", "Eggs?", "/instruction/0"),
        ("user", "x", "/instruction/1"),
        ("user", "Soft ones.", "/input"),
        ("assistant", "Seven.", "/output/0"),
    ]
    rows = stored(FORMAT, record)
    assert list(literals(rows.loaded.extra)) == ["label"]
    assert read(FORMAT, record).response == 6


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
    rows = stored(OF_LISTS, LOG)
    assert list(literals(rows.loaded.extra)) == ["id"]
    assert bytes(literals(rows.turns[0].extra)["turn"]) == b"1"
    assert rows.turns[1].extra is None


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
    rows = stored(OF_LISTS, record)
    assert [turn.extra for turn in rows.turns] == [None, None]
    assert [finding.pointer for finding in read(OF_LISTS, record).findings] == ["/log/0/answer"]


def test_a_member_that_is_declared_twice_is_said_twice_and_comes_back() -> None:
    twice = PairFields(each=("log",), prompt=("a",), query=("a",), response=("b",))
    rows = stored(Pairs(declared("pairs", pair=twice)), {"log": [{"a": "x", "b": "y"}, {"b": "y", "a": "x"}]})
    assert [turn.text for turn in rows.turns] == ["x", "x", "y"] * 2


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


OPTIONAL = TEXTS | st.just("null")
HISTORY = lists(st.builds("[{}, {}]".format, TEXTS, TEXTS)) | st.just("null")
MESSAGES = TEXTS | st.lists(with_others({"role": TEXTS, "content": TEXTS}, {}), min_size=1, max_size=3).map(
    lambda messages: f"[{', '.join(messages)}]"
)
BESIDE = {"system": OPTIONAL, "history": HISTORY, "input": OPTIONAL}


@given(with_others({"instruction": MESSAGES, "output": MESSAGES}, BESIDE))
def test_records_come_back(record: str) -> None:
    assert comes_back(FORMAT, record)


ITEM = with_others({"user": with_others({"says": TEXTS}, {}), "answer": TEXTS}, {"q": OPTIONAL})


@given(with_others({"log": lists(ITEM)}, {}))
def test_records_of_lists_come_back(record: str) -> None:
    assert comes_back(OF_LISTS, record)


@given(with_mutation({"instruction": TEXTS, "output": TEXTS, **BESIDE}))
def test_a_record_with_a_mutation_is_named_or_comes_back(record: str) -> None:
    assert is_named_or_comes_back(FORMAT, record)


@given(with_mutation({"user": with_others({"says": TEXTS}, {}), "q": OPTIONAL, "answer": TEXTS}))
def test_a_pair_with_a_mutation_is_named_or_comes_back(pair: str) -> None:
    assert is_named_or_comes_back(OF_LISTS, f'{{"log": [{pair}]}}')
