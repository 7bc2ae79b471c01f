"""Records back to the JSON files: equal in every value, keys in published order, written as Python's json does."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping

from msgspec import Raw, Struct
from msgspec.json import decode

from ingest.corpora.mantis.format import text_of
from ingest.decode import pointer
from ingest.rows import Dialogue, Speaker, Turn
from ingest.stored_record import StoredRecord


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


class _TurnExtra(Struct):
    votes: Raw = Raw(b"null")
    is_answer: Raw = Raw(b"null")
    utterance_pos: int | None = None
    literals: dict[str, str] = {}
    fields: int = 0
    unknown: dict[str, Raw] = {}


def write(stored: Iterator[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Write (path, piece) of one file, dialogue by dialogue."""
    first = next(stored)
    orders = _orders(first)
    yield first.path, b"{"
    for index, one in enumerate(stored):
        key = one.record.native_id if one.record else one.pointer.removeprefix("/").partition("#")[0]
        start = f"{', ' if index else ''}{json.dumps(key)}: ".encode()
        yield first.path, start + (one.raw if one.raw is not None else _Dialogue(one, orders).written())
    yield first.path, b"}"


def write_record(one: StoredRecord) -> bytes:
    """Write one dialogue's JSON."""
    return _Dialogue(one, _orders(one)).written()


def _orders(one: StoredRecord) -> list[list[str]]:
    """Return the orders of keys of the utterances in a file."""
    return decode(one.file.extra or "{}", type=_FileExtra).orders


class _Dialogue:
    """One dialogue on its way back; a value is its JSON."""

    def __init__(self, one: StoredRecord, orders: list[list[str]]) -> None:
        assert one.record is not None  # noqa: S101 - whoever has no raw has a record
        assert one.dialogue is not None  # noqa: S101 - every such record is a dialogue
        self._orders, self._turns, self._speakers, self._dialogue = orders, one.turns, one.speakers, one.dialogue
        self._extra = decode(one.record.extra or "{}", type=_RecordExtra)
        self._intents: defaultdict[int | None, list[str | None]] = defaultdict(list)
        for row in one.annotations:
            self._intents[row.turn_index].append(row.label)

    def written(self) -> bytes:
        """Write the dialogue: as the tables have it, with what its record states otherwise."""
        own = self._extra
        values = _facts(self._dialogue) | {place[1:]: _text(raw) for place, raw in own.unknown.items()}
        values["has_intent_labels"] = _text(own.has_intent_labels)
        values |= {place.removeprefix("/"): text for place, text in {**own.literals, **own.differs}.items()}
        values["utterances"] = "[" + ", ".join(map(self._utterance, range(len(self._turns)))) + "]"
        return _object({name: values[pointer(name)[1:]] for name in own.fields}).encode()

    def _utterance(self, index: int) -> str:
        turn, own = self._turns[index], self._extra
        extra = decode(turn.extra or "{}", type=_TurnExtra)
        values = _said(turn, self._speakers, extra)
        place = pointer("utterances", index, "")
        if index in self._intents:
            values["intent"] = json.dumps(self._intents[index])
        values |= {name[len(place) :]: _text(raw) for name, raw in own.lists.items() if name.startswith(place)}
        values |= {_key(name[len(place) :]): text for name, text in own.differs.items() if name.startswith(place)}
        number = extra.fields if own.orders is None else own.orders
        order = self._orders[number if isinstance(number, int) else number[index]]
        return _object({name: values[name] for name in order})


def _facts(dialogue: Dialogue) -> dict[str, str]:
    """Return what the row of a dialogue says, by JSON pointer without its first slash."""
    extra = decode(dialogue.extra or "{}", type=dict[str, Raw])
    literals = decode(extra.pop("literals", Raw(b"{}")), type=dict[str, str])
    columns = {"category": dialogue.domain, "title": dialogue.title, "dialog_time": text_of(dialogue.started_at)}
    columns_text = {name: json.dumps(value) for name, value in columns.items()}
    return columns_text | {name: _text(raw) for name, raw in extra.items()} | literals


def _said(turn: Turn, speakers: Mapping[str, Speaker], extra: _TurnExtra) -> dict[str, str]:
    """Return what the row of a turn says."""
    speaker = speakers[turn.speaker_id or ""]
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
    return values | {name: _text(raw) for name, raw in extra.unknown.items()} | extra.literals


def _object(values: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in values.items()) + "}"


def _text(raw: Raw) -> str:
    return bytes(raw).decode()


def _key(token: str) -> str:
    """Return the key that a token of a JSON pointer means."""
    return token.replace("~1", "/").replace("~0", "~")
