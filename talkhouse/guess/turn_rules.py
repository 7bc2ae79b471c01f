"""Rules for records that are turns (turns, convokit) or hold several (chat, sharegpt, tree, dialogue)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from talkhouse.guess.field_meanings import (
    DIALOGUES,
    Guess,
    Meanings,
    about_dialogues,
    dotted,
    meanings,
    records_of,
    with_dialogue,
)
from talkhouse.guess.record_values import (
    MOST,
    Record,
    are_keys,
    are_texts,
    as_words,
    at,
    column,
    leaves,
    lists,
    named,
    pick,
    whole_numbers,
)
from talkhouse.guess.sample import Sample
from talkhouse.ingest.declared.declaration.model import NO_PATH, DialogueFields, JsonPath, TurnFields
from talkhouse.ingest.declared.speakers import KNOWN

_LISTS = (
    *("messages", "conversations", "conversation", "dialogue", "dialog", "turns", "utterances", "chat", "thread"),
    "log",
)
"""Names of lists of turns, the likeliest first."""
_REPLIES = ("replies", "children", "comments", "responses", "answers", "child_comments")
_SYSTEM = ("system", "system_prompt", "system_message")
_SAID = ("content", "tool_calls", "function_call", "refusal", "audio")
_MOST_TURNS = 5_000
"""Turns that are looked at, of all dialogues together."""


def chat(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a list of messages with role and content."""
    for path, values in _lists_of_turns(samples).items():
        turns = _turns(values)
        has_said = [turn for turn in turns if "role" in turn and any(name in turn for name in _SAID)]
        roles = {role for turn in has_said if isinstance(role := turn["role"], str)}
        are_known = len(roles) <= 8 or len(roles & (KNOWN["chat"] | KNOWN["sharegpt"])) * 2 > len(roles)
        if turns and len(has_said) >= MOST * len(turns) and are_known:
            return _messages(samples, "chat", path, "role", "content")
    return None


