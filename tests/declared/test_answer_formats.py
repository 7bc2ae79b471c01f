"""Formats ``pairs`` and ``preference``: instructions with their answers, and two answers to compare."""

import dataclasses
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode

from talkhouse.ingest.declared.documents.pairs import Pairs
from talkhouse.ingest.declared.documents.preference import Preference
from talkhouse.ingest.decode import literals
from tests.declared.records import (
    TEXTS,
    comes_back,
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


def user(text: object, **others: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **others}


def assistant(text: object, **others: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **others}


def candidates(record: object, of: Preference = FORMAT) -> list[tuple[int | None, int, int, str, str]]:
    return [
        (offered.turn_index, offered.position, offered.item_index, decode((offered.extra or {})["role"]), offered.text)
        for offered in read(of, record).candidates
    ]


def extra_after(record: object, of: Preference = FORMAT) -> list[str]:
    """Write a record again, which must be equal; return the names of what stayed in its ``extra``."""
    return list(literals(stored(of, record).loaded.extra))


def test_transcripts_whose_contexts_have_other_marks_stay_as_they_are() -> None:
    record = {
        "chosen": "\n\nHuman: Hi\n\nA: Yes?\n\nHuman: Eggs?",
        "rejected": "\n\nHuman: Hi\n\nAssistant: Yes?\n\nHuman: Ham?",
    }
    assert [place for place, *_ in candidates(record, MARKED)] == [2, 2]
    assert extra_after(record, MARKED) == ["rejected"]


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
