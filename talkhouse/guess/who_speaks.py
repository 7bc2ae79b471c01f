"""Who speaks: the fields of turns that say it by their names or values, and the words for roles."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from talkhouse.guess import evidence
from talkhouse.guess.evidence import NAMES, dotted, quoted_path
from talkhouse.guess.record_values import (
    ALMOST_ALL,
    Dialogues,
    Records,
    are_queries,
    are_texts,
    are_words,
    at,
    column,
    path_words,
    whole_numbers,
)
from talkhouse.guess.turn_order import turn_id_of
from talkhouse.ingest.declared.declaration import model
from talkhouse.ingest.declared.turn_tallies import is_like_a_text

NOBODY_SPEAKS = "to decide: nothing here says who speaks"
USERS = frozenset({"prompter", "human", "usr"})
BOTS = frozenset({"gpt", "chatgpt", "bing", "bard", "bot", "ai", "model", "chatbot", "function_call"})
TOOLS = frozenset({"observation"})
ROLE_WORDS = USERS | BOTS | {"user", "assistant", "system", "sys", "tool", "function", "developer", "agent", "customer"}
_WHO = re.compile(r"speaker|sender|author|interlocutor|worker|user|participant|role|actor|person|agent|^turn$|^who$")


class Who(NamedTuple):
    """Who speaks, as turns say it."""

    role: model.JsonPath | None
    speaker: model.JsonPath | None
    remarks: Mapping[str, str]
    notes: Sequence[str]
    """What else could say it, a line each."""


def who_speaks(dialogues: Dialogues, taken: Sequence[model.JsonPath | None], *, are_columns: bool) -> Who:
    """Return the fields of turns that say who speaks; ``taken``: fields that mean something else."""
    turns, remarks = dialogues.turns, dict[str, str]()
    role = turns.pick(NAMES["role"], are_words, taken)
    taken = [*taken, role]
    speaker = turns.pick(NAMES["speaker"], are_speakers, taken)
    speaker = speaker or turns.pick(("id",), _recur, [*taken, turn_id_of(dialogues, taken)])
    if role is None and speaker is not None and _are_roles(column(turns, speaker)):
        role = speaker
        speaker = turns.pick(NAMES["speaker"], _name_all, [*taken, role])
        if speaker is not None:
            words = evidence.words(column(turns, speaker))
            remarks["turn.speaker"] = f"to decide: who it is, beside the role {dotted(role)}: {words}"
            remarks["speaker.scope"] = 'to decide: "corpus" if it is the same person in every dialogue'
    perhaps: list[str] = []
    if role is None and speaker is None:
        speaker, perhaps = _by_values(dialogues, taken, are_columns=are_columns)
        if speaker is not None:
            words = evidence.words(column(turns, speaker))
            if _are_roles(column(turns, speaker)) or path_words(speaker) == "turn":
                role, speaker = speaker, None
            key = "speaker" if role is None else "role"
            remarks[f"turn.{key}"] = f"to decide: no name says so, but the values do: {words}"
    return Who(role, speaker, remarks, perhaps)


def _by_values(
    dialogues: Dialogues, taken: Sequence[model.JsonPath | None], *, are_columns: bool
) -> tuple[model.JsonPath | None, list[str]]:
    """Return the only field by whose name and values it may be who speaks, a few that take turns; else lines."""
    found, chosen = list[model.JsonPath](), list[model.JsonPath]()
    for path, values in dialogues.turns.values.items():
        named = _WHO.search(path_words(path).rpartition(".")[2]) is not None
        if path in taken or len(values) < ALMOST_ALL * len(dialogues.turns) or are_queries(values):
            continue
        if not are_speakers(values) or not (_recur(values) or (named and len({*map(str, values)}) < len(values))):
            continue
        of_dialogues = [column(dialogue, path) for dialogue in dialogues if len(dialogue) > 1]
        numbers = [whole_numbers(own) for own in of_dialogues]
        change = sum(before != after for own in of_dialogues for before, after in pairwise(own))
        are_numbered = all(own is not None and own == sorted(set(own)) for own in numbers)
        if not are_numbered and change * 2 >= sum(len(own) - 1 for own in of_dialogues):
            found.append(path)
            chosen += [path] if named else []
    if len(chosen) == 1:
        return chosen[0], []
    lines = [
        f"to decide: speaker = {quoted_path(path, is_column=are_columns)}  # "
        + evidence.words(column(dialogues.turns, path))
        for path in chosen or found
    ]
    return None, lines or [NOBODY_SPEAKS]


def speaker_fallbacks(
    turns: Records, speaker: model.JsonPath | None, taken: Sequence[model.JsonPath | None], *, are_columns: bool
) -> tuple[dict[str, tuple[model.JsonPath, ...]], list[str]]:
    """Return the other field that names a speaker where some turns have no name: Slack's ``bot_id`` beside ``user``.

    One that has the speakers of other turns comes first, then an id beside an id; any other makes a line.
    """
    lacking = Records(turn for turn in turns if speaker is not None and at(turn, speaker) is None)
    if speaker is None or not lacking:
        return {}, []
    known = {value for value in column(turns, speaker) if value is not None}
    names = lacking.named((*NAMES["speaker"], "bot_id", "bot_name"), taken)
    names = [path for path in names if are_speakers(column(lacking, path))]
    alike = [path for path in names if known & {*column(lacking, path)}]
    is_id = path_words(speaker).endswith("id")
    for path in alike + [path for path in names if path_words(path).endswith("id") or not is_id]:
        return {"speaker": (path,)}, []
    return {}, [
        f"to decide: speaker = [{quoted_path(speaker, is_column=are_columns)}, "
        f"{quoted_path(path, is_column=are_columns)}]  # {len(lacking):,} turns have no {dotted(speaker)}"
        for path in names[:1]
    ]


def role_words(words: Sequence[Any]) -> dict[str, str]:
    """Return the words for roles that mean user, assistant and tool, with these."""
    roles: dict[str, str] = {}
    known = dict.fromkeys(word for word in words if isinstance(word, str) and word)
    has_bot = any(word.lower() in BOTS | {"assistant", "agent"} for word in known)
    for word in known:
        lower = word.lower()
        if lower in USERS or (lower == "user" != word):
            roles[word] = "user"
        elif lower in BOTS or (lower == "assistant" != word):
            roles[word] = "assistant"
        elif lower in TOOLS:
            roles[word] = "tool"
        elif lower in ("system", "sys") and not has_bot and len(known) == 2:
            roles[word] = "assistant"  # of task-oriented dialogues, the other is the user
    return roles


def are_speakers(values: list[Any]) -> bool:
    """Whether these are names or numbers, and most of them nothing that one would say."""
    names = {value if type(value) is int else str(value) for value in values if isinstance(value, str | int)}
    are_names = all(value is None or isinstance(value, str) or type(value) is int for value in values)
    sentences = sum(isinstance(name, str) and is_like_a_text(name) and name[-1] in _ENDS_OF_SENTENCES for name in names)
    return are_names and bool(names) and sentences * 2 <= len(names)


_ENDS_OF_SENTENCES = ".?!。"


def _name_all(values: list[Any]) -> bool:
    """Whether these are names, none is missing, and some of them say several things."""
    return are_speakers(values) and None not in values and len({*map(str, values)}) < len(values)


def _recur(values: list[Any]) -> bool:
    """Whether these are names of a few, each of whom says several things."""
    return are_words(values) and len(set(values)) * 2 <= len(values)


def _are_roles(values: list[Any]) -> bool:
    words = {value.lower() for value in values if isinstance(value, str) and value}
    return bool(words) and words <= ROLE_WORDS


def speaker_fields(turns: Records, speaker: model.JsonPath | None) -> model.SpeakerFields:
    """Return the fields of speakers: an id means the same in all of the corpus, a name only in its dialogue."""
    if speaker is None:
        return model.SpeakerFields()
    is_id = path_words(speaker).endswith(("id", "username", "user_name"))
    name = turns.pick(NAMES["speaker_name"], are_texts, [speaker]) if is_id else None
    is_bot = turns.pick(NAMES["is_bot"], lambda values: all(isinstance(value, bool | None) for value in values))
    return model.SpeakerFields("corpus" if is_id else "dialogue", name, is_bot)
