"""JSON, strict and typed: every defect is named with its rule and place, and no field is lost in silence."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw, Struct, UnsetType

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.decode import BadRecord, unique
from talkhouse.ingest.files.limits import Limits


class Line(Struct, forbid_unknown_fields=True):
    who: str
    number: Raw | UnsetType = UNSET
    tags: list[str] | UnsetType | None = UNSET


class Dialogue(Struct, forbid_unknown_fields=True):
    lines: list[Line]
    title: str | UnsetType | None = UNSET


def decoded(raw: str | bytes) -> decode.Decoded[Dialogue]:
    return decode.record(raw.encode() if isinstance(raw, str) else raw, Dialogue, rule="XX-01")


DEFECTS = [
    ('{"lines": [{"who": "a"}', "TH-01", "malformed JSON", ""),
    ('{"lines": [],}', "TH-01", "line 1, column 1", ""),  # 13 or 14: from Python 3.13 on, that of the comma
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
]


@pytest.mark.parametrize(("raw", "rule", "detail", "pointer"), DEFECTS)
def test_every_defect_has_its_rule_and_place(raw: str | bytes, rule: str, detail: str, pointer: str) -> None:
    with pytest.raises(BadRecord) as caught:
        decoded(raw)
    assert caught.value.rule == rule
    assert detail in caught.value.detail
    assert caught.value.pointer == pointer


def test_a_whole_surrogate_pair_is_text() -> None:
    assert decoded('{"lines": [{"who": "\\ud83d\\ude00"}]}').value.lines[0].who == "😀"


def test_numbers_keep_their_literal() -> None:
    lines = decoded('{"lines": [{"who": "", "number": 1e3}, {"who": "", "number": 1.0}]}').value.lines
    assert [bytes(line.number) for line in lines if isinstance(line.number, Raw)] == [b"1e3", b"1.0"]


def test_absent_null_and_empty_are_three_things() -> None:
    found = decoded('{"lines": [{"who": ""}, {"who": "", "tags": null}, {"who": "", "tags": []}]}')
    assert [line.tags for line in found.value.lines] == [UNSET, None, []]


def test_unknown_fields_are_kept_as_literals_by_pointer() -> None:
    found = decoded('{"a/b": 1e3, "lines": [{"who": "x", "mood~": {"x": null, "y": 1.0}}], "title": null}')
    assert {place: bytes(raw) for place, raw in found.unknown.items()} == {
        "/a~1b": b"1e3",
        "/lines/0/mood~0": b'{"x": null, "y": 1.0}',
    }
    assert found.value.lines[0].who == "x"
    assert found.value.title is None


def test_a_key_twice_is_found_inside_an_unknown_field_too() -> None:
    with pytest.raises(BadRecord, match="TH-03"):
        decoded('{"lines": [], "extra": {"a": 1, "a": 2}}')


@pytest.mark.parametrize("text", ['say "x": y', 'a\\": b', "\u0022:", '":":', '"  :'])
def test_texts_that_look_like_keys_are_none(text: str) -> None:
    assert decoded(json.dumps({"lines": [{"who": text}]})).value.lines[0].who == text
    escaped = json.dumps({"lines": [{"who": text}]}).replace('\\"', "\\u0022").replace(":", " :")
    assert decoded(escaped.encode()).value.lines[0].who == text.replace(":", " :")


PAIRS = st.lists(st.tuples(st.sampled_from(["who", "number", "x", 'q":', "\\"]), st.text(max_size=4)), max_size=4)
BLANKS = st.sampled_from(["", " ", "\n\t"])


@given(st.lists(PAIRS, max_size=3), BLANKS, BLANKS, st.booleans())
def test_a_key_twice_is_always_seen(objects: list[list[tuple[str, str]]], before: str, after: str, plain: bool) -> None:
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
            decoded(raw)
    else:
        assert len(decoded(raw).value.lines) == len(objects)


def test_the_order_of_keys_is_the_published_one() -> None:
    assert decode.keys(b'{"z": 1, "a": {"b": 1}}') == ["z", "a"]


def test_extra_is_json_or_nothing() -> None:
    assert decode.dump({}) is None
    assert decode.dump({"n": msgspec.Raw(b"1e3"), "t": "é"}) == '{"n":1e3,"t":"é"}'


def test_a_number_of_any_length_is_kept_as_it_is() -> None:
    digits = "9" * 5_000
    found = decoded('{"lines": [], "more" : ' + digits + "}")
    assert {place: bytes(raw).decode() for place, raw in found.unknown.items()} == {"/more": digits}
    with pytest.raises(BadRecord, match="TH-01"):
        decoded('{"lines": [], "more": ' + digits + "x}")


@pytest.mark.parametrize("inner", ["[" * 2_000 + "]" * 2_000, "[" * 5_000, '{"a":' * 300 + '"\\ud800"' + "}" * 300])
def test_what_is_nested_too_deeply_is_named_for_that_behind_any_other_defect(inner: str) -> None:
    for text in (f'{{"lines": NaN, "x": {inner}}}', f'{{"lines": [], "x": {inner}}}'):
        # Brackets that nobody closes are malformed too, which Python 3.13 notices first.
        either = "" if inner.endswith(("]", "}")) else "|malformed JSON"
        with pytest.raises(BadRecord, match=f"TH-01: (nested too deeply{either})"):
            decoded(text)


def test_a_malformed_text_of_many_bytes_is_not_made_python_objects_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "DEFAULT", Limits(record=10))
    monkeypatch.setattr(decode.json, "loads", None)
    for text, place in (('{"a": 1,\n "b" 2}', "line 2, column 6"), ('{"a": 1,\n "b"', "line 2, column 5")):
        bad = decode.json_problem(text.encode(), ValueError("somewhere"))
        assert bad.rule == "TH-01"
        assert bad.detail.endswith(place)


# What can be written back.


def exact(raw: str | bytes) -> Dialogue:
    return decode.exact(raw.encode() if isinstance(raw, str) else raw, Dialogue, rule="XX-01")


@pytest.mark.parametrize(
    ("raw", "rule", "detail", "pointer"),
    [
        *DEFECTS,
        ('{"lines": [{"who": "a", "more": 1}]}', "XX-01", "unknown field `more`", "/lines/0"),
        ('{"title": null, "lines": []}', "XX-01", "another order", ""),
        ('{"lines": [{"tags": [], "who": "\\u00e9"}]}', "XX-01", "another order", ""),
        ('{"lines": [{"who": "a", "number": {"b": "\\ud83d"}}]}', "TH-02", "surrogate", "/lines/0/number/b"),
        (b'{"lines": [{"who": "a", "number": "\xe9"}]}', "TH-02", "not UTF-8", ""),
        ('{"lines": [{"who": "a", "number": ' + "[" * 200 + "]" * 200 + "}]}", "TH-01", "nested too deeply", ""),
    ],
)
def test_what_can_not_be_written_back_is_named(raw: str | bytes, rule: str, detail: str, pointer: str) -> None:
    with pytest.raises(BadRecord, match=detail) as caught:
        exact(raw)
    assert (caught.value.rule, caught.value.pointer) == (rule, pointer)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"who": st.text()},
            optional={"number": st.recursive(st.integers() | st.text() | st.none(), st.lists), "tags": st.none()},
        )
    ),
    st.booleans(),
    st.sampled_from([None, 2]),
)
def test_what_is_taken_can_be_written_back(lines: list[dict[str, object]], is_ascii: bool, indent: int | None) -> None:
    ordered = [{name: line[name] for name in ("who", "number", "tags") if name in line} for line in lines]
    whole = {"lines": ordered, "title": "Caf\u00e9"}
    value = exact(json.dumps(whole, ensure_ascii=is_ascii, indent=indent))
    assert json.dumps(json.loads(msgspec.json.encode(value))) == json.dumps(whole)


def test_a_literal_and_a_key_twice_stay_where_nothing_is_decoded() -> None:
    value = exact('{"lines": [{"who": "a", "number": {"x": 1.50, "x": 2}}]}')
    assert bytes(value.lines[0].number) == b'{"x":1.50,"x":2}'


# Splitting JSON: the members as published, nothing but JSON around them, and each malformed member by itself.

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
