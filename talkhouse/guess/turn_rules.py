"""Rules for records that are turns (turns, convokit) or hold several (chat, sharegpt, tree, dialogue)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

from talkhouse.guess import evidence
from talkhouse.guess.field_meanings import (
    DIALOGUES,
    TURN_NUMBERS,
    Guess,
    Meanings,
    about_dialogues,
    dotted,
    meanings,
    paths_of,
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
    is_keyed,
    leaves,
    lists,
    named,
    pick,
    whole_numbers,
)
from talkhouse.guess.sample import Sample
from talkhouse.ingest.declared.declaration.model import NO_PATH, DialogueFields, JsonPath, SpeakerFields, TurnFields
from talkhouse.ingest.declared.declaration.toml_text import toml_string
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
            return _messages(samples, "chat", path, turns, "role", "content")
    return None


def sharegpt(samples: Sequence[Sample]) -> Guess | None:
    """Each record has a list of messages with from and value."""
    for path, values in _lists_of_turns(samples).items():
        turns = _turns(values)
        if turns and sum("from" in turn and "value" in turn for turn in turns) >= MOST * len(turns):
            return _messages(samples, "sharegpt", path, turns, "from", "value")
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
    """Each record has a list of objects that have a text, or an object of them, or a list of lists of two texts."""
    records = records_of(samples)
    best: tuple[tuple[int, ...], JsonPath, Meanings] | None = None
    for path, values in {**_lists_of_turns(samples), **_members(records)}.items():
        dialogues = _dialogues(values)
        found = meanings(dialogues, with_order=False) if any(dialogues) else None
        if found is None:
            continue
        rank = (_place(path), bool(found.turn.speaker or found.turn.role), -len(path))
        if best is None or rank > best[0]:
            best = rank, path, found
    if best is None:
        return _lists_of_two(samples, records) or _plain_texts(samples, records)
    _, path, found = best
    who = found.turn.role or found.turn.speaker
    members = " and ".join(dotted(member) for member in (who, found.turn.text) if member)
    what = "an object" if path[-1] is ... else "a list"
    reason = f"each record has {what} {dotted(path)} of objects with {members}"
    guessed = _with_turns(samples, found, "dialogue", path, reason)
    return _with_other_lists(guessed, records)


def _members(records: Sequence[Record]) -> Mapping[JsonPath, list[list[Any]]]:
    """Return the members of the objects that hold turns under their ids, as ChatGPT's export does: ``mapping.*``."""
    found: dict[JsonPath, list[list[Any]]] = {}
    for path in leaves(records, are_objects=True):
        values = [value for value in column(records, path) if isinstance(value, dict) and is_keyed(value)]
        if len(values) >= MOST * len(records):
            found[*path, ...] = [list(value.values()) for value in values]
    return found


def _lists_of_two(samples: Sequence[Sample], records: Sequence[Record]) -> Guess | None:
    path = next((path for path, values in _nested(records).items() if _are_said(values)), None)
    if path is None:
        return None
    items = [item for value in column(records, path) for item in value]
    turn = TurnFields(text=(1,), speaker=(0,))
    found = Meanings(turn, SpeakerFields("dialogue"), remarks={"turn.speaker": evidence.words([i[0] for i in items])})
    reason = f"each record has a list {dotted(path)} of lists: who says it, and what"
    return _with_turns(samples, found, "dialogue", path, reason)


def _nested(records: Sequence[Record]) -> Mapping[JsonPath, list[list[Any]]]:
    return {path: values for path, values in lists(records).items() if None not in path and any(values)}


def _are_said(values: Sequence[Sequence[Any]]) -> bool:
    """Whether these are lists of lists of two texts, the first of which are a few names."""
    items = [item for value in values for item in value]
    are_two = all(isinstance(item, list) and len(item) == 2 and are_texts(item) for item in items)
    return bool(items) and are_two and len({item[0] for item in items}) * 2 <= len(items)


def _with_other_lists(guessed: Guess, records: Sequence[Record]) -> Guess:
    """Return the guess with what may be answers and no turns, and what other lists say beside them."""
    turns = guessed.dialogue.turns or ()
    name = next((as_words(step) for step in reversed(turns) if isinstance(step, str)), "")
    notes = [f"to decide: {dotted(turns)} may be answers to compare, and no turns"] if name in _ANSWERS else []
    sizes = [len(value) for value in lists(records).get(turns, ())]
    for path, values in lists(records).items():
        if path == turns or None in path or len(values) != len(records):
            continue
        items = [item for value in values for item in value]
        if _are_said(values):
            notes.append(f"to decide: {dotted(path)} is a list of lists, who says it and what, and is not read")
        elif items and all(isinstance(item, dict) and {"role", "content"} <= item.keys() for item in items):
            notes.append(f"to decide: {dotted(path)} has messages too, which are not read")
        elif [len(value) for value in values] == sizes and any(map(_has_words, items)):
            notes.append(f"to decide: {dotted(path)} has as many objects as there are turns, and is not read")
    return replace(guessed, notes={**guessed.notes, "dialogue": tuple(notes)}) if notes else guessed


