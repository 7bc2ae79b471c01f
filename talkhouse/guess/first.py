"""The first dialogue of a sample as a guess has it: who says what."""

from collections.abc import Iterator, Mapping
from typing import Any

from talkhouse.guess.guess import Guess
from talkhouse.guess.sample import Sample
from talkhouse.guess.values import at
from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.documents.markers import Markers
from talkhouse.ingest.declared.roles import NO_ROLE

MOST_TURNS = 20


def first_dialogue(sample: Sample, guess: Guess) -> list[tuple[str, str]]:
    """Return who says what in the first turns of the first dialogue; empty where that can't be seen."""
    for record in sample.records:
        turns = [turn for _, turn in zip(range(MOST_TURNS), _turns(sample, record, guess), strict=False)]
        if turns:
            return [(str(guess.roles.get(who, who)), text) for who, text in turns]
    return []


def _turns(sample: Sample, record: dict[str, Any], guess: Guess) -> Iterator[tuple[str, str]]:
    match guess.format:
        case "chat" | "sharegpt" | "dialogue":
            if guess.dialogue.system:
                yield from _one("system", at(record, guess.dialogue.system))
            for turn in _items(record, guess.dialogue.turns):
                yield _who(turn, guess), _text(turn, guess.turn.text)
        case "tree":
            yield from _branch(at(record, guess.dialogue.turns or ()), guess)
        case "pairs":
            pair = guess.pair
            yield from _one("system", at(record, pair.system or ()) if pair.system else None)
            for item in _items(record, pair.each) if pair.each else [record]:
                asked = [_text(item, path) for path in (pair.prompt, pair.query) if path]
                yield "user", "\n".join(text for text in asked if text)
                yield "assistant", _text(item, pair.response)
        case "preference":
            yield from _preference(record, guess)
        case "transcript":
            yield from _marked(_text(record, guess.dialogue.text), guess.markers)
        case "turns" | "convokit":
            yield from _rows(sample, record, guess)


def _preference(record: dict[str, Any], guess: Guess) -> Iterator[tuple[str, str]]:
    fields = guess.preference
    if fields.prompt:
        yield from _said("user", at(record, fields.prompt))
    if guess.markers:
        yield from _marked(_text(record, fields.chosen), guess.markers)
    else:
        yield from _said("assistant", at(record, fields.chosen or ()))


def _rows(sample: Sample, record: dict[str, Any], guess: Guess) -> Iterator[tuple[str, str]]:
    if guess.format == "convokit":
        yield str(record.get("speaker", record.get("user"))), str(record["text"])
        return
    key = at(record, guess.dialogue.id or ())
    rows = [row for row in sample.records if at(row, guess.dialogue.id or ()) == key]
    if guess.turn.order:
        rows.sort(key=lambda row: int(at(row, guess.turn.order or ())))
    for row in rows:
        yield _who(row, guess), _text(row, guess.turn.text)


def _branch(node: Any, guess: Guess) -> Iterator[tuple[str, str]]:
    """Follow the first reply to each message."""
    while isinstance(node, dict):
        yield _who(node, guess), _text(node, guess.turn.text)
        replies = at(node, guess.turn.replies or ())
        node = replies[0] if isinstance(replies, list) and replies else None


def _said(role: str, value: Any) -> Iterator[tuple[str, str]]:
    """Take a text, a message, or a list of messages."""
    for message in value if isinstance(value, list) else [value]:
        if isinstance(message, dict):
            yield str(message.get("role", role)), _plain(message.get("content"))
        else:
            yield from _one(role, message)


def _one(role: str, value: Any) -> Iterator[tuple[str, str]]:
    if value:
        yield role, _plain(value)


def _marked(text: str, markers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Cut a transcript at its marks, as a build does; none where it begins with no mark."""
    cut = Markers(markers)
    if cut.begin(text):
        yield from ((said.role, said.text) for said in cut.cut(text, ""))


def _items(record: dict[str, Any], path: JsonPath | None) -> list[Any]:
    names = [name for name in path or () if name is not None]
    value = at(record, tuple(names))
    items = value if isinstance(value, list) else []
    return [inner for item in items for inner in (item if isinstance(item, list) else [item])]


def _who(turn: Any, guess: Guess) -> str:
    named = at(turn, guess.speaker.name) if guess.speaker.name else None
    role = at(turn, guess.turn.role) if guess.turn.role else None
    speaker = at(turn, guess.turn.speaker) if guess.turn.speaker else None
    return str(role or named or speaker or NO_ROLE)


def _text(turn: Any, path: JsonPath | None) -> str:
    return _plain(at(turn, path)) if path is not None else ""


def _plain(value: Any) -> str:
    """Return a text; of a list the texts in it."""
    if isinstance(value, list):
        return "".join(_plain(item.get("text", "")) if isinstance(item, dict) else _plain(item) for item in value)
    return value if isinstance(value, str) else "" if value is None else str(value)
