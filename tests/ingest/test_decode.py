"""JSON, strict and typed: every defect is named with its rule and place, and no field is lost in silence."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw, Struct, UnsetType

from ingest import decode
from ingest.decode import BadRecord
from ingest.json_members import members


class Line(Struct, forbid_unknown_fields=True):
    who: str
    number: Raw | UnsetType = UNSET
    tags: list[str] | UnsetType | None = UNSET


class Talk(Struct, forbid_unknown_fields=True):
    lines: list[Line]
    title: str | UnsetType | None = UNSET


def talk(raw: str | bytes) -> decode.Decoded[Talk]:
    return decode.record(raw.encode() if isinstance(raw, str) else raw, Talk, rule="XX-01")


@pytest.mark.parametrize(
    ("raw", "rule", "detail", "pointer"),
    [
        ('{"lines": [{"who": "a"}', "TH-01", "malformed JSON", ""),
        ('{"lines": [],}', "TH-01", "line 1, column 14", ""),
        ("", "TH-01", "malformed JSON", ""),
        ('{"x": ' + "[" * 100_000, "TH-01", "nested too deeply", ""),
        (b'{"lines": [{"who": "caf\xe9"}]}', "TH-02", "not UTF-8: byte 0xe9 at byte 23", ""),
        ('{"lines": [{"who": "a\\ud83dz"}]}', "TH-02", "surrogate", "/lines/0/who"),
        ('{"lines": [{"who": "a", "tags": ["\\udc00"]}]}', "TH-02", "surrogate", "/lines/0/tags/0"),
        ('{"lines": [], "lines": []}', "TH-03", "'lines'", ""),
        ('{"lines": [{"who": "a", "who" : "b"}]}', "TH-03", "'who'", ""),
        ('{"lines": [{"who": "a", "number": NaN}]}', "TH-04", "NaN", ""),
        ('{"lines": [{"who": "a", "number": -Infinity}]}', "TH-04", "-Infinity", ""),
        ('{"lines": [{"who": 7}]}', "XX-01", "Expected `str`, got `int`", "/lines/0/who"),
        ('{"lines": [{"who": "a"}, {}]}', "XX-01", "missing required field `who`", "/lines/1"),
        ('{"lines": "X"}', "XX-01", "Expected `array`, got `str`", "/lines"),
        ("[]", "XX-01", "Expected `object`, got `array`", ""),
    ],
)
def test_every_defect_has_its_rule_and_place(raw: str | bytes, rule: str, detail: str, pointer: str) -> None:
    with pytest.raises(BadRecord) as caught:
        talk(raw)
    assert caught.value.rule == rule
    assert detail in caught.value.detail
    assert caught.value.pointer == pointer


def test_a_whole_surrogate_pair_is_text() -> None:
    assert talk('{"lines": [{"who": "\\ud83d\\ude00"}]}').value.lines[0].who == "😀"


def test_numbers_keep_their_literal() -> None:
    lines = talk('{"lines": [{"who": "", "number": 1e3}, {"who": "", "number": 1.0}]}').value.lines
    assert [bytes(line.number) for line in lines if isinstance(line.number, Raw)] == [b"1e3", b"1.0"]


def test_absent_null_and_empty_are_three_things() -> None:
    found = talk('{"lines": [{"who": ""}, {"who": "", "tags": null}, {"who": "", "tags": []}]}')
    assert [line.tags for line in found.value.lines] == [UNSET, None, []]


def test_unknown_fields_are_kept_as_literals_by_pointer() -> None:
    found = talk('{"a/b": 1e3, "lines": [{"who": "x", "mood~": {"x": null, "y": 1.0}}], "title": null}')
    assert {place: bytes(raw) for place, raw in found.unknown.items()} == {
        "/a~1b": b"1e3",
        "/lines/0/mood~0": b'{"x": null, "y": 1.0}',
    }
    assert found.value.lines[0].who == "x"
    assert found.value.title is None


def test_a_key_twice_is_found_inside_an_unknown_field_too() -> None:
    with pytest.raises(BadRecord, match="TH-03"):
        talk('{"lines": [], "extra": {"a": 1, "a": 2}}')


@pytest.mark.parametrize("text", ['say "x": y', 'a\\": b', "\u0022:", '":":', '"  :'])
def test_texts_that_look_like_keys_are_none(text: str) -> None:
    assert talk(json.dumps({"lines": [{"who": text}]})).value.lines[0].who == text
    escaped = json.dumps({"lines": [{"who": text}]}).replace('\\"', "\\u0022").replace(":", " :")
    assert talk(escaped.encode()).value.lines[0].who == text.replace(":", " :")


PAIRS = st.lists(st.tuples(st.sampled_from(["who", "number", "x", 'q":', "\\"]), st.text(max_size=4)), max_size=4)
BLANKS = st.sampled_from(["", " ", "\n\t"])


@given(st.lists(PAIRS, max_size=3), BLANKS, BLANKS, st.booleans())
def test_a_key_twice_is_always_found(
    objects: list[list[tuple[str, str]]], before: str, after: str, plain: bool
) -> None:
    """Against Python's own parser, with every spelling of keys, blanks and escapes."""

    def spell(text: str) -> str:
        spelled = json.dumps(text, ensure_ascii=plain)
        return spelled if plain else spelled[:1] + spelled[1:-1].replace('\\"', "\\u0022") + '"'

    texts = [
        "{" + ",".join(f"{spell(key)}{before}:{after}{spell(value)}" for key, value in [("who", "-"), *pairs]) + "}"
        for pairs in objects
    ]
    has_twice = any(len({"who", *(key for key, _ in pairs)}) < len(pairs) + 1 for pairs in objects)
    raw = f'{{"lines":[{",".join(texts)}]}}'
    if has_twice:
        with pytest.raises(BadRecord, match="TH-03"):
            talk(raw)
    else:
        assert len(talk(raw).value.lines) == len(objects)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), JSON) | st.lists(JSON), st.sampled_from([None, 1]))
