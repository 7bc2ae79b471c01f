"""Rules for records that hold turns: chat, sharegpt, tree, dialogue."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from talkhouse.guess import evidence
from talkhouse.guess.evidence import NAMES, Guess, dotted
from talkhouse.guess.field_meanings import Meanings, meanings, with_dialogue, with_reverse
from talkhouse.guess.record_values import (
    ALMOST_ALL,
    Dialogues,
    Record,
    Records,
    are_ids,
    are_queries,
    are_texts,
    as_words,
    column,
    is_keyed,
    path_words,
)
from talkhouse.guess.sample import Samples
from talkhouse.guess.text_rules import lines_of, of_text
from talkhouse.guess.who_speaks import NOBODY_SPEAKS, ROLE_WORDS, role_words
from talkhouse.ingest.declared.declaration import model
from talkhouse.ingest.declared.declaration.keys import FORMS
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.declaration.toml_text import toml_string
from talkhouse.ingest.declared.turn_tallies import is_like_a_text

_REPLIES = ("replies", "children", "comments", "responses", "answers", "child_comments")
_SYSTEM = ("system", "system_prompt", "system_message")
_CONTENTS = ("content", "tool_calls", "function_call", "refusal", "audio")
_MOST_TURNS = 5_000
"""Turns that are looked at, of all dialogues together."""


def chat(samples: Samples) -> Guess | None:
    """Each record has a list of messages with role and content."""
    for path, values in _lists_of_turns(samples.records).items():
        turns = _dialogues(values).turns
        messages = [turn for turn in turns if "role" in turn and any(name in turn for name in _CONTENTS)]
        roles = {role for message in messages if isinstance(role := message["role"], str)}
        known = FORMS["chat"].known_roles | FORMS["sharegpt"].known_roles
        are_known = len(roles) <= 8 or len(roles & known) * 2 > len(roles)
        if turns and len(messages) >= ALMOST_ALL * len(turns) and are_known:
            return _messages(samples, "chat", path, turns, "role", "content")
    return None


def sharegpt(samples: Samples) -> Guess | None:
    """Each record has a list of messages with from and value."""
    for path, values in _lists_of_turns(samples.records).items():
        turns = _dialogues(values).turns
        if turns and sum("from" in turn and "value" in turn for turn in turns) >= ALMOST_ALL * len(turns):
            return _messages(samples, "sharegpt", path, turns, "from", "value")
    return None


def tree(samples: Samples) -> Guess | None:
    """Each record has a first message, with the replies to it inside."""
    records = samples.records
    for path in records.objects:
        roots = [root for root in column(records, path) if isinstance(root, dict)]
        replies = _reply_list(roots)
        if replies is None or len(roots) < ALMOST_ALL * len(records):
            continue
        trees = _trees(roots, replies)
        found = meanings(trees, with_order=False, but=[(replies,)])
        if found is None:
            continue
        turn = replace(found.turn, reply_to=None, replies=(replies,))
        reason = f"each record has a first message, {dotted(path)}, with {dotted(turn.text)} and a list {replies}"
        return _with_turns(samples, replace(found, turn=turn), "tree", path, reason)
    return None


def dialogue(samples: Samples) -> Guess | None:
    """Each record has a list of objects that have a text, or an object of them, or a list of lists of two texts."""
    records = samples.records
    ranks: dict[model.JsonPath, tuple[int, bool, int]] = {}
    known: dict[model.JsonPath, Meanings] = {}
    for path, values in {**_lists_of_turns(records), **_members(records)}.items():
        dialogues = _dialogues(values)
        found = meanings(dialogues, with_order=False) if any(dialogues) else None
        if found is not None:
            ranks[path] = _place(path), bool(found.turn.speaker or found.turn.role), -len(path)
            known[path] = found
    if not known:
        return _lists_of_two(samples, records) or _plain_texts(samples, records)
    path = max(ranks, key=lambda path: ranks[path])
    found = known[path]
    who = found.turn.role or found.turn.speaker
    members = " and ".join(dotted(member) for member in (who, found.turn.text) if member)
    what = "an object" if path[-1] is ... else "a list"
    reason = f"each record has {what} {dotted(path)} of objects with {members}"
    if who is None and (pair := _two_texts(samples, path, found)) is not None:
        return pair
    guessed = _with_turns(samples, found, "dialogue", path, reason)
    beside = {} if who or path not in records.lists else _lists_beside(records, path)
    if any(are_names for _, are_names in beside.values()):
        guessed = _with_speakers_beside(guessed, beside)
    return _with_other_lists(guessed, records)


_ANSWERING = re.compile(r"system|sys|bot|agent|wizard|assistant|machine|response|reply|answer")


def _two_texts(samples: Samples, path: model.JsonPath, found: Meanings) -> Guess | None:
    """Return the pairs in a list whose items have two texts, and nobody who says them; None where there are others."""
    turns = found.dialogues.turns
    texts = [
        member
        for member in turns.leaves
        if are_texts(values := column(turns, member))
        and values.count(None) <= (1 - ALMOST_ALL) * len(values)
        and any(is_like_a_text(value) for value in values if value)
        and not are_queries(values)
    ]
    if len(texts) != 2 or path[-1] is ...:
        return None
    is_answer = [_ANSWERING.search(path_words(member)) is not None for member in texts]
    roles = {key: "assistant" if own else "user" for key, own in zip(("prompt", "response"), is_answer, strict=True)}
    reason = f"each item of {dotted(path)} has two texts, {' and '.join(map(dotted, texts))}"
    guess = with_dialogue(samples, "pairs", reason, [path])
    remark = f"to decide: the texts of an item in this order, {' then '.join(map(dotted, texts))}"
    note = () if sum(is_answer) == 1 else ("to decide: which of both is the user's: [roles]",)
    return replace(
        guess,
        pair=model.PairFields(prompt=texts[0], response=texts[1], each=(*path, None)),
        roles=roles if sum(is_answer) == 1 else {},
        remarks={**guess.remarks, "pair.each": remark},
        notes={**guess.notes, **({"pair": note} if note else {})},
    )


def _members(records: Records) -> Mapping[model.JsonPath, list[list[Any]]]:
    """Return the members of the objects that hold turns under their ids, as ChatGPT's export does: ``mapping.*``."""
    found: dict[model.JsonPath, list[list[Any]]] = {}
    for path in records.objects:
        values = [value for value in column(records, path) if isinstance(value, dict) and is_keyed(value)]
        if len(values) >= ALMOST_ALL * len(records):
            found[*path, ...] = [list(value.values()) for value in values]
    return found


