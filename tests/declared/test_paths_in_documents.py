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
from talkhouse.ingest.declared.documents.preference import Preference
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.rows import Dialogue, Record, Speaker, Turn
from tests.conftest import invented_examples
from tests.data_files import data_of
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


def test_turns_that_are_members_of_an_object_stand_behind_what_they_answer() -> None:
    nodes = [
        _node("root", None, None),
        _node("b", "a", "Two days.", "assistant"),
        _node("gap", "b", None),
        _node("a", "root", "How long do figs keep?"),
        _node("c", "gap", "Thanks."),
    ]
    result = talks(GPT, conversations_json=_mapping(*nodes))
    assert replies(result) == [("How long do figs keep?", None), ("Two days.", 0), ("Thanks.", 1)]
    assert result.places == []
    extra = json.loads(result.of(Record)[0].extra or "")
    assert {key: line for key, line in extra["lines"].items() if isinstance(line, int)} == {"b": 1, "a": 0, "c": 2}
    assert "Two days." not in json.dumps(extra)
    assert "Two days." not in (result.of(Turn)[1].extra or "")


slow = pytest.mark.slow


@slow
def test_names_of_members_may_be_anything_and_parts_may_be_objects() -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "width": 3.0}
    a, b = _node("__proto__", "", "Look."), _node("shape", "__proto__", "A fig.", "assistant")
    a["message"]["content"]["parts"] = [picture, "Look.", {"text": " Here."}]
    nodes = [a, b, _node("", None, ""), _node("x/y~z", "gone", "Orphan."), _node("self", "self", "Loop.")]
    result = talks(
        GPT, conversations_json=_mapping(*nodes), more_jsonl_gz=gzip.compress(json.dumps(_mapping(a)[0]).encode())
    )
    assert [turn.text for turn in result.of(Turn)][:5] == ["Look. Here.", "A fig.", "", "Orphan.", "Loop."]
    assert [turn.reply_to for turn in result.of(Turn)][:5] == [None, 0, None, None, None]
    assert sorted(rules(result)) == ["GF-04", "GF-07"]  # one that names itself answers nothing


@slow
def test_a_member_is_called_by_its_name_where_nothing_else_is_its_id() -> None:
    page = 'format = "dialogue"\n[dialogue]\nturns = "talk.said"\n[turn]\ntext = "t"\nreply_to = "to"\n'
    items = {"2": {"t": "B", "to": "1"}, "1": {"t": "A"}, "3": {"at": "noon"}, "4": {"t": "C", "to": "3"}}
    result = talks(page, a_jsonl=json.dumps({"talk": {"said": items}}) + '\n{"talk": {"said": {}}}\n')
    assert [(turn.native_id, turn.text, turn.reply_to) for turn in result.of(Turn)] == [
        ("1", "A", None),
        ("2", "B", 0),
        ("4", "C", None),
    ]
    assert rules(result) == ["GF-01"]  # of the second record: an object without members is no list


@slow
def test_an_object_is_taken_for_its_members_only_if_all_are_objects() -> None:
    page = 'format = "dialogue"\n[dialogue]\nturns = "m"\n[turn]\ntext = "t"\n'
    result = talks(page, a_jsonl='{"m": {"a": {"t": "A"}, "b": "B"}}\n{"m": {"t": "A"}}\n{"m": {"a": {"t": "A"}}}\n')
    assert (texts(result), rules(result)) == (["A"], ["GF-01", "GF-01"])
    strictly = page.replace('"m"', '"m.*"')
    result = talks(strictly, a_jsonl='{"m": {"a": {"t": "A"}, "b": null}}\n{"m": [{"t": "A"}]}\n{"m": {}}\n')
    assert (texts(result), rules(result)) == (["A"], ["GF-02", "GF-01"])
    bare = 'format = "dialogue"\n[dialogue]\nturns = "m.*"\n[turn]\ntext = "$"\n'
    result = talks(bare, a_jsonl='{"m": {"1": "A", "2": "B"}}\n')
    assert [(turn.native_id, turn.text) for turn in result.of(Turn)] == [("1", "A"), ("2", "B")]


@slow
def test_without_replies_a_member_without_a_text_is_a_turn() -> None:
    page = 'format = "dialogue"\n[dialogue]\nturns = "m.*"\n[turn]\ntext = "t"\n'
    result = talks(page, a_json=[{"m": {"a": {"photo": "oar.jpg"}, "b": {"t": "Look."}, "c": None}}])
    assert (texts(result), rules(result)) == (["", "Look."], ["GF-22"])


