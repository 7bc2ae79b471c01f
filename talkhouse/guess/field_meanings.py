"""What is guessed of a format, and of the fields of turns and dialogues by their names and values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from talkhouse.guess import evidence
from talkhouse.guess.field_names import NAMES
from talkhouse.guess.record_values import (
    MOST,
    Dialogues,
    Records,
    are_ids,
    are_keys,
    are_texts,
    are_texts_or_parts,
    are_words,
    as_words,
    at,
    column,
    path_words,
    walk,
    whole_numbers,
)
from talkhouse.guess.sample import Samples
from talkhouse.ingest.declared.declaration.model import (
    ISO,
    UNIX,
    Dialect,
    DialogueFields,
    Format,
    JsonPath,
    PairFields,
    PreferenceFields,
    SpeakerFields,
    TurnFields,
)
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.declaration.toml_text import toml_string
from talkhouse.ingest.declared.times import read_time
from talkhouse.ingest.declared.turn_tallies import is_like_a_text


@dataclass(frozen=True)
class GuessedLabels:
    """Labels that a corpus seems to have; they are only ever proposed."""

    scheme: str
    on: str
    columns: tuple[str, ...]
    """One for each annotator, or the only one."""
    words: tuple[str, ...] = ()
    """What occurs, where these are a few texts."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What each means, where a method of training says so: then they are declared, not only proposed."""


