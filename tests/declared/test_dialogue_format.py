"""Dialogues by a mapping, and ShareGPT's names: what becomes of each form, and that it comes back."""

import json
from contextlib import suppress
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.model import Declaration, DialogueFields, SpeakerFields, TurnFields
from talkhouse.ingest.declared.documents.message_formats import DialogueFormat
from talkhouse.ingest.declared.documents.parsed_record import ParsedDialogue
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.rows import Dialogue
from tests.conftest import invented_examples
from tests.declared import rows_loaded, talks
from tests.declared.json_texts import ANY, LETTERS, TEXTS, lists, with_others


def _declared(turn: TurnFields, turns: tuple[str | None, ...] = ("messages",), **more: object) -> Declaration:
    dialogue = DialogueFields(turns=turns, system=("system",))
    values = {"format": "dialogue", "turn": turn, "dialogue": dialogue, **more}
    return Declaration("c", "", "c/corpus.toml", "C", files=(), **values)  # type: ignore[arg-type]


ROOM = _declared(
    TurnFields(
        id=("id",),
        text=("text",),
        speaker=("author", "id"),
        said_at=("date",),
        reply_to=("reply_to_message_id",),
        kind=("type",),
        start_ms=("start",),
        end_ms=("end",),
    ),
    speaker=SpeakerFields("corpus", ("author", "name"), ("author", "isBot")),
)
SHAREGPT = _declared(
    TurnFields(role=("from",), text=("value",)),
    ("conversations",),
    format="sharegpt",
    roles={"human": "user", "gpt": "assistant", "function_call": "assistant", "observation": "tool"},
)


def _assert_comes_back(declaration: Declaration, record: str) -> None:
    assert talks.same(talks.written(DialogueFormat(declaration), declaration, record), record)


def _read(declaration: Declaration, record: str) -> ParsedDialogue:
    return talks.read(DialogueFormat(declaration), record)


def _room(*messages: str) -> str:
    return '{"name": "Room", "messages": [' + ", ".join(messages) + "]}"


FIRST = (
    '{"id": 5, "type": "message", "date": "2024-03-01T10:00:00", "author": {"id": "u1", "name": "Ada"},'
    ' "text": "Hi 😀"}'
)


def test_a_message_of_a_room() -> None:
    record = _room(FIRST, '{"id": 6, "author": {"isBot": true, "id": 9}, "text": "Hello", "reply_to_message_id": 5}')
    first, second = _read(ROOM, record).turns
    assert (first.role, first.native_id, first.kind, first.speaker) == ("speaker", "5", "message", "u1")
    assert (first.said_at, first.speaker_name, first.is_bot) == (datetime(2024, 3, 1, 10), "Ada", None)  # noqa: DTZ001
    assert (second.reply_to, second.speaker, second.is_bot, second.native_id) == (0, "9", True, "6")
    _assert_comes_back(ROOM, record)


def test_a_text_of_strings_and_objects_is_parts() -> None:
    text = '["See ", {"type": "link", "text": "here"}, {"type": "hum"}, " 😀!"]'
    record = _room(f'{{"id": 1, "text": {text}, "text_entities": []}}')
    (said,) = _read(ROOM, record).turns
    assert said.text == "See here 😀!"
    places = [(part.kind, part.start_index, part.end_index) for part in said.parts or ()]
    assert places == [("text", 0, 4), ("text", 4, 8), ("file", None, None), ("text", 8, 11)]
    _assert_comes_back(ROOM, record)


@pytest.mark.parametrize(
    "message",
    [
        '{"text": "Hi"}',
        '{"text": null, "id": null, "author": null, "date": null, "reply_to_message_id": null, "type": null}',
        '{"text": "Hi", "author": {"id": null}, "id": "", "start": 10, "end": 20}',
        '{"text": "Hi", "start": 1.50, "end": -0}',
        '{"text": "Hi", "start": 9223372036854775808, "end": "20"}',
        '{"text": "Hi", "reply_to_message_id": 7}',
        '{"text": "Hi", "date": 1700000000}',
    ],
)
def test_a_message_comes_back(message: str) -> None:
    _assert_comes_back(ROOM, _room(FIRST, message, FIRST))


