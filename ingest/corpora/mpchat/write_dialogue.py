"""The rows of a dialogue back to its JSON, with keys in published order."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ingest.corpora.mpchat.dialogue import seconds_since
from ingest.corpora.mpchat.files import RESPONSES, SPEAKER, Kind, ListField, Nesting
from ingest.corpora.mpchat.personas import Personas
from ingest.rows import Candidate, PersonaUse, Turn
from ingest.stored_record import StoredRecord


class _Extra(Struct):
    """What ``records.extra`` holds."""

    fields: list[str] = []
    lists: dict[str, Any] = {}
    differs: dict[str, Any] = {}
    unknown: dict[str, Raw] = {}


class Talk:
    """One dialogue on its way back; ``personas`` writes the elements of its file."""

    def __init__(self, kind: Kind, published: StoredRecord, personas: Personas) -> None:
        self._kind, self._published, self._personas = kind, published, personas
        record = published.record
        assert record is not None  # noqa: S101 - whoever has no raw has a record
        self._main_author = (record.main_speaker_id or "").partition(":")[2]
        self._extra = msgspec.json.decode(record.extra or "{}", type=_Extra)
        self._labels = defaultdict(list)
        for row in published.annotations:
            self._labels[row.persona_set, row.turn_index, row.persona_position].append(row)

    def written(self) -> bytes:
        """Give the dialogue's JSON: first as the tables have it, then with what its record states differently."""
        values = self._conversation() | {one.name: self._list(one) for one in self._kind.lists}
        if self._kind.candidates not in values:
            values[self._kind.candidates] = self._responses()
        for place, value in {**self._extra.differs, **self._extra.lists, **self._extra.unknown}.items():
            name, *index = map(key, place.split("/")[1:])
            if index:
                values[name][int(index[0])] = value
            else:
                values[name] = value
        return msgspec.json.encode({name: values.get(name) for name in self._extra.fields})

    def _conversation(self) -> dict[str, Any]:
        turns, dialogue = self._published.turns, self._published.dialogue
        assert dialogue is not None  # noqa: S101 - every such record is a dialogue
        facts: dict[str, Any] = msgspec.json.decode(dialogue.extra or "{}")
        return facts | {
            "subreddit": dialogue.domain,
            "messages": [turn.text for turn in turns],
            "message_ids": [turn.native_id for turn in turns],
            "main_author": self._main_author,
            "authors": [(turn.speaker_id or "").partition(":")[2] for turn in turns],
            "created_utcs": [_seconds(turn) for turn in turns],
        }

    def _list(self, one: ListField) -> list[Any]:
        """Build one list of persona elements."""
        rows: list[Any] = list(self._rows(one))
        if one.nesting is Nesting.FLAT:
            return [self._element(one, row, index) for index, row in enumerate(rows)]
        by_place: defaultdict[int, list[Raw]] = defaultdict(list)
        counted: defaultdict[int | None, int] = defaultdict(int)
        for row in rows:
            place = row.position if one.nesting is Nesting.PER_AUTHOR else row.turn_index
            by_place[place].append(self._element(one, row, counted[row.turn_index]))
            counted[row.turn_index] += 1
        if one.nesting is Nesting.ONE_PER_TURN:
            return [next(iter(by_place[turn]), None) for turn in range(len(self._published.turns))]
        size = len(self._published.turns) if one.nesting is Nesting.PER_TURN else self._authors(by_place)
        return [by_place[place] for place in range(size)]

    def _rows(self, one: ListField) -> Iterable[PersonaUse | Candidate]:
        if one.is_candidates:
            return (row for row in self._published.candidates if row.candidate_set == one.set_name)
        return (row for row in self._published.persona_uses if row.persona_set == one.set_name)

    def _element(self, one: ListField, row: PersonaUse | Candidate, index: int) -> Raw:
        persona = self._published.personas[row.persona_id or ""]
        return self._personas.element(persona, row.extra, self._labels[one.set_name, row.turn_index, index])

    def _authors(self, by_place: Iterable[int]) -> int:
        """Count the candidate authors, those without elements too."""
        places = self._extra.lists
        empty = (int(place.rpartition("/")[2]) for place in places if place.startswith(f"/{SPEAKER.candidates}/"))
        return max([*by_place, *empty], default=-1) + 1

    def _responses(self) -> list[list[str]]:
        texts: list[list[str]] = [[] for _ in self._published.turns]
        for row in self._published.candidates:
            if row.candidate_set == RESPONSES:
                texts[row.turn_index or 0].append(self._published.texts[row.text_id or ""])
        return texts


def _seconds(turn: Turn) -> Any:
    """Give a message's time as it was published; a time that no column gives back is in ``extra``."""
    if turn.extra is not None:
        return msgspec.json.decode(turn.extra)["created_utc"]
    return seconds_since(turn.said_at) if turn.said_at else None


def key(token: str) -> str:
    """Give the key that a token of a JSON pointer means."""
    return token.removeprefix("/").replace("~1", "/").replace("~0", "~")
