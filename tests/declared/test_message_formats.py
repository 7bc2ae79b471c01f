"""The formats of messages: what becomes of each form, and that it comes back."""

import json
from contextlib import suppress
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.message_formats import DialogueFormat, TreeFormat
from talkhouse.ingest.declared.parsed_dialogue import ParsedDialogue, ParsedPart
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.rows import Dialogue
from tests.conftest import invented_examples
from tests.data_files import data_of
from tests.declared import rows_loaded
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


TEXT = '{"role": "user", "content": "How long do figs keep?"}'

MESSAGES = data_of(__file__)["messages"]


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_comes_back(message: str) -> None:
    _assert_comes_back(CHAT, _record(TEXT, message, TEXT))


def test_parts_refer_into_the_text_by_code_points() -> None:
    turn = _read(CHAT, _record(MESSAGES["parts"])).turns[0]
    assert turn.text == "Is 😀 ripe?"
    assert [(part.kind, part.start_index, part.end_index, part.uri) for part in turn.parts or ()] == [
        ("text", 0, 5, None),
        ("uri", None, None, "https://example.org/f.png"),
        ("text", 5, 10, None),
    ]


def test_a_data_address_is_a_blob_that_stays_with_the_part() -> None:
    part = _parts(MESSAGES["data"])[0]
    assert (part.kind, part.uri, part.mime_type) == ("blob", None, "image/png")
    assert bytes((part.extra or {})["image_url"]) == b'{"url":"data:image/png;base64,AAAA"}'


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("arguments as a text", ' {"n": 1.50,  "n": 2}'),
        ("arguments as an object", '{"n": 1.50, "m": [1e3]}'),
        ("arguments that do not parse", None),
    ],
)
def test_arguments_are_json_verbatim(name: str, arguments: str | None) -> None:
    call = _parts(MESSAGES[name])[0]
    assert (call.field, call.kind, call.name, call.arguments) == ("tool_calls", "tool_call", "find", arguments)


def test_a_call_is_the_same_however_it_is_spelt() -> None:
    spelt = MESSAGES["arguments as a text"]
    assert _parts(spelt) == _parts(spelt.replace('"find"', '"\\u0066ind"'))
    other = _parts(spelt.replace('"id": "c1", "type": "function"', '"type": "function", "id": "c1"'))
    assert [(part.call_id, part.name, part.arguments) for part in other] == [
        (part.call_id, part.name, part.arguments) for part in _parts(spelt)
    ]


def test_parts_are_in_the_order_of_the_members() -> None:
    turn = _read(CHAT, _record(MESSAGES["reasoning"])).turns[0]
    assert [(part.field, part.kind, part.text) for part in turn.parts or ()] == [
        ("reasoning_content", "reasoning", "Hm."),
        ("thinking", "reasoning", "Mh."),
    ]


def test_a_name_is_a_speaker_and_an_empty_one_is_none() -> None:
    talk = _read(CHAT, _record(MESSAGES["named"], MESSAGES["named by a number"], MESSAGES["no name"], TEXT))
    assert [turn.speaker for turn in talk.turns] == ["ada", "7", None, None]


@pytest.mark.parametrize("system", ['"Be brief."', '""', "null"])
@pytest.mark.parametrize("messages", ["[]", f"[{TEXT}]"])
def test_a_system_beside_the_turns_is_the_first_turn(system: str, messages: str) -> None:
    record = f'{{"a": 1.50, "messages": {messages}, "system": {system}}}'
    _assert_comes_back(CHAT, record)
    talk = _read(CHAT, record)
    assert [turn.role for turn in talk.turns if turn.role == "system"] == (["system"] if len(system) > 4 else [])
    assert [turn.pointer for turn in talk.turns if turn.role != "system"] == (
        ["/messages/0"] if TEXT in messages else []
    )


def test_the_objects_of_turns_are_there_for_labels() -> None:
    messages = _read(CHAT, f'{{"system": "Be brief.", "messages": [{TEXT}, {MESSAGES["named"]}]}}').messages
    assert list(messages) == [1, 2]
    assert bytes(messages[2]["name"]) == b'"ada"'


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
    (turn,) = _read(ROOM, record).turns
    assert turn.text == "See here 😀!"
    places = [(part.kind, part.start_index, part.end_index) for part in turn.parts or ()]
    assert places == [("text", 0, 4), ("text", 4, 8), ("file", None, None), ("text", 8, 11)]
    _assert_comes_back(ROOM, record)


