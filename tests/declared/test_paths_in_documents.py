"""Where records and turns may lie in JSON, and in which order: each form is read, and comes back from the rows."""

import gzip
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.documents.message_formats import DialogueFormat
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.rows import Record, Turn
from tests.conftest import invented_examples
from tests.declared.records import ANY, NUMBERS, SCALARS, TEXTS, comes_back, lists, objects, same, with_others
from tests.declared.rows_loaded import Read, read, restored

HEAD = 'title = "Quay"\nlicence = "CC0-1.0"\ncitation = "Nobody (2026)."\n'


def talks(page: str, **files: Any) -> Read:
    """Read files, ``a_json`` is ``a.json``, given as texts, bytes or values; each has to come back."""
    raws = {
        name.replace("_", "."): raw
        if isinstance(raw, bytes)
        else (raw if isinstance(raw, str) else json.dumps(raw, indent=1)).encode()
        for name, raw in files.items()
    }
    result = read(read_declaration("quay", HEAD + page, "quay/corpus.toml"), raws)
    back = restored(result)
    for name, raw in raws.items():
        texts = [gzip.decompress(content) if name.endswith(".gz") else content for content in (raw, back[name])]
        if ".jsonl" in name:
            lines = [text.decode().splitlines() for text in texts]
            assert len(lines[0]) == len(lines[1])
            assert all(map(same, *lines)), back[name]
        elif ".csv" in name:
            assert texts[0] == texts[1]
        else:
            assert same(*(text.decode() for text in texts)), back[name]
    return result


def texts(result: Read) -> list[str]:
    return [turn.text for turn in result.of(Turn)]


def replies(result: Read) -> list[tuple[str, int | None]]:
    return [(turn.text, turn.reply_to) for turn in result.of(Turn)]


def rules(result: Read) -> list[str]:
    return [rule for rule, _ in result.places]


def _node(key: str, parent: str | None, text: str | None, role: str = "user", **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    message = None if text is None else {"id": key, "author": {"role": role}, "content": content, **more}
    return {"id": key, "message": message, "parent": parent, "children": []}


GPT = (
    'format = "chat"\n[dialogue]\nid = "conversation_id"\nturns = "mapping.*"\n[turn]\nid = "id"\nreply_to = "parent"\n'
)
GPT += 'text = "message.content.parts"\nrole = "message.author.role"\nspeaker = "message.author.name"\n'


def _mapping(*nodes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"title": "Figs", "mapping": {node["id"]: node for node in nodes}, "conversation_id": "k"}]


slow = pytest.mark.slow


@slow
def test_many_nodes_without_a_message_take_time_in_proportion() -> None:
    nodes = [_node("0", None, "First.")]
    nodes += [_node(str(place), str(place - 1), None) for place in range(1, 6_000)]
    nodes += [_node(str(place), "5999", "Last.") for place in range(6_000, 10_000)]
    result = talks(GPT, conversations_json=_mapping(*nodes[::-1]))
    assert replies(result)[:2] == [("First.", None), ("Last.", 0)]
    assert len(texts(result)) == 4_001


INSIDE = 'format = "dialogue"\n[dialogue]\nrecord = "data[*].parts[*]"\nturns = "qas"\n[turn]\ntext = "q"\n'


@slow
def test_records_inside_a_file_leave_the_rest_in_its_place() -> None:
    parts = [{"qas": [{"q": "1"}]}, {"qas": "no"}, {"qas": []}]
    listed = [{"title": "A", "parts": parts, "x": [1e5, {"parts": [0]}]}, {"title": "B"}, {"title": "C", "parts": None}]
    listed += [{"title": "D", "parts": []}, {"parts": [{"qas": [{"q": "2"}]}]}]
    result = talks(INSIDE, a_json={"version": "1.50", "data": listed, "z": {"data": "\ud83d\ude00 \u2028"}})
    assert texts(result) == ["1", "2"]
    pointers = [row.source_pointer for row in result.of(Record)]
    assert pointers == ["/data/0/parts/0", "/data/0/parts/2", "/data/4/parts/0"]
    assert result.places == [("GF-02", "a.json#/data/0/parts/2"), ("GF-01", "a.json#/data/0/parts/1/qas")]
    members = INSIDE.replace("data[*].parts[*]", "threads.*")
    result = talks(
        members, a_json={"threads": {"a/b": {"qas": []}, "": {"qas": [{"q": "2"}]}}, "w": 1}, b_json={"threads": {}}
    )
    assert [row.native_id for row in result.of(Record)] == ["a/b", ""]
    listed = INSIDE.replace("data[*].parts[*]", "chats.list")
    result = talks(listed, a_json={"about": "x", "chats": {"n": 2, "list": [{"qas": []}, 5]}})
    assert rules(result) == ["GF-02", "GF-01"]


