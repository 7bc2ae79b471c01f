"""The utterances of a dialogue to turns: one block, and in ``extra`` of each what no column gives back."""

from collections import defaultdict
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from ingest.corpora.mantis.parse import Parsed
from ingest.corpora.mantis.people import People, Person
from ingest.corpora.mantis.shapes import Value, keep, literal
from ingest.rows import ColumnBatch, Participant, Row, Turn

Columns: TypeAlias = defaultdict[str, list[Any]]
"""Turns of many dialogues, a list for each column that differs."""

_INTEGERS = range(-(2**31), 2**31)
"""What an integer column holds."""


def block(columns: Columns) -> ColumnBatch:
    """Give the turns of many dialogues."""
    return ColumnBatch(Turn, {"kind": "message"}, dict(columns))


class Turns:
    """Makes the turns of dialogues, and names who takes part in them."""

    def __init__(self, people: People) -> None:
        self._people = people

    def add(self, dialogue_id: str, parsed: Parsed, rows: list[Row], columns: Columns) -> None:
        """Add the turns of a new dialogue to columns of many, and the rows of who takes part."""
        spoken = parsed.spoken
        cast = self._cast(dialogue_id, parsed, rows)
        columns["dialogue_id"] += [dialogue_id] * len(cast)
        columns["turn_index"] += range(len(cast))
        columns["speaker_id"] += [person.speaker_id for person in cast]
        columns["role"] += spoken.roles
        columns["text"] += spoken.texts
        columns["native_id"] += [value if isinstance(value, str) else None for value in spoken.ids]
        columns["said_at"] += parsed.times.found
        columns["extra"] += [_extra(parsed, index, person) for index, person in enumerate(cast)]

    def _cast(self, dialogue_id: str, parsed: Parsed, rows: list[Row]) -> list[Person]:
        """Give who says each utterance; everybody takes part in the role of the first one."""
        spoken, domain = parsed.spoken, parsed.facts["category"]
        cast, parts = [], dict[str, str]()
        for role, user, name in zip(spoken.roles, spoken.users, spoken.names, strict=True):
            person = self._people.person(dialogue_id, role, (user, name, domain), rows)
            parts.setdefault(person.speaker_id, role)
            cast.append(person)
        rows += [Participant(dialogue_id, speaker_id, role) for speaker_id, role in parts.items()]
        return cast


_CACHED = 4_096
"""Pairs of votes and is_answer whose JSON is remembered."""

_STATED = ("votes", "is_answer", "utterance_pos")


def _extra(parsed: Parsed, index: int, person: Person) -> str | None:
    """Give ``extra`` of any turn."""
    spoken = parsed.spoken
    stated, odd = _stated(spoken.votes[index], spoken.answers[index])
    extra, literals = dict(stated), person.literals | odd
    position, time, native_id = spoken.positions[index], spoken.times[index], spoken.ids[index]
    if type(position) is not int or position not in _INTEGERS:
        literals["utterance_pos"] = literal(position)
    elif position != index + 1:
        extra["utterance_pos"] = position
    if time is not UNSET and index in parsed.times.inexact:
        literals["utterance_time"] = literal(time)
    if native_id is not UNSET and native_id is not None and not isinstance(native_id, str):
        literals["id"] = literal(native_id)
    unknown: dict[str, Any] = {}
    for name, value in parsed.others.get(index, {}).items():
        if name != "intent":
            keep(name, value, unknown, literals)
    extra |= {"literals": literals, "fields": parsed.orders[index], "unknown": unknown}
    return _dump({name: value for name, value in extra.items() if value or name in _STATED})


@lru_cache(maxsize=_CACHED, typed=True)
def _stated(votes: Value, answer: Value) -> tuple[dict[str, Any], dict[str, str]]:
    """Give what ``extra`` says of votes and is_answer, and their literals; few of them differ."""
    extra: dict[str, Any] = {}
    literals: dict[str, str] = {}
    keep("votes", votes, extra, literals)
    keep("is_answer", answer, extra, literals)
    return extra, literals


def _dump(extra: dict[str, Any]) -> str | None:
    return msgspec.json.encode(extra).decode() if extra else None
