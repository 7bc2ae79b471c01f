"""Shapes that files of others have: declared right, asked about, or refused with what to do, and never half in silence.

The turns beside each shape are what its file says, written down by hand; nothing here derives them.
"""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from talkhouse.guess import field_meanings, record_values, sample, turn_order
from talkhouse.guess.guessed_folder import look
from talkhouse.guess.inspection import inspected
from talkhouse.guess.new_declaration import new_declaration
from talkhouse.guess.record_values import are_texts, fields_of
from talkhouse.guess.sample import MOST_FIELDS, start_of
from talkhouse.ingest.declared.declaration import of_folder
from talkhouse.ingest.rows import Turn
from tests.conftest import invented_examples
from tests.data_files import data_of
from tests.declared.rows_loaded import read, restored
from tests.talkhouse.guess.folders import CHANNEL, lines, messages, write
from tests.talkhouse.guess.test_new_declaration import comments, declared

SHAPES: dict[str, dict[str, Any]] = data_of(__file__)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_right_or_asked(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    files = {path: text.encode() for path, text in shape["files"].items()}
    folder = write(tmp_path / name, files)
    seen = new_declaration(folder)
    shown = "\n".join((*seen.to_decide, *seen.left.values()))
    assert [part for part in shape.get("asked", ()) if part not in shown] == [], shown
    assert bool(seen.to_decide) == ("asked" in shape and "turns" in shape), shown
    assert (seen.guess is None) == ("turns" not in shape)
    if seen.guess is not None:
        assert turns_of(folder, files) == [tuple(turn) for turn in shape["turns"]]


def turns_of(folder: Path, files: dict[str, bytes]) -> list[tuple[str, str]]:
    """Read files by the declaration of their folder: who says what, dialogue by dialogue; each file comes back."""
    result = read(of_folder(folder), files)
    assert not result.rejected
    for path, raw in restored(result).items():
        assert values_of(path, raw) == values_of(path, files[path])
    turns = result.of(Turn)
    return [((turn.speaker_id or turn.role).rpartition("/")[2].rpartition(":")[2], turn.text) for turn in turns]


def values_of(path: str, raw: bytes) -> object:
    """Return what counts when a file comes back: of JSON its values and the order of keys, of others the bytes."""
    if path.endswith(".jsonl"):
        return [json.dumps(json.loads(line)) for line in raw.splitlines()]
    return json.dumps(json.loads(raw)) if path.endswith(".json") else raw


CALL = "Agent: Good morning {n}.\nCaller: My line is dead.\nAgent: I see."


@pytest.mark.parametrize("word", ["Supervisor", "Über-Chef", "старший"])
def test_a_rare_speaker_is_asked_about_in_every_form_of_text(word: str, tmp_path: Path) -> None:
    calls = [CALL.format(n=n) + f"\n{word}: I take over." * (n == 70) for n in range(120)]
    rows = "".join(f'{n},"{call}"\n' for n, call in enumerate(calls))
    forms = {
        "lines": {"a.jsonl": "".join(json.dumps({"id": n, "text": call}) + "\n" for n, call in enumerate(calls))},
        "cells": {"a.csv": "call,words\n" + rows},
        "texts": {f"{n:03}.txt": call + "\n" for n, call in enumerate(calls)},
    }
    for form, files in forms.items():
        folder = write(tmp_path / form, {path: text.encode() for path, text in files.items()})
        asked = f"[markers]: 1 line begins like a mark that is none: {word.replace('-', '')}"
        assert asked in new_declaration(folder).to_decide, form


# What a few values prove, at the bounds where they cease to.


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["rain"] * 9 + [1], True),
        (["rain"] * 8 + [1, 2], False),
        (["rain"] * 8 + [None, 1], True),
        (["", "", "rain"], True),
        (["", None], False),
        ([None, None], False),
    ],
)
def test_a_field_is_of_texts_where_nine_of_ten_are(values: list[Any], expected: bool) -> None:
    assert are_texts(values) is expected