def _lists_of_two(samples: Samples, records: Records) -> Guess | None:
    found = (path for path, values in records.lists.items() if None not in path and _are_names_and_texts(values))
    path = next(found, None)
    if path is None:
        return None
    names = [item[0] for value in column(records, path) for item in value]
    turn = model.TurnFields(text=(1,), speaker=(0,))
    meant = Meanings(turn, model.SpeakerFields("dialogue"), remarks={"turn.speaker": evidence.words(names)})
    reason = f"each record has a list {dotted(path)} of lists: who says it, and what"
    return _with_turns(samples, meant, "dialogue", path, reason)


def _are_names_and_texts(values: Sequence[Sequence[Any]]) -> bool:
    """Whether these are lists of lists of two texts, the first of which are a few names."""
    items = [item for value in values for item in value]
    are_two = all(isinstance(item, list) and len(item) == 2 and are_texts(item) for item in items)
    return bool(items) and are_two and len({item[0] for item in items}) * 2 <= len(items)


def _with_other_lists(guessed: Guess, records: Records) -> Guess:
    """Return the guess with what may be answers and no turns, and what other lists say beside them."""
    turns = guessed.dialogue.turns or ()
    name = next((as_words(step) for step in reversed(turns) if isinstance(step, str)), "")
    notes = [f"to decide: {dotted(turns)} may be answers to compare, and no turns"] if name in _ANSWERS else []
    sizes = [len(value) for value in records.lists.get(turns, ())]
    for path, values in records.lists.items():
        if path == turns or None in path or len(values) != len(records):
            continue
        items = [item for value in values for item in value]
        if _are_names_and_texts(values):
            notes.append(f"to decide: {dotted(path)} is a list of lists, who says it and what, and is not read")
        elif items and all(isinstance(item, dict) and {"role", "content"} <= item.keys() for item in items):
            notes.append(f"to decide: {dotted(path)} has messages too, which are not read")
        elif [len(value) for value in values] == sizes and any(map(_has_words, items)):
            notes.append(f"to decide: {dotted(path)} has as many objects as there are turns, and is not read")
    return replace(guessed, notes={**guessed.notes, "dialogue": tuple(notes)}) if notes else guessed


def are_columns(records: Sequence[Record]) -> bool:
    """Whether the only record is a table by its columns: lists of one length, in one of which are lists."""
    members = list(records[0].values()) if len(records) == 1 else []
    are_lists = len(members) > 1 and all(isinstance(member, list) for member in members)
    return are_lists and len({len(member) for member in members}) == 1


_ANSWERS = ("completions", "responses", "candidates", "choices", "outputs", "generations")


def _has_words(item: Any) -> bool:
    return isinstance(item, dict) and any(isinstance(value, str) and " " in value.strip() for value in item.values())