@slow
def test_many_nodes_without_a_message_take_time_in_proportion() -> None:
    nodes = [_node("0", None, "First.")]
    nodes += [_node(str(place), str(place - 1), None) for place in range(1, 6_000)]
    nodes += [_node(str(place), "5999", "Last.") for place in range(6_000, 10_000)]
    result = talks(GPT, conversations_json=_mapping(*nodes[::-1]))
    assert replies(result)[:2] == [("First.", None), ("Last.", 0)]
    assert len(texts(result)) == 4_001


BARE = 'format = "chat"\n[dialogue]\nturns = "$"\n'


@slow
def test_a_record_may_be_a_list_of_messages() -> None:
    lines = '[{"role": "user", "content": "Tea?"}]\n[]\n{"a": 1}\n[{"role": "user", "content": 5}]\n'
    result = talks(BARE, a_jsonl=lines, b_json=[[{"role": "user", "content": "In b?"}]])
    assert texts(result) == ["Tea?", "In b?"]
    assert result.places == [("GF-02", "a.jsonl#/1"), ("GF-01", "a.jsonl#/2"), ("GF-01", "a.jsonl#/3/0/content")]


@slow
def test_a_file_may_be_one_list_of_messages() -> None:
    page = (
        'format = "dialogue"\n[dialogue]\nrecord = "$"\nturns = "$"\ntitle = "[0].room"\n[turn]\ntext = "t"\nid = "n"\n'
    )
    result = talks(page, a_json=[{"t": "A", "n": 1, "room": "north"}, {"t": "B", "n": 1}], b_json=[])
    assert texts(result) == ["A", "B"]
    assert [row.title for row in result.of(Dialogue)] == ["north", None]
    assert result.places == [("GF-06", "a.json#/1/n"), ("GF-02", "b.json#")]


@slow
def test_a_tree_may_be_the_record_itself() -> None:
    page = 'format = "tree"\n[dialogue]\nid = "id"\nturns = "$"\n[turn]\nid = "id"\ntext = "body"\n'
    page += 'role = "by"\nreplies = "below"\n'
    tree = {"id": "p", "by": "ida", "body": "Why?", "n": 1.50, "below": [{"id": "q", "by": "ole", "below": None}]}
    result = talks(page, a_jsonl=json.dumps(tree) + "\n[]\n")
    assert (replies(result), result.of(Record)[0].dialogue_id) == ([("Why?", None), ("", 0)], "quay:p")
    assert result.places == [("GF-22", "a.jsonl#/0/below/0"), ("GF-01", "a.jsonl#/1")]


@slow
def test_pairs_and_texts_may_be_the_record() -> None:
    result = talks(
        'format = "pairs"\n[pair]\nprompt = "[0]"\nresponse = "[1].t"\n', a_jsonl='["Q", {"t": "A", "n": 1}]\n["Q"]\n'
    )
    assert (texts(result), result.places) == (["Q", "A"], [("GF-01", "a.jsonl#/1")])
    page = 'format = "pairs"\n[pair]\neach = "$"\nprompt = "q"\nresponse = ["a", "b"]\n'
    result = talks(page, a_json=[[{"q": "Q", "a": "A"}, {"q": "R", "b": "B", "a": None}]])
    assert texts(result) == ["Q", "A", "R", "B"]
    page = 'format = "transcript"\n[dialogue]\ntext = "$"\n[markers]\n"A: " = "user"\n'
    result = talks(page, a_jsonl='"A: Tea?"\n{"": "A: Tea?"}\n')
    assert (texts(result), result.places) == (["Tea?"], [("GF-01", "a.jsonl#/1")])


@slow
def test_a_list_may_be_a_turn_and_an_item_may_be_named_by_its_place() -> None:
    page = 'format = "dialogue"\n[dialogue]\nid = "id"\nturns = "talk"\n[turn]\nspeaker = "[0]"\ntext = "[1].t"\n'
    result = talks(
        page, a_jsonl='{"id": 1, "talk": [["ida", {"t": "Tea?"}, 3], [], ["ida"]]}\n{"id": 2, "talk": [{}]}\n'
    )
    assert (texts(result), [row.native_id for row in result.of(Speaker)]) == (["Tea?", "", ""], ["ida"])
    assert result.places == [("GF-22", "a.jsonl#/0/talk/1"), ("GF-01", "a.jsonl#/1/talk/0")]
    page = 'format = "dialogue"\n[dialogue]\nturns = "dialog[0]"\n[turn]\ntext = "all[1].t"\n'
    result = talks(page, a_json=[{"dialog": [[{"all": [{"t": "a"}, {"t": "b"}]}], [{"all": []}]]}, {"dialog": []}])
    assert (texts(result), result.places) == (["b"], [("GF-01", "a.json#/1/dialog")])