@dataclass(frozen=True)
class Guess:
    """A format that files look like, and what their fields seem to mean."""

    format: Format
    reason: str
    """Why, behind 'looks like: chat'."""
    dialogue: DialogueFields = field(default_factory=DialogueFields)
    turn: TurnFields = field(default_factory=TurnFields)
    speaker: SpeakerFields = field(default_factory=SpeakerFields)
    pair: PairFields = field(default_factory=PairFields)
    preference: PreferenceFields = field(default_factory=PreferenceFields)
    dialect: Dialect = field(default_factory=Dialect)
    markers: Mapping[str, str] = field(default_factory=dict)
    separators: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)
    """``[lines]``, by which the lines of a text are rows."""
    roles: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[GuessedLabels, ...] = ()
    extra: tuple[str, ...] = ()
    """Fields of the records that nothing takes."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """``dialogue.id`` -> why it is proposed, or why it is not; so of other keys."""
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Table -> what else could be in it, a line each."""
    together: tuple[JsonPath, ...] = ()
    """Columns that are the id together; ``dialogue.id`` is the first of them."""
    also: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Table -> key -> value as TOML has it, of keys that are more than one path."""
    needs: tuple[JsonPath, ...] = ()
    """What these keys name, without which a file is none of these."""
    ids: Literal["corpus", "file", "split"] = "corpus"
    """Where an id means one dialogue."""
    turns: Records = field(default_factory=Records)
    """The turns of the sample, each an object or row."""
    left: tuple[str, ...] = ()
    """Members of turns that nothing takes, each with a sample."""


Mapped: TypeAlias = DialogueFields | TurnFields | SpeakerFields | PairFields | PreferenceFields


def paths_of(fields: Mapped) -> dict[str, JsonPath]:
    """Return the paths of a table of ``corpus.toml``, by their names there; without those that are not given."""
    return {name: value for name, value in vars(fields).items() if isinstance(value, tuple) and name not in _NO_PATHS}


_NO_PATHS = ("id_parts", "record")


_IDS = NAMES["id"]
DIALOGUES = NAMES["dialogue"]
_TEXTS = NAMES["text"]
_OTHER_TEXTS = NAMES["other_text"]
_ROLES = NAMES["role"]
_SPEAKERS = NAMES["speaker"]
_SPEAKER_NAMES = NAMES["speaker_name"]
_BOTS = NAMES["is_bot"]
_TURN_IDS = NAMES["turn_id"]
_ORDERS = NAMES["order"]
TURN_NUMBERS = tuple(dict.fromkeys((*_ORDERS, *_TURN_IDS)))
_TIMES = NAMES["said_at"]
_STARTS = NAMES["started_at"]
_REPLIES = NAMES["reply_to"]

NOBODY_SPEAKS = "to decide: nothing here says who speaks"

USERS = frozenset({"prompter", "human", "usr"})
BOTS = frozenset({"gpt", "chatgpt", "bing", "bard", "bot", "ai", "model", "chatbot", "function_call"})
TOOLS = frozenset({"observation"})
ROLE_WORDS = USERS | BOTS | {"user", "assistant", "system", "sys", "tool", "function", "developer", "agent", "customer"}


@dataclass
class Meanings:
    """What the fields of turns mean."""

    turn: TurnFields
    speaker: SpeakerFields = field(default_factory=SpeakerFields)
    roles: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    dialogues: Dialogues = field(default_factory=Dialogues)


class FieldGuess(NamedTuple):
    """A field, and what speaks for it."""

    path: JsonPath | None = None
    remarks: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    """What else it could be, a line each."""
    times: Mapping[str, str] = {}
    """``[times]``, where the field is a time that is not in ISO 8601."""


def meanings(dialogues: Dialogues, *, with_order: bool, but: Sequence[JsonPath] = ()) -> Meanings | None:
    """Return the meanings of the fields of turns, given some dialogues; None where no field is a text.

    ``but``: fields that mean something else. ``with_order``: whether a field may say the order of the turns.
    """
    turns = dialogues.turns
    named = _texts_of(turns, but)
    text = named[0] if named else turns.pick(_OTHER_TEXTS, _are_sentences, but)
    others_of_text = named[1:]
    remarks: dict[str, str] = {}
    if text is None and (text := _longest(turns, but)) is not None:
        remarks["turn.text"] = f"to decide: no name says so; the longest texts, {evidence.texts(column(turns, text))}"
    if text is None:
        return None
    taken: list[JsonPath | None] = [text, *others_of_text, *but]
    role = turns.pick(_ROLES, are_words, taken)
    taken.append(role)
    speaker = turns.pick(_SPEAKERS, _are_speakers, taken)
    speaker = speaker or turns.pick(("id",), _recur, [*taken, _id_in(dialogues, taken)])
    if role is None and speaker is not None and _are_roles(column(turns, speaker)):
        role = speaker
        speaker = turns.pick(_SPEAKERS, _name_all, [*taken, role])
        if speaker is not None:
            words = evidence.words(column(turns, speaker))
            remarks["turn.speaker"] = f"to decide: who it is, beside the role {dotted(role)}: {words}"
            remarks["speaker.scope"] = 'to decide: "corpus" if it is the same person in every dialogue'
    perhaps: list[str] = []
    if role is None and speaker is None:
        speaker, perhaps = _who_by_values(dialogues, taken, are_columns=with_order)
        if speaker is not None:
            words = evidence.words(column(turns, speaker))
            if _are_roles(column(turns, speaker)) or path_words(speaker) == "turn":
                role, speaker = speaker, None
            key = "speaker" if role is None else "role"
            remarks[f"turn.{key}"] = f"to decide: no name says so, but the values do: {words}"
    taken.append(speaker)
    order = _order(dialogues, taken) if with_order else None
    taken.append(order)
    turn_id = _id_in(dialogues, taken)
    if turn_id is not None:
        remarks["turn.id"] = f"no value occurs twice in a dialogue, of {len(turns):,} turns"
    reply = _reply_to(dialogues, turn_id, taken, are_columns=with_order)
    time = _time_of(turns, _TIMES, [*taken, turn_id, reply.path], "turn.said_at", are_columns=with_order)
    fallbacks, of_speaker = _fallbacks(turns, speaker, taken, are_columns=with_order)
    fallbacks |= {"text": tuple(others_of_text)} if others_of_text else {}
    turn = TurnFields(turn_id, text, role, speaker, time.path, reply.path, order=order, fallbacks=fallbacks)
    others = {
        "text": turns.named(_TEXTS, [*taken, time.path]),
        "speaker": turns.named(_SPEAKERS, [*taken, turn_id, role]),
    }
    fits = {"text": are_texts, "speaker": _are_speakers}
    speakers = _speaker(turns, speaker)
    notes = tuple(
        f"{key} = {quoted_path(path, is_column=with_order)}  # {evidence.of_field(f'turn.{key}', column(turns, path))}"
        for key, paths in others.items()
        for path in paths
        if path != speakers.name and getattr(turn, key) is not None and fits[key](column(turns, path))
    )
    roles = role_words(column(turns, role) if role else [])
    remarks |= {**time.remarks, **reply.remarks}
    found = (*perhaps, *of_speaker, *reply.notes, *time.notes, *notes)
    return Meanings(turn, speakers, roles, time.times, remarks, found, dialogues)


def _texts_of(turns: Records, but: Sequence[JsonPath]) -> list[JsonPath]:
    """Return the path of the texts by their names, and those beside it that have one where it has none."""
    first = turns.pick(_TEXTS, are_texts_or_parts, but)
    found, lacking = [first] if first else [], Records(turn for turn in turns if not at(turn, first or ()))
    for path in [path for path in turns.leaves if first and path[:-1] == first[:-1] and path[-1] in _BESIDE_A_TEXT]:
        values = [value for value in column(lacking, path) if value]
        if path != first and path not in but and values and are_texts_or_parts(values):
            found.append(path)
            lacking = Records(turn for turn in lacking if not at(turn, path))
    return found


_BESIDE_A_TEXT = ("content", "parts", "text", "thoughts", "result")
_WHO = re.compile(r"speaker|sender|author|interlocutor|worker|user|participant|role|actor|person|agent|^turn$|^who$")


def _who_by_values(
    dialogues: Dialogues, taken: Sequence[JsonPath | None], *, are_columns: bool
) -> tuple[JsonPath | None, list[str]]:
    """Return the only field by whose name and values it may be who speaks, a few that take turns; else lines."""
    found, chosen = list[JsonPath](), list[JsonPath]()
    for path, values in dialogues.turns.values.items():
        named = _WHO.search(path_words(path).rpartition(".")[2]) is not None
        if path in taken or len(values) < MOST * len(dialogues.turns) or are_queries(values):
            continue
        if not _are_speakers(values) or not (_recur(values) or (named and len({*map(str, values)}) < len(values))):
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


def _fallbacks(
    turns: Records, speaker: JsonPath | None, taken: Sequence[JsonPath | None], *, are_columns: bool
) -> tuple[dict[str, tuple[JsonPath, ...]], list[str]]:
    """Return the other field that names a speaker where some turns have no name: Slack's ``bot_id`` beside ``user``.

    One that has the speakers of other turns comes first, then an id beside an id; any other makes a line.
    """
    lacking = Records(turn for turn in turns if speaker is not None and at(turn, speaker) is None)
    if speaker is None or not lacking:
        return {}, []
    known = {value for value in column(turns, speaker) if value is not None}
    names = lacking.named((*_SPEAKERS, "bot_id", "bot_name"), taken)
    names = [path for path in names if _are_speakers(column(lacking, path))]
    alike = [path for path in names if known & {*column(lacking, path)}]
    is_id = path_words(speaker).endswith("id")
    for path in alike + [path for path in names if path_words(path).endswith("id") or not is_id]:
        return {"speaker": (path,)}, []
    return {}, [
        f"to decide: speaker = [{quoted_path(speaker, is_column=are_columns)}, "
        f"{quoted_path(path, is_column=are_columns)}]  # {len(lacking):,} turns have no {dotted(speaker)}"
        for path in names[:1]
    ]


def with_dialogue(samples: Samples, form: Any, reason: str, but: Sequence[JsonPath | None]) -> Guess:
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


def _id_counts(dialogues: Dialogues, turn_id: JsonPath) -> dict[JsonPath, tuple[int, int]]:
    """Count the keys at each path of turns, and those that are ids of other turns of the same dialogue."""
    counts: dict[JsonPath, tuple[int, int]] = {}
    for dialogue in dialogues:
        ids = set(column(dialogue, turn_id))
        for turn in dialogue:
            own = at(turn, turn_id)
            for path, value in walk(turn):
                if are_keys([value]):
                    keys, others = counts.get(path, (0, 0))
                    counts[path] = keys + 1, others + (value in ids and value != own)
    return counts


def quoted_path(path: JsonPath, *, is_column: bool) -> str:
    """Write a path, or the name of a column, as TOML has it."""
    return toml_string(str(path[0]) if is_column else path_text(path[1:] if path[:1] == ("",) else path))


def dotted(path: JsonPath | None) -> str:
    """Write a path in words."""
    signs: dict[object, str] = {None: "[*]", ...: ".*"}
    pieces = (f".{name}" if isinstance(name, str) else signs.get(name, f"[{name}]") for name in path or ())
    return "".join(pieces).removeprefix(".") or "$"


def about_dialogues(
    records: Records, but: Sequence[JsonPath | None], *, are_columns: bool = False
) -> tuple[DialogueFields, FieldGuess]:
    """Return the other fields of dialogues, title, split, domain, language and beginning, and what speaks for it."""
    title = records.pick(("title", "subject", "channel.name"), are_texts, but)
    split = records.pick(("split", "data_split"), are_words, but)
    domain = records.pick(("domain",), are_texts, but)
    language = records.pick(("language", "lang"), are_words, but)
    others = [title, split, domain, language]
    start = _time_of(records, _STARTS, [*but, *others], "dialogue.started_at", are_columns=are_columns)
    fields = DialogueFields(title=title, split=split, domain=domain, language=language, started_at=start.path)
    return fields, start


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


def id_of(samples: Samples) -> tuple[JsonPath | None, str]:
    """Return the field that is an id, where no file of the sample has one twice; and why it is, or is not."""
    records = samples.records
    repeated, unique = list[JsonPath](), list[JsonPath]()
    for path in records.named(tuple(dict.fromkeys((*_IDS, *DIALOGUES)))):
        columns = [column(sample.records, path) for sample in samples]
        if path_words(path) not in _IDS and not all(_are_bare(values) for values in columns):
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


def _longest(turns: Records, but: Sequence[JsonPath]) -> JsonPath | None:
    means: dict[JsonPath, float] = {}
    for path in turns.leaves:
        values = [value for value in column(turns, path) if isinstance(value, str)]
        are_most = len(values) >= len(turns) / 2 and sum(" " in value.strip() for value in values) * 2 >= len(values)
        if path not in but and are_most and len(set(values)) * 2 > len(values) and not are_queries(values):
            means[path] = sum(map(len, values)) / len(values)
    return max(means, key=lambda path: means[path], default=None)


def _are_sentences(values: list[Any]) -> bool:
    has_words = sum(isinstance(value, str) and " " in value for value in values) * 3 > len(values)
    return are_texts(values) and has_words and not are_queries(values)


_QUERY = re.compile(r"\s*(?:select|with|insert|update|delete|create)\s", re.IGNORECASE)


def are_queries(values: list[Any]) -> bool:
    """Whether most texts are SQL, which nobody says."""
    texts = [value for value in values if isinstance(value, str)]
    return sum(_QUERY.match(text) is not None for text in texts) * 2 > len(texts)


def _are_speakers(values: list[Any]) -> bool:
    """Whether these are names or numbers, and most of them nothing that one would say."""
    names = {value if type(value) is int else str(value) for value in values if isinstance(value, str | int)}
    are_names = all(value is None or isinstance(value, str) or type(value) is int for value in values)
    sentences = sum(isinstance(name, str) and is_like_a_text(name) and name[-1] in _ENDS_OF_SENTENCES for name in names)
    return are_names and bool(names) and sentences * 2 <= len(names)


_ENDS_OF_SENTENCES = ".?!。"


def _name_all(values: list[Any]) -> bool:
    """Whether these are names, none is missing, and some of them say several things."""
    return _are_speakers(values) and None not in values and len({*map(str, values)}) < len(values)


def _recur(values: list[Any]) -> bool:
    """Whether these are names of a few, each of whom says several things."""
    return are_words(values) and len(set(values)) * 2 <= len(values)


def _are_roles(values: list[Any]) -> bool:
    words = {value.lower() for value in values if isinstance(value, str) and value}
    return bool(words) and words <= ROLE_WORDS


def _speaker(turns: Records, speaker: JsonPath | None) -> SpeakerFields:
    """Return the fields of speakers: an id means the same in all of the corpus, a name only in its dialogue."""
    if speaker is None:
        return SpeakerFields()
    is_id = path_words(speaker).endswith(("id", "username", "user_name"))
    name = turns.pick(_SPEAKER_NAMES, are_texts, [speaker]) if is_id else None
    is_bot = turns.pick(_BOTS, lambda values: all(isinstance(value, bool | None) for value in values))
    return SpeakerFields("corpus" if is_id else "dialogue", name, is_bot)


def _order(dialogues: Dialogues, taken: Sequence[JsonPath | None]) -> JsonPath | None:
    def numbers_turns(path: JsonPath) -> bool:
        places = [whole_numbers(column(dialogue, path)) for dialogue in dialogues]
        return all(place is not None and len(set(place)) == len(place) for place in places)

    if all(len(dialogue) == 1 for dialogue in dialogues):
        return None
    return next((path for path in dialogues.turns.named(_ORDERS, taken) if numbers_turns(path)), None)


def _id_in(dialogues: Dialogues, taken: Sequence[JsonPath | None]) -> JsonPath | None:
    for path in dialogues.turns.named(_TURN_IDS, taken):
        if all(are_ids(column(dialogue, path)) for dialogue in dialogues if dialogue):
            return path
    return None


def _reply_to(
    dialogues: Dialogues, turn_id: JsonPath | None, taken: Sequence[JsonPath | None], *, are_columns: bool
) -> FieldGuess:
    """Return the field that says what a turn replies to, with what proves it, and lines of those that may.

    Numbers of anything occur among the ids of turns: without a name that says so, no field is taken.
    """
    if turn_id is None:
        return FieldGuess()
    but = [*taken, turn_id]
    known = dialogues.turns.named(_REPLIES, but)
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


def names_of(paths: Sequence[JsonPath | None]) -> set[str]:
    """Return the names of the fields that paths begin with."""
    return {path[0] for path in paths if path and isinstance(path[0], str)}


def scheme_word(name: str) -> str:
    """Write a field's name as the name of a scheme."""
    return as_words(name) or "label"


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


