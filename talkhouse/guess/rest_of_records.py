"""What else records say once their format is known: evidence, ids that begin again, labels, speakers' names."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from talkhouse.guess import evidence
from talkhouse.guess.evidence import Guess, GuessedLabels, Mapped, dotted, names_of, paths_of, scheme_word
from talkhouse.guess.record_values import (
    MOST_WORDS,
    FieldProfile,
    Records,
    as_words,
    at,
    column,
    fields_of,
    path_words,
    texts_of,
)
from talkhouse.guess.sample import Sample, Samples
from talkhouse.ingest.declared.declaration.model import standard_split
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.documents.parts import MEMBERS
from talkhouse.ingest.declared.turn_tallies import is_like_a_text

_MOST_LABELS = 4
_LEAST_LABELS = 2


def with_rest(guessed: Guess, samples: Samples) -> Guess:
    """Return the guess with what speaks for it, and with what else the records have."""
    if guessed.format == "convokit" or any(taken.is_text for taken in samples):
        return guessed
    tables: list[Mapped] = [guessed.dialogue, guessed.pair, guessed.preference]
    tables += [guessed.turn, guessed.speaker] if guessed.format in ("turns", "transcript") else []
    paths = [path for table in tables for path in paths_of(table).values()]
    taken = names_of([*guessed.together, *guessed.needs, *paths])
    rest = [field for field in fields_of(samples.records) if field.name not in taken]
    labels = _labels(guessed, rest)
    declared = {column for label in labels if label.meanings for column in label.columns}
    ids, why = _begin_again(guessed, samples)
    remarks = {**_evidence(guessed, samples.records), **_of_roles(guessed), **guessed.remarks, "dialogue.ids": why}
    extra = tuple(field.name for field in rest if field.name not in declared)
    guessed = replace(guessed, extra=extra, labels=tuple(labels), remarks=remarks, ids=ids)
    if guessed.format in ("pairs", "preference"):
        return guessed
    outside = () if guessed.format == "turns" else tuple(_turns_outside(guessed, samples.records))
    notes = {**guessed.notes, "dialogue": (*guessed.notes.get("dialogue", ()), *outside)}
    return _with_rest_of_turns(replace(guessed, notes=notes))


_ANSWER = re.compile(r"(?:.*[._])?(?:response|answer|completion|output|reply|target)")


def _turns_outside(guessed: Guess, records: Records) -> Iterator[str]:
    """Yield a line for each text of records that may be one of their turns, and stands in none: the last answer."""
    names = {*guessed.extra}
    for path in records.leaves:
        is_named = path[-1:] == (guessed.turn.text or ())[-1:] or _ANSWER.fullmatch(path_words(path)) is not None
        if path[0] not in names or not is_named:
            continue
        values = [(at(record, path), record) for record in records]
        alone = [value for value, record in values if isinstance(value, str) and [*texts_of(record)].count(value) == 1]
        if sum(" " in value.strip() for value in alone) * 2 > len(values):
            yield f"to decide: {dotted(path)} has texts too, which no turn takes: {min(alone)[:_LONGEST_SAMPLE]}"


_LONGEST_SAMPLE = 40


def _with_rest_of_turns(guessed: Guess) -> Guess:
    """Return the guess with what is left of turns, and what of it looks like a text, which is to be decided."""
    others = [path for table in (guessed.turn, guessed.speaker) for more in table.fallbacks.values() for path in more]
    taken = {*paths_of(guessed.turn).values(), *paths_of(guessed.speaker).values(), *others, *guessed.together}
    own = MEMBERS if guessed.format in ("chat", "sharegpt") else {}
    left, texts = list[str](), list[str]()
    of_dialogues = names_of([*paths_of(guessed.dialogue).values(), guessed.turn.replies])
    for path in guessed.turns.leaves:
        if path in taken or path[0] in own or path[0] in of_dialogues or (path == ("name",) and own):
            continue
        values = guessed.turns.values.get(path, [])
        if any(other[: len(path)] == path for other in taken) or any(isinstance(value, dict) for value in values):
            continue
        sample = next(iter(values), None)
        left.append(f"{dotted(path)} ({str(sample)[:_LONGEST_SAMPLE]})" if sample is not None else dotted(path))
        words = [value for value in values if isinstance(value, str) and is_like_a_text(value)]
        if len(words) * 2 >= len(values) > 0:
            texts.append(
                f"to decide: {dotted(path)} has texts too, which no turn takes: {min(words)[:_LONGEST_SAMPLE]}"
            )
    notes = {**guessed.notes, "turn": (*guessed.notes.get("turn", ()), *texts)} if texts else guessed.notes
    return replace(guessed, left=() if guessed.format == "turns" else tuple(left), notes=notes)


def _evidence(guessed: Guess, records: Records) -> dict[str, str]:
    """Return the evidence for each key, by the values of the records and turns that were looked at."""
    found: dict[str, str] = {}
    for table in ("dialogue", "pair", "preference", "turn", "speaker"):
        things = guessed.turns if table in ("turn", "speaker") else records
        if table == "pair" and guessed.pair.each is not None:
            continue
        for name, path in paths_of(getattr(guessed, table)).items():
            if remark := evidence.of_field(f"{table}.{name}", column(things, path)):
                found[f"{table}.{name}"] = remark
    return found


def _of_roles(guessed: Guess) -> dict[str, str]:
    """Return the reason why a system is the assistant: in task-oriented dialogues there is no other."""
    bots = [word for word, role in guessed.roles.items() if role == "assistant" and word.lower() in ("system", "sys")]
    return {f"roles.{word}": "to decide: the only role besides the user's" for word in bots}


def _begin_again(guessed: Guess, samples: Samples) -> tuple[Any, str]:
    """Return the scope of an id, a split or file if in another the same id has other words; and why."""
    if guessed.dialogue.id is None:
        return "corpus", ""
    together = guessed.together or (guessed.dialogue.id,)
    known: dict[tuple[str, ...], list[tuple[str | None, int]]] = {}
    scope, again = "corpus", set[tuple[str, ...]]()
    for taken in samples:
        split = split_of(taken.path)
        words: dict[tuple[str, ...], list[Any]] = {}
        for record in taken.records:
            key = tuple(str(at(record, path)) for path in together)
            words.setdefault(key, []).append(
                at(record, guessed.turn.text or ()) if guessed.format == "turns" else record
            )
        for key, texts in words.items():
            own = hash(repr(texts))
            others = [other_split for other_split, other in known.get(key, ()) if other != own]
            again |= {key} if others else set()
            if split in others:
                scope = "file"
            elif others and scope == "corpus":
                scope = "split"
            known.setdefault(key, []).append((split, own))
    return scope, f"{len(again):,} of {len(known):,} ids have other words in another {scope}"


def _labels(guessed: Guess, rest: Iterable[FieldProfile]) -> list[GuessedLabels]:
    """Return fields of a few short texts, or of true and false, as labels; ``rater_1``, ``rater_2`` for one scheme."""
    on = {"turns": "turn", "pairs": "response"}.get(guessed.format, "dialogue")
    schemes: dict[str, list[FieldProfile]] = {}
    of_answers: list[GuessedLabels] = []
    for profile in rest:
        is_label = _LEAST_LABELS <= profile.distinct <= MOST_WORDS and profile.distinct < profile.count
        are_words = len(profile.words) >= _LEAST_LABELS and not any(word.isdecimal() for word in profile.words)
        is_boolean = set(profile.types) <= {"boolean", "null"} and bool(profile.types["boolean"])
        if is_boolean and as_words(profile.name) in _THUMBS and guessed.format in ("pairs", "chat", "sharegpt"):
            of_answers.append(GuessedLabels("desirable", "response", (profile.name,), ("true", "false"), _KTO))
        elif is_label and (are_words or is_boolean or _scale_of(profile)):
            schemes.setdefault(scheme_word(profile.name).rstrip("0123456789").rstrip("_"), []).append(profile)
    others = [
        GuessedLabels(scheme, on, tuple(field.name for field in fields), _words(fields))
        for scheme, fields in list(schemes.items())[:_MOST_LABELS]
    ]
    return [*of_answers[:1], *others]


_THUMBS = ("label", "kto_tag", "thumbs", "thumbs_up", "desirable", "is_desirable")
_KTO = {"true": "The answer is desirable.", "false": "It is not."}
"""Kahneman-Tversky optimisation trains on an answer with true or false: TRL calls it label, LLaMA-Factory kto_tag."""


_SCALE = ("1", "2", "3", "4", "5")


def _scale_of(profile: FieldProfile) -> tuple[str, ...]:
    """Return the points of a scale from 1 to 5, in their order, where all values are some of them; else nothing."""
    if {*profile.types} <= {"number", "null"} and isinstance(profile.low, int) and isinstance(profile.high, int):
        are_points = profile.low >= 1 and profile.high <= len(_SCALE)
    else:
        words = {word for word in profile.words if word}
        are_points = {*profile.types} <= {"text", "null"} and bool(words) and words <= {*_SCALE}
    return _SCALE if are_points else ()


def _words(fields: Sequence[FieldProfile]) -> tuple[str, ...]:
    if all(map(_scale_of, fields)):
        return _SCALE
    words = [word for field in fields for word in (("true", "false") if field.types["boolean"] else field.words)]
    return tuple(dict.fromkeys(word for word in words if word))


_WORD = re.compile(r"[a-z]+")


def split_of(path: str) -> str | None:
    """Return the word for a split that a file's name has, else that of its nearest folder; None where there is none.

    A name with words for two splits says nothing.
    """
    for name in reversed(path.lower().split("/")):
        words: set[str] = {word for word in _WORD.findall(name) if standard_split(word, {})}
        if len(words) == 1:
            return words.pop()
        if words:
            return None
    return None


_NAMES = ("real_name", "profile.real_name", "display_name", "full_name", "name", "username")


class People(NamedTuple):
    """A file that names the speakers by the ids that turns have: Slack's users."""

    sample: Sample
    table: dict[str, str]
    """``[speakers]`` of the declaration."""
    remarks: dict[str, str]


def people_of(guessed: Guess, others: Sequence[Sample]) -> People | None:
    """Return the file that names the speakers; None where there is none."""
    if guessed.turn.speaker is None or guessed.speaker.name is not None:
        return None
    spoken = {str(value) for value in column(guessed.turns, guessed.turn.speaker) if value is not None}
    for taken in others:
        records = Records(taken.records)
        for path in records.leaves:
            known = spoken & {str(value) for value in column(records, path)}
            name = next(iter(records.named(_NAMES, [path])), None)
            if name is None or len(known) * 2 < len(spoken) or len(records) < len(known):
                continue
            table = {"path": taken.path, "id": path_text(path), "name": path_text(name)}
            if taken.record != "item":
                table["record"] = "$" if taken.record == "file" else "*"
            return People(taken, table, {"speakers.id": f"{len(known):,} of {len(spoken):,} speakers are in it"})
    return None
