"""What is guessed of a format, and of the fields of turns and dialogues by their names and values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal, TypeAlias

from talkhouse.guess import evidence
from talkhouse.guess.record_values import (
    Record,
    are_ids,
    are_keys,
    are_texts,
    are_texts_or_parts,
    are_words,
    as_words,
    at,
    column,
    leaves,
    named,
    path_words,
    pick,
    walk,
    whole_numbers,
)
from talkhouse.guess.sample import Sample
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
    turns: Sequence[Record] = ()
    """Those that were looked at, each an object or row."""


Mapped: TypeAlias = DialogueFields | TurnFields | SpeakerFields | PairFields | PreferenceFields


def paths_of(fields: Mapped) -> dict[str, JsonPath]:
    """Return the paths of a table of ``corpus.toml``, by their names there; without those that are not given."""
    return {name: value for name, value in vars(fields).items() if isinstance(value, tuple) and name not in _NO_PATHS}


_NO_PATHS = ("id_parts", "record")


_IDS = (
    *("id", "dialogue_id", "dialog_id", "conversation_id", "conv_id", "message_tree_id", "thread_id", "chat_id"),
    *("session_id", "sample_id", "example_id", "record_id", "channel.id", "conversation_hash", "uuid", "uid"),
    *("prompt_id", "question_id", "hash", "idx"),
)
DIALOGUES = (
    *("dialogue_id", "dialog_id", "conversation_id", "conv_id", "convo_id", "thread_id", "session_id", "chat_id"),
    *("message_tree_id", "dialogue", "dialog", "conversation", "conv", "convo", "thread", "session", "chat", "talk"),
    *(
        "link_id",
        "submission_id",
        "call_id",
        "call",
        "ticket_id",
        "ticket",
        "case_id",
        "interaction_id",
        "episode_id",
        "episode",
        "scene_id",
    ),
    *("scene", "room_id", "channel_id", "group_id", "doc_id", "room", "channel", "talk_id"),
    *("dlg", "dlg_id", "dialogid", "convid", "dialogue_no", "dialog_no", "conversation_no", "conv_no", "case", "id"),
)
_TEXTS = (
    *("text", "utterance", "content", "message", "body", "msg", "utterance_text", "message_text", "msg_text"),
    *("turn_text", "transcript", "sentence", "message.content.parts"),
)
_OTHER_TEXTS = ("utt", "value", "words", "said", "says", "line", "comment", "post", "turn", "query", "response")
"""Names that other fields have too: these are texts only where many have several words."""
_ROLES = (
    "message.author.role",
    "role",
    "speaker_role",
    "participant_role",
    "speaker_type",
    "sender_type",
    "author_role",
    "author.role",
)
_SPEAKERS = (
    *("speaker_id", "author.id", "author_id", "sender.id", "sender_id", "from_id", "user.id", "user_id", "speaker"),
    *("author", "sender", "from", "user", "username", "user_name", "nickname", "nick", "who", "participant_id"),
    *("participant", "person", "name", "by", "actor", "spk", "voice", "character", "sender_name", "from_name"),
    *("speaker_name", "author_name", "caller", "agent", "poster", "speaker_idx", "speaker_index", "speaker_no"),
)
_SPEAKER_NAMES = (
    *("speaker_name", "author.name", "author_name", "sender.name", "sender_name", "user.name", "user_name", "username"),
    *("from", "author.nickname", "name", "author", "sender", "speaker", "user"),
)
_BOTS = ("is_bot", "author.is_bot", "author.bot", "user.is_bot", "sender.is_bot")
_TURN_IDS = (
    *("id", "utt_id", "utterance_id", "message_id", "msg_id", "turn_id", "comment_id", "post_id", "uid", "tweet_id"),
    *("client_msg_id", "mid"),
)
_ORDERS = (
    *("turn_index", "turn_idx", "turn_number", "turn_no", "turn_nr", "turn_num", "turn_order", "turn_id", "turn"),
    *("order", "sequence_number", "sequence", "seq", "position", "pos", "index", "idx", "utterance_index"),
    *("utterance_idx", "utt_idx", "utt_no", "utterance_number", "message_index", "line_number", "line_no", "line"),
    *("number", "nr", "no", "num", "n", "step"),
)
TURN_NUMBERS = tuple(dict.fromkeys((*_ORDERS, *_TURN_IDS)))
_TIMES = (
    *("said_at", "timestamp", "time", "datetime", "date_time", "created_at", "created", "created_date"),
    *("created_utc", "sent_at", "date", "ts", "when", "time_stamp", "timestamp_ms", "date_unixtime", "create_time"),
    "message.create_time",
)
_STARTS = ("started_at", "start_time", "created_at", "create_time", "created_date", "timestamp", "date", "datetime")
_REPLIES = (
    *("reply_to", "reply_to_id", "in_reply_to", "reply_to_message_id", "reply_to_msg_id", "reference.message_id"),
    *("parent_id", "parent", "parent_message_id", "in_response_to", "responds_to", "answers", "reply", "replied_to"),
    *("reply_to_comment_id", "parent_comment_id", "parent_utterance_id", "parent_turn_id", "quoted_message_id"),
    *("in_response_to_tweet_id", "in_reply_to_status_id", "in_reply_to_id", "response_to"),
)

USERS = frozenset({"prompter", "human", "usr"})
BOTS = frozenset({"gpt", "chatgpt", "bing", "bard", "bot", "ai", "model", "chatbot", "function_call"})
TOOLS = frozenset({"observation"})
_ROLE_WORDS = (
    USERS | BOTS | {"user", "assistant", "system", "sys", "tool", "function", "developer", "agent", "customer"}
)


@dataclass
class Meanings:
    """What the fields of turns mean."""

    turn: TurnFields
    speaker: SpeakerFields = field(default_factory=SpeakerFields)
    roles: Mapping[str, str] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    dialogues: Sequence[Sequence[Record]] = ()

    @property
    def turns(self) -> Sequence[Record]:
        """The turns of all dialogues."""
        return [turn for dialogue in self.dialogues for turn in dialogue]


def meanings(
    dialogues: Sequence[Sequence[Record]], *, with_order: bool, but: Sequence[JsonPath] = ()
) -> Meanings | None:
    """Return what the fields of turns mean, given the turns of some dialogues; None where no field is a text.

    ``but``: fields that mean something else. ``with_order``: whether a field may say the order of the turns.
    """
    turns = [turn for dialogue in dialogues for turn in dialogue]
    text = pick(turns, _TEXTS, are_texts_or_parts, but) or pick(turns, _OTHER_TEXTS, _are_sentences, but)
    remarks: dict[str, str] = {}
    if text is None and (text := _longest(turns, but)) is not None:
        remarks["turn.text"] = f"to decide: no name says so; the longest texts, {evidence.texts(column(turns, text))}"
    if text is None:
        return None
    taken: list[JsonPath | None] = [text, *but]
    role = pick(turns, _ROLES, are_words, taken)
    taken.append(role)
    speaker = pick(turns, _SPEAKERS, _are_speakers, taken) or pick(
        turns, ("id",), _recur, [*taken, _id_in(dialogues, taken)]
    )
    if role is None and speaker is not None and _are_roles(column(turns, speaker)):
        role, speaker = speaker, None
    taken.append(speaker)
    order = _order(dialogues, taken) if with_order else None
    taken.append(order)
    turn_id = _id_in(dialogues, taken)
    if turn_id is not None:
        remarks["turn.id"] = f"no value occurs twice in a dialogue, of {len(turns):,} turns"
    reply_to, why, notes = _reply_to(dialogues, turn_id, taken, are_columns=with_order)
    said_at, times, about_times = _time_of(turns, _TIMES, [*taken, turn_id, reply_to], "said_at")
    turn = TurnFields(
        turn_id, text, role, speaker, said_at, reply_to, order=order, fallbacks=_fallbacks(turns, speaker, taken)
    )
    remarks |= about_times | ({"turn.reply_to": why} if why else {})
    others = {"text": named(turns, _TEXTS, [*taken, said_at]), "speaker": named(turns, _SPEAKERS, [*taken, turn_id])}
    fits = {"text": are_texts, "speaker": _are_speakers}
    name = _speaker(turns, speaker).name
    notes += tuple(
        f"{key} = {quoted_path(path, is_column=with_order)}  # {evidence.of_field(f'turn.{key}', column(turns, path))}"
        for key, paths in others.items()
        for path in paths
        if path != name and getattr(turn, key) is not None and fits[key](column(turns, path))
    )
    words = column(turns, role) if role else []
    return Meanings(turn, _speaker(turns, speaker), role_words(words), times, remarks, notes, dialogues)


def _fallbacks(
    turns: Sequence[Record], speaker: JsonPath | None, taken: Sequence[JsonPath | None]
) -> dict[str, tuple[JsonPath, ...]]:
    """Return what else names a speaker, where some turns have no other name: Slack's ``bot_id`` beside ``user``."""
    lacking = [turn for turn in turns if speaker is not None and at(turn, speaker) is None]
    for path in named(lacking, (*_SPEAKERS, "bot_id", "bot_name"), taken) if lacking else ():
        if _are_speakers(column(lacking, path)):
            return {"speaker": (path,)}
    return {}


