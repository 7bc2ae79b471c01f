"""When turns were said, in which order, and what they reply to: the fields that say it, by their names and values."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from talkhouse.guess import evidence
from talkhouse.guess.evidence import NAMES, FieldGuess, quoted_path
from talkhouse.guess.record_values import (
    ALMOST_ALL,
    Dialogues,
    Records,
    are_ids,
    are_keys,
    at,
    column,
    path_words,
    walk,
    whole_numbers,
)
from talkhouse.ingest.declared.declaration import model
from talkhouse.ingest.declared.times import read_time


def order_of(dialogues: Dialogues, taken: Sequence[model.JsonPath | None]) -> model.JsonPath | None:
    """Return the field whose numbers are the places of turns; None where none is known by its name."""

    def numbers_turns(path: model.JsonPath) -> bool:
        places = [whole_numbers(column(dialogue, path)) for dialogue in dialogues]
        return all(place is not None and len(set(place)) == len(place) for place in places)

    if all(len(dialogue) == 1 for dialogue in dialogues):
        return None
    return next((path for path in dialogues.turns.named(NAMES["order"], taken) if numbers_turns(path)), None)


def turn_id_of(dialogues: Dialogues, taken: Sequence[model.JsonPath | None]) -> model.JsonPath | None:
    """Return the field that is known by its name as an id of turns, and stands in no dialogue twice."""
    for path in dialogues.turns.named(NAMES["turn_id"], taken):
        if all(are_ids(column(dialogue, path)) for dialogue in dialogues if dialogue):
            return path
    return None


def reply_of(
    dialogues: Dialogues, turn_id: model.JsonPath | None, taken: Sequence[model.JsonPath | None], *, are_columns: bool
) -> FieldGuess:
    """Return the field that says what a turn replies to, with what proves it, and lines of those that may.

    Numbers of anything occur among the ids of turns: without a name that says so, no field is taken.
    """
    if turn_id is None:
        return FieldGuess()
    but = [*taken, turn_id]
    known = dialogues.turns.named(NAMES["reply_to"], but)
    perhaps: list[str] = []
    counts = _id_counts(dialogues, turn_id)
    for path in (*known, *(path for path in counts if path not in but and path not in known)):
        keys, others = counts.get(path, (0, 0))
        if not keys or others * 2 < keys:
            continue
        proof = f"{others:,} of {keys:,} values are ids of other turns of the dialogue"
        if path in known:
            return FieldGuess(
                path, {"turn.reply_to": f"by its name; {proof}; what they mean to a task: [[tasks]] context"}
            )
        if any(isinstance(value, str) and not value.isdecimal() for value in column(dialogues.turns, path)):
            where = quoted_path(path, is_column=are_columns)
            perhaps.append(f"reply_to = {where}  # to decide: no name says so, but {proof}")
    return FieldGuess(notes=tuple(perhaps))


def _id_counts(dialogues: Dialogues, turn_id: model.JsonPath) -> dict[model.JsonPath, tuple[int, int]]:
    """Count the keys at each path of turns, and those that are ids of other turns of the same dialogue."""
    counts: dict[model.JsonPath, tuple[int, int]] = {}
    for dialogue in dialogues:
        ids = set(column(dialogue, turn_id))
        for turn in dialogue:
            own = at(turn, turn_id)
            for path, value in walk(turn):
                if are_keys([value]):
                    keys, others = counts.get(path, (0, 0))
                    counts[path] = keys + 1, others + (value in ids and value != own)
    return counts


_PATTERNS = (
    *("%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M"),
    *("%d.%m.%Y", "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M"),
    *("%m/%d/%Y", "%a %b %d %H:%M:%S %z %Y", "%a, %d %b %Y %H:%M:%S %z"),
)
"""Forms that are tried, in this order; of two that fit, the other one is named."""
_WHEN = re.compile(
    r"^(?!.*(?:edit|updat|modif|delet|expir|seen|read)).*(?:time|date|created|sent|(?:^|[._])(?:at|ts)$)"
)

_MOST_TIMES = 200
_LONGEST_TIME = 40


def time_of(
    records: Records, names: Sequence[str], but: Sequence[model.JsonPath | None], of: str, *, are_columns: bool
) -> FieldGuess:
    """Return the field that is a time, its form where that is not ISO 8601, and a remark where it may be another.

    ``of``: the table and key. Without a name that says so, the values do, of the only field all of whose are times; of
    several, or of one most of whose are, there are lines.
    """
    key = of.partition(".")[2]
    others = [
        path for path in records.leaves if key == "said_at" and _WHEN.search(path_words(path)) and path not in but
    ]
    for path in dict.fromkeys((*records.named(names, but), *others)):
        values = [value for value in column(records, path) if value not in (None, "")][:_MOST_TIMES]
        if forms := _forms(values):
            return _time_in(path, forms, key, {})
    known = {path: values[:_MOST_TIMES] for path, values in records.values.items() if path not in but}
    dated = {path: values for path, values in known.items() if _are_dated(values)}
    whole = {path: forms for path, values in dated.items() if (forms := _forms(values))}
    if len(whole) == 1 and len(dated) == 1:
        ((path, forms),) = whole.items()
        why = evidence.share(dated[path], lambda value: value is not None, "are times")
        return _time_in(path, forms, key, {of: f"to decide: no name says so, but {why}"})
    return FieldGuess(
        notes=tuple(
            f"to decide: {key} = {quoted_path(path, is_column=are_columns)}  # "
            + evidence.share(values, _is_dated, "are times")
            for path, values in dated.items()
        )
    )


def _time_in(path: model.JsonPath, forms: Sequence[str], key: str, remarks: Mapping[str, str]) -> FieldGuess:
    others = {f"times.{key}": f"to do: it may be {forms[1]} as well"} if len(forms) > 1 else {}
    return FieldGuess(path, {**remarks, **others}, times={} if forms[0] == model.ISO else {key: forms[0]})


def _are_dated(values: Sequence[Any]) -> bool:
    return sum(map(_is_dated, values)) >= ALMOST_ALL * len(values) > 0


def _is_dated(value: Any) -> bool:
    """Whether this is a time with its day, written as such: numbers may be anything."""
    if isinstance(value, date):
        return True
    is_text = isinstance(value, str) and not value.replace(".", "", 1).isdecimal() and len(value) <= _LONGEST_TIME
    return is_text and any(read_time(value, form).value for form in (model.ISO, *_PATTERNS))


def _forms(values: list[Any]) -> list[str]:
    if not values or all(isinstance(value, date) for value in values):
        return [model.ISO] if values else []
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(values):
        return _since_1970([float(number) for number in numbers])
    if not all(isinstance(value, str) for value in values):
        return []
    if all(value.replace(".", "", 1).isdecimal() for value in values):
        return _since_1970([float(value) for value in values])
    forms = [form for form in (model.ISO, *_PATTERNS) if all(read_time(value, form).value for value in values)]
    return forms[:1] if forms[:1] == [model.ISO] else forms


def _since_1970(numbers: list[float]) -> list[str]:
    for form, unit in zip(model.UNIX, (1, 1_000), strict=True):
        if all(10**8 * unit <= number < 10**10 * unit for number in numbers):
            return [form]
    return []