_ANSWERS = ("completions", "responses", "candidates", "choices", "outputs", "generations")


def _has_words(item: Any) -> bool:
    return isinstance(item, dict) and any(isinstance(value, str) and " " in value.strip() for value in item.values())


def _plain_texts(samples: Sequence[Sample], records: Sequence[Record]) -> Guess | None:
    for path, values in lists(records).items():
        items = [item for value in values for item in value]
        is_named = as_words(str(path[-1] or "")) in _LISTS
        if is_named and len(items) > len(values) and all(isinstance(item, str) for item in items):
            reason = f"each record has a list {dotted(path)} of texts"
            return _with_turns(samples, Meanings(TurnFields(text=NO_PATH)), "dialogue", path, reason)
    return None


def _messages(
    samples: Sequence[Sample], form: Any, path: JsonPath, turns: Sequence[Record], role: str, text: str
) -> Guess:
    system = pick(records_of(samples), _SYSTEM, are_texts)
    guess = with_dialogue(samples, form, f"each record has {dotted(path)} with {role} and {text}", [path, system])
    dialogue = replace(guess.dialogue, turns=path, system=system)
    guess = replace(guess, dialogue=dialogue, turn=TurnFields(role=(role,), text=(text,)), turns=turns)
    return _with_other_lists(guess, records_of(samples))


def with_reverse(found: Meanings) -> Meanings:
    """Return what turns mean, the last one first where no time of a dialogue is behind that of the turn before."""
    if found.turn.said_at is None or found.turn.order or found.turn.replies:
        return found
    falls = 0
    for dialogue in found.dialogues:
        times: list[Any] = [value for value in column(dialogue, found.turn.said_at) if value is not None]
        try:
            if any(later > earlier for earlier, later in pairwise(times)):
                return found
            falls += sum(later < earlier for earlier, later in pairwise(times))
        except TypeError:
            return found
    if not falls:
        return found
    turn = replace(found.turn, is_reversed=True)
    return replace(
        found, turn=turn, remarks={**found.remarks, "turn.order": f"{falls:,} times are earlier, none later"}
    )


