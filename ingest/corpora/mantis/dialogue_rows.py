"""A dialogue of any kind to its rows and its record: who speaks, and what other files state of it otherwise."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from talkhouse.ingest.corpora.mantis.dialogue import PublishedDialogue
from talkhouse.ingest.corpora.mantis.format import (
    CORPUS,
    DIALOGUE_FACTS,
    FACTS,
    KNOWN_FIELDS,
    NAN,
    SPLITS,
    Value,
    keep,
    literal,
    text_of,
)
from talkhouse.ingest.corpora.mantis.intent_table import annotations, not_first, spaces
from talkhouse.ingest.decode import dump_extra, pointer
from talkhouse.ingest.keys import Keys, Restatements, digest
from talkhouse.ingest.outcomes import ReaderFinding, SourceLocation
from talkhouse.ingest.rows import Dialogue, Participant, Record, Row, Speaker


class Person(NamedTuple):
    """Somebody in a dialogue: the key, and the fields whose JSON the speaker's row does not give back."""

    speaker_id: str
    literals: dict[str, str]


class MantisPeople:
    """Everybody who was named so far; adds the row of each once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Value, Value]] = {}
        """By key: the user id (a number's literal) and user name that the row gives back."""

    def person(self, user: Value, name: Value, domain: str, anonymous_id: str, rows: list[Row]) -> Person:
        """Find somebody by user id, user name and domain; adds the row where it is the first time."""
        is_anonymous = user is None or user is UNSET or user == NAN
        speaker_id = anonymous_id if is_anonymous else f"{CORPUS}:{domain}:{_token(user)}"
        known = self._known.get(speaker_id)
        if known is None:
            native_id = None if is_anonymous else user if isinstance(user, str) else literal(user)
            shown = name if isinstance(name, str) else None
            rows.append(Speaker(speaker_id, CORPUS, native_id, shown, "human", is_anonymous))
            known = self._known[speaker_id] = (b"null" if native_id is None else native_id.encode(), shown)
        return Person(speaker_id, {} if known == (user, name) else _literals(known, user, name))


def _literals(known: tuple[Value, Value], user: Value, name: Value) -> dict[str, str]:
    """Return the JSON of the fields that somebody's row does not give back."""
    stated = {"user_id": (user, known[0]), "user_name": (name, known[1])}
    texts = {field: (literal(value), literal(own)) for field, (value, own) in stated.items() if value is not UNSET}
    return {field: text for field, (text, own) in texts.items() if text != own}


def _token(user: Value) -> str:
    """Return a user id as keys have it: 4376 for 4376.0."""
    if not isinstance(user, bytes):
        return user if isinstance(user, str) else literal(user)
    text, number = user.decode(), float(user)
    is_whole = number.is_integer() and abs(number) < _EXACT and not text.endswith(".0")
    return str(int(number)) if is_whole else text.removesuffix(".0")


_EXACT = 2.0**53
"""Whole numbers below are exact as floats."""


class Known(NamedTuple):
    """What those that were read before have to do with a dialogue."""

    dialogue_id: str
    is_new: bool
    is_first: bool
    """Whether no record of this split and key came before."""
    differs: dict[str, str]
    """JSON by pointer, what this file states otherwise than an earlier one."""


class KnownConversations:
    """All dialogues of a build: the plain and the intent file of a split have the same ones."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._restatements = Restatements()

    def find(self, split: str, key: str, dialogue: PublishedDialogue | None) -> Known:
        """Assign a dialogue's id, and remember its words and facts, or None if no other file may have it."""
        natural = f"{CORPUS}:{split}:{key}"
        if dialogue is None:
            return Known(natural, is_new=True, is_first=True, differs={})
        spoken = dialogue.spoken
        words = digest(*(part for pair in zip(spoken["actor_type"], spoken["utterance"], strict=True) for part in pair))
        dialogue_id, is_new = self._keys.assign(natural, words)
        return Known(dialogue_id, is_new, is_new and dialogue_id == natural, self._differs(dialogue_id, dialogue))

    def _differs(self, dialogue_id: str, dialogue: PublishedDialogue) -> dict[str, str]:
        """Return every fact that a record states otherwise than the first of its dialogue."""
        own = {name: dialogue.facts.get(name, UNSET) for name in DIALOGUE_FACTS}
        unknown = {index: fields for index in dialogue.others if (fields := dialogue.unknown(index))}
        facts = own | {name: dialogue.spoken[name] for name in FACTS} | {_UNKNOWN: unknown}
        stated = {name: repr(fact) for name, fact in facts.items()}
        wrong = self._restatements.differing_names(dialogue_id, stated)
        if not wrong:
            return {}
        found = {pointer(name): own[name] for name in own if name in wrong}
        for index in range(len(dialogue.orders)):
            values = {name: dialogue.spoken[name][index] for name in FACTS if name in wrong}
            values |= unknown.get(index, {}) if _UNKNOWN in wrong else {}
            found |= {pointer("utterances", index, name): value for name, value in values.items()}
        return {at: literal(value) for at, value in found.items() if value is not UNSET}


_UNKNOWN = ""
"""Stands for the fields that no documentation names."""


TurnColumns: TypeAlias = defaultdict[str, list[Any]]
"""Turns of many dialogues, a list for each column that differs."""

FLAGGED = tuple(f'{{"has_concatenated_utterances":{number}}}' for number in (0, 1))
"""``extra`` of a dialogue whose columns give back all else, by the flag."""

_INTEGERS = range(-(2**31), 2**31)
"""What an integer column holds."""


def add_dialogue(
    dialogue_id: str, key: str, dialogue: PublishedDialogue, people: MantisPeople, rows: list[Row], turns: TurnColumns
) -> None:
    """Add the rows of a dialogue that is published for the first time, and its turns."""
    title, domain = dialogue.facts.get("title"), dialogue.facts["category"]
    shown = title if isinstance(title, str) else None
    rows.append(Dialogue(dialogue_id, CORPUS, key, domain, shown, "en", dialogue.started_at, _dialogue_extra(dialogue)))
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


def _dialogue_extra(dialogue: PublishedDialogue) -> str | None:
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


TASK = "intent_prediction"
_SHOWN = 3
_UTTERANCES = pointer("utterances")


def record(
    location: SourceLocation, known: Known, dialogue: PublishedDialogue, rows: list[Row]
) -> tuple[Record, list[ReaderFinding]]:
    """Add the record of a dialogue and its intents; returns it with what is wrong with them."""
    subset, split = location.subset or "", location.split or ""
    site = "".join((location.native_id or "").rpartition("/")[:2])
    key = record_id(subset, split, f"{site}{location.record_index or 0}")
    row = location.record(key, known.dialogue_id, standard_split=SPLITS.get(split))
    is_labelled = "has_intent_labels" in dialogue.facts
    intents: list[Value] = []
    if is_labelled or dialogue.others:
        intents = [dialogue.others.get(index, {}).get("intent", UNSET) for index in range(len(dialogue.orders))]
    row.extra = _extra(dialogue, known, intents if is_labelled else [], intents)
    rows.append(row)
    for index, labels in enumerate(intents):
        rows += annotations(row, index, labels or [])
    return row, [*_intent_findings(intents, is_labelled=is_labelled), *_disagreements(known)]


def record_id(subset: str, split: str, index: str) -> str:
    """Return the key of a record by its subset, its split and its position among the records of the file."""
    return f"{CORPUS}/{subset}/{split}/{index}"


def _intent_pointer(index: int) -> str:
    return pointer("utterances", index, "intent")


def _intent_findings(intents: list[Value], *, is_labelled: bool) -> Iterator[ReaderFinding]:
    """MA-08: utterances of a labelled dialogue that have no intents; and unusual ones, as a warning."""
    unusual: list[str] = []
    if is_labelled:
        for index, labels in enumerate(intents):
            if labels is UNSET or labels is None:
                detail = "no intents in a labelled dialogue"
                yield ReaderFinding("MA-08", detail, pointer=_intent_pointer(index), task=TASK, turn_index=index)
        if intents[0] is not UNSET and intents[0] is not None:
            unusual += not_first(intents[0])
    unusual += spaces([intent for labels in intents for intent in labels or []])
    if unusual:
        yield ReaderFinding("MA-08", "; ".join(unusual), pointer="", severity="warn")


def _disagreements(known: Known) -> Iterator[ReaderFinding]:
    """MA-09 and MA-10: what another file says of the dialogue."""
    if known.is_new and not known.is_first:
        detail = f"other words than an earlier file has under this key; kept as {known.dialogue_id}"
        yield ReaderFinding("MA-09", detail, pointer="")
    if known.differs:
        # Of utterances, a field is compared as a whole, so that no single one of them can be named.
        first = next(iter(known.differs))
        at = _UTTERANCES if first.startswith(f"{_UTTERANCES}/") else first
        names = list(dict.fromkeys(at.rpartition("/")[2] for at in known.differs))
        shown = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
        yield ReaderFinding("MA-10", f"an earlier file states otherwise: {shown}", pointer=at)


def _extra(dialogue: PublishedDialogue, known: Known, labelled: list[Value], intents: list[Value]) -> str | None:
    """Return ``extra``: the keys in published order, and what no row gives back."""
    orders = dialogue.orders[0] if len(set(dialogue.orders)) == 1 else dialogue.orders
    own: dict[str, Any] = {
        "fields": list(dialogue.facts),
        "lists": {_intent_pointer(index): labels for index, labels in enumerate(intents) if labels in ([], None)},
        "absent": [_intent_pointer(index) for index, labels in enumerate(labelled) if labels is UNSET],
        "differs": known.differs,
        "orders": None if known.is_new else Raw(msgspec.json.encode(orders)),
    }
    unknown: dict[str, Any] = {}
    literals: dict[str, str] = {}
    for name, value in dialogue.facts.items():
        if name not in KNOWN_FIELDS:
            keep(pointer(name), value, unknown, literals)
    keep("has_intent_labels", dialogue.facts.get("has_intent_labels", UNSET), own, literals)
    return dump_extra(own | {"unknown": unknown, "literals": literals})