def _time_of(
    records: Records, names: Sequence[str], but: Sequence[JsonPath | None], of: str, *, are_columns: bool
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


def _time_in(path: JsonPath, forms: Sequence[str], key: str, remarks: Mapping[str, str]) -> FieldGuess:
    others = {f"times.{key}": f"to do: it may be {forms[1]} as well"} if len(forms) > 1 else {}
    return FieldGuess(path, {**remarks, **others}, times={} if forms[0] == ISO else {key: forms[0]})


def _are_dated(values: Sequence[Any]) -> bool:
    return sum(map(_is_dated, values)) >= MOST * len(values) > 0


def _is_dated(value: Any) -> bool:
    """Whether this is a time with its day, written as such: numbers may be anything."""
    if isinstance(value, date):
        return True
    is_text = isinstance(value, str) and not value.replace(".", "", 1).isdecimal() and len(value) <= _LONGEST_TIME
    return is_text and any(read_time(value, form).value for form in (ISO, *_PATTERNS))


def _forms(values: list[Any]) -> list[str]:
    if not values or all(isinstance(value, date) for value in values):
        return [ISO] if values else []
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(values):
        return _since_1970([float(number) for number in numbers])
    if not all(isinstance(value, str) for value in values):
        return []
    if all(value.replace(".", "", 1).isdecimal() for value in values):
        return _since_1970([float(value) for value in values])
    forms = [form for form in (ISO, *_PATTERNS) if all(read_time(value, form).value for value in values)]
    return forms[:1] if forms[:1] == [ISO] else forms


def _since_1970(numbers: list[float]) -> list[str]:
    for form, unit in zip(UNIX, (1, 1_000), strict=True):
        if all(10**8 * unit <= number < 10**10 * unit for number in numbers):
            return [form]
    return []