@pytest.mark.parametrize(
    ("messages", "rule", "pointer"),
    [
        (['{"id": 1, "text": "a"}', '{"id": 1, "text": "b"}'], "GF-06", "/messages/1/id"),
        (['{"id": 1, "text": "a", "reply_to_message_id": 9}'], "GF-07", "/messages/0/reply_to_message_id"),
        (['{"id": 1, "text": "a", "reply_to_message_id": 1}'], "GF-07", "/messages/0/reply_to_message_id"),
        (
            ['{"id": 1, "text": "a", "reply_to_message_id": 2}', '{"id": 2, "text": "b"}'],
            "GF-19",
            "/messages/0/reply_to_message_id",
        ),
        (['{"id": 1, "text": "a", "date": "noon"}'], "GF-09", "/messages/0/date"),
    ],
)
def test_findings(messages: list[str], rule: str, pointer: str) -> None:
    record = _room(*messages)
    assert [(finding.rule, finding.pointer) for finding in _read(ROOM, record).findings] == [(rule, pointer)]
    _assert_comes_back(ROOM, record)


def test_replies_in_a_loop_are_none_and_those_to_one_in_it_are_kept() -> None:
    given = {"a": "b", "b": "c", "c": "a", "d": "a"}
    record = _room(*(f'{{"id": "{turn}", "text": "x", "reply_to_message_id": "{to}"}}' for turn, to in given.items()))
    talk = _read(ROOM, record)
    assert [said.reply_to for said in talk.turns] == [None, None, None, 0]
    assert [finding.rule for finding in talk.findings] == ["GF-07"] * 3
    _assert_comes_back(ROOM, record)


def test_a_missing_text_is_named() -> None:
    with pytest.raises(BadRecord) as raised:
        _read(ROOM, _room(FIRST, '{"id": 6}'))
    assert (raised.value.rule, raised.value.pointer, raised.value.detail) == (
        "GF-01",
        "/messages/1",
        "'text' is missing",
    )


def test_turns_may_be_texts() -> None:
    bare = _declared(TurnFields(text=()), ("dialog", None))
    record = '{"dialog": ["Hi", "\\u00e9 😀"], "n": 1.0}'
    assert [(said.role, said.text) for said in _read(bare, record).turns] == [("speaker", "Hi"), ("speaker", "é 😀")]
    _assert_comes_back(bare, record)


def test_turns_of_several_lists_stay_as_they_are() -> None:
    nested = _declared(TurnFields(text=("text",), speaker=("id",)), ("dialog", None, None))
    record = '{"dialog": [[{"id": "a", "text": "Hi", "n": 1.0}, {"id": "b", "text": "Ho"}], [], [{"text": "Yes"}]]}'
    talk = _read(nested, record)
    assert [(said.text, said.pointer) for said in talk.turns] == [
        ("Hi", "/dialog/0/0"),
        ("Ho", "/dialog/0/1"),
        ("Yes", "/dialog/2/0"),
    ]
    _assert_comes_back(nested, record)


def test_who_speaks_and_the_role_may_be_one_member() -> None:
    both = _declared(TurnFields(role=("who",), speaker=("who",), text=("text",)), roles={"USER": "user", "U": "user"})
    record = '{"messages": [{"who": "U", "text": "Hi"}, {"text": "Ho", "who": "SYSTEM"}]}'
    assert [(said.role, said.speaker) for said in _read(both, record).turns] == [("user", "U"), ("SYSTEM", "SYSTEM")]
    _assert_comes_back(both, record)


def test_a_text_in_place_of_a_message_is_shown_with_what_would_take_it() -> None:
    with pytest.raises(BadRecord, match=r"""a text, not an object: 'Hi'; .* \[turn\] text = "\$"$"""):
        _read(SHAREGPT, '{"conversations": ["Hi"]}')
    with pytest.raises(BadRecord, match="a turn is a number, not an object"):
        _read(SHAREGPT, '{"conversations": [3]}')


