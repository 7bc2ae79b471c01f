"""What is guessed of a format, and of the fields of turns and dialogues by their names and values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from talkhouse.guess import evidence
from talkhouse.guess.evidence import NAMES, FieldGuess, Guess, dotted, quoted_path
from talkhouse.guess.record_values import (
    Dialogues,
    Records,
    are_ids,
    are_keys,
    are_queries,
    are_texts,
    are_texts_or_parts,
    are_words,
    at,
    column,
    path_words,
)
from talkhouse.guess.sample import Samples
from talkhouse.guess.turn_order import order_of, reply_of, time_of, turn_id_of
from talkhouse.guess.who_speaks import are_speakers, role_words, speaker_fallbacks, speaker_fields, who_speaks
from talkhouse.ingest.declared.declaration import model
from talkhouse.ingest.declared.times import read_time

DIALOGUES = NAMES["dialogue"]


@dataclass
class Meanings:
    """What the fields of turns mean."""

    turn: model.TurnFields
    speaker: model.SpeakerFields = field(default_factory=model.SpeakerFields)
    roles: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    dialogues: Dialogues = field(default_factory=Dialogues)


def meanings(dialogues: Dialogues, *, with_order: bool, but: Sequence[model.JsonPath] = ()) -> Meanings | None:
    """Return the meanings of the fields of turns, given some dialogues; None where no field is a text.

    ``but``: fields that mean something else. ``with_order``: whether a field may say the order of the turns.
    """
    turns = dialogues.turns
    named = _texts_of(turns, but)
    text = named[0] if named else turns.pick(NAMES["other_text"], _are_sentences, but)
    others_of_text = named[1:]
    remarks: dict[str, str] = {}
    if text is None and (text := _longest(turns, but)) is not None:
        remarks["turn.text"] = f"to decide: no name says so; the longest texts, {evidence.texts(column(turns, text))}"
    if text is None:
        return None
    taken: list[model.JsonPath | None] = [text, *others_of_text, *but]
    who = who_speaks(dialogues, taken, are_columns=with_order)
    taken += [who.role, who.speaker]
    order = order_of(dialogues, taken) if with_order else None
    taken.append(order)
    turn_id = turn_id_of(dialogues, taken)
    if turn_id is not None:
        remarks["turn.id"] = f"no value occurs twice in a dialogue, of {len(turns):,} turns"
    reply = reply_of(dialogues, turn_id, taken, are_columns=with_order)
    time = time_of(turns, NAMES["said_at"], [*taken, turn_id, reply.path], "turn.said_at", are_columns=with_order)
    fallbacks, of_speaker = speaker_fallbacks(turns, who.speaker, taken, are_columns=with_order)
    fallbacks |= {"text": tuple(others_of_text)} if others_of_text else {}
    turn = model.TurnFields(
        turn_id, text, who.role, who.speaker, time.path, reply.path, order=order, fallbacks=fallbacks
    )
    others = {
        "text": turns.named(NAMES["text"], [*taken, time.path]),
        "speaker": turns.named(NAMES["speaker"], [*taken, turn_id, who.role]),
    }
    fits = {"text": are_texts, "speaker": are_speakers}
    speakers = speaker_fields(turns, who.speaker)
    notes = tuple(
        f"{key} = {quoted_path(path, is_column=with_order)}  # {evidence.of_field(f'turn.{key}', column(turns, path))}"
        for key, paths in others.items()
        for path in paths
        if path != speakers.name and getattr(turn, key) is not None and fits[key](column(turns, path))
    )
    roles = role_words(column(turns, who.role) if who.role else [])
    remarks |= {**who.remarks, **time.remarks, **reply.remarks}
    found = (*who.notes, *of_speaker, *reply.notes, *time.notes, *notes)
    return Meanings(turn, speakers, roles, time.times, remarks, found, dialogues)


def _texts_of(turns: Records, but: Sequence[model.JsonPath]) -> list[model.JsonPath]:
    """Return the path of the texts by their names, and those beside it that have one where it has none."""
    first = turns.pick(NAMES["text"], are_texts_or_parts, but)
    found, lacking = [first] if first else [], Records(turn for turn in turns if not at(turn, first or ()))
    for path in [path for path in turns.leaves if first and path[:-1] == first[:-1] and path[-1] in _BESIDE_A_TEXT]:
        values = [value for value in column(lacking, path) if value]
        if path != first and path not in but and values and are_texts_or_parts(values):
            found.append(path)
            lacking = Records(turn for turn in lacking if not at(turn, path))
    return found


_BESIDE_A_TEXT = ("content", "parts", "text", "thoughts", "result")


def with_reverse(found: Meanings) -> Meanings:
    """Return the meanings of turns, the last one first where no time is behind that of the turn before."""
    if found.turn.said_at is None or found.turn.order or found.turn.replies:
        return found
    falls, form = 0, found.times.get("said_at", model.ISO)
    for dialogue in found.dialogues:
        texts = [value for value in column(dialogue, found.turn.said_at) if value is not None]
        times: list[Any] = [read_time(text, form).value if isinstance(text, str) else text for text in texts]
        try:
            if any(later > earlier for earlier, later in pairwise(times)):
                return found
            falls += sum(later < earlier for earlier, later in pairwise(times))
        except TypeError:
            return found
    if not falls:
        return found
    remarks = {**found.remarks, "turn.order": f"{falls:,} times are earlier, none later"}
    return replace(found, turn=replace(found.turn, is_reversed=True), remarks=remarks)


def with_dialogue(samples: Samples, form: Any, reason: str, but: Sequence[model.JsonPath | None]) -> Guess:
    """Return a guess with what the records say of their dialogues; ``but``: fields that mean something else."""
    first = samples[0]
    id_path, why = id_of(samples)
    if first.record == "member":
        id_path, why = None, "no id: a member's name is one"
    fields, start = about_dialogues(samples.records, [*but, id_path])
    dialogue = replace(fields, id=id_path, record=first.record)
    remarks = {"dialogue.id": why, **start.remarks}
    notes = {"dialogue": start.notes} if start.notes else {}
    return Guess(form, reason, dialogue, dialect=first.dialect, times=start.times, remarks=remarks, notes=notes)


def about_dialogues(
    records: Records, but: Sequence[model.JsonPath | None], *, are_columns: bool = False
) -> tuple[model.DialogueFields, FieldGuess]:
    """Return the other fields of dialogues, title, split, domain, language and beginning, and what speaks for it."""
    title = records.pick(("title", "subject", "channel.name"), are_texts, but)
    split = records.pick(("split", "data_split"), are_words, but)
    domain = records.pick(("domain",), are_texts, but)
    language = records.pick(("language", "lang"), are_words, but)
    others = [title, split, domain, language]
    start = time_of(records, NAMES["started_at"], [*but, *others], "dialogue.started_at", are_columns=are_columns)
    fields = model.DialogueFields(title=title, split=split, domain=domain, language=language, started_at=start.path)
    return fields, start


def id_of(samples: Samples) -> tuple[model.JsonPath | None, str]:
    """Return the field that is an id, where no file of the sample has one twice; and why it is, or is not."""
    records = samples.records
    repeated, unique = list[model.JsonPath](), list[model.JsonPath]()
    for path in records.named(tuple(dict.fromkeys((*NAMES["id"], *DIALOGUES)))):
        columns = [column(sample.records, path) for sample in samples]
        if path_words(path) not in NAMES["id"] and not all(_are_bare(values) for values in columns):
            continue
        if all(are_ids(values) for values in columns):
            unique.append(path)
        elif all(are_keys(values) for values in columns):
            repeated.append(path)
    if unique:
        others = f"; so it is with {', '.join(map(dotted, unique[1:4]))}" if unique[1:] else ""
        return unique[0], f"no value occurs twice in a file, of {len(records):,} records{others}"
    if repeated:
        count = len(set(map(str, column(records, repeated[0]))))
        why = f"no id: {dotted(repeated[0])} has a value twice in the sample ({count:,} of {len(records):,})"
        return None, "to decide: " * (path_words(repeated[0]) in DIALOGUES[:-1]) + why
    return None, "no id: no field has a name for it and a value in each record"


def _are_bare(values: list[Any]) -> bool:
    """Whether each is a word or number: a field called ``dialogue`` may have the dialogue itself."""
    return all(isinstance(value, str | int) and len(str(value).split()) == 1 for value in values)


def _longest(turns: Records, but: Sequence[model.JsonPath]) -> model.JsonPath | None:
    means: dict[model.JsonPath, float] = {}
    for path in turns.leaves:
        values = [value for value in column(turns, path) if isinstance(value, str)]
        are_most = len(values) >= len(turns) / 2 and sum(" " in value.strip() for value in values) * 2 >= len(values)
        if path not in but and are_most and len(set(values)) * 2 > len(values) and not are_queries(values):
            means[path] = sum(map(len, values)) / len(values)
    return max(means, key=lambda path: means[path], default=None)


def _are_sentences(values: list[Any]) -> bool:
    has_words = sum(isinstance(value, str) and " " in value for value in values) * 3 > len(values)
    return are_texts(values) and has_words and not are_queries(values)
