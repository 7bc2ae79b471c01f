"""Records back to the JSON files: equal in every value, keys in published order, written as Python's json does."""

import json
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Raw, Struct
from msgspec.json import decode

from talkhouse.ingest.corpora.mantis.format import text_of
from talkhouse.ingest.decode import literals, pointer
from talkhouse.ingest.rows import Dialogue, Speaker, Turn
from talkhouse.ingest.stored_record import StoredRecord


class _FileExtra(Struct):
    orders: list[list[str]] = []


class _RecordExtra(Struct):
    fields: list[str] = []
    lists: dict[str, Raw] = {}
    differs: dict[str, str] = {}
    unknown: dict[str, Raw] = {}
    literals: dict[str, str] = {}
    has_intent_labels: Raw = Raw()
    orders: int | list[int] | None = None

    def stated(self) -> dict[str, str]:
        """Return the JSON of all values that the record itself has, by pointer."""
        own = _texts(self.unknown | self.lists) | self.literals | self.differs
        return {"/" + at.removeprefix("/"): text for at, text in own.items()}


class _TurnExtra(Struct):
    votes: Raw = Raw(b"null")
    is_answer: Raw = Raw(b"null")
    utterance_pos: int | None = None
    literals: dict[str, str] = {}
    fields: int = 0
    unknown: dict[str, Raw] = {}


def write(first: StoredRecord, following: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write one file, dialogue by dialogue."""
    orders = _orders(first)
    yield b"{"
    for index, stored in enumerate(following):
        key = stored.pointer.removeprefix("/").partition("#")[0]
        start = f"{', ' if index else ''}{json.dumps(key)}: ".encode()
        yield start + (stored.raw if stored.raw is not None else _dialogue(stored, orders))
    yield b"}"


def write_record(stored: StoredRecord) -> bytes:
    """Write one dialogue's JSON."""
    return _dialogue(stored, _orders(stored))


def _orders(stored: StoredRecord) -> list[list[str]]:
    """Return the orders of keys of the utterances in a file."""
    return decode(stored.file.extra or "{}", type=_FileExtra).orders


def _dialogue(stored: StoredRecord, orders: list[list[str]]) -> bytes:
    """Write a dialogue: as the tables have it, but for what its record states itself."""
    assert stored.dialogue is not None  # noqa: S101 - every loaded record is a dialogue
    own = decode(stored.loaded.extra or "{}", type=_RecordExtra)
    stated = own.stated()
    utterances = []
    for index, turn in enumerate(stored.turns):
        extra = decode(turn.extra or "{}", type=_TurnExtra)
        values = _said(turn, stored.speakers[turn.speaker_id or ""], extra)
        values["intent"] = json.dumps([row.label for row in stored.annotations_by_turn[index]])
        number = extra.fields if own.orders is None else own.orders
        order = orders[number if isinstance(number, int) else number[index]]
        utterances.append(_object(values, order, stated, pointer("utterances", index)))
    values = _facts(stored.dialogue)
    values |= {"has_intent_labels": _text(own.has_intent_labels), "utterances": f"[{', '.join(utterances)}]"}
    return _object(values, own.fields, stated).encode()


def _facts(dialogue: Dialogue) -> dict[str, str]:
    """Return the JSON of what the row of a dialogue says."""
    extra = literals(dialogue.extra)
    own = decode(extra.pop("literals", Raw(b"{}")), type=dict[str, str])
    columns = {"category": dialogue.domain, "title": dialogue.title, "dialog_time": text_of(dialogue.started_at)}
    return {name: json.dumps(value) for name, value in columns.items()} | _texts(extra) | own


def _said(turn: Turn, speaker: Speaker, extra: _TurnExtra) -> dict[str, str]:
    """Return the JSON of what the row of a turn says."""
    values = {
        "utterance": json.dumps(turn.text),
        "utterance_time": json.dumps(text_of(turn.said_at)),
        "utterance_pos": str(turn.turn_index + 1 if extra.utterance_pos is None else extra.utterance_pos),
        "actor_type": json.dumps(turn.role),
        "user_name": json.dumps(speaker.name),
        "user_id": speaker.native_id or "null",
        "votes": _text(extra.votes),
        "id": json.dumps(turn.native_id),
        "is_answer": _text(extra.is_answer),
    }
    return values | _texts(extra.unknown) | extra.literals


def _object(values: dict[str, str], names: Iterable[str], stated: Mapping[str, str], at: str = "") -> str:
    """Write an object with these names in order; ``stated`` goes before its values."""
    if stated:
        values |= {name: stated[at_name] for name in names if (at_name := at + pointer(name)) in stated}
    return "{" + ", ".join(f"{json.dumps(name)}: {values[name]}" for name in names) + "}"


def _texts(raws: Mapping[str, Raw]) -> dict[str, str]:
    return {name: _text(raw) for name, raw in raws.items()}


def _text(raw: Raw) -> str:
    return bytes(raw).decode()