@pytest.mark.parametrize(("speakers", "is_speaker"), [("ABB ABB", True), ("AAAB AAAB", False), ("ABCA BCAB", True)])
def test_who_speaks_changes_at_half_of_the_turns(speakers: str, is_speaker: bool, tmp_path: Path) -> None:
    records = [
        {"talk": [{"user_handle": who, "text": f"It rains in {place} again"} for place, who in enumerate(dialogue)]}
        for dialogue in speakers.split()
    ]
    folder = write(tmp_path / "talks", {"a.jsonl": lines(*records)})
    assert ("speaker" in declared(folder)["turn"]) is is_speaker, comments(folder)


def test_members_are_shown_two_levels_deep() -> None:
    (field,) = fields_of([{"a": {"b": {"c": {"d": 1}}}}])
    (member,) = field.members
    (innermost,) = member.members
    assert (field.name, member.name, innermost.name, innermost.members) == ("a", "b", "c", [])


# Records with any number of fields: no more of them than a thousand are looked at, wherever they are.

CHAT = {"id": "a", "messages": messages("May I prune it?", "In spring.")}


def fields(count: int, value: Any = 1) -> dict[str, Any]:
    return {f"field_{number}": value for number in range(count)}


def table(count: int) -> bytes:
    names = ["dialogue_id", "speaker", "text", *fields(count)]
    return "".join(",".join(row) + "\n" for row in (names, *[["d", "s", "some words"] + ["1"] * count] * 2)).encode()


MANY: dict[str, Callable[[int], bytes]] = {
    "numbers.jsonl": lambda count: lines(CHAT | fields(count)),
    "texts.jsonl": lambda count: lines(fields(count, "some words")),
    "lists.jsonl": lambda count: lines(CHAT | fields(count, [{"text": "a b"}])),
    "objects.jsonl": lambda count: lines(CHAT | {"facts": fields(count, {"a": {"b": 1}})}),
    "turns.jsonl": lambda count: lines(CHAT | {"messages": [CHAT["messages"][0] | fields(count)]}),
    "shapes.jsonl": lambda count: lines(*[CHAT | {f"{number}": {f"a{number}": 1}} for number in range(count)]),
    "deep.json": lambda count: json.dumps([CHAT | {"a": {"b": [{"c": [{"d": [fields(count)]}]}]}}]).encode(),
    "rows.csv": table,
}


def calls_of(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, *modules: Any) -> list[Any]:
    calls: list[Any] = []  # the first argument of each

    def call(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments[0])
        return function(*arguments, **named)

    for module in modules:
        monkeypatch.setattr(module, function.__name__, call)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_the_work_does_not_grow_with_the_fields(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_of(record_values.as_words, monkeypatch, record_values)
    monkeypatch.setattr(sample, "MOST_FIELDS", 100)
    works = []
    for size in (200, 800):
        calls.clear()
        path = tmp_path / f"{size}" / name
        path.parent.mkdir()
        path.write_bytes(MANY[name](size))
        seen = inspected(path)
        assert "more than 100 fields: only the first are looked at" in (seen.problem or "")
        assert sum(1 + len(field.members) for field in seen.fields) <= 100
        folder = look(path.parent)
        assert folder.problems or not folder.guess
        works.append(len(calls))
    assert 0 < works[1] <= works[0] * 1.1


@pytest.mark.slow
def test_a_reply_is_looked_for_in_each_value_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_of(record_values.at, monkeypatch, field_meanings, record_values, turn_order)
    works = []
    for size in (100, 400):
        calls.clear()
        turns = [{"id": f"t{number}", "who": "a", "text": f"some words {number}"} for number in range(2_000)]
        path = tmp_path / f"{size}.jsonl"
        path.write_bytes(lines({"id": "a", "turns": [turns[0] | fields(size, "a b"), *turns[1:]]}))
        assert inspected(path).looks_like.startswith("dialogue")
        works.append(len(calls))
    assert works[1] < works[0] * 2


def test_the_messages_of_a_channel_are_walked_a_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_of(record_values.walk, monkeypatch, record_values, turn_order)
    path = tmp_path / "a.json"
    path.write_bytes(json.dumps(CHANNEL).encode())
    assert inspected(path).looks_like.startswith("dialogue")
    assert 0 < sum(call == CHANNEL["messages"][0] for call in calls) <= 8


@pytest.mark.slow
def test_as_many_fields_as_are_looked_at_are_all_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(*[CHAT | fields(MOST_FIELDS - 4)] * 3))
    seen = inspected(path)
    assert seen.problem is None
    assert len(seen.fields) == MOST_FIELDS - 2
    assert seen.looks_like.startswith("chat")


