"""A dialogue: decoded strictly, and then its rows; what a later record states otherwise of it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.mpchat.format import (
    CORPUS,
    RESPONSE,
    SPEAKER,
    SPLITS,
    TASK_FILES,
    Nesting,
    SourceDialogue,
    TaskFile,
)
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.keys import Keys, digest
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.restatements import Restatements
from talkhouse.ingest.rows import Dialogue, Participant, Row, Speaker, Turn


class Parsed(NamedTuple):
    """A dialogue, its keys in published order, and the fields that no documentation names, by pointer."""

    dialogue: SourceDialogue
    fields: list[str]
    unknown: dict[str, Raw]
    empty: dict[str, Any]
    """By pointer, the nulls and empty lists that could not be told from the rows when they are written back."""


def split_file(raw: memoryview) -> tuple[dict[str, Raw], dict[str, list[Raw]]]:
    """Split a file into its fields, and its splits into dialogues, without a copy; BadRecord if it has none."""
    if bytes(raw[:1_000]).lstrip()[:1] == b"[":
        raise BadRecord("MP-01", "a bare list instead of an object with train, val and test")
    fields = decode.unique(json_members.views(raw))
    missing = [name for name in SPLITS if name not in fields]
    if missing:
        raise BadRecord("MP-01", f"no {' and no '.join(missing)}, but {', '.join(fields) or 'nothing'}")
    splits = {}
    for name, piece in fields.items():
        if name not in SPLITS:
            check_unknown(decode.pointer(name), bytes(piece))
        elif bytes(memoryview(piece)[:1]) == b"[":
            splits[name] = json_members.items(piece, raw)
        else:
            raise BadRecord("MP-01", "no list of dialogues", f"/{name}")
    return fields, splits


def parse(raw: bytes, task_file: TaskFile, split: str) -> Parsed:
    """Decode one dialogue; raises BadRecord: MP-02, MP-06, MP-11, or a common rule."""
    pieces = json_members.fields(raw)
    known = _FIELDS[task_file.subset]
    unknown = {decode.pointer(key): piece for key, piece in pieces.items() if key not in known}
    for pointer, piece in unknown.items():
        check_unknown(pointer, bytes(piece))
    text = msgspec.json.encode({key: pieces[key] for key in pieces if key in known}) if unknown else raw
    try:
        dialogue = decode.decoder(task_file.dialogue).decode(text)
    except msgspec.ValidationError as error:
        bad = decode.shape_problem(error, "MP-02")
        rule = "MP-11" if bad.pointer.startswith("/messages/") else "MP-02"
        raise BadRecord(rule, bad.detail, bad.pointer) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise decode.json_problem(raw, error) from error
    _check_lengths(dialogue, split)
    return Parsed(dialogue, list(pieces), unknown, _unusually_empty(task_file, dialogue))


def check_unknown(pointer: str, piece: bytes) -> None:
    """Raise BadRecord where a field that no documentation names could not be kept: TH-01, TH-02 or TH-04."""
    try:
        decode.check_depth(piece)
        piece.decode()
        decode.decoder(Raw).decode(piece)  # a number beyond any double is no defect
    except BadRecord as bad:
        raise BadRecord(bad.rule, bad.detail, pointer) from bad
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = decode.json_problem(piece, error)
        raise BadRecord(problem.rule, problem.detail, pointer + problem.pointer) from error


def _unusually_empty(task_file: TaskFile, dialogue: SourceDialogue) -> dict[str, Any]:
    """As a rule no list is null, a turn without elements has [], and a turn without a gold persona has null."""
    empty: dict[str, Any] = {}
    for name in (*_MESSAGE_FIELDS, *(field.name for field in task_file.lists), task_file.candidates):
        value = getattr(dialogue, name, UNSET)
        if value is None:
            empty[f"/{name}"] = None
        elif name in (*_PER_TURN, task_file.candidates) and value == []:
            empty[f"/{name}"] = []
        elif name in _PER_TURN:
            empty |= {f"/{name}/{turn}": None for turn, items in enumerate(value or ()) if items is None}
        elif name == SPEAKER.candidates:
            empty |= {f"/{name}/{author}": items for author, items in enumerate(value or ()) if not items}
    return empty


def _check_lengths(dialogue: SourceDialogue, split: str) -> None:
    """Raise BadRecord where a list has not one item per message; an empty candidate list in train counts as none."""
    turns = len(dialogue.messages)
    if not turns:
        raise BadRecord("MP-11", "no messages", "/messages")
    for name in ("authors", *_ALIGNED):
        value = getattr(dialogue, name, UNSET)
        if value is UNSET or value is None or (value == [] and split == "train" and name in _CANDIDATES):
            continue
        if len(value) != turns:
            raise BadRecord("MP-02", f"{len(value)} items for {turns} messages", f"/{name}")
    if dialogue.has_image and not isinstance(dialogue.file_name, str):
        raise BadRecord("MP-06", "has_image, and no file_name", "/file_name")


_FIELDS = {
    task_file.subset: {field.name for field in msgspec.structs.fields(task_file.dialogue)}
    for task_file in TASK_FILES.values()
}
_CANDIDATES = frozenset(task_file.candidates for task_file in TASK_FILES.values())
_MESSAGE_FIELDS = ("message_ids", "created_utcs")
_PER_TURN = frozenset(
    {field.name for task_file in TASK_FILES.values() for field in task_file.lists if field.nesting is Nesting.PER_TURN}
    | {RESPONSE.candidates}
)
_ALIGNED = (*_MESSAGE_FIELDS, *sorted(_PER_TURN), "gpp_grounded_persona")


MAIN, OTHER = "main", "other"
_STATED = ("subreddit", "main_author", "message_ids", "created_utcs", "has_image", "direct_url", "file_name")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class People:
    """Everybody who was named so far."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def id(self, name: str, rows: list[Row]) -> str:
        """Return the key of a person; the first time, add the row."""
        key = f"{CORPUS}:{name}"
        if key not in self._known:
            self._known.add(key)
            rows.append(Speaker(key, CORPUS, name, name, "human", is_anonymous=False))
        return key