@slow
def test_the_first_path_that_leads_to_something_counts() -> None:
    page = 'format = "dialogue"\n[dialogue]\nturns = ["turns", "messages.list"]\ntitle = ["name", "subject.text"]\n'
    page += '[turn]\ntext = ["t", "body.plain"]\nspeaker = ["user", "bot"]\n[speaker]\nname = ["real", "nick"]\n'
    first = [
        {"t": "A", "user": "u", "bot": "b", "nick": "Nick"},
        {"t": None, "body": {"plain": "B"}, "user": None, "bot": "b"},
        {"body": {}, "bot": "b"},
    ]
    records = [{"name": None, "subject": {"text": "S"}, "turns": first}, {"messages": {"list": [{"t": "C"}]}}, {}]
    result = talks(page, a_json=records)
    assert texts(result) == ["A", "B", "", "C"]
    assert [turn.speaker_id for turn in result.of(Turn)] == ["quay:u", "quay:b", "quay:b", None]
    assert [row.name for row in result.of(Speaker)] == ["Nick", None]
    assert [row.title for row in result.of(Dialogue)] == ["S", None]
    assert result.places == [("GF-22", "a.json#/0/turns/2"), ("GF-01", "a.json#/2")]


@slow
def test_each_message_and_reply_has_paths_of_its_own() -> None:
    page = 'format = "tree"\n[dialogue]\nturns = ["first", "root"]\n[turn]\nid = ["id", "n"]\ntext = ["t", "u"]\n'
    page += 'role = "by"\nreplies = ["below", "more"]\nreply_to = ["parent", "up"]\n'
    below = [{"by": "b", "u": "B", "t": None, "n": 2, "up": 1, "below": []}, {"by": "c", "t": "C", "parent": 9}]
    result = talks(
        page, a_json=[{"root": {"by": "a", "u": "A", "n": 1, "more": below}}, {"first": {"by": "a", "t": "Z"}}]
    )
    assert replies(result) == [("A", None), ("B", 0), ("C", 0), ("Z", None)]
    page = 'format = "preference"\n[turn]\nrole = ["role", "from"]\ntext = ["content", "value"]\n'
    answers = [[{"from": "gpt", "content": None, "value": text, "n": 1}] for text in ("Yes.", "No.")]
    preference = Preference(read_declaration("quay", HEAD + page, "quay/corpus.toml"))
    assert comes_back(preference, json.dumps({"prompt": "Tea?", "chosen": answers[0], "rejected": answers[1]}))


@slow
def test_the_first_column_that_says_something_counts() -> None:
    page = 'format = "turns"\n[dialogue]\nid = "d"\ntitle = ["n", "r"]\n'
    page += '[turn]\ntext = ["t", "u"]\nspeaker = ["user", "bot"]\n'
    csv = 'd,t,u,user,bot,n,r\n1,a,x,ida,b,,R\n1,,"y,",,b,,R\n2,,,,,N,\n'
    result = talks(
        page, a_csv=csv, b_csv="d,u,bot,n\n3,hi,b,X\n", c_jsonl='{"bot": 7, "user": null, "d": "4", "u": "z"}\n'
    )
    assert texts(result) == ["a", "y,", "", "hi", "z"]
    assert [turn.speaker_id for turn in result.of(Turn)] == ["quay:ida", "quay:b", None, "quay:b", "quay:7"]
    assert [row.title for row in result.of(Dialogue)] == ["R", "N", "X", None]
    assert rules(talks(page, a_csv="d,t,n\n1,a,N\n")) == ["GF-12"]


ORDER = 'format = "dialogue"\n[dialogue]\nturns = "m"\n[turn]\nid = "id"\ntext = "t"\nreply_to = "to"\norder = "at"\n'


@slow
@pytest.mark.parametrize(("places", "expected"), data_of(__file__)["turns_are_put_in_order_by_numbers_and_times"])
def test_turns_are_put_in_order_by_numbers_and_times(places: list[Any], expected: str) -> None:
    result = talks(ORDER, a_json=[{"m": [{"t": text, "at": at} for text, at in zip("abc", places, strict=False)]}])
    assert "".join(texts(result)) == expected
    assert result.places == []


