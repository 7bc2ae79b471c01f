"""Records with any number of fields: no more of them than a thousand are looked at, wherever they are."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from talkhouse.guess import field_meanings, record_values, sample, turn_order
from talkhouse.guess.guessed_folder import look
from talkhouse.guess.inspection import inspected
from talkhouse.guess.sample import MOST_FIELDS
from tests.talkhouse.guess.folders import CHANNEL, lines, messages

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