@pytest.mark.parametrize("message", data_of(__file__)["a_message_of_a_room_comes_back"])
def test_a_message_of_a_room_comes_back(message: str) -> None:
    _assert_comes_back(ROOM, _room(FIRST, message, FIRST))


def test_replies_in_a_loop_are_none_and_those_to_one_in_it_are_kept() -> None:
    replies = {"a": "b", "b": "c", "c": "a", "d": "a"}
    record = _room(*(f'{{"id": "{turn}", "text": "x", "reply_to_message_id": "{to}"}}' for turn, to in replies.items()))
    talk = _read(ROOM, record)
    assert [turn.reply_to for turn in talk.turns] == [None, None, None, 0]
    assert [finding.rule for finding in talk.findings] == ["GF-07"] * 3
    _assert_comes_back(ROOM, record)


def test_turns_may_be_texts() -> None:
    bare = in_toml(f'{_DIALOGUE}"dialog"\n[turn]\ntext = "$"\n')
    record = '{"dialog": ["Hi", "\\u00e9 😀"], "n": 1.0}'
    assert [(turn.role, turn.text) for turn in _read(bare, record).turns] == [("speaker", "Hi"), ("speaker", "é 😀")]
    _assert_comes_back(bare, record)


def test_turns_of_several_lists_stay_as_they_are() -> None:
    nested = in_toml(f'{_DIALOGUE}"dialog[*][*]"\n[turn]\ntext = "text"\nspeaker = "id"\n')
    record = '{"dialog": [[{"id": "a", "text": "Hi", "n": 1.0}, {"id": "b", "text": "Ho"}], [], [{"text": "Yes"}]]}'
    talk = _read(nested, record)
    assert [(turn.text, turn.pointer) for turn in talk.turns] == [
        ("Hi", "/dialog/0/0"),
        ("Ho", "/dialog/0/1"),
        ("Yes", "/dialog/2/0"),
    ]
    _assert_comes_back(nested, record)