def with_dialogue(samples: Sequence[Sample], form: Any, reason: str, but: Sequence[JsonPath | None]) -> Guess:
    """Return a guess with what the records say of their dialogues; ``but``: fields that mean something else."""
    first = samples[0]
    id_path, why = id_of([sample.records for sample in samples])
    if first.record == "member":
        id_path, why = None, "no id: a member's name is one"
    fields, times = about_dialogues(records_of(samples), [*but, id_path])
    dialogue = replace(fields, id=id_path, record=first.record)
    return Guess(form, reason, dialogue, dialect=first.dialect, times=times, remarks={"dialogue.id": why})


def records_of(samples: Sequence[Sample]) -> list[Record]:
    """Return the records of all samples."""
    return [record for sample in samples for record in sample.records]


def _meant(dialogues: Sequence[Sequence[Record]], turn_id: JsonPath) -> dict[JsonPath, tuple[int, int]]:
    """Count the keys at each path of turns, and those that are ids of other turns of the same dialogue."""
    counts: dict[JsonPath, tuple[int, int]] = {}
    for dialogue in dialogues:
        ids = set(column(dialogue, turn_id))
        for turn in dialogue:
            own = at(turn, turn_id)
            for path, value in walk(turn):
                if are_keys([value]):
                    given, meant = counts.get(path, (0, 0))
                    counts[path] = given + 1, meant + (value in ids and value != own)
    return counts


