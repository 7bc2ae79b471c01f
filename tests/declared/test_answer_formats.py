"""Formats ``pairs`` and ``preference``: instructions with their answers, and two answers to compare."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode

from talkhouse.ingest.declared.declaration.model import PairFields
from talkhouse.ingest.declared.documents.pairs import Pairs
from talkhouse.ingest.declared.documents.preference import Preference
from talkhouse.ingest.decode import BadRecord, literals
from tests.declared.records import (
    TEXTS,
    comes_back,
    declared,
    in_toml,
    is_named_or_comes_back,
    lists,
    read,
    stored,
    with_mutation,
    with_others,
)

PAIRS = Pairs(in_toml('format = "pairs"\n[pair]\nsystem = "system"\nhistory = "history"\n'))
OF_LISTS = Pairs(
    in_toml('format = "pairs"\n[pair]\neach = "log[*]"\nprompt = "user.says"\nquery = "q"\nresponse = "answer"\n')
)


def turns_of_pair(record: object, of: Pairs = PAIRS) -> list[tuple[str, str, str]]:
    return [(turn.role, turn.text, turn.pointer) for turn in read(of, record).turns]


def test_what_is_said_comes_in_the_order_of_saying_it() -> None:
    record = {
        "output": "Ten.",
        "input": "Big ones.",
        "instruction": "And hard ones?",
        "history": [["Eggs?", "Seven minutes."]],
        "system": "You help cooks.",
    }
    assert turns_of_pair(record) == [
        ("system", "You help cooks.", "/system"),
        ("user", "Eggs?", "/history/0/0"),
        ("assistant", "Seven minutes.", "/history/0/1"),
        ("user", "And hard ones?", "/instruction"),
        ("user", "Big ones.", "/input"),
        ("assistant", "Ten.", "/output"),
    ]
    assert read(PAIRS, record).response == 5


@pytest.mark.parametrize("absent", [{}, {"input": ""}, {"input": None}, {"system": "", "history": [], "input": ""}])
def test_what_is_empty_null_or_absent_is_no_turn_and_comes_back_as_it_was(absent: dict[str, Any]) -> None:
    record = absent | {"output": "Yes.", "instruction": "Salt?"}
    assert [text for _, text, _ in turns_of_pair(record)] == ["Salt?", "Yes."]
    assert stored(PAIRS, record).loaded.extra is None


def test_an_empty_response_is_no_turn_and_named() -> None:
    talk = read(PAIRS, {"instruction": "Salt?", "output": ""})
    assert [turn.text for turn in talk.turns] == ["Salt?"]
    assert talk.response is None
    assert [(finding.rule, finding.pointer) for finding in talk.findings] == [("GF-03", "/output")]
    assert "empty" in talk.findings[0].detail


def test_a_history_with_an_empty_text_stays_as_it_is() -> None:
    record = {"history": [["Eggs?", ""], ["", "Well?"]], "instruction": "a", "output": "b"}
    assert [text for _, text, _ in turns_of_pair(record)] == ["Eggs?", "Well?", "a", "b"]
    assert list(literals(stored(PAIRS, record).loaded.extra)) == ["history"]


def test_prompt_and_response_may_be_lists_of_messages() -> None:
    record = {"output": [{"content": "Seven.", "role": "assistant", "weight": 1}], "label": True, "system": "Be brief."}
    record |= {"history": [["Hi", "Yes?"]], "input": "Soft ones."}
    record |= {"instruction": [user("Eggs?"), user([{"type": "text", "text": "x"}])]}
    assert turns_of_pair(record)[3:] == [
        ("user", "Eggs?", "/instruction/0"),
        ("user", "x", "/instruction/1"),
        ("user", "Soft ones.", "/input"),
        ("assistant", "Seven.", "/output/0"),
    ]
    assert list(literals(stored(PAIRS, record).loaded.extra)) == ["label"]
    assert read(PAIRS, record).response == 6


LOG = {
    "id": 7,
    "log": [
        {"turn": 1, "user": {"says": "Salt?", "mood": "cross"}, "answer": "Yes."},
        {"answer": "More?", "q": None, "user": {"says": ""}, "turn": 1.50},
        {"user": {"says": "No."}, "q": "Thanks.", "answer": "Fine."},
    ],
}


def test_each_item_of_a_list_is_a_pair() -> None:
    assert turns_of_pair(LOG, OF_LISTS) == [
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
    assert [text for _, text, _ in turns_of_pair(record, OF_LISTS)] == ["a", "b"]
    assert [turn.extra for turn in stored(OF_LISTS, record).turns] == [None, None]
    assert [finding.pointer for finding in read(OF_LISTS, record).findings] == ["/log/0/answer"]


def test_a_member_that_is_declared_twice_is_said_twice_and_comes_back() -> None:
    twice = PairFields(each=("log",), prompt=("a",), query=("a",), response=("b",))
    rows = stored(Pairs(declared("pairs", pair=twice)), {"log": [{"a": "x", "b": "y"}, {"b": "y", "a": "x"}]})
    assert [turn.text for turn in rows.turns] == ["x", "x", "y"] * 2


OPTIONAL = TEXTS | st.just("null")
HISTORY = lists(st.builds("[{}, {}]".format, TEXTS, TEXTS)) | st.just("null")
PAIR_MESSAGES = TEXTS | st.lists(with_others({"role": TEXTS, "content": TEXTS}, {}), min_size=1, max_size=3).map(
    lambda messages: f"[{', '.join(messages)}]"
)
BESIDE = {"system": OPTIONAL, "history": HISTORY, "input": OPTIONAL}


@given(with_others({"instruction": PAIR_MESSAGES, "output": PAIR_MESSAGES}, BESIDE))
def test_pairs_come_back(record: str) -> None:
    assert comes_back(PAIRS, record)


ITEM = with_others({"user": with_others({"says": TEXTS}, {}), "answer": TEXTS}, {"q": OPTIONAL})


@given(with_others({"log": lists(ITEM)}, {}))
def test_records_of_lists_come_back(record: str) -> None:
    assert comes_back(OF_LISTS, record)


@given(with_mutation({"instruction": TEXTS, "output": TEXTS, **BESIDE}))
def test_an_instruction_with_a_mutation_is_named_or_comes_back(record: str) -> None:
    assert is_named_or_comes_back(PAIRS, record)


@given(with_mutation({"user": with_others({"says": TEXTS}, {}), "q": OPTIONAL, "answer": TEXTS}))
def test_a_pair_with_a_mutation_is_named_or_comes_back(pair: str) -> None:
    assert is_named_or_comes_back(OF_LISTS, f'{{"log": [{pair}]}}')


FORMAT = Preference(in_toml('format = "preference"\n'))
MARKS = {"\n\nHuman: ": "user", "\n\nAssistant: ": "assistant", "\n\nA: ": "assistant"}
MARKED = Preference(dataclasses.replace(in_toml('format = "preference"\n'), markers=MARKS))
OPENAI = Preference(
    in_toml(
        'format = "preference"\n[preference]\nprompt = "input.messages"\nchosen = "preferred_output"\n'
        'rejected = "non_preferred_output"\n'
    )
)
FROM = Preference(
    in_toml(
        'format = "preference"\n[turn]\nrole = "from"\ntext = "value"\n'
        '[roles]\nhuman = "user"\ngpt = "assistant"\nbard = "assistant"\n'
    )
)


def user(text: object, **others: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **others}


def assistant(text: object, **others: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **others}


def turns(record: object, of: Preference = FORMAT) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in read(of, record).turns]


def candidates(record: object, of: Preference = FORMAT) -> list[tuple[int | None, int, int, str, str]]:
    return [
        (offered.turn_index, offered.position, offered.item_index, decode((offered.extra or {})["role"]), offered.text)
        for offered in read(of, record).candidates
    ]


def findings(record: object, of: Preference = FORMAT) -> list[tuple[str, str | None]]:
    return [(finding.rule, finding.pointer) for finding in read(of, record).findings]


def extra_after(record: object, of: Preference = FORMAT) -> list[str]:
    """Write a record again, which must be equal; return the names of what stayed in its ``extra``."""
    return list(literals(stored(of, record).loaded.extra))


def test_texts() -> None:
    record = {"chosen": "Seven minutes.", "prompt": "Eggs?", "rejected": "Ask a hen.", "score": 1.5}
    assert turns(record) == [("user", "Eggs?"), ("assistant", "Seven minutes.")]
    assert candidates(record) == [(1, 0, 0, "assistant", "Seven minutes."), (1, 1, 0, "assistant", "Ask a hen.")]
    talk = read(FORMAT, record)
    assert [offered.is_gold for offered in talk.candidates] == [True, False]
    assert talk.response == 1
    assert extra_after(record) == ["score"]


@pytest.mark.parametrize("prompt", [{}, {"prompt": None}, {"prompt": ""}, {"prompt": []}])
def test_without_a_prompt(prompt: dict[str, Any]) -> None:
    record = prompt | {"chosen": "Yes.", "rejected": "No."}
    assert turns(record) == [("assistant", "Yes.")]
    assert [place for place, *_ in candidates(record)] == [0, 0]
    assert extra_after(record) == []


def test_messages_with_a_prompt() -> None:
    record = {
        "prompt": [{"content": "Be brief.", "role": "system"}, user("Eggs?")],
        "chosen": [assistant("Seven minutes.")],
        "rejected": [assistant("Hm."), user("Well?"), assistant("Ask a hen.", weight=0)],
    }
    assert turns(record) == [("system", "Be brief."), ("user", "Eggs?"), ("assistant", "Seven minutes.")]
    assert candidates(record) == [
        (2, 0, 0, "assistant", "Seven minutes."),
        (2, 1, 0, "assistant", "Hm."),
        (2, 1, 1, "user", "Well?"),
        (2, 1, 2, "assistant", "Ask a hen."),
    ]
    assert extra_after(record) == []


def test_without_a_prompt_the_context_is_what_both_begin_with() -> None:
    record = {
        "chosen": [user("Eggs?"), assistant("Hard?"), user("Soft."), assistant("Seven.")],
        "rejected": [user("Eggs?"), assistant("Hard?"), user("Soft."), assistant("Ten.")],
    }
    assert len(turns(record)) == 4
    assert candidates(record) == [(3, 0, 0, "assistant", "Seven."), (3, 1, 0, "assistant", "Ten.")]
    assert extra_after(record) == []


def test_all_but_the_last_turn_of_either_may_be_context() -> None:
    record = {"chosen": [user("Eggs?"), assistant("Seven.")], "rejected": [user("Eggs?")]}
    assert candidates(record) == [
        (0, 0, 0, "user", "Eggs?"),
        (0, 0, 1, "assistant", "Seven."),
        (0, 1, 0, "user", "Eggs?"),
    ]
    assert extra_after(record) == []


def test_a_prompt_that_both_answers_begin_with_is_said_once() -> None:
    record = {
        "prompt": "Eggs?",
        "chosen": [user("Eggs?"), assistant("Seven.")],
        "rejected": [user("Eggs?"), assistant("Ten.")],
    }
    assert turns(record) == [("user", "Eggs?"), ("assistant", "Seven.")]
    assert [place for place, *_ in candidates(record)] == [1, 1]
    assert extra_after(record) == []
    assert extra_after(record | {"prompt": [user("Eggs?")]}) == []
    assert extra_after(record | {"prompt": {"content": "Eggs?", "role": "user"}}) == ["prompt"]


def test_turns_that_both_begin_with_but_are_written_otherwise_stay_as_they_are() -> None:
    record = {
        "chosen": [user("Eggs?"), assistant("Seven.")],
        "rejected": [{"content": "Eggs?", "role": "user"}, assistant("Ten.", weight=1)],
    }
    assert candidates(record) == [(1, 0, 0, "assistant", "Seven."), (1, 1, 0, "assistant", "Ten.")]
    assert extra_after(record) == ["rejected"]
    assert list(read(FORMAT, record).candidates[1].extra or {}) == ["role"]


def test_a_message_by_itself() -> None:
    record = {
        "prompt": [{"from": "human", "value": "Eggs?"}],
        "chosen": {"from": "gpt", "value": "Seven."},
        "rejected": {"value": "Ten.", "from": "bard", "role": 5, "shape": {}},
    }
    assert turns(record, FROM) == [("user", "Eggs?"), ("assistant", "Seven.")]
    assert candidates(record, FROM)[1] == (1, 1, 0, "assistant", "Ten.")
    assert extra_after(record, FROM) == []


def test_a_fine_tuning_file() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "boil", "arguments": "{}"}}
    record = {
        "input": {"messages": [user("Eggs?", name="ada")], "tools": [], "parallel_tool_calls": True},
        "preferred_output": [assistant(None, tool_calls=[call])],
        "non_preferred_output": [assistant([{"type": "text", "text": "No"}, {"type": "text", "text": "."}])],
    }
    assert turns(record, OPENAI) == [("user", "Eggs?"), ("assistant", "")]
    assert candidates(record, OPENAI) == [(1, 0, 0, "assistant", ""), (1, 1, 0, "assistant", "No.")]
    assert findings(record, OPENAI) == []
    assert extra_after(record, OPENAI) == ["input"]


def test_answers_that_differ_in_their_calls_alone_are_not_the_same() -> None:
    calls = [[{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}] for name in "ab"]
    record = {
        "chosen": [user("x"), assistant(None, tool_calls=calls[0]), user("y")],
        "rejected": [user("x"), assistant(None, tool_calls=calls[1]), user("y")],
    }
    assert [place for place, *_ in candidates(record)] == [1, 1, 1, 1]
    assert findings(record) == []
    assert extra_after(record) == []


def test_two_transcripts() -> None:
    record = {
        "chosen": "\n\nHuman: Hi\n\nHuman: Hi?\n\nAssistant: Yes?\n\nAssistant: Human: ate",
        "rejected": "\n\nHuman: Hi\n\nHuman: Hi?\n\nAssistant: Yes?\n\nA: \n\nHuman: ",
    }
    assert turns(record, MARKED) == [
        ("user", "Hi"),
        ("user", "Hi?"),
        ("assistant", "Yes?"),
        ("assistant", "Human: ate"),
    ]
    assert candidates(record, MARKED)[1:] == [(3, 1, 0, "assistant", ""), (3, 1, 1, "user", "")]
    assert findings(record, MARKED) == [("GF-03", "/rejected")]
    assert extra_after(record, MARKED) == []


def test_transcripts_whose_contexts_have_other_marks_stay_as_they_are() -> None:
    record = {
        "chosen": "\n\nHuman: Hi\n\nA: Yes?\n\nHuman: Eggs?",
        "rejected": "\n\nHuman: Hi\n\nAssistant: Yes?\n\nHuman: Ham?",
    }
    assert [place for place, *_ in candidates(record, MARKED)] == [2, 2]
    assert extra_after(record, MARKED) == ["rejected"]


def test_a_prompt_as_transcript_and_answers_without_marks() -> None:
    record = {"prompt": "\n\nHuman: Hi\n\nAssistant: Yes?\n\nHuman: Eggs?", "chosen": "Seven.", "rejected": ""}
    assert turns(record, MARKED)[2:] == [("user", "Eggs?"), ("assistant", "Seven.")]
    assert findings(record, MARKED) == [("GF-03", "/rejected")]
    assert extra_after(record, MARKED) == []


def test_a_prompt_that_ends_with_the_mark_of_its_answers() -> None:
    record = {"prompt": "\n\nHuman: Eggs?\n\nA: ", "chosen": " Seven.", "rejected": ""}
    assert turns(record, MARKED) == [("user", "Eggs?"), ("assistant", " Seven.")]
    assert candidates(record, MARKED) == [(1, 0, 0, "assistant", " Seven."), (1, 1, 0, "assistant", "")]
    assert extra_after(record, MARKED) == []
    assert extra_after(record | {"prompt": "\n\nHuman: "}, MARKED) == []


def test_what_is_empty_or_the_same_is_named() -> None:
    assert findings({"chosen": "", "rejected": "No."}) == [("GF-03", "/chosen")]
    assert findings({"chosen": [], "rejected": [assistant("No.")]}) == [("GF-03", "/chosen")]
    assert findings({"prompt": "a", "chosen": "No.", "rejected": "No."}) == [("GF-11", "/rejected")]
    same_talk = [user("a"), assistant("b")]
    assert findings({"chosen": same_talk, "rejected": same_talk}) == [("GF-11", "/rejected")]


def test_an_answer_of_no_messages_has_no_turn() -> None:
    record = {"prompt": [user("Eggs?")], "chosen": [], "rejected": [assistant("Ten.")]}
    assert turns(record) == [("user", "Eggs?")]
    assert candidates(record) == [(None, 1, 0, "assistant", "Ten.")]
    assert read(FORMAT, record).response is None
    assert extra_after(record) == []
    assert extra_after({"prompt": [user("Eggs?")], "chosen": [assistant("Ten.")], "rejected": []}) == []


@pytest.mark.parametrize(
    ("of", "record", "place"),
    [
        (PAIRS, {"instruction": "a"}, ""),
        (PAIRS, {"output": "a"}, ""),
        (PAIRS, {"instruction": ["a"], "output": "b"}, "/instruction"),
        (PAIRS, {"instruction": "a", "output": 5}, "/output"),
        (PAIRS, {"instruction": "a", "output": []}, "/output"),
        (PAIRS, {"instruction": "a", "output": [{}, "b"]}, "/output"),
        (OF_LISTS, {}, ""),
        (OF_LISTS, {"log": None}, "/log"),
        (OF_LISTS, {"log": ["a"]}, "/log/0"),
        (OF_LISTS, {"log": [{"user": {}, "answer": "b"}]}, "/log/0/user"),
        (OF_LISTS, {"log": [{"user": {"says": "a"}}]}, "/log/0"),
        (OF_LISTS, {"log": [{"user": "a", "answer": "b"}]}, "/log/0/user"),
        (FORMAT, {"chosen": "a"}, ""),
        (FORMAT, {"rejected": "a"}, ""),
        (FORMAT, {"chosen": "a", "rejected": None}, "/rejected"),
        (FORMAT, {"chosen": 5, "rejected": "a"}, "/chosen"),
        (FORMAT, {"chosen": ["a"], "rejected": "a"}, "/chosen/0"),
        (FORMAT, {"chosen": "a", "rejected": [{"content": "b"}]}, "/rejected/0"),
        (FORMAT, {"chosen": "a", "rejected": {"role": None, "content": "b"}}, "/rejected/role"),
        (FORMAT, {"prompt": False, "chosen": "a", "rejected": "b"}, "/prompt"),
    ],
)
def test_missing_and_mistyped_values_are_named_with_place(of: Pairs | Preference, record: object, place: str) -> None:
    with pytest.raises(BadRecord) as caught:
        read(of, record)
    assert (caught.value.rule, caught.value.pointer) == ("GF-01", place)


@pytest.mark.parametrize(
    ("of", "record", "rule", "place"),
    [
        (PAIRS, {"instruction": "a", "output": None}, "GF-03", "/output"),
        (PAIRS, {"instruction": None, "output": "b"}, None, ""),
        (PAIRS, {"instruction": "a", "output": [{"role": "user"}]}, "GF-22", "/output/0"),
        (PAIRS, {"instruction": "a", "output": "b", "system": {}}, "GF-01", "/system"),
        (PAIRS, {"instruction": "a", "output": "b", "history": "c"}, "GF-01", "/history"),
        (PAIRS, {"instruction": "a", "output": "b", "history": [["c", "d"], {"user": "e"}]}, "GF-01", "/history/1"),
        (PAIRS, {"instruction": "a", "output": "b", "history": [["c"]]}, "GF-01", "/history/0"),
        (PAIRS, {"instruction": "a", "output": "b", "history": [["c", None]]}, None, ""),
        (OF_LISTS, {"log": [{"user": {"says": None}, "answer": "b"}]}, None, ""),
        (FORMAT, {"chosen": [{"role": "user"}], "rejected": "a"}, "GF-22", "/chosen/0"),
    ],
)
def test_the_smallest_wrong_part_is_left(of: Pairs | Preference, record: object, rule: str | None, place: str) -> None:
    assert comes_back(of, json.dumps(record))
    found = [(finding.rule, finding.pointer) for finding in read(of, record).findings]
    assert ((rule, place) in found) if rule else found == []


def test_a_transcript_that_begins_with_no_marker_is_refused() -> None:
    with pytest.raises(BadRecord, match="Preface") as caught:
        read(MARKED, {"chosen": "\n\nHuman: Hi", "rejected": "Preface.\n\nHuman: Hi"})
    assert (caught.value.rule, caught.value.pointer) == ("GF-10", "/rejected")


WORDS = TEXTS | st.sampled_from(['"a"', '""'])
MESSAGE = with_others({"role": st.sampled_from(['"user"', '"assistant"']), "content": WORDS | st.just("null")}, {})
ANSWERS = WORDS | MESSAGE | lists(MESSAGE)
PROMPTS = ANSWERS | st.just("null")
ALIKE = [user("a"), assistant("a"), dict(reversed(user("a").items())), user("a", n=1), user("b")]
TALKS = lists(st.sampled_from(ALIKE).map(json.dumps))
"""Lists that often begin with the same messages."""
TRANSCRIPTS = st.lists(st.sampled_from([*MARKS, "a", "\n"]), max_size=5).map(
    lambda texts: json.dumps("".join([*MARKS, *texts]))
)


@given(with_others({"chosen": ANSWERS, "rejected": ANSWERS}, {"prompt": PROMPTS}))
def test_records_come_back(record: str) -> None:
    assert comes_back(FORMAT, record)


@given(with_others({"chosen": TALKS, "rejected": TALKS}, {"prompt": TALKS | WORDS}))
def test_records_with_a_shared_beginning_come_back(record: str) -> None:
    assert comes_back(FORMAT, record)


@given(with_others({"chosen": TRANSCRIPTS, "rejected": TRANSCRIPTS}, {"prompt": TRANSCRIPTS | WORDS}))
def test_transcripts_come_back(record: str) -> None:
    assert comes_back(MARKED, record)


@given(with_others({"chosen": TRANSCRIPTS | WORDS, "rejected": TRANSCRIPTS | WORDS}, {"prompt": TRANSCRIPTS | WORDS}))
def test_transcripts_beside_plain_texts_are_named_or_come_back(record: str) -> None:
    assert is_named_or_comes_back(MARKED, record)


@given(with_mutation({"prompt": PROMPTS, "chosen": ANSWERS, "rejected": ANSWERS}))
def test_a_record_with_a_mutation_is_named_or_comes_back(record: str) -> None:
    assert is_named_or_comes_back(FORMAT, record)