def _plain_texts(samples: Samples, records: Records) -> Guess | None:
    for path, values in records.lists.items():
        items = [item for value in values for item in value]
        is_named = as_words(str(path[-1] or "")) in NAMES["list_of_turns"]
        if not is_named or len(items) <= len(values) or not all(isinstance(item, str) for item in items):
            continue
        beside = _lists_beside(records, path)
        others = [values for values, are_names in beside.values() if not are_names]
        is_file = samples[0].record == "file" and len(records) == 1
        if any(is_file or (samples[0].record == "member" and are_ids(values)) for values in others):
            return None  # a table by its columns, or one for each split
        reason = f"each record has a list {dotted(path)} of texts"
        if (lines := lines_of(items)) is not None:
            return of_text(samples, (*path, None), f"{reason} that begin with who speaks", lines)
        guess = _with_turns(samples, Meanings(model.TurnFields(text=model.NO_PATH)), "dialogue", path, reason)
        return _with_speakers_beside(guess, beside)
    return None


def _lists_beside(records: Records, path: model.JsonPath) -> dict[model.JsonPath, tuple[list[Any], bool]]:
    """Return the values that other lists have for each turn, by their paths; and whether these are a few names."""
    sizes = [len(value) for value in records.lists[path]]
    found = {}
    for other, values in records.lists.items():
        if other == path or None in other or [len(value) for value in values] != sizes:
            continue
        items = [item for value in values for item in value]
        inside: model.JsonPath = ()
        if items and all(isinstance(item, dict) for item in items):
            inside = next(iter(Records(items).named(NAMES["speaker"])), ())
            values = [column(value, inside) for value in values]
            items = column(items, inside)
        is_named = _WHO.search(path_words((*other, *inside))) is not None
        recur = any(len({*map(str, value)}) * 2 <= len(value) for value in values)
        are_short = all(len(str(item)) <= _LONGEST_NAME for item in items) or (is_named and recur)
        are_names = all(isinstance(item, str | int) for item in items) and are_short and (is_named or recur)
        found[*other, None, *inside] = items, are_names
    return found


_LONGEST_NAME = 60
_WHO = re.compile(r"speaker|author|sender|role|who|user|agent|name")


def _with_speakers_beside(guess: Guess, beside: Mapping[model.JsonPath, tuple[list[Any], bool]]) -> Guess:
    """Return a guess of texts with the list that has their speakers; of several, or none, it is to be decided."""
    values = {path: items for path, (items, are_names) in beside.items() if are_names}
    if len(values) != 1:
        lines = [f'to decide: speaker = "$.{path_text(path)}"  # {evidence.words(values[path])}' for path in values]
        notes = tuple(lines or [NOBODY_SPEAKS])
        return replace(guess, notes={**guess.notes, "turn": notes})
    ((path, words),) = values.items()
    key = "role" if {str(word).lower() for word in words} <= ROLE_WORDS else "speaker"
    answered = (NOBODY_SPEAKS, "to decide: speaker =")
    notes = tuple(note for note in guess.notes.get("turn", ()) if not note.startswith(answered))
    return replace(
        guess,
        also={"turn": {key: toml_string(f"$.{path_text(path)}")}},
        roles=role_words(words) if key == "role" else {},
        remarks={**guess.remarks, f"turn.{key}": evidence.words(words)},
        notes={**guess.notes, "turn": notes},
        needs=(path[: path.index(None)],),
    )


def _messages(samples: Samples, form: Any, path: model.JsonPath, turns: Records, role: str, text: str) -> Guess:
    system = samples.records.pick(_SYSTEM, are_texts)
    guess = with_dialogue(samples, form, f"each record has {dotted(path)} with {role} and {text}", [path, system])
    dialogue = replace(guess.dialogue, turns=path, system=system)
    guess = replace(guess, dialogue=dialogue, turn=model.TurnFields(role=(role,), text=(text,)), turns=turns)
    return _with_other_lists(guess, samples.records)


def _with_turns(samples: Samples, found: Meanings, form: Any, path: model.JsonPath, reason: str) -> Guess:
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
        notes={**guess.notes, **({"turn": found.notes} if found.notes else {})},
        turns=found.dialogues.turns,
    )


def _lists_of_turns(records: Records) -> Mapping[model.JsonPath, list[list[Any]]]:
    """Return the lists of objects that almost all records have, those with the likeliest names first."""
    common = {
        path: values
        for path, values in records.lists.items()
        if len(values) >= ALMOST_ALL * len(records)
        and any(isinstance(item, dict) for value in values for item in value)
        and not (None in path and are_columns(records))
    }
    return dict(sorted(common.items(), key=lambda item: -_place(item[0])))


def _place(path: model.JsonPath) -> int:
    names = [as_words(name) for name in path if isinstance(name, str)]
    return next(
        (
            len(NAMES["list_of_turns"]) - index
            for index, name in enumerate(NAMES["list_of_turns"])
            if names and names[-1] == name
        ),
        0,
    )


def _dialogues(values: Sequence[Sequence[Any]]) -> Dialogues:
    """Return the turns of each dialogue, of all together so many as are looked at."""
    dialogues = Dialogues()
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


def _trees(roots: Sequence[Record], replies: str) -> Dialogues:
    trees = Dialogues()
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