def test_sharegpt_is_chat_with_other_names() -> None:
    record = (
        '{"conversations": [{"from": "human", "value": "Rain?"}, {"from": "function_call", "value": "{\\"n\\": 1}"},'
        ' {"value": "no", "from": "observation"}, {"from": "gpt", "value": "No."}, {"from": "chef", "value": "!"}]}'
    )
    talk = _read(SHAREGPT, record)
    assert [(said.role, said.kind) for said in talk.turns] == [
        ("user", "message"),
        ("assistant", "function_call"),
        ("tool", "message"),
        ("assistant", "message"),
        ("chef", "message"),
    ]
    assert {name: bytes(raw) for name, raw in (talk.turns[1].extra or {}).items()} == {"from": b'"function_call"'}
    assert [(finding.rule, finding.pointer) for finding in talk.findings] == [("GF-05", "/conversations/4/from")]
    _assert_comes_back(SHAREGPT, record)


def test_sharegpt_takes_its_own_id_and_system_where_a_record_has_them() -> None:
    said = [{"from": "gpt", "value": "Rain."}]
    records = [
        {"id": 7, "system": "Be brief.", "conversations": said},
        {"conversations": said},
        {"id": None, "system": None, "conversations": said},
        {"id": {"n": 1}, "conversations": said},
    ]
    files = {"a.json": json.dumps(records).encode()}
    head = 'title = "Quay"\nformat = "sharegpt"\n'
    made = rows_loaded.read(read_declaration("quay", head, "quay/corpus.toml"), files)
    assert sorted(row.dialogue_id for row in made.of(Dialogue)) == ["quay:7", *(f"quay:a.json/{n}" for n in (1, 2, 3))]
    assert made.said("quay:7") == [("system", "Be brief."), ("assistant", "Rain.")]
    assert (made.places, json.loads(rows_loaded.restored(made)["a.json"])) == ([], records)
    bare = read_declaration("quay", head + '[dialogue]\nid = ""\nsystem = ""\n', "quay/corpus.toml")
    made = rows_loaded.read(bare, files)
    assert made.said("quay:a.json/0") == [("assistant", "Rain.")]
    assert json.loads(rows_loaded.restored(made)["a.json"]) == records


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["human", "gpt", "observation"]), LETTERS), max_size=4))
def test_any_sharegpt_talk_is_a_chat_when_its_names_are_changed(turns: list[tuple[str, str]]) -> None:
    chat = _declared(TurnFields(role=("role",), text=("content",)), format="chat")
    theirs = {"conversations": [{"from": word, "value": text} for word, text in turns]}
    ours = {"messages": [{"content": text, "role": SHAREGPT.roles[word]} for word, text in turns]}
    of_sharegpt, of_chat = _read(SHAREGPT, json.dumps(theirs)).turns, _read(chat, json.dumps(ours)).turns
    assert [(said.role, said.text) for said in of_sharegpt] == [(said.role, said.text) for said in of_chat]


_IDS = st.sampled_from(['"1"', "1", '"2"', "2.0", "null", '""'])
_MESSAGES = with_others(
    {"text": TEXTS | st.just("null") | lists(TEXTS | with_others({}, {"text": TEXTS}))},
    {
        "id": _IDS,
        "reply_to_message_id": _IDS,
        "date": st.sampled_from(['"2024-03-01"', '"2024-03-01T10:00:00.5Z"', '"x"', "5", "null"]),
        "author": with_others({}, {"id": _IDS | TEXTS, "name": TEXTS, "isBot": ANY}) | st.just("null"),
        "type": TEXTS,
        "start": ANY,
        "end": ANY,
    },
)
_RECORDS = with_others({"messages": lists(_MESSAGES)}, {"system": TEXTS | st.just("null")})


@invented_examples(300)
@given(_RECORDS)
def test_any_record_comes_back(record: str) -> None:
    _assert_comes_back(ROOM, record)


@pytest.mark.slow
@invented_examples(150)
@given(with_others({"messages": lists(_MESSAGES | ANY) | ANY}, {"system": ANY}))
def test_a_broken_record_is_named_or_comes_back(record: str) -> None:
    with suppress(BadRecord):
        _assert_comes_back(ROOM, record)