class Dialogues:
    """All dialogues of a build: one thread is published in up to three files."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._keys = Keys()
        self._restatements = Restatements()

    def add(self, dialogue: SourceDialogue, rows: list[Row]) -> tuple[str, list[ReaderFinding]]:
        """Return the key of a dialogue, and a finding if it has other words than the plain key's; add rows if new."""
        words = digest(*(part for said in zip(dialogue.authors, dialogue.messages, strict=True) for part in said))
        ids = dialogue.message_ids
        natural = f"{CORPUS}:{ids[0]}-{ids[-1]}" if isinstance(ids, list) else f"{CORPUS}:{words.hex()[:16]}"
        dialogue_id, is_new = self._keys.assign(natural, words)
        if not is_new:
            return dialogue_id, []
        self._rows(dialogue_id, dialogue, rows)
        if dialogue_id == natural:
            return dialogue_id, []
        detail = f"other words than an earlier thread with these first and last messages; kept as {dialogue_id}"
        return dialogue_id, [ReaderFinding("MP-12", detail)]

    def differing(self, dialogue_id: str, dialogue: SourceDialogue) -> Mapping[str, Any]:
        """Return what a record states of its dialogue beside the words, if an earlier one stated it otherwise."""
        stated = {f"/{name}": value for name in _STATED if (value := getattr(dialogue, name)) is not UNSET}
        return self._restatements.differing(dialogue_id, stated)

    def _rows(self, dialogue_id: str, dialogue: SourceDialogue, rows: list[Row]) -> None:
        people = {name: self._people.id(name, rows) for name in dict.fromkeys(dialogue.authors)}
        turns = list(_turns(dialogue_id, dialogue, people))
        facts = {name: getattr(dialogue, name) for name in ("has_image", "direct_url", "file_name")}
        rows.append(
            Dialogue(
                dialogue_id=dialogue_id,
                corpus_id=CORPUS,
                domain=dialogue.subreddit if isinstance(dialogue.subreddit, str) else None,
                language="en",
                started_at=turns[0].said_at,
                extra=decode.dump({name: value for name, value in facts.items() if value is not UNSET}),
            )
        )
        for name, speaker_id in people.items():
            rows.append(Participant(dialogue_id, speaker_id, _role(dialogue, name)))
        rows += turns


def _turns(dialogue_id: str, dialogue: SourceDialogue, people: dict[str, str]) -> Iterator[Turn]:
    ids = dialogue.message_ids if isinstance(dialogue.message_ids, list) else None
    times = dialogue.created_utcs if isinstance(dialogue.created_utcs, list) else None
    for index, (author, text) in enumerate(zip(dialogue.authors, dialogue.messages, strict=True)):
        seconds = times[index] if times else None
        said_at = _time(seconds)
        is_exact = isinstance(seconds, float) and said_at is not None and repr(seconds_since(said_at)) == repr(seconds)
        yield Turn(
            dialogue_id=dialogue_id,
            turn_index=index,
            speaker_id=people[author],
            role=_role(dialogue, author),
            kind="message",
            text=text,
            native_id=ids[index] if ids else None,
            said_at=said_at,
            extra=decode.dump({"created_utc": seconds}) if times and not is_exact else None,
        )


def _role(dialogue: SourceDialogue, name: str) -> str:
    return MAIN if name == dialogue.main_author else OTHER


def _time(seconds: object) -> datetime | None:
    """Return the time so many seconds after 1970; None for what is no number or no time that a calendar has."""
    if not isinstance(seconds, int | float):
        return None
    try:
        return (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    except OverflowError:
        return None


def seconds_since(time: datetime) -> float:
    """Return a time as seconds since 1970, to the microsecond."""
    return (time.replace(tzinfo=UTC) - _EPOCH).total_seconds()