def test_splitting_and_decoding_is_decoding(value: Any, indent: int | None) -> None:
    raw = json.dumps(value, indent=indent).encode()
    pieces = [(member.token, json.loads(member.raw)) for member in members(raw)]
    whole = value.items() if isinstance(value, dict) else enumerate(value)
    assert pieces == [(str(token), item) for token, item in whole]


def test_a_malformed_member_does_not_hide_the_others() -> None:
    raw = b'{"0": {"a": NaN}, "1": {"s": "}\\""}, "2": NaN, "3": "\\ud800", "4": {"a" 1}, "5": [1,]}'
    found = {member.token: member.raw for member in members(raw)}
    assert list(found) == ["0", "1", "2", "3", "4", "5"]
    assert found["1"] == b'{"s": "}\\""}'
    assert found["4"] == b'{"a" 1}'


def test_a_key_twice_is_given_twice() -> None:
    raw = b' {"a": {"x": 1}, "b": 2, "a": {"x": 3}}'
    assert [(m.token, m.raw) for m in members(raw)] == [("a", b'{"x": 1}'), ("b", b"2"), ("a", b'{"x": 3}')]
    assert [m.token for m in members(b'{"a":1,"a":2}')] == ["a", "a"]
    assert [m.token for m in members(b'{"a":1,"b":1,"\\u0061":1}')] == ["a", "b", "a"]


@pytest.mark.parametrize("raw", [b'{"a": {"x": 1}', b'{"a"', b'["x"', b"{", b'{"a": [1, 2}'])
def test_brackets_that_do_not_match_are_told(raw: bytes) -> None:
    with pytest.raises(BadRecord, match="TH-01"):
        list(members(raw))


def test_the_order_of_keys_is_the_published_one() -> None:
    assert decode.keys(b'{"z": 1, "a": {"b": 1}}') == ["z", "a"]


def test_extra_is_json_or_nothing() -> None:
    assert decode.dump({}) is None
    assert decode.dump({"n": msgspec.Raw(b"1e3"), "t": "é"}) == '{"n":1e3,"t":"é"}'


def test_a_number_of_any_length_is_kept_as_it_is() -> None:
    digits = "9" * 5_000
    found = talk('{"lines": [], "more" : ' + digits + "}")
    assert {place: bytes(raw).decode() for place, raw in found.unknown.items()} == {"/more": digits}
    with pytest.raises(BadRecord, match="TH-01"):
        talk('{"lines": [], "more": ' + digits + "x}")
