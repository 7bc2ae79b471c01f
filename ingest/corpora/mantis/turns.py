"""The utterances of a dialogue to turns: one block, and in ``extra`` of each what no column gives back."""

from collections import defaultdict
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from ingest.corpora.mantis.parse import Parsed
from ingest.corpora.mantis.people import People, Person
from ingest.corpora.mantis.shapes import Value, keep, literal
from ingest.rows import Block, Participant, Row, Turn

_CACHED = 4_096
"""Pairs of votes and is_answer whose JSON is remembered."""

NUMBERS = list(range(1, 1_001))
"""utterance_pos as it should be, of dialogues that are not longer than any."""

Columns: TypeAlias = defaultdict[str, list[Any]]
"""Turns of many dialogues, a list for each column that differs."""

_INTEGERS = range(-(2**31), 2**31)
"""What an integer column holds."""


def block(columns: Columns) -> Block:
    """Give the turns of many dialogues."""
    return Block(Turn, {"kind": "message"}, dict(columns))


class Turns:
    """Makes the turns of dialogues, and names who takes part in them."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._plain: dict[tuple[str, int], str | None] = {}

    def add(self, dialogue_id: str, parsed: Parsed, rows: list[Row], columns: Columns) -> None:
        """Add the turns of a new dialogue to columns of many, and the rows of who takes part."""
        spoken = parsed.spoken
        cast = self._cast(dialogue_id, parsed, rows)
        columns["dialogue_id"] += [dialogue_id] * len(cast)
        columns["turn_index"] += range(len(cast))
        columns["speaker_id"] += [person.speaker_id for person in cast]
        columns["role"] += spoken.roles
        columns["text"] += spoken.texts
        columns["native_id"] += spoken.ids if parsed.is_usual else map(_text, spoken.ids)
        columns["said_at"] += parsed.times.found
        columns["extra"] += self._extras(parsed, cast)

    def _cast(self, dialogue_id: str, parsed: Parsed, rows: list[Row]) -> list[Person]:
        """Give who says each utterance; everybody takes part in the role of the first one."""
        spoken, domain = parsed.spoken, parsed.facts["category"]
        keys: list[tuple[Any, ...]] = list(zip(spoken.roles, spoken.users, spoken.names, strict=True))
        if not parsed.is_usual:  # true is 1 to Python
            keys = [(*key, type(key[1]), type(key[2])) for key in keys]
        people: dict[tuple[Any, ...], Person] = {}
        parts: dict[str, str] = {}
        for key in dict.fromkeys(keys):
            role, user, name, *_ = key
            person = people[key] = self._people.person(dialogue_id, role, (user, name, domain), rows)
            parts.setdefault(person.speaker_id, role)
        rows += [Participant(dialogue_id, speaker_id, role) for speaker_id, role in parts.items()]
        return [people[key] for key in keys]

    def _extras(self, parsed: Parsed, cast: list[Person]) -> list[str | None]:
        """Give ``extra`` of every turn: of usual ones from memory."""
        spoken, size = parsed.spoken, len(cast)
        if not parsed.is_usual:
            return [_extra(parsed, index, cast[index]) for index in range(size)]
        pairs = list(zip(spoken.votes, spoken.answers, strict=True))
        extras = list(map(self._plain.get, pairs))
        if None in extras:
            extras = list(map(self._usual, pairs))
        odd = {*parsed.others, *parsed.times.inexact}
        if any(person.literals for person in cast):
            odd.update(index for index, person in enumerate(cast) if person.literals)
        if spoken.positions != NUMBERS[:size]:
            odd.update(index for index, position in enumerate(spoken.positions) if position != index + 1)
        if any(parsed.orders):
            odd.update(index for index, order in enumerate(parsed.orders) if order)
        for index in odd:
            extras[index] = _extra(parsed, index, cast[index])
        return extras

    def _usual(self, pair: tuple[str, int]) -> str | None:
        """Give ``extra`` of a turn that has nothing but its votes and is_answer."""
        if pair not in self._plain:
            if len(self._plain) >= _CACHED:
                self._plain.clear()
            self._plain[pair] = _dump({"votes": pair[0], "is_answer": pair[1]})
        return self._plain[pair]


_STATED = ("votes", "is_answer", "utterance_pos")


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def _extra(parsed: Parsed, index: int, person: Person) -> str | None:
    """Give ``extra`` of any turn."""
    spoken = parsed.spoken
    extra: dict[str, Any] = {}
    literals = dict(person.literals)
    keep("votes", spoken.votes[index], extra, literals)
    keep("is_answer", spoken.answers[index], extra, literals)
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


def _dump(extra: dict[str, Any]) -> str | None:
    return msgspec.json.encode(extra).decode() if extra else None
