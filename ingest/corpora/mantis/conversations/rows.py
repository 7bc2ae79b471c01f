"""A dialogue of any kind to its rows, once however many files have it; ``extra`` has what no column gives back."""

from collections import defaultdict
from typing import Any, TypeAlias

from msgspec import UNSET, UnsetType

from talkhouse.ingest.corpora.mantis.conversations.dialogue import PublishedDialogue
from talkhouse.ingest.corpora.mantis.conversations.people import People, Person
from talkhouse.ingest.corpora.mantis.files import CORPUS
from talkhouse.ingest.corpora.mantis.format import keep, literal, text_of
from talkhouse.ingest.decode import dump_extra
from talkhouse.ingest.rows import Dialogue, Participant, Row

TurnColumns: TypeAlias = defaultdict[str, list[Any]]
"""Turns of many dialogues, a list for each column that differs."""

FLAGGED = tuple(f'{{"has_concatenated_utterances":{number}}}' for number in (0, 1))
"""``extra`` of a dialogue whose columns give back all else, by the flag."""

_INTEGERS = range(-(2**31), 2**31)
"""What an integer column holds."""


def add_dialogue(
    dialogue_id: str, key: str, dialogue: PublishedDialogue, people: People, rows: list[Row], turns: TurnColumns
) -> None:
    """Add the rows of a dialogue that is published for the first time, and its turns."""
    title, domain = dialogue.facts.get("title"), dialogue.facts["category"]
    shown = title if isinstance(title, str) else None
    rows.append(Dialogue(dialogue_id, CORPUS, key, domain, shown, "en", dialogue.started_at, _extra(dialogue)))
    spoken, roles = dialogue.spoken, dialogue.spoken["actor_type"]
    facts = zip(roles, spoken["user_id"], spoken["user_name"], strict=True)
    cast = [people.person(user, name, domain, f"{dialogue_id}:{role}", rows) for role, user, name in facts]
    speakers = [person.speaker_id for person in cast]
    first_roles = dict(zip(reversed(speakers), reversed(roles), strict=True))
    rows += [Participant(dialogue_id, speaker_id, first_roles[speaker_id]) for speaker_id in dict.fromkeys(speakers)]
    turns["dialogue_id"] += [dialogue_id] * len(cast)
    turns["turn_index"] += range(len(cast))
    turns["speaker_id"] += speakers
    turns["role"] += roles
    turns["text"] += spoken["utterance"]
    turns["native_id"] += [value if isinstance(value, str) else None for value in spoken["id"]]
    turns["said_at"] += dialogue.times
    turns["extra"] += [_turn_extra(dialogue, index, person) for index, person in enumerate(cast)]


def _extra(dialogue: PublishedDialogue) -> str | None:
    facts = dialogue.facts
    extra: dict[str, Any] = {}
    literals: dict[str, str] = {}
    if not isinstance(facts.get("title"), str | None):
        keep("title", facts["title"], extra, literals)
    if facts.get("dialog_time", UNSET) != text_of(dialogue.started_at):
        keep("dialog_time", facts.get("dialog_time", UNSET), extra, literals)
    keep("has_concatenated_utterances", facts.get("has_concatenated_utterances", UNSET), extra, literals)
    return dump_extra(extra | {"literals": literals})


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
        keep("utterance_pos", position, extra, literals)
    if time is not UNSET and time != text_of(dialogue.times[index]):
        literals["utterance_time"] = literal(time)
    if not isinstance(native_id, str | UnsetType | None):
        literals["id"] = literal(native_id)
    unknown: dict[str, Any] = {}
    for name, value in dialogue.unknown(index).items():
        keep(name, value, unknown, literals)
    return dump_extra(extra | {"literals": literals, "fields": dialogue.orders[index], "unknown": unknown})
