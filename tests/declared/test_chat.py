"""Messages as OpenAI, ShareGPT and logs have them: what becomes of each form, and that it comes back."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Declaration, DialogueFields, SpeakerFields, TurnFields
from talkhouse.ingest.declared.documents.message_formats import DialogueFormat
from talkhouse.ingest.declared.documents.parsed_record import ParsedPart
from talkhouse.ingest.decode import BadRecord
from tests.conftest import invented_examples
from tests.declared import talks
from tests.declared.json_texts import ANY, TEXTS, lists, objects, with_others

CHAT = Declaration(
    "c",
    "",
    "c/corpus.toml",
    "C",
    "chat",
    (),
    dialogue=DialogueFields(system=("system",), turns=("messages",)),
    turn=TurnFields(role=("role",), text=("content",), speaker=("name",)),
    speaker=SpeakerFields(scope="dialogue"),
)
FORMAT = DialogueFormat(CHAT)


def _record(*messages: str) -> str:
    return '{"messages": [' + ", ".join(messages) + "]}"


def _parts(message: str) -> list[ParsedPart]:
    return talks.read(FORMAT, _record(message)).turns[0].parts or []


def _assert_comes_back(record: str) -> None:
    assert talks.same(talks.written(FORMAT, CHAT, record), record)


TEXT = '{"role": "user", "content": "How long do figs keep?"}'

MESSAGES = {
    "plain": TEXT,
    "other order": '{"content": "Two days.", "role": "assistant"}',
    "null content": '{"role": "assistant", "content": null, "tool_calls": null, "name": null}',
    "no content": '{"role": "assistant", "tool_calls": []}',
    "arguments as a text": '{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",'
    ' "function": {"name": "find", "arguments": " {\\"n\\": 1.50,  \\"n\\": 2}"}}]}',
    "arguments as an object": '{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function":'
    ' {"arguments": {"n": 1.50, "m": [1e3]}, "name": "find"}, "index": 0}]}',
    "arguments that do not parse": '{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "function":'
    ' {"name": "find", "arguments": "{\\"n\\": "}}]}',
    "no call": '{"role": "assistant", "content": "Oh.", "tool_calls": ["find", 3]}',
    "a call without a function": '{"role": "assistant", "content": "Oh.", "tool_calls": [{"name": "find",'
    ' "arguments": null}]}',
    "function call": '{"role": "assistant", "content": null, "function_call": {"name": "find", "arguments": "{}"}}',
    "result": '{"role": "tool", "tool_call_id": "c9", "content": [{"type": "text", "text": "Six."}]}',
    "parts": '{"role": "user", "content": [{"type": "text", "text": "Is 😀 "}, {"type": "image_url", "image_url":'
    ' {"url": "https://example.org/f.png", "detail": "low"}}, {"type": "text", "text": "ripe?", "weight": 1.0}]}',
    "data": '{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}',
    "address only": '{"role": "user", "content": [{"type": "image_url", "image_url": "https://example.org/f.png"}]}',
    "audio and file": '{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AA", "format":'
    ' "wav"}}, {"type": "file", "file": {"filename": "f.pdf", "file_id": "x"}}, {"type": "refusal", "refusal": "No"}]}',
    "value for text": '{"role": "user", "content": [{"type": "text", "value": "Ripe"}, "?",'
    ' {"type": "hum", "pitch": 3}]}',
    "both for text": '{"role": "user", "content": [{"text": "a", "type": "text", "value": "b"}]}',
    "empty parts": '{"role": "user", "content": []}',
    "reasoning": '{"role": "assistant", "reasoning_content": "Hm.", "content": "Yes.", "thinking": "Mh.",'
    ' "train": false}',
    "audio": '{"role": "assistant", "content": null, "audio": {"id": "a1", "transcript": "Yes", "expires_at": 1.0}}',
    "named": '{"role": "user", "content": "Hi", "name": "ada"}',
    "named by a number": '{"role": "user", "content": "Hi", "name": 7}',
    "no name": '{"role": "user", "content": "Hi", "name": ""}',
    "our own names": '{"role": "user", "content": "Hi", "shape": 3, "shape_": 4, "fields": {}}',
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_comes_back(message: str) -> None:
    _assert_comes_back(_record(TEXT, message, TEXT))


def test_parts_refer_into_the_text_by_code_points() -> None:
    said = talks.read(FORMAT, _record(MESSAGES["parts"])).turns[0]
    assert said.text == "Is 😀 ripe?"
    assert [(part.kind, part.start_index, part.end_index, part.uri) for part in said.parts or ()] == [
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
    said = talks.read(FORMAT, _record(MESSAGES["reasoning"])).turns[0]
    assert [(part.field, part.kind, part.text) for part in said.parts or ()] == [
        ("reasoning_content", "reasoning", "Hm."),
        ("thinking", "reasoning", "Mh."),
    ]


def test_a_name_is_a_speaker_and_an_empty_one_is_none() -> None:
    talk = talks.read(FORMAT, _record(MESSAGES["named"], MESSAGES["named by a number"], MESSAGES["no name"], TEXT))
    assert [said.speaker for said in talk.turns] == ["ada", "7", None, None]


@pytest.mark.parametrize("system", ['"Be brief."', '""', "null"])
@pytest.mark.parametrize("messages", ["[]", f"[{TEXT}]"])
def test_a_system_beside_the_turns_is_the_first_turn(system: str, messages: str) -> None:
    record = f'{{"a": 1.50, "messages": {messages}, "system": {system}}}'
    _assert_comes_back(record)
    talk = talks.read(FORMAT, record)
    assert [said.role for said in talk.turns if said.role == "system"] == (["system"] if len(system) > 4 else [])
    assert [said.pointer for said in talk.turns if said.role != "system"] == (
        ["/messages/0"] if TEXT in messages else []
    )


@pytest.mark.parametrize(
    ("record", "pointer", "words"),
    [
        ('{"a": 1}', "", "'messages' is missing"),
        ('{"messages": null}', "/messages", "null"),
        ('{"messages": {}}', "/messages", "an object"),
        ('{"messages": ["Hi"]}', "/messages/0", "a text"),
        (_record(TEXT, '{"content": "Hi"}'), "/messages/1", "'role' is missing"),
        (_record('{"role": null, "content": "Hi"}'), "/messages/0/role", "null"),
        (_record('{"role": 3, "content": "Hi"}'), "/messages/0/role", "a number"),
        (_record('{"role": "user"}'), "/messages/0", "'content' is missing"),
        (_record('{"role": "user", "content": 5}'), "/messages/0/content", "a number"),
        (_record('{"role": "user", "content": [5]}'), "/messages/0/content/0", "a number"),
        ('{"messages": [], "system": 3}', "/system", "a number"),
    ],
)
def test_what_is_missing_or_of_another_type_is_named(record: str, pointer: str, words: str) -> None:
    with pytest.raises(BadRecord) as raised:
        talks.read(FORMAT, record)
    assert (raised.value.rule, raised.value.pointer) == ("GF-01", pointer)
    assert words in raised.value.detail


@pytest.mark.parametrize(
    ("record", "rule", "pointer"),
    [
        (_record('{"role": "chef", "content": "Hi"}'), "GF-05", "/messages/0/role"),
        (
            _record(TEXT, '{"role": "tool", "tool_call_id": "c9", "content": "Yes"}'),
            "GF-16",
            "/messages/1/tool_call_id",
        ),
    ],
)
def test_findings(record: str, rule: str, pointer: str | None) -> None:
    assert [(finding.rule, finding.pointer) for finding in talks.read(FORMAT, record).findings] == [(rule, pointer)]
    _assert_comes_back(record)


def test_the_objects_of_turns_are_there_for_labels() -> None:
    record = f'{{"system": "Be brief.", "messages": [{TEXT}, {MESSAGES["named"]}]}}'
    messages = talks.read(FORMAT, record).messages
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
_ARGUMENTS = st.sampled_from(['"{\\"a\\": 1.0}"', '"{"', '"1e999"', '"\\"\\\\ud800\\""'])
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


@invented_examples(400)
@given(_RECORDS)
def test_any_record_comes_back(record: str) -> None:
    _assert_comes_back(record)


@pytest.mark.slow
@invented_examples(250)
@given(with_others({}, {"messages": lists(_MESSAGES | ANY) | ANY, "system": ANY}))
def test_a_broken_record_is_named_or_comes_back(record: str) -> None:
    with suppress(BadRecord):
        _assert_comes_back(record)