def _with_turns(samples: Sequence[Sample], found: Meanings, form: Any, path: JsonPath, reason: str) -> Guess:
    guess = with_dialogue(samples, form, reason, [() if form == "tree" else path])
    found = with_reverse(found)
    return replace(
        guess,
        dialogue=replace(guess.dialogue, turns=path),
        turn=found.turn,
        speaker=found.speaker,
        roles=found.roles,
        times={**guess.times, **found.times},
        remarks={**found.remarks, **guess.remarks},
        notes={"turn": found.notes} if found.notes else {},
        turns=found.turns,
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
    """Each record is a turn, and has the id of its dialogue; or a file is a dialogue, whose rows say who says what."""
    if any(sample.record != "item" for sample in samples):
        return None
    files = [[_cells(record) for record in sample.records] for sample in samples]
    records = [record for file in files for record in file]
    together, remark, order = _dialogue_columns(files), "several rows have the same", None
    if not together:
        path, order = _numbered(records)
        together = [path] if path else []
        remark = f"to decide: no name says so, but its rows are numbered by {dotted(order)}"
    dialogues = [dialogue for file in files for dialogue in _grouped(file, together)]
    found = meanings(dialogues, with_order=True, but=[*together, *([order] if order else [])])
    if found is None or not (together or _are_messages(found)):
        return None
    found = with_reverse(replace(found, turn=replace(found.turn, order=found.turn.order or order)))
    taken = [*together, *paths_of(found.turn).values()]
    fields, times = about_dialogues([dialogue[0] for dialogue in dialogues], taken)
    fields = _constant(replace(fields, id=together[0] if together else None), dialogues)
    size = evidence.groups(dialogues)
    choices = () if order else _choices(files, together)
    if not together:
        remark = f"to decide: no column says which dialogue, so that a file is one: {size}"
    elif choices:
        remark = f"to decide: {size}"
    else:
        remark += f": {size}"
    verb = "says" if len(together) == 1 else "say"
    which = f"{', '.join(map(dotted, together))} {verb} in which dialogue, " if together else ""
    name = f"each record is a turn: {which}{dotted(found.turn.text)} {'' if together else 'is '}what was said"
    return Guess(
        "turns",
        name,
        fields,
        found.turn,
        found.speaker,
        dialect=samples[0].dialect,
        roles=found.roles,
        times={**(times if fields.started_at else {}), **found.times},
        remarks={**found.remarks, "dialogue.id": remark},
        notes={name: lines for name, lines in (("dialogue", choices), ("turn", found.notes)) if lines},
        together=tuple(together),
        turns=found.turns,
    )


def _are_messages(found: Meanings) -> bool:
    """Whether rows without the id of a dialogue are what people said: they say who says it, and when or in which order.

    A table of texts and their authors would be one long dialogue.
    """
    turn = found.turn
    by_name = turn.text is not None and "turn.text" not in found.remarks
    return by_name and bool(turn.role or turn.speaker) and bool(turn.said_at or turn.order or turn.role)


def dialogue_of(records: Sequence[Record]) -> JsonPath | None:
    """Return the field that says which dialogue a row belongs to: its name is known, and several rows have the same."""
    return next((path for path in named(records, DIALOGUES) if _recurs(records, path)), None)


def _recurs(records: Sequence[Record], path: JsonPath) -> bool:
    values = column(records, path)
    return are_keys(values) and len(set(map(str, values))) < len(values)


def _dialogue_columns(files: Sequence[Sequence[Record]]) -> list[JsonPath]:
    """Return the columns that together are the id of a dialogue, the widest first; none where no name says so.

    A scene has a number in its episode, and an episode in its season. Where they are numbered, one alone would join
    the scenes of all seasons.
    """
    records = [record for file in files for record in file]
    path = dialogue_of(records)
    if path is None:
        return []
    levels = _levels(records)
    inside = [one for one in levels if one == path or _varies(files, [path], one)]
    if len(inside) < 2 and not (inside and path not in levels):
        return [path]
    if path not in levels and not _numbers_recur(files, [path]):
        return [path]  # a dialogue may go through several sessions
    return [*inside, *([path] if path not in inside else [])]


def _levels(records: Sequence[Record]) -> list[JsonPath]:
    """Return the columns of seasons, episodes, scenes ..., the widest first."""
    found = [(depth, path) for path in leaves(records) if (depth := evidence.level(path)) is not None]
    return [path for _, path in sorted(found, key=lambda one: one[0]) if _recurs(records, path)]


def _varies(files: Sequence[Sequence[Record]], together: Sequence[JsonPath], other: JsonPath) -> bool:
    """Whether rows that would be one dialogue differ in a column."""
    return any(len(set(map(str, column(rows, other)))) > 1 for file in files for rows in _grouped(file, together))


def _numbers_recur(files: Sequence[Sequence[Record]], together: Sequence[JsonPath]) -> bool:
    """Whether turns of one dialogue have the same number, so that it is several."""
    for path in named([record for file in files for record in file], TURN_NUMBERS, together):
        for file in files:
            for rows in _grouped(file, together):
                numbers = whole_numbers(column(rows, path))
                if numbers is not None and len(set(numbers)) * 2 <= len(numbers) > 1:
                    return True
    return False


def _choices(files: Sequence[Sequence[Record]], chosen: Sequence[JsonPath]) -> tuple[str, ...]:
    """Return what else could be the id, a line each with what it would make; none where only one column could."""
    records = [record for file in files for record in file]
    levels = _levels(records)
    base = dialogue_of(records)
    if base is None:
        return ()
    inside = [one for one in levels if one == base or _varies(files, [base], one)]
    everything = [*inside, *([base] if base not in inside else [])]
    options = [[path] for path in everything] + [everything[place:] for place in range(1, len(everything) - 1)]
    options += [everything] if len(everything) > 1 else []
    if len(options) < 2:
        return ()
    return tuple(
        f"id = {ids_text(option)}  # {evidence.groups([rows for file in files for rows in _grouped(file, option)])}"
        for option in options
        if option != list(chosen)
    )


def ids_text(together: Sequence[JsonPath]) -> str:
    """Write the columns that are an id as TOML has them."""
    names = [toml_string(str(path[0])) for path in together]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


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


def _grouped(records: Sequence[Record], together: Sequence[JsonPath]) -> list[list[Record]]:
    """Return the rows of each dialogue of a file; of no columns, all of them."""
    dialogues: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        dialogues.setdefault(tuple(at(record, path) for path in together), []).append(record)
    return list(dialogues.values())


def _constant(fields: DialogueFields, dialogues: Sequence[Sequence[Record]]) -> DialogueFields:
    """Return the fields that are the same in all rows of a dialogue."""
    for name, path in list(vars(fields).items()):
        if isinstance(path, tuple) and any(len({str(at(row, path)) for row in rows}) > 1 for rows in dialogues):
            left_out: dict[str, Any] = {name: None}
            fields = replace(fields, **left_out)
    return fields