# Whatever records are: looking at them raises nothing, and what is written of them is a declaration that reads.

NAMES = st.sampled_from(
    [
        *("id", "messages", "role", "content", "from", "value", "conversations", "prompt", "chosen", "rejected"),
        *("instruction", "output", "text", "speaker", "replies", "dialogue_id", "turn_id", "parent_id"),
        *("time", "split"),
        *("a.b", "'", "x y", "$", "[*]", "\n", "", "\U0001f373"),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["user", "A: Hi\nB: Ho\nA: So", "", "2026-01-01", "c1", "\n\nHuman: x\n\nAssistant: y", "train"]),
    st.text(max_size=20),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=25
)
RECORDS = st.lists(st.dictionaries(NAMES, VALUES, max_size=6) | VALUES, max_size=6)


@invented_examples(150)
@given(RECORDS, st.sampled_from(["a.jsonl", "train.json", "member.json"]))
def test_any_records_give_a_declaration_that_reads(records: list[Any], name: str) -> None:
    if name == "a.jsonl":
        content = "".join(json.dumps(record) + "\n" for record in records)
    else:
        content = json.dumps({str(n): r for n, r in enumerate(records)} if name == "member.json" else records)
    with TemporaryDirectory() as place:
        folder = write(Path(place) / "talks", {name: content.encode()})
        seen = new_declaration(folder)
        if seen.guess is None:
            assert "format" not in tomllib.loads((folder / "corpus.toml").read_text(encoding="utf-8"))
        else:
            assert of_folder(folder).format == seen.guess.format
        shown = inspected(folder / name)
        assert json.dumps(shown.as_data())
        assert all(isinstance(cell, str) for line in shown.lines for cell in line)


@invented_examples(150)
@given(st.lists(VALUES, max_size=4), st.integers(0, 120), st.integers(1, 5))
@example([1, [2], 3], 20, 2)
def test_the_beginning_of_a_list_that_is_cut_off(values: list[Any], length: int, most: int) -> None:
    text = json.dumps(values)
    first, is_whole = start_of(text[:length], most)
    assert is_whole == (length >= len(text) and len(values) <= most)
    assert len(first or ()) < 2 or first == values[: min(most, len(first))]  # the only one may itself be cut off


def test_the_beginning_of_other_values() -> None:
    assert start_of("[1, 2", 10) == ([1, 2], False)
    assert start_of('{"a": [{"b": 1}, {"b"', 10) == ({"a": [{"b": 1}]}, False)
    texts = ('{"a": {"b": "c', "[[[[[[[[", '{"a" 1}', "nul", "")
    assert [start_of(text, 10)[0] for text in texts] == [{"a": {}}, [[[[[[[[]]]]]]]], {}, None, None]


@invented_examples(150)
@given(
    st.sampled_from(["a.txt", "a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.jsonl.gz"]),
    st.binary(max_size=200),
)
def test_any_bytes_give_a_declaration_that_reads(name: str, content: bytes) -> None:
    with TemporaryDirectory() as place:
        folder = write(Path(place) / "talks", {name: content})
        if new_declaration(folder).guess is not None:
            of_folder(folder)
        inspected(folder / name)