@slow
def test_a_turn_without_a_place_stays_behind_the_one_before_it() -> None:
    items = [{"t": "c", "at": 3, "to": 9, "id": 7}, {"t": "d"}, {"t": "b", "at": "soon"}, {"t": "a", "at": 1, "id": 9}]
    result = talks(ORDER, a_json=[{"m": items}, {"m": [{"t": "x", "at": "NaN"}]}])
    assert replies(result) == [("a", None), ("c", 0), ("d", None), ("b", None), ("x", None)]
    assert result.places == [("GF-01", f"a.json#/{place}/at") for place in ("0/m/1", "0/m/2", "1/m/0")]
    assert all(finding.severity == "warn" for finding in result.findings)


@slow
def test_the_last_turn_may_stand_first() -> None:
    page = 'format = "chat"\n[dialogue]\nsystem = "s"\n[turn]\norder = "reversed"\n'
    messages = [{"role": "assistant", "content": "2"}, {"role": "user", "content": "1", "n": 1}]
    result = talks(page, a_json=[{"s": "S", "messages": messages}, {"messages": messages[:1]}])
    assert texts(result) == ["S", "1", "2", "2"]
    rows = 'format = "turns"\n[dialogue]\nid = "d"\n[turn]\ntext = "t"\norder = "reversed"\n'
    result = talks(rows, a_csv="d,t\n1,c\n2,z\n1,b\n2,y\n1,a\n", b_jsonl='{"d": 3, "t": "b"}\n{"d": 3, "t": "a"}\n')
    assert "".join(texts(result)) == "abcyzab"
    far = 'format = "dialogue"\n[dialogue]\nturns = "days[*].m.*"\n[turn]\ntext = "t"\norder = "reversed"\n'
    result = talks(far, a_json=[{"days": [{"m": {"x": {"t": "c"}, "y": {"t": "b"}}}, {"m": {"z": {"t": "a"}}}]}])
    assert texts(result) == ["a", "b", "c"]


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
@pytest.mark.parametrize(
    ("file", "place", "words"),
    [
        ({"dato": [], "x": 1}, "", "the file has no 'data', but 'dato', 'x'"),
        ({"data": [{"title": "A"}]}, "", "/data/0 has no 'parts', but 'title'"),
        ({"data": None}, "", "/data is null"),
        ({"data": {"a": 1}}, "/data", "a JSON object, not a list: '.*' takes each member"),
        ({"data": [{"parts": "none"}]}, "/data/0/parts", "a JSON value, not a list"),
        ([{"parts": []}], "", "a JSON list, not an object"),
    ],
)
def test_a_path_of_records_that_leads_nowhere_says_what_is_there(file: Any, place: str, words: str) -> None:
    (rejected,) = talks(INSIDE, a_json=file).rejected
    assert (rejected.rule, rejected.at) == ("GF-14", place)
    assert words in rejected.detail


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
def test_the_smallest_thing_that_is_wrong_is_set_aside() -> None:
    page = 'format = "dialogue"\n[dialogue]\nturns = "m"\ntitle = "n"\nsystem = "s"\nstarted_at = "b"\n'
    page += '[turn]\ntext = "t"\nspeaker = "who"\nsaid_at = "at"\nkind = "kind"\n[speaker]\nname = "called"\n'
    of_turns = '[[annotations]]\non = "turn"\nscheme = '
    page += f'{of_turns}"mood"\nlabel = "mood"\n{of_turns}"score"\nvalue = "score"\n'
    page += f'{of_turns}"mark"\neach = "$.marks[*]"\nturn = "turn"\nlabel = "l"\n'
    odd = {"t": "A", "who": {"id": 1}, "at": [1], "kind": {}, "called": [], "mood": {"a": 1}, "score": "high"}
    fine = {"t": "B", "mood": "calm", "score": 1.5, "kind": "call"}
    marks = [{"turn": 5, "l": "a"}, {"turn": 1, "l": "b"}, {"turn": {}, "l": "c"}]
    result = talks(page, a_json=[{"n": ["x"], "s": {}, "b": {}, "m": [odd, fine, {"kind": "photo"}], "marks": marks}])
    assert [(turn.text, turn.kind) for turn in result.of(Turn)] == [("A", "message"), ("B", "call"), ("", "photo")]
    assert result.rejected == []
    assert sorted(rules(result)) == ["GF-01"] * 10 + ["GF-15", "GF-22"]
    assert all(finding.severity == "warn" for finding in result.findings if finding.rule != "GF-22")


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
