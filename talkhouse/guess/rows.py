"""Rules for records that are rows: turns, convokit, and files of labels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from talkhouse.guess.fields import DIALOGUES, about_dialogues, meanings, named
from talkhouse.guess.guess import Guess
from talkhouse.guess.sample import Sample
from talkhouse.guess.values import Record, are_keys, at, column
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
    path = dialogue_of(records)
    if path is None:
        return None
    dialogues = [dialogue for file in files for dialogue in _grouped(file, path)]
    found = meanings(dialogues, with_order=True, but=[path])
    if found is None:
        return None
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
