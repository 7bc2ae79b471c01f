"""The formats of messages: what becomes of each form, and that it comes back."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.message_formats import DialogueFormat, TreeFormat
from talkhouse.ingest.declared.parsed_dialogue import ParsedDialogue, ParsedPart
from talkhouse.ingest.decode import BadRecord
from tests.conftest import invented_examples
from tests.declared.records import ANY, LETTERS, TEXTS, comes_back, in_toml, lists, objects, read_text, with_others

CHAT = in_toml('format = "chat"\n[dialogue]\nsystem = "system"\n')


def _form(declaration: Declaration) -> DialogueFormat | TreeFormat:
    return TreeFormat(declaration) if declaration.format == "tree" else DialogueFormat(declaration)


def _read(declaration: Declaration, record: str) -> ParsedDialogue:
    return read_text(_form(declaration), record)


def _assert_comes_back(declaration: Declaration, record: str) -> None:
    assert comes_back(_form(declaration), record, declaration)


def _record(*messages: str) -> str:
    return '{"messages": [' + ", ".join(messages) + "]}"


def _parts(message: str) -> list[ParsedPart]:
    return _read(CHAT, _record(message)).turns[0].parts or []


def test_a_call_is_the_same_however_it_is_spelt() -> None:
    spelt = (
        '{"role": "assistant", "content": null, "tool_calls": [{"id":'
        ' "c1", "type": "function", "function": {"name": "find", "arguments": " {\\"n\\": 1.50,  \\"n\\": 2}"}}]}'
    )
    assert _parts(spelt) == _parts(spelt.replace('"find"', '"\\u0066ind"'))
    other = _parts(spelt.replace('"id": "c1", "type": "function"', '"type": "function", "id": "c1"'))
    assert [(part.call_id, part.name, part.arguments) for part in other] == [
        (part.call_id, part.name, part.arguments) for part in _parts(spelt)
    ]


_PARTS = with_others(
    {"type": st.sampled_from(['"text"', '"image_url"', '"input_audio"', '"tool_use"', '"hum"', "3"])},
    {
        "text": TEXTS | st.just("null"),
        "value": TEXTS | ANY,
        "image_url": st.sampled_from(['"https://x"', '{"url": "DATA:,a"}', '{"url": null}', "null"]),
        "id": ANY,
        "input": ANY,
        "function": ANY,
    },
)
_CALLS = with_others(
    {},
    {
        "id": ANY,
        "type": ANY,
        "name": ANY,
        "function": with_others({}, {"name": ANY, "arguments": ANY | st.sampled_from(['"{\\"a\\": 1.0}"', '"{"'])})
        | ANY,
    },
)
_MESSAGES = with_others(
    {
        "role": st.sampled_from(['"user"', '"assistant"', '"chef"', '"function_call"', '"\\u0075ser"']),
        "content": TEXTS | st.just("null") | lists(_PARTS | TEXTS),
    },
    {
        "tool_calls": lists(_CALLS) | ANY,
        "function_call": _CALLS | ANY,
        "tool_call_id": TEXTS | ANY,
        "reasoning_content": TEXTS | ANY,
        "refusal": TEXTS | ANY,
        "audio": objects(st.fixed_dictionaries({}, optional={"data": ANY, "transcript": ANY})) | ANY,
        "name": TEXTS,
    },
)
_RECORDS = with_others({"messages": lists(_MESSAGES)}, {"system": TEXTS | st.just("null")})


_DIALOGUE = 'format = "dialogue"\n[dialogue]\nsystem = "system"\nturns = '
ROOM = in_toml(
    f'{_DIALOGUE}"messages"\n[speaker]\nname = "author.name"\nis_bot = "author.isBot"\n'
    '[turn]\nid = "id"\ntext = "text"\nspeaker = "author.id"\nsaid_at = "date"\nreply_to = "reply_to_message_id"\n'
    'kind = "type"\nstart_ms = "start"\nend_ms = "end"\n'
)
SHAREGPT = in_toml('format = "sharegpt"\n')


def test_a_text_in_place_of_a_message_is_shown_with_what_would_take_it() -> None:
    with pytest.raises(BadRecord, match=r"""a text, not an object: 'Hi'; .* \[turn\] text = "\$"$"""):
        _read(SHAREGPT, '{"conversations": ["Hi"]}')
    with pytest.raises(BadRecord, match="a turn is a number, not an object"):
        _read(SHAREGPT, '{"conversations": [3]}')


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["human", "gpt", "observation"]), LETTERS), max_size=4))
def test_any_sharegpt_talk_is_a_chat_when_its_names_are_changed(turns: list[tuple[str, str]]) -> None:
    chat = in_toml('format = "chat"\n')
    record = {"conversations": [{"from": word, "value": text} for word, text in turns]}
    same = {"messages": [{"content": text, "role": SHAREGPT.roles[word]} for word, text in turns]}
    of_sharegpt, of_chat = _read(SHAREGPT, json.dumps(record)).turns, _read(chat, json.dumps(same)).turns
    assert [(turn.role, turn.text) for turn in of_sharegpt] == [(turn.role, turn.text) for turn in of_chat]


_ROOM_IDS = st.sampled_from(['"1"', "1", '"2"', "2.0", "null", '""'])
_ROOM_MESSAGES = with_others(
    {"text": TEXTS | st.just("null") | lists(TEXTS | with_others({}, {"text": TEXTS}))},
    {
        "id": _ROOM_IDS,
        "reply_to_message_id": _ROOM_IDS,
        "date": st.sampled_from(['"2024-03-01"', '"2024-03-01T10:00:00.5Z"', '"x"', "5", "null"]),
        "author": with_others({}, {"id": _ROOM_IDS | TEXTS, "name": TEXTS, "isBot": ANY}) | st.just("null"),
        "type": TEXTS,
        "start": ANY,
        "end": ANY,
    },
)
_ROOM_RECORDS = with_others({"messages": lists(_ROOM_MESSAGES)}, {"system": TEXTS | st.just("null")})


TREE = in_toml('format = "tree"\n[turn]\nspeaker = "user_id"\nsaid_at = "created_date"\n[roles]\nprompter = "user"\n')
_NODE = '{"message_id": "%s", "text": "%s", "role": "prompter", "replies": %s}'


def _node(name: str, *replies: str) -> str:
    return _NODE % (name, name.upper(), "[" + ", ".join(replies) + "]")


def test_a_tree_as_deep_as_a_record_may_be_comes_back() -> None:
    tree = _node("z")
    for depth in range(48):
        tree = _node(f"m{depth}", tree)
    _assert_comes_back(TREE, f'{{"prompt": {tree}}}')


_IDS = st.sampled_from(['"a"', '"b"', '"\\u0061"', "1", "null"])
_NODES = st.recursive(
    st.just("[]") | st.just("null"),
    lambda below: lists(
        with_others(
            {"text": TEXTS | st.just("null"), "role": LETTERS.map(lambda _: '"prompter"') | TEXTS},
            {"message_id": _IDS, "parent_id": _IDS | ANY, "replies": below, "user_id": _IDS, "rank": ANY},
        ),
        most=2,
    ),
    max_leaves=4,
)
_TREES = objects(st.fixed_dictionaries({"prompt": _NODES}, optional={"a": ANY}))


@invented_examples(700)
@given(st.one_of(*(st.tuples(st.just(of), records) for of, records in ((CHAT, _RECORDS), (ROOM, _ROOM_RECORDS)))))
def test_any_record_comes_back(drawn: tuple[Declaration, str]) -> None:
    _assert_comes_back(*drawn)


@invented_examples(300)
@given(_TREES)
def test_any_tree_comes_back_or_is_named(record: str) -> None:
    with suppress(BadRecord):
        _assert_comes_back(TREE, record)


_BROKEN = with_others({}, {"messages": lists(_MESSAGES | ANY) | ANY, "system": ANY})
_BROKEN_ROOMS = with_others({"messages": lists(_ROOM_MESSAGES | ANY) | ANY}, {"system": ANY})


@pytest.mark.slow
@invented_examples(400)
@given(st.tuples(st.just(CHAT), _BROKEN) | st.tuples(st.just(ROOM), _BROKEN_ROOMS))
def test_a_broken_record_is_named_or_comes_back(drawn: tuple[Declaration, str]) -> None:
    with suppress(BadRecord):
        _assert_comes_back(*drawn)