def quoted_path(path: JsonPath, *, is_column: bool) -> str:
    """Write a path, or the name of a column, as TOML has it."""
    return toml_string(str(path[0]) if is_column else path_text(path[1:] if path[:1] == ("",) else path))


def dotted(path: JsonPath | None) -> str:
    """Write a path in words."""
    signs: dict[object, str] = {None: "[*]", ...: ".*"}
    pieces = (f".{name}" if isinstance(name, str) else signs.get(name, f"[{name}]") for name in path or ())
    return "".join(pieces).removeprefix(".") or "$"


def about_dialogues(records: Sequence[Record], but: Sequence[JsonPath | None]) -> tuple[DialogueFields, dict[str, str]]:
    """Return what the other fields of dialogues mean: title, split, domain, language, the time of the begin."""
    title = pick(records, ("title", "subject", "channel.name"), are_texts, but)
    split = pick(records, ("split", "data_split"), are_words, but)
    domain = pick(records, ("domain",), are_texts, but)
    language = pick(records, ("language", "lang"), are_words, but)
    started_at, times, _ = _time_of(records, _STARTS, but, "started_at")
    fields = DialogueFields(title=title, split=split, domain=domain, language=language, started_at=started_at)
    return fields, times


def role_words(words: Sequence[Any]) -> dict[str, str]:
    """Return which of a file's words for roles mean user and assistant."""
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


def id_of(files: Sequence[Sequence[Record]]) -> tuple[JsonPath | None, str]:
    """Return the field that is an id, where no file of the sample has one twice; and why it is, or is not."""
    records = [record for file in files for record in file]
    repeated, unique = list[JsonPath](), list[JsonPath]()
    for path in named(records, tuple(dict.fromkeys((*_IDS, *DIALOGUES)))):
        columns = [column(file, path) for file in files]
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


def _longest(turns: Sequence[Record], but: Sequence[JsonPath]) -> JsonPath | None:
    best: tuple[float, JsonPath] | None = None
    for path in leaves(turns):
        values = [value for value in column(turns, path) if isinstance(value, str)]
        if (
            path in but
            or len(values) < len(turns) / 2
            or sum(" " in value.strip() for value in values) * 2 < len(values)
        ):
            continue
        mean = sum(map(len, values)) / len(values)
        if len(set(values)) * 2 > len(values) and (best is None or mean > best[0]):
            best = mean, path
    return best[1] if best else None


