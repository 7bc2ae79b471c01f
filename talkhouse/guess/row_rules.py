"""Rules for records that are rows: turns, convokit, and files of labels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from talkhouse.guess.field_meanings import DIALOGUES, about_dialogues, meanings
from talkhouse.guess.guess import Guess
from talkhouse.guess.record_values import Record, are_keys, at, column, leaves, named, whole_numbers
from talkhouse.guess.sample import Sample
from talkhouse.ingest.declared.declaration.model import DialogueFields, JsonPath

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
    """Return two fields of which one numbers the rows of each value of the other, 0, 1, 2 ... or 1, 2, 3 ..."""
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
    """Whether the places of each key are a count from 0 or 1, of which none stands twice."""
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
    """Leave out objects: a field of a row is a column."""
    return {name: value for name, value in record.items() if not isinstance(value, dict)}


def _grouped(records: Sequence[Record], path: JsonPath) -> list[list[Record]]:
    dialogues: dict[Any, list[Record]] = {}
    for record in records:
        dialogues.setdefault(at(record, path), []).append(record)
    return list(dialogues.values())


def _constant(fields: DialogueFields, dialogues: Sequence[Sequence[Record]]) -> DialogueFields:
    """Leave out what is not the same in all rows of a dialogue."""
    for name, path in list(vars(fields).items()):
        if isinstance(path, tuple) and any(len({str(at(row, path)) for row in rows}) > 1 for rows in dialogues):
            left_out: dict[str, Any] = {name: None}
            fields = replace(fields, **left_out)
    return fields
