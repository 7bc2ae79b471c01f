"""JSON and JSON Lines: what is a record, what is wrong with one and where, and that files come back."""

import gzip
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.record_files.content import BadRawRecord, RawRecord
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import Limits
from talkhouse.schema.errors import SourceError
from tests.conftest import invented_examples
from tests.declared.record_file_pieces import back, records_of

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
BLANKS = st.text(" \t\r", max_size=2)


@st.composite
def json_texts(draw: Any) -> str:
    """An object as some program writes it."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :")]))
    return json.dumps(draw(OBJECTS), ensure_ascii=draw(st.booleans()), separators=separators)


@st.composite
def json_lines(draw: Any) -> bytes:
    """Lines with blanks around them, blank lines between, and any line ends."""
    text = draw(BLANKS)
    for line in draw(st.lists(json_texts(), max_size=5)):
        text += draw(BLANKS) + line + draw(BLANKS) + draw(st.sampled_from(["\n", "\r\n", "\n\n", "\n \t\r\n"]))
    return (text.rstrip() if draw(st.booleans()) else text).encode(errors="surrogatepass")


def pointers(records: list[RawRecord | BadRawRecord]) -> list[str]:
    return [record.pointer for record in records]


@given(json_lines())
@settings(max_examples=8)
def test_any_lines_come_back_to_the_byte(raw: bytes) -> None:
    assert back("a.jsonl", raw) == raw
    packed = back("a.ndjson.gz", gzip.compress(raw))
    assert gzip.decompress(packed) == raw
    assert back("a.ndjson.gz", packed) == packed


@given(st.lists(json_texts(), max_size=4), st.sampled_from([",", " , ", ",\n  "]))
@settings(max_examples=5)
def test_any_list_comes_back_in_values_and_order_of_keys(texts: list[str], comma: str) -> None:
    raw = f"[{comma.join(texts)}]".encode()
    assert json.dumps(json.loads(back("a.json", raw))) == json.dumps(json.loads(raw))
    assert json.loads(back("a.json", raw, "file")) == json.loads(raw)


@given(OBJECTS)
@settings(max_examples=5)
def test_any_object_of_records_comes_back(members: dict[str, Any]) -> None:
    raw = json.dumps(members).encode()
    records = records_of("a.json", raw, "member")[1]
    assert [record.key for record in records if isinstance(record, RawRecord)] == list(members)
    assert json.dumps(json.loads(back("a.json", raw, "member"))) == json.dumps(members)


def test_lines_have_the_number_that_an_editor_shows_less_one() -> None:
    record_file, records = records_of("a.jsonl", b'\n{"a":1}\r\n\n {"a":2}')
    assert [(record.record_index, record.pointer, record.raw) for record in records] == [
        (0, "/1", b'{"a":1}'),
        (1, "/3", b'{"a":2}'),
    ]
    assert record_file.envelope == {"layout": {"gaps": {"texts": ["\n", "\r\n\n ", ""], "runs": [0, 1, 1, 1, 2, 1]}}}


def test_nothing_is_said_of_an_ordinary_file() -> None:
    assert records_of("a.jsonl", b'{"a":1}\n{"a":2}\n')[0].envelope == {}


def test_a_file_without_records_is_not_forgotten() -> None:
    assert records_of("a.jsonl", b"\n\n")[0].envelope
    for name in ("a.jsonl", "a.json"):
        raw = b"[]" if name == "a.json" else b"\n\r\n"
        assert back(name, raw) == raw
        assert gzip.decompress(back(f"{name}.gz", gzip.compress(raw))) == raw


BAD_LINES = [
    (b'{"a": 1, "b"}', "TH-01", "line 2: malformed JSON: Expecting ':' delimiter at column 13", ""),
    (b'{"a": "caf\xe9"}', "TH-02", "line 2: not UTF-8: byte 0xe9 at byte 10", ""),
    (rb'{"a": ["\ud83d"]}', "TH-02", "line 2: half of a surrogate pair in a text", "/a/0"),
    (b'{"a": {"b": 1, "c": {}, "b": 2}}', "TH-03", "line 2: the key 'b' stands twice in one object", ""),
    (b'{"a": NaN}', "TH-04", "line 2: NaN is not a JSON number, at column 7", ""),
    (b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}", "TH-01", "line 2: nested too deeply: more than 100 levels", ""),
    (b'{"a": ' + b"[" * 9000 + b"]" * 9000 + b"}", "TH-01", "line 2: nested too deeply: more than 100 levels", ""),
    (b'{"a": 1e999, "b": {"c": 1, "c": 2}}', "TH-03", "line 2: the key 'c' stands twice in one object", ""),
]


@pytest.mark.parametrize(("line", "rule", "detail", "pointer"), BAD_LINES)
def test_a_bad_line_is_named_and_comes_back(line: bytes, rule: str, detail: str, pointer: str) -> None:
    raw = b'{"a": 1}\n' + line + b'\n{"a": 3}\n'
    records = records_of("a.jsonl", raw)[1]
    assert pointers(records) == ["/0", "/1", "/2"]
    match records[1]:
        case BadRawRecord(raw=bytes(verbatim), problem=problem):
            assert (problem.rule, problem.detail.replace(", at line 1, column", ", at column")) == (rule, detail)
            assert problem.pointer == pointer
            assert verbatim == line
        case _:
            pytest.fail("it was read")
    assert back("a.jsonl", raw) == raw


def test_a_bad_item_or_member_does_not_hide_the_others() -> None:
    items = records_of("a.json", b'[{"a":1}, {"a":01}, {"a":2}]')[1]
    assert [type(record) for record in items] == [RawRecord, BadRawRecord, RawRecord]
    members = records_of("a.json", b'{"x/y": {"a":1}, "z": {"a":1,"a":2}}', "member")[1]
    assert [(type(record), record.pointer) for record in members] == [(RawRecord, "/x~1y"), (BadRawRecord, "/z")]
    assert back("a.json", b'[1, {"a":01}, 2]') == b'[1,{"a":01},2]'


def test_numbers_beyond_all_doubles_are_kept() -> None:
    assert back("a.jsonl", b'{"a":1e400,"b":-0.10}\n') == b'{"a":1e400,"b":-0.10}\n'


NOT_WHAT_THE_ENDING_SAYS = [
    ("a.json", b'{"a": 1}\n{"a": 2}\n', "item", "rename it to .jsonl"),
    ("a.json", b'{"a": 1}\n{"a": 2}\n', "file", "rename it to .jsonl"),
    ("a.json", b'{"a": 1}', "item", "not a list"),
    ("a.json", b"[1]", "member", "not an object"),
    ("a.jsonl", b'[\n{"a": 1},\n{"a": 2}\n]\n', "item", "rename it to .json"),
    ("a.jsonl.gz", b'{"a": 1}\n', "item", "rename it without .gz"),
    ("a.jsonl.gz", b"", "item", "cut off"),
    ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n', mtime=0)[:-9], "item", "cut off"),
    ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n', mtime=0)[:-1] + b"x", "item", "damaged"),
    ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n', mtime=0) + b"garbage", "item", "damaged"),
    ("a.pdf", b"hello", "item", "ends in none of"),
    ("a.txt", b"hello", "item", "a text, which has no members"),
]


@pytest.mark.parametrize(("name", "raw", "record", "words"), NOT_WHAT_THE_ENDING_SAYS)
def test_a_file_that_is_something_else_is_refused(name: str, raw: bytes, record: Any, words: str) -> None:
    with pytest.raises(BadRecord, match=words) as caught:
        records_of(name, raw, record)
    assert caught.value.rule == "GF-14"


def test_a_document_that_cannot_be_taken_apart_is_refused() -> None:
    with pytest.raises(BadRecord, match="TH-03"):
        records_of("a.json", b'{"a": {}, "a": {}}', "member")
    with pytest.raises(BadRecord, match="TH-01"):
        records_of("a.json", b'[{"a": 1}')
    with pytest.raises(BadRecord, match="TH-01"):
        records_of("a.json", b"[1] [2]")


def test_several_gz_in_a_row_and_a_byte_order_mark_inside() -> None:
    raw = gzip.compress(b'\xef\xbb\xbf{"a":1}\n') + gzip.compress(b'{"a":2}\n') + b"\0\0"
    assert pointers(records_of("a.jsonl.gz", raw)[1]) == ["/0", "/1"]
    assert gzip.decompress(back("a.jsonl.gz", raw)) == b'\xef\xbb\xbf{"a":1}\n{"a":2}\n'


SMALL = Limits(record=100_000)


@pytest.mark.parametrize("raw", [b'{"a":"' + b"x" * 200_000, b" " * 200_000, b"\n" * 200_000])
def test_an_endless_line_is_refused(raw: bytes) -> None:
    with pytest.raises(SourceError, match="bytes of one record"):
        records_of("a.jsonl", b'{"a":1}\n' + raw, limits=SMALL)


def test_a_bomb_is_refused() -> None:
    with pytest.raises(SourceError, match="for each byte of an archive"):
        records_of("a.jsonl.gz", gzip.compress(b"\n" * 3_000_000), limits=SMALL)
    with pytest.raises(SourceError, match="unpacked"):
        records_of("a.json.gz", gzip.compress(b" " * 3_000), limits=Limits(file=1_000))


@pytest.mark.slow
@given(json_lines().filter(bool), st.integers(0, 10**6), st.integers(0, 255))
@invented_examples(500)
def test_with_one_changed_byte_each_line_is_named_or_comes_back(raw: bytes, place: int, byte: int) -> None:
    changed = bytearray(raw)
    changed[place % len(raw)] = byte
    try:
        assert back("a.jsonl", bytes(changed)) == changed
    except BadRecord as bad:
        assert bad.rule == "GF-14"  # noqa: PT017 - the one brace that begins a document
