"""A dialogue of any kind to its rows, once however many files have it; ``extra`` has what no column gives back."""

from collections import defaultdict
from typing import Any, TypeAlias

from msgspec import UNSET

from ingest.corpora.mantis.conversations.dialogue import PublishedDialogue
from ingest.corpora.mantis.conversations.people import People, Person
from ingest.corpora.mantis.files import CORPUS
from ingest.corpora.mantis.format import keep, literal, text_of
from ingest.decode import dump
from ingest.rows import Dialogue, Participant, Row

TurnColumns: TypeAlias = defaultdict[str, list[Any]]
"""Turns of many dialogues, a list for each column that differs."""

FLAGGED = tuple(f'{{"has_concatenated_utterances":{number}}}' for number in (0, 1))
"""``extra`` of a dialogue that has nothing else to say, by the flag."""

_INTEGERS = range(-(2**31), 2**31)
"""What an integer column holds."""


def add_dialogue(
    dialogue_id: str, key: str, dialogue: PublishedDialogue, people: People, rows: list[Row], turns: TurnColumns
) -> None:
    """Add the rows of a dialogue that is published for the first time, and its turns."""
    title, domain = dialogue.facts.get("title"), dialogue.facts["category"]
    shown = title if isinstance(title, str) else None
    rows.append(Dialogue(dialogue_id, CORPUS, key, domain, shown, "en", dialogue.started_at, _extra(dialogue)))
    spoken = dialogue.spoken
    facts = zip(spoken["actor_type"], spoken["user_id"], spoken["user_name"], strict=True)
    cast = [people.person(user, name, domain, f"{dialogue_id}:{role}", rows) for role, user, name in facts]
    first_roles = dict[str, str]()
    for person, role in zip(cast, spoken["actor_type"], strict=True):
        first_roles.setdefault(person.speaker_id, role)
    rows += [Participant(dialogue_id, speaker_id, role) for speaker_id, role in first_roles.items()]
    turns["dialogue_id"] += [dialogue_id] * len(cast)
    turns["turn_index"] += range(len(cast))
    turns["speaker_id"] += [person.speaker_id for person in cast]
    turns["role"] += spoken["actor_type"]
    turns["text"] += spoken["utterance"]
    turns["native_id"] += [value if isinstance(value, str) else None for value in spoken["id"]]
    turns["said_at"] += dialogue.times
    turns["extra"] += [_turn_extra(dialogue, index, person) for index, person in enumerate(cast)]


def _extra(dialogue: PublishedDialogue) -> str | None:
    title, time, flag = (
        dialogue.facts.get(name, UNSET) for name in ("title", "dialog_time", "has_concatenated_utterances")
    )
    extra: dict[str, Any] = {}
    literals: dict[str, str] = {}
    if title is not None and not isinstance(title, str):
        keep("title", title, extra, literals)
    if time != text_of(dialogue.started_at):
        keep("dialog_time", time, extra, literals)
    keep("has_concatenated_utterances", flag, extra, literals)
    return dump(extra | ({"literals": literals} if literals else {}))


def _turn_extra(dialogue: PublishedDialogue, index: int, person: Person) -> str | None:
    spoken = dialogue.spoken
    extra: dict[str, Any] = {}
    literals = dict(person.literals)
    keep("votes", spoken["votes"][index], extra, literals)
    keep("is_answer", spoken["is_answer"][index], extra, literals)
    position, time, native_id = spoken["utterance_pos"][index], spoken["utterance_time"][index], spoken["id"][index]
    if type(position) is not int or position not in _INTEGERS:
        literals["utterance_pos"] = literal(position)
    elif position != index + 1:
        extra["utterance_pos"] = position
    if time is not UNSET and time != text_of(dialogue.times[index]):
        literals["utterance_time"] = literal(time)
    if native_id is not UNSET and native_id is not None and not isinstance(native_id, str):
        literals["id"] = literal(native_id)
    unknown: dict[str, Any] = {}
    for name, value in dialogue.unknown(index).items():
        keep(name, value, unknown, literals)
    extra |= {"literals": literals, "fields": dialogue.orders[index], "unknown": unknown}
    return dump({name: value for name, value in extra.items() if value or name in _STATED})


_STATED = ("votes", "is_answer", "utterance_pos")