def test_who_speaks_and_the_role_may_be_one_member() -> None:
    both = in_toml(
        f'{_DIALOGUE}"messages"\n[turn]\ntext = "text"\nrole = "who"\nspeaker = "who"\n[roles]\nU = "user"\n'
    )
    record = '{"messages": [{"who": "U", "text": "Hi"}, {"text": "Ho", "who": "SYSTEM"}]}'
    assert [(turn.role, turn.speaker) for turn in _read(both, record).turns] == [("user", "U"), ("SYSTEM", "SYSTEM")]
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
    assert [(turn.role, turn.kind) for turn in talk.turns] == [
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
    turns = [{"from": "gpt", "value": "Rain."}]
    records = [
        {"id": 7, "system": "Be brief.", "conversations": turns},
        {"conversations": turns},
        {"id": None, "system": None, "conversations": turns},
        {"id": {"n": 1}, "conversations": turns},
    ]
    files = {"a.json": rows_loaded.json_text(records)}
    head = 'title = "Quay"\nformat = "sharegpt"\n'
    result = rows_loaded.read_back(head, files)
    assert sorted(row.dialogue_id for row in result.of(Dialogue)) == [
        "quay:7",
        *(f"quay:a.json/{n}" for n in (1, 2, 3)),
    ]
    assert result.turns("quay:7") == [("system", "Be brief."), ("assistant", "Rain.")]
    assert result.places == []
    result = rows_loaded.read_back(head + '[dialogue]\nid = ""\nsystem = ""\n', files)
    assert result.turns("quay:a.json/0") == [("assistant", "Rain.")]


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


def test_a_message_comes_before_its_replies_and_all_below_each_before_the_next() -> None:
    record = '{"prompt": ' + _node("a", _node("b", _node("c"), _node("d")), _node("e", _node("f"))) + "}"
    turns = _read(TREE, record).turns
    assert [(turn.native_id, turn.role, turn.reply_to) for turn in turns] == [
        ("a", "user", None),
        ("b", "user", 0),
        ("c", "user", 1),
        ("d", "user", 1),
        ("e", "user", 0),
        ("f", "user", 4),
    ]
    assert turns[5].pointer == "/prompt/replies/1/replies/0"
    _assert_comes_back(TREE, record)


@pytest.mark.parametrize(
    "root",
    [
        '{"role": "prompter", "text": "Alone.", "message_id": "a"}',
        '{"role": "prompter", "replies": null, "text": "Alone.", "message_id": "a", "parent_id": null}',
        '{"message_id": "a", "text": "x", "role": "prompter", "replies": [{"message_id": 7, "parent_id": "a",'
        ' "text": "y", "role": "assistant", "user_id": null, "replies": [{"message_id": "c", "parent_id": 7,'
        ' "text": "z", "role": "b", "rank": 1.50}]}]}',
        '{"message_id": "a", "text": "x", "role": "p", "replies": [{"parent_id": "b", "text": "y", "role": "p"}]}',
        '{"message_id": "a", "text": "x", "role": "p", "created_date": "2023-02-05T14:23:50.983374+00:00"}',
        '{"message_id": "a", "text": "x", "role": "p", "created_date": "yesterday", "user_id": "p1"}',
        "[" + _node("a", _node("b")) + ", " + _node("c") + "]",
        "[]",
    ],
)
def test_a_tree_comes_back(root: str) -> None:
    _assert_comes_back(TREE, f'{{"tree_state": "growing", "prompt": {root}, "n": 1.0}}')


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


@pytest.mark.parametrize(
    ("declaration", "record", "pointer", "words"),
    [
        (CHAT, '{"a": 1}', "", "'messages' is missing"),
        (CHAT, '{"messages": null}', "/messages", "null"),
        (CHAT, '{"messages": {}}', "/messages", "an object"),
        (CHAT, '{"messages": ["Hi"]}', "/messages/0", "a text"),
        (CHAT, _record(TEXT, '{"content": "Hi"}'), "/messages/1", "'role' is missing"),
        (CHAT, _record('{"role": null, "content": "Hi"}'), "/messages/0/role", "null"),
        (CHAT, _record('{"role": 3, "content": "Hi"}'), "/messages/0/role", "a number"),
        (CHAT, _record('{"role": "user", "content": 5}'), "/messages/0/content", "a number"),
        (CHAT, _record('{"role": "user", "content": [5]}'), "/messages/0/content/0", "a number"),
        (TREE, "{}", "", "missing"),
        (TREE, '{"prompt": null}', "/prompt", "null"),
        (TREE, '{"prompt": {"role": "p", "text": "x", "replies": "none"}}', "/prompt/replies", "a text"),
        (TREE, '{"prompt": {"role": "p", "text": "x", "replies": [{"text": "y"}]}}', "/prompt/replies/0", "missing"),
        (TREE, '{"prompt": {"role": "p", "text": "x", "replies": [1]}}', "/prompt/replies/0", "a number"),
    ],
)
def test_a_missing_or_mistyped_value_is_named(declaration: Declaration, record: str, pointer: str, words: str) -> None:
    with pytest.raises(BadRecord) as raised:
        _read(declaration, record)
    assert (raised.value.rule, raised.value.pointer) == ("GF-01", pointer)
    assert words in raised.value.detail


_TO = "reply_to_message_id"


@pytest.mark.parametrize(
    ("declaration", "record", "rule", "pointer"),
    [
        (CHAT, _record('{"role": "chef", "content": "Hi"}'), "GF-05", "/messages/0/role"),
        (CHAT, _record('{"role": "user"}'), "GF-22", "/messages/0"),
        (CHAT, '{"messages": [], "system": 3}', "GF-01", "/system"),
        (ROOM, _room(FIRST, '{"id": 6}'), "GF-22", "/messages/1"),
        (ROOM, _room('{"id": [6], "text": "a"}'), "GF-01", "/messages/0/id"),
        (CHAT, _record(TEXT, MESSAGES["result"]), "GF-16", "/messages/1/tool_call_id"),
        (ROOM, _room('{"id": 1, "text": "a"}', '{"id": 1, "text": "b"}'), "GF-06", "/messages/1/id"),
        (ROOM, _room(f'{{"id": 1, "text": "a", "{_TO}": 9}}'), "GF-07", f"/messages/0/{_TO}"),
        (ROOM, _room(f'{{"id": 1, "text": "a", "{_TO}": 2}}', '{"id": 2, "text": "b"}'), "GF-19", f"/messages/0/{_TO}"),
        (ROOM, _room('{"id": 1, "text": "a", "date": "noon"}'), "GF-09", "/messages/0/date"),
        (TREE, f'{{"prompt": {_node("a", _node("b"), _node("b"))}}}', "GF-06", "/prompt/replies/1/message_id"),
    ],
)
def test_findings(declaration: Declaration, record: str, rule: str, pointer: str) -> None:
    _assert_comes_back(declaration, record)
    assert [(finding.rule, finding.pointer) for finding in _read(declaration, record).findings] == [(rule, pointer)]