def sharegpt(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a list of messages with from and value."""
    for path, values in _lists_of_turns(samples).items():
        turns = _turns(values)
        if turns and sum("from" in turn and "value" in turn for turn in turns) >= MOST * len(turns):
            return _messages(samples, "sharegpt", path, "from", "value")
    return None


def tree(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a first message, with the replies to it inside."""
    records = records_of(samples)
    for path in leaves(records, are_objects=True):
        roots = [root for record in records if isinstance(root := at(record, path), dict)]
        replies = _reply_list(roots)
        if replies is None or len(roots) < MOST * len(records):
            continue
        trees = _trees(roots, replies)
        found = meanings(trees, with_order=False, but=[(replies,)])
        if found is None:
            continue
        turn = replace(found.turn, reply_to=None, replies=(replies,))
        reason = f"each record has a first message, {dotted(path)}, with {dotted(turn.text)} and a list {replies}"
        return _with_turns(samples, replace(found, turn=turn), "tree", path, reason)
    return None


def dialogue(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a list of objects that have a text."""
    records = records_of(samples)
    best: tuple[tuple[int, ...], JsonPath, Meanings] | None = None
    for path, values in _lists_of_turns(samples).items():
        dialogues = _dialogues(values)
        found = meanings(dialogues, with_order=False) if any(dialogues) else None
        if found is None:
            continue
        rank = (_place(path), bool(found.turn.speaker or found.turn.role), -len(path))
        if best is None or rank > best[0]:
            best = rank, path, found
    if best is None:
        return _plain_texts(samples, records)
    _, path, found = best
    who = found.turn.role or found.turn.speaker
    members = " and ".join(dotted(member) for member in (who, found.turn.text) if member)
    reason = f"each record has a list {dotted(path)} of objects with {members}"
    return _with_turns(samples, found, "dialogue", path, reason)


def _plain_texts(samples: Sequence[Sample], records: Sequence[Record]) -> Guess | None:
    for path, values in lists(records).items():
        items = [item for value in values for item in value]
        is_named = as_words(str(path[-1] or "")) in _LISTS
        if is_named and len(items) > len(values) and all(isinstance(item, str) for item in items):
            reason = f"each record has a list {dotted(path)} of texts"
            return _with_turns(samples, Meanings(TurnFields(text=NO_PATH)), "dialogue", path, reason)
    return None


def _messages(samples: Sequence[Sample], form: Any, path: JsonPath, role: str, text: str) -> Guess:
    system = pick(records_of(samples), _SYSTEM, are_texts)
    guess = with_dialogue(samples, form, f"each record has {dotted(path)} with {role} and {text}", [path, system])
    dialogue = replace(guess.dialogue, turns=path, system=system)
    return replace(guess, dialogue=dialogue, turn=TurnFields(role=(role,), text=(text,)))


def _with_turns(samples: Sequence[Sample], found: Meanings, form: Any, path: JsonPath, reason: str) -> Guess:
    guess = with_dialogue(samples, form, reason, [() if form == "tree" else path])
    return replace(
        guess,
        dialogue=replace(guess.dialogue, turns=path),
        turn=found.turn,
        speaker=found.speaker,
        roles=found.roles,
        times={**guess.times, **found.times},
        remarks={**found.remarks, **guess.remarks},
    )


def _lists_of_turns(samples: Sequence[Sample]) -> Mapping[JsonPath, list[list[Any]]]:
    """Return the lists of objects that almost all records have, those with the likeliest names first."""
    records = records_of(samples)
    common = {
        path: values
        for path, values in lists(records).items()
        if len(values) >= MOST * len(records) and any(isinstance(item, dict) for value in values for item in value)
    }
    return dict(sorted(common.items(), key=lambda item: -_place(item[0])))


def _place(path: JsonPath) -> int:
    names = [as_words(name) for name in path if isinstance(name, str)]
    return next((len(_LISTS) - index for index, name in enumerate(_LISTS) if names and names[-1] == name), 0)


def _turns(values: Sequence[Sequence[Any]]) -> list[Record]:
    return [turn for turns in _dialogues(values) for turn in turns]


def _dialogues(values: Sequence[Sequence[Any]]) -> list[list[Record]]:
    """Return the turns of each dialogue, of all together so many as are looked at."""
    dialogues: list[list[Record]] = []
    left = _MOST_TURNS
    for value in values:
        dialogues.append(list(islice((turn for turn in value if isinstance(turn, dict)), left)))
        left -= len(dialogues[-1])
        if not left:
            break
    return dialogues


def _reply_list(roots: Sequence[Record]) -> str | None:
    """Return the name of the list of replies: of objects that have members of the root's names."""
    for root in roots:
        for name, value in root.items():
            if as_words(name) not in _REPLIES or not isinstance(value, list):
                continue
            if all(isinstance(item, dict) and len(item.keys() & root.keys()) > 1 for item in value) and value:
                return name
    return None


def _trees(roots: Sequence[Record], replies: str) -> list[list[Record]]:
    trees: list[list[Record]] = []
    left = _MOST_TURNS
    for root in roots:
        nodes: list[Record] = []
        ahead = [root]
        while ahead and len(nodes) < left:
            node = ahead.pop()
            nodes.append({name: value for name, value in node.items() if name != replies})
            ahead += [item for item in node.get(replies) or () if isinstance(item, dict)]
        trees.append(nodes)
        left -= len(nodes)
        if not left:
            break
    return trees


CONVOKIT_FILES = (
    "utterances.jsonl",
    "utterances.json",
    "speakers.json",
    "users.json",
    "conversations.json",
    "corpus.json",
)
_CONVOKIT_ROWS = ({"id", "text", "meta", "timestamp"}, {"conversation_id", "root"}, {"speaker", "user"})
_MOST_COLUMNS = 30
_LABELS = ("label", "labels", "tag", "category", "class", "annotation", "value", "emotion", "intent", "sentiment")


def convokit(samples: Sequence[Sample]) -> Guess | None:
    """Each record is an utterance as ConvoKit writes them."""
    must, *either = _CONVOKIT_ROWS
    for sample in samples:
        if not sample.records or sample.record != "item":
            return None
        for record in sample.records:
            if not (must <= record.keys() and all(names & record.keys() for names in either)):
                return None
    return Guess("convokit", "each record has the members of ConvoKit's utterances: id, text, meta, timestamp ...")


def turns(samples: Sequence[Sample]) -> Guess | None:
    """Each record is a turn, and has the id of its dialogue."""
    if any(sample.record != "item" for sample in samples):
        return None
    files = [[_cells(record) for record in sample.records] for sample in samples]
    records = [record for file in files for record in file]
    path, order = dialogue_of(records), None
    if path is None:
        path, order = _numbered(records)
    if path is None:
        return None
    dialogues = [dialogue for file in files for dialogue in _grouped(file, path)]
    found = meanings(dialogues, with_order=True, but=[path, *([order] if order else [])])
    if found is None:
        return None
    found.turn = replace(found.turn, order=found.turn.order or order)
    taken = [path, *(value for value in vars(found.turn).values() if value)]
    fields, times = about_dialogues([dialogue[0] for dialogue in dialogues], taken)
    fields = _constant(replace(fields, id=path), dialogues)
    times = times if fields.started_at else {}
    name, text = (".".join(map(str, where)) for where in (path, found.turn.text or ()))
    return Guess(
        "turns",
        f"each record is a turn: {name} says in which dialogue, {text} what was said",
        fields,
        found.turn,
        found.speaker,
        dialect=samples[0].dialect,
        roles=found.roles,
        times={**times, **found.times},
        remarks={**found.remarks, "dialogue.id": "several rows have the same"},
    )


def dialogue_of(records: Sequence[Record]) -> JsonPath | None:
    """Return the field that says which dialogue a row belongs to: its name is known, and several rows have the same."""
    for path in named(records, DIALOGUES):
        values = column(records, path)
        if are_keys(values) and len(set(map(str, values))) < len(values):
            return path
    return None


def _numbered(records: Sequence[Record]) -> tuple[JsonPath | None, JsonPath | None]:
    paths = list(leaves(records))[:_MOST_COLUMNS]
    numbers = {path: whole_numbers(column(records, path)) for path in paths}
    for path in paths:
        keys = column(records, path)
        if not are_keys(keys) or not 1 < len(set(keys)) <= len(keys) / 2:
            continue
        for order, places in numbers.items():
            if order != path and places is not None and _counts(keys, places):
                return path, order
    return None, None


def _counts(keys: Sequence[Any], places: Sequence[int]) -> bool:
    of_keys: dict[Any, set[int]] = {}
    for key, place in zip(keys, places, strict=True):
        if place in of_keys.setdefault(key, set()):
            return False
        of_keys[key].add(place)
    first = min(places)
    return first in (0, 1) and all(max(own) - first + 1 == len(own) for own in of_keys.values())


def looks_like_labels(sample: Sample) -> bool:
    """Whether rows are labels of dialogues that other files have."""
    return bool(named(sample.records, DIALOGUES) and named(sample.records, _LABELS))


def _cells(record: Record) -> Record:
    """Return a record without its objects: a field of a row is a column."""
    return {name: value for name, value in record.items() if not isinstance(value, dict)}


def _grouped(records: Sequence[Record], path: JsonPath) -> list[list[Record]]:
    dialogues: dict[Any, list[Record]] = {}
    for record in records:
        dialogues.setdefault(at(record, path), []).append(record)
    return list(dialogues.values())


def _constant(fields: DialogueFields, dialogues: Sequence[Sequence[Record]]) -> DialogueFields:
    """Return the fields that are the same in all rows of a dialogue."""
    for name, path in list(vars(fields).items()):
        if isinstance(path, tuple) and any(len({str(at(row, path)) for row in rows}) > 1 for rows in dialogues):
            left_out: dict[str, Any] = {name: None}
            fields = replace(fields, **left_out)
    return fields