@slow
def test_what_stands_around_records_is_checked_too() -> None:
    for file, rule in (
        (b'{"a": NaN, "data": []}', "TH-04"),
        (b'{"data": [], "data": []}', "TH-03"),
        (b'{"data": [{"parts": []}], "x": {"a": 1, "a": 2}}', "TH-03"),
        (b'{"data": [{"parts": []}], "x": "\xff"}', "TH-02"),
        (b'{"data": [{"parts": [{"qas": []}]', "TH-01"),
    ):
        result = read(read_declaration("quay", HEAD + INSIDE, "quay/corpus.toml"), {"a.json": file})
        assert (rules(result), restored(result)) == ([rule], {"a.json": file})
    assert rules(talks(INSIDE, a_jsonl='{"qas": []}\n')) == ["GF-14"]


@slow
def test_turns_without_a_text_are_counted_once_a_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    page = 'format = "chat"\n'
    lines = [{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": []}]}] * 40
    lines += [{"messages": [{"role": "user", "content": None}, {"role": "user"}]}] * 40
    raw = "".join(json.dumps(line) + "\n" for line in lines)
    for carefully in ("", "1"):
        monkeypatch.setenv("TALKHOUSE_READ_CAREFULLY", carefully)
        result = talks(page, a_jsonl=raw, b_jsonl=raw)
        (finding,) = result.findings
        assert (finding.rule, finding.pointer) == ("GF-22", "/0/messages/1")
        assert finding.detail.startswith("160 of 320 turns have no text at content;")
    result = talks('format = "dialogue"\n[dialogue]\nturns = "messages"\n[turn]\ntext = "text"\n', a_jsonl=raw)
    assert result.findings[0].detail.startswith("none of 160 turns has a text at text")


_KEYS = st.sampled_from(["shape", "a", "x/y", "__proto__", ""])
_NAMES = st.one_of(_KEYS.map(json.dumps), st.sampled_from(["null", "1", "[]"]))
_NODES = with_others(
    {"to": _NAMES},
    {
        "id": _NAMES,
        "message": objects(st.fixed_dictionaries({}, optional={"t": TEXTS | ANY, "who": _NAMES, "at": NUMBERS | ANY}))
        | st.just("null"),
        "u": TEXTS,
    },
)
_OBJECTS = st.dictionaries(_KEYS, _NODES | st.just("null"), min_size=1, max_size=5).flatmap(
    lambda nodes: objects(st.just(nodes))
)
_PAGE = 'format = "dialogue"\n[dialogue]\nturns = "m"\n[turn]\ntext = ["message.t", "u"]\nspeaker = "message.who"\n'
_PAGES = [
    _PAGE,
    _PAGE + 'order = "message.at"\n',
    _PAGE + 'order = "reversed"\nid = "id"\n',
    _PAGE + 'reply_to = "to"\nid = ["id", "message.who"]\n',
    _PAGE.replace('"m"', '"m.*"') + 'reply_to = "to"\n',
    _PAGE.replace('"m"', '"m.*"') + 'reply_to = "to"\nid = "id"\n',
]


@slow
@invented_examples(400)
@given(st.sampled_from(_PAGES), with_others({"m": _OBJECTS | lists(_NODES, most=4)}, {}))
def test_any_object_or_list_of_turns_comes_back(page: str, record: str) -> None:
    declaration = read_declaration("quay", HEAD + page, "quay/corpus.toml")
    with suppress(BadRecord):
        assert comes_back(DialogueFormat(declaration), record, declaration)


@slow
@pytest.mark.parametrize("record", ["data[*].parts[*]", "data.*", "data", "data[*]", "*", "$"])
@settings(max_examples=60)
@given(
    st.recursive(
        SCALARS,
        lambda inner: lists(inner) | objects(st.dictionaries(st.sampled_from(["data", "parts", "", "é"]), inner)),
        max_leaves=12,
    )
)
def test_any_file_comes_back_whatever_its_records_are(record: str, text: str) -> None:
    page = HEAD + INSIDE.replace("data[*].parts[*]", record)
    result = read(read_declaration("quay", page, "quay/corpus.toml"), {"a.json": text.encode()})
    assert same(restored(result)["a.json"].decode(), text)
