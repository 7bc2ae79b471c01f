"""Rules for records that are turns: turns, convokit; and how rows are told apart by their dialogues."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from talkhouse.guess import evidence
from talkhouse.guess.evidence import NAMES, Guess, dotted, ids_text, paths_of
from talkhouse.guess.field_meanings import DIALOGUES, Meanings, about_dialogues, meanings, with_reverse
from talkhouse.guess.record_values import Dialogues, Record, Records, are_keys, at, column, whole_numbers
from talkhouse.guess.sample import Sample, Samples
from talkhouse.ingest.declared.declaration import model

CONVOKIT_FILES = (
    *("utterances.jsonl", "utterances.json", "speakers.json", "users.json", "conversations.json"),
    "corpus.json",
)

_CONVOKIT_ROWS = ({"id", "text", "meta", "timestamp"}, {"conversation_id", "root"}, {"speaker", "user"})
_MOST_COLUMNS = 30
_NUMBERS = tuple(dict.fromkeys((*NAMES["order"], *NAMES["turn_id"])))
_LABELS = ("label", "labels", "tag", "category", "class", "annotation", "value", "emotion", "intent", "sentiment")


def convokit(samples: Samples) -> Guess | None:
    """Each record is an utterance as ConvoKit writes them."""
    must, *either = _CONVOKIT_ROWS
    for sample in samples:
        if not sample.records or sample.record != "item":
            return None
        for record in sample.records:
            if not (must <= record.keys() and all(names & record.keys() for names in either)):
                return None
    return Guess("convokit", "each record has the members of ConvoKit's utterances: id, text, meta, timestamp ...")


def turns(samples: Samples) -> Guess | None:
    """Each record is a turn, and has the id of its dialogue; or a file is a dialogue, whose rows say who says what."""
    if any(sample.record != "item" for sample in samples):
        return None
    files = [Records(map(_cells, sample.records)) for sample in samples]
    records = Records(chain.from_iterable(files))
    together, remark, order = _dialogue_columns(files, records), "several rows have the same", None
    if not together:
        path, order = _numbered(records)
        together = [path] if path else []
        remark = f"to decide: no name says so, but its rows are numbered by {dotted(order)}"
    dialogues = _grouped(files, together)
    found = meanings(dialogues, with_order=True, but=[*together, *([order] if order else [])])
    if found is None or not (together or _are_messages(found)):
        return None
    found = with_reverse(replace(found, turn=replace(found.turn, order=found.turn.order or order)))
    taken = [*together, *paths_of(found.turn).values()]
    fields, start = about_dialogues(Records(dialogue[0] for dialogue in dialogues), taken, are_columns=True)
    fields = _constant(replace(fields, id=together[0] if together else None), dialogues)
    size = evidence.groups(dialogues)
    choices = () if order else _choices(files, records, together)
    if not together:
        remark = f"to decide: no column says which dialogue, so that a file is one: {size}"
    elif choices:
        remark = f"to decide: {size}"
    else:
        remark += f": {size}"
    verb = "says" if len(together) == 1 else "say"
    which = f"{', '.join(map(dotted, together))} {verb} in which dialogue, " if together else ""
    reason = f"each record is a turn: {which}{dotted(found.turn.text)} {'' if together else 'is '}what was said"
    return Guess(
        "turns",
        reason,
        fields,
        found.turn,
        found.speaker,
        dialect=samples[0].dialect,
        roles=found.roles,
        times={**(start.times if fields.started_at else {}), **found.times},
        remarks={**found.remarks, **start.remarks, "dialogue.id": remark},
        notes={table: lines for table, lines in (("dialogue", choices), ("turn", found.notes)) if lines},
        together=tuple(together),
        turns=found.dialogues.turns,
    )


def _are_messages(found: Meanings) -> bool:
    """Whether rows without the id of a dialogue are what people said: they say who says it, and when or in which order.

    A table of texts and their authors would be one long dialogue.
    """
    turn = found.turn
    by_name = turn.text is not None and "turn.text" not in found.remarks
    return by_name and bool(turn.role or turn.speaker) and bool(turn.said_at or turn.order or turn.role)


def _dialogue_of(records: Records) -> model.JsonPath | None:
    """Return the field that says which dialogue a row belongs to: its name is known, and several rows have the same."""
    return next((path for path in records.named(DIALOGUES) if _recurs(records, path)), None)


def _recurs(records: Records, path: model.JsonPath) -> bool:
    values = column(records, path)
    return are_keys(values) and len(set(map(str, values))) < len(values)


def _dialogue_columns(files: Sequence[Records], records: Records) -> list[model.JsonPath]:
    """Return the columns that together are the id of a dialogue, the widest first; none where no name says so.

    A scene has a number in its episode, and an episode in its season. Where they are numbered, one alone would join
    the scenes of all seasons.
    """
    path = _dialogue_of(records)
    if path is None:
        return []
    levels = _levels(records)
    inside = [level for level in levels if level == path or _varies(files, path, level)]
    if len(inside) < 2 and not (inside and path not in levels):
        return [path]
    if path not in levels and not _numbers_recur(files, records, path):
        return [path]  # a dialogue may go through several sessions
    return [*inside, *([path] if path not in inside else [])]


def _levels(records: Records) -> list[model.JsonPath]:
    """Return the columns of seasons, episodes, scenes ..., the widest first."""
    depths = {path: depth for path in records.leaves if (depth := evidence.level(path)) is not None}
    return [path for path in sorted(depths, key=lambda path: depths[path]) if _recurs(records, path)]


def _varies(files: Sequence[Records], path: model.JsonPath, other: model.JsonPath) -> bool:
    """Whether rows that would be one dialogue differ in a column."""
    return any(len(set(map(str, column(rows, other)))) > 1 for rows in _grouped(files, [path]))


def _numbers_recur(files: Sequence[Records], records: Records, path: model.JsonPath) -> bool:
    """Whether turns of one dialogue have the same number, so that it is several."""
    for number in records.named(_NUMBERS, [path]):
        for rows in _grouped(files, [path]):
            numbers = whole_numbers(column(rows, number))
            if numbers is not None and len(set(numbers)) * 2 <= len(numbers) > 1:
                return True
    return False


def _choices(files: Sequence[Records], records: Records, chosen: Sequence[model.JsonPath]) -> tuple[str, ...]:
    """Return the other columns that could be the id, a line each with what they would make of the rows."""
    base = _dialogue_of(records)
    if base is None:
        return ()
    inside = [level for level in _levels(records) if level == base or _varies(files, base, level)]
    everything = [*inside, *([base] if base not in inside else [])]
    options = [[path] for path in everything] + [everything[place:] for place in range(1, len(everything) - 1)]
    options += [everything] if len(everything) > 1 else []
    if len(options) < 2:
        return ()
    return tuple(
        f"id = {ids_text(option)}  # {evidence.groups(_grouped(files, option))}"
        for option in options
        if option != list(chosen)
    )


def _numbered(records: Records) -> tuple[model.JsonPath | None, model.JsonPath | None]:
    paths = records.leaves[:_MOST_COLUMNS]
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
    records = Records(sample.records)
    return bool(records.named(DIALOGUES) and records.named(_LABELS))


def _cells(record: Record) -> Record:
    """Return a record without its objects: a field of a row is a column."""
    return {name: value for name, value in record.items() if not isinstance(value, dict)}


def _grouped(files: Iterable[Records], together: Sequence[model.JsonPath]) -> Dialogues:
    """Return the rows of each dialogue of each file; of no columns, all of them."""
    dialogues = Dialogues()
    for records in files:
        of_ids: dict[tuple[Any, ...], list[Record]] = {}
        for record in records:
            of_ids.setdefault(tuple(at(record, path) for path in together), []).append(record)
        dialogues += of_ids.values()
    return dialogues


def _constant(fields: model.DialogueFields, dialogues: Sequence[Sequence[Record]]) -> model.DialogueFields:
    """Return the fields that are the same in all rows of a dialogue."""
    for name, path in list(vars(fields).items()):
        if isinstance(path, tuple) and any(len({str(at(row, path)) for row in rows}) > 1 for rows in dialogues):
            left_out: dict[str, Any] = {name: None}
            fields = replace(fields, **left_out)
    return fields
