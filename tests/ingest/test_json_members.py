"""Splitting JSON: the members as published, nothing but JSON around them, and each malformed member by itself."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from talkhouse.ingest import json_members
from talkhouse.ingest.decode import BadRecord, unique

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def members(raw: bytes) -> list[tuple[str, bytes]]:
    return [(token, bytes(piece)) for token, piece in json_members.views(raw)]


@given(st.dictionaries(st.text(max_size=4), JSON) | st.lists(JSON), st.sampled_from([None, 1]))
def test_splitting_and_decoding_is_decoding(value: Any, indent: int | None) -> None:
    pieces = [(token, json.loads(piece)) for token, piece in members(json.dumps(value, indent=indent).encode())]
    whole = value.items() if isinstance(value, dict) else enumerate(value)
    assert pieces == [(str(token), item) for token, item in whole]


def test_a_malformed_member_does_not_hide_the_others() -> None:
    found = dict(members(b'{"0": {"a": NaN}, "1": {"s": "}\\""}, "2": NaN, "3": "\\ud800", "4": {"a" 1}, "5": [1,]}'))
    assert list(found) == ["0", "1", "2", "3", "4", "5"]
    assert found["1"] == b'{"s": "}\\""}'
    assert found["4"] == b'{"a" 1}'


def test_a_key_that_repeats_is_there_each_time() -> None:
    assert members(b' {"a": {"x": 1}, "b": 2, "a": {"x": 3}}') == [("a", b'{"x": 1}'), ("b", b"2"), ("a", b'{"x": 3}')]
    assert [token for token, _ in members(b'{"a":1,"a":2}')] == ["a", "a"]
    assert [token for token, _ in members(b'{"a":1,"b":1,"\\u0061":1}')] == ["a", "b", "a"]


@pytest.mark.parametrize("raw", [b'{"a": {"x": 1}', b'{"a"', b'["x"', b"{", b'{"a": [1, 2}'])
def test_brackets_that_do_not_match_are_refused(raw: bytes) -> None:
    with pytest.raises(BadRecord, match="TH-01"):
        members(raw)


def test_views_are_the_members_also_where_one_is_malformed_or_stands_twice() -> None:
    for raw in (b'{"a": [1], "b": {"c": 2}}', b'{"a": [1], "a": 2}', b'{"a": [1 2], "b": 3}', b"[1, {}, []]", b"{ }"):
        assert [(token, bytes(piece)) for token, piece in json_members.views(memoryview(raw))] == members(raw)


def test_fields_are_in_published_order_and_stand_once() -> None:
    raw = b'{"b" :1,"a": "x\\"y" , "\\u00e9":{"b":1} }'
    assert {key: bytes(piece) for key, piece in json_members.fields(raw).items()} == {
        "b": b"1",
        "a": b'"x\\"y"',
        "é": b'{"b":1}',
    }
    for broken, rule in ((b'{"a":1,"b":2,"\\u0061":3}', "TH-03"), (b"[1]", "TH-01"), (b'{"a":1', "TH-01")):
        with pytest.raises(BadRecord) as caught:
            json_members.fields(broken)
        assert caught.value.rule == rule


def test_the_last_value_of_a_key_counts_as_in_python() -> None:
    raw = b' {"a": [{"b": 1, "c": 1.50, "b": {"d": 1, "d": []}}], "~": NaN, "a": [1, {"b": "x", "b":2}] , "e":{}}'
    text, twice = json_members.last_values(raw)
    assert json.dumps(json.loads(text)) == json.dumps(json.loads(raw))
    assert twice == ["/a", "/a/1/b"]
    text, twice = json_members.last_values(raw.replace(b'"a": [1', b'"f": [1'))
    assert (text.count(b"1.50"), twice) == (1, ["/a/0/b", "/a/0/b/d", "/f/1/b"])


BROKEN = [
    *((b'{"a": 1 "b": 2}', "column 9"), (b'{"a": 1,}', "column [89]"), (b'{"a": 1},', "column 9")),
    *((b'{"a": 1} x', "column 10"), (b"[1 2]", "column 4"), (b"[1,]", "column [34]"), (b"[,1]", "column 2")),
    *((b"[1}", "column 3"), (b"[1]]", "column 4"), (b'{"a" 1}', "column 6"), (b"", "column 1"), (b" \n", "line 2")),
    (b'{"a\x01": 1, "a": NaN}', "column 4"),
]


@pytest.mark.parametrize(("raw", "place"), BROKEN)
def test_what_stands_around_the_members_must_be_json(raw: bytes, place: str) -> None:
    with pytest.raises(BadRecord, match="TH-01") as caught:
        members(raw)
    assert re.search(place, caught.value.detail)  # from Python 3.13 on, a comma too many is where it stands


VALUES = ["1", "null", '"x"', '"],["', "[1, 2]", '{"a": [{}]}', "{}"]
NOISE = ["", ",", "[", "]", "}", '"', " ", "1", ":"]


@given(st.lists(st.sampled_from(VALUES), max_size=4), st.integers(0, 40), st.sampled_from(NOISE))
def test_a_list_is_split_if_valid_or_only_a_member_is_malformed(values: list[str], at: int, noise: str) -> None:
    """Whatever stands too much: with each member decoded by itself, Python reads the whole as just these members."""
    text = f"[{', '.join(values)}]"
    text = text[:at] + noise + text[at:]
    try:
        found = [json.loads(bytes(piece)) for piece in json_members.items(text.encode())]
    except (ValueError, BadRecord):
        with pytest.raises(ValueError, match=r"."):
            json.loads(text)
    else:
        assert found == json.loads(text)


@pytest.mark.parametrize("raw", [b"1", b'"x"', b"null", b'{"a": 1}'])
def test_another_value_is_not_a_list(raw: bytes) -> None:
    with pytest.raises(BadRecord, match="not a JSON list"):
        json_members.items(raw)


def test_another_value_that_is_malformed_is_named_for_that() -> None:
    with pytest.raises(BadRecord, match="TH-02"):
        json_members.items(b'"caf\xe9"')
    with pytest.raises(BadRecord, match="malformed JSON"):
        json_members.items(b'{"a": }')


def test_a_problem_of_a_part_is_named_by_its_place_in_the_whole_text() -> None:
    whole = b'{"a":\n [1 2]}'
    part = dict(json_members.views(whole))["a"]
    with pytest.raises(BadRecord, match="line 2, column 5"):
        json_members.items(part, within=whole)


@pytest.mark.parametrize(
    ("raw", "rule"), [(b'{"\\ud800": 1}', "TH-02"), (b'{"caf\xe9": 1}', "TH-02"), (b'{"\\x": 1}', "TH-01")]
)
def test_a_key_that_is_no_text_is_refused(raw: bytes, rule: str) -> None:
    with pytest.raises(BadRecord, match=rule):
        members(raw)


def test_members_of_which_one_key_stands_twice_can_be_refused() -> None:
    with pytest.raises(BadRecord, match="TH-03: the key 'a' stands twice"):
        unique(json_members.views(b'{"a": 1, "b": NaN, "\\u0061": 2}'))
    assert list(unique(json_members.views(b'{"a": 1, "b": NaN}'))) == ["a", "b"]


def test_nothing_is_copied_of_a_view() -> None:
    raw = bytearray(b'{"a": NaN, "b": [1, 2]}')
    found = dict(json_members.views(memoryview(raw)))
    raw[16:17] = b"["
    raw[17:18] = b"7"
    assert isinstance(found["b"], Raw)
    assert bytes(found["b"]) == b"[7, 2]"


@pytest.mark.parametrize("member", ['{"a": NaN}', '{"a" :\n NaN , "b": "x: NaN,"}', '{"a": [NaN]}', "{}", '{"a" NaN}'])
def test_bare_nan_is_split_as_it_is_and_stays(member: str) -> None:
    text = bytearray(f'{{"1": {member}, "2": "\\"a\\": NaN}}"}}'.encode())
    before = bytes(text)
    found = [(token, bytes(piece)) for token, piece in json_members.views(memoryview(text), with_nan=True)]
    assert found == members(before)
    assert text == before