def _are_sentences(values: list[Any]) -> bool:
    return are_texts(values) and sum(isinstance(value, str) and " " in value for value in values) * 3 > len(values)


def _are_speakers(values: list[Any]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, str) or type(value) is int for value in given)


def _recur(values: list[Any]) -> bool:
    """Whether these are names of a few, each of whom says several things."""
    return are_words(values) and len(set(values)) * 2 <= len(values)


def _are_roles(values: list[Any]) -> bool:
    words = {value.lower() for value in values if isinstance(value, str) and value}
    return bool(words) and words <= _ROLE_WORDS


def _speaker(turns: Sequence[Record], speaker: JsonPath | None) -> SpeakerFields:
    """Return whom a name means: an id means the same in all of the corpus, a name only in its dialogue."""
    if speaker is None:
        return SpeakerFields()
    is_id = path_words(speaker).endswith(("id", "username", "user_name"))
    name = pick(turns, _SPEAKER_NAMES, are_texts, [speaker]) if is_id else None
    is_bot = pick(turns, _BOTS, lambda values: all(isinstance(value, bool | None) for value in values))
    return SpeakerFields("corpus" if is_id else "dialogue", name, is_bot)


def _order(dialogues: Sequence[Sequence[Record]], taken: Sequence[JsonPath | None]) -> JsonPath | None:
    def numbers_turns(path: JsonPath) -> bool:
        places = [whole_numbers(column(dialogue, path)) for dialogue in dialogues]
        return all(place is not None and len(set(place)) == len(place) for place in places)

    if all(len(dialogue) == 1 for dialogue in dialogues):
        return None
    turns = [turn for dialogue in dialogues for turn in dialogue]
    return next((path for path in named(turns, _ORDERS, taken) if numbers_turns(path)), None)


def _id_in(dialogues: Sequence[Sequence[Record]], taken: Sequence[JsonPath | None]) -> JsonPath | None:
    turns = [turn for dialogue in dialogues for turn in dialogue]
    for path in named(turns, _TURN_IDS, taken):
        if all(are_ids(column(dialogue, path)) for dialogue in dialogues if dialogue):
            return path
    return None


def _reply_to(
    dialogues: Sequence[Sequence[Record]],
    turn_id: JsonPath | None,
    taken: Sequence[JsonPath | None],
    *,
    are_columns: bool,
) -> tuple[JsonPath | None, str, tuple[str, ...]]:
    """Return the field that says what a turn replies to, with what proves it, and lines of those that may.

    Numbers of anything occur among the ids of turns: without a name that says so, no field is taken.
    """
    if turn_id is None:
        return None, "", ()
    turns = [turn for dialogue in dialogues for turn in dialogue]
    but = [*taken, turn_id]
    known = named(turns, _REPLIES, but)
    perhaps: list[str] = []
    counts = _meant(dialogues, turn_id)
    for path in (*known, *(path for path in counts if path not in but and path not in known)):
        given, meant = counts.get(path, (0, 0))
        if not given or meant * 2 < given:
            continue
        proof = f"{meant:,} of {given:,} values are ids of other turns of the dialogue"
        if path in known:
            return path, f"by its name; {proof}; what they mean to a task: [[tasks]] context", ()
        if any(isinstance(value, str) and not value.isdecimal() for value in column(turns, path)):
            where = quoted_path(path, is_column=are_columns)
            perhaps.append(f"reply_to = {where}  # to decide: no name says so, but {proof}")
    return None, "", tuple(perhaps)


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

_MOST_TIMES = 200


def _time_of(
    records: Sequence[Record], names: Sequence[str], but: Sequence[JsonPath | None], key: str
) -> tuple[JsonPath | None, dict[str, str], dict[str, str]]:
    """Return the field that is a time, its form where that is not ISO 8601, and a remark where it may be another."""
    for path in named(records, names, but):
        values = [value for value in column(records, path) if value not in (None, "")][:_MOST_TIMES]
        forms = _forms(values)
        if forms:
            remark = {f"times.{key}": f"to do: it may be {forms[1]} as well"} if len(forms) > 1 else {}
            return path, {} if forms[0] == ISO else {key: forms[0]}, remark
    return None, {}, {}


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
