"""What is read of a record: what it says of its dialogue, and the turns, parts and candidates that it holds."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from heapq import heappop, heappush
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest.declared.declaration.model import ISO, UNIX, Annotations, Declaration, JsonPath
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.identity import id_part, joined_id
from talkhouse.ingest.declared.shapes import (
    LITERAL,
    KnownShapes,
    Members,
    SplitObject,
    Wanted,
    is_null,
    kind_of,
    text_of,
    write_text,
)
from talkhouse.ingest.declared.times import not_a_time, read_time, write_time
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.stored_record import StoredRecord


class ParsedPart(Struct, gc=False):
    """A part of a turn, as ``main.parts`` has it; offsets are code points of the turn's text."""

    field: str
    kind: str
    start_index: int | None = None
    end_index: int | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | None = None
    """JSON text, verbatim."""
    uri: str | None = None
    mime_type: str | None = None
    text: str | None = None
    shape: Mapping[str, object] | None = None
    """How the object is written (``shapes``); None where the part is no object."""
    extra: dict[str, Raw] | None = None


class ParsedTurn(Struct, gc=False):
    """A turn, as a format found it."""

    role: str
    """Ours, by ``[roles]``."""
    text: str
    pointer: str
    """Where it is inside the record: ``/messages/3``."""
    kind: str = "message"
    speaker: str | None = None
    """The name or id that the file gives; None where nothing names one."""
    is_bot: bool | None = None
    speaker_name: str | None = None
    native_id: str | None = None
    said_at: datetime | None = None
    reply_to: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    shape: Mapping[str, object] | None = None
    """How the object is written; None where the turn is no object of its own."""
    extra: dict[str, Raw] | None = None
    parts: list[ParsedPart] | None = None


class ParsedCandidate(Struct, gc=False):
    """A candidate: one message of an answer that is preferred or not (``main.candidates``)."""

    turn_index: int | None
    """The first turn of the chosen answer; None where that has none."""
    position: int
    """0: chosen, 1: rejected; of several answers their order in the file."""
    item_index: int
    text: str
    is_gold: bool | None
    source: str | None = None
    shape: Mapping[str, object] | None = None
    """How the message's object is written (level "candidate"); None where it is no object, or a turn has it."""
    extra: dict[str, Raw] | None = None


class ParsedDialogue(Struct):
    """What a record becomes."""

    turns: list[ParsedTurn]
    candidates: list[ParsedCandidate] = []
    taken: dict[str, str | None] = {}
    """What ``SplitObject.shape`` takes: the format's own placeholders of the record."""
    extra: dict[str, Raw] = {}
    """What else the record's ``extra`` has to have so that it can be written; names of ``shapes.RESERVED`` only."""
    findings: list[ReaderFinding] = []
    """Their pointers are inside the record."""
    response: int | None = None
    """The turn that labels ``on = "response"`` are about."""
    messages: Mapping[int, Members] = {}
    """Turn index -> the members of its object, for labels inside; empty where no turn is an object."""


def last_answer(roles: Sequence[str]) -> int | None:
    """Return the turn of a list of messages that is the response: the assistant's last; None where there is none."""
    return next((index for index in reversed(range(len(roles))) if roles[index] == "assistant"), None)


class ListColumns(NamedTuple):
    """Where the turns of a format are that are columns: a list of objects."""

    list_key: str
    fields: Mapping[str, str]
    """Column of a turn -> key."""
    parts: frozenset[str]
    """Keys of what becomes parts of a turn."""
    is_plain: Callable[[str], bool]
    """Whether a role's word says no more than the role does."""
    null_is_text: bool
    """Whether a text of null is one, and empty."""


class DocumentFormat(Protocol):
    """One format: takes a record apart, and writes its placeholders again."""

    wanted: Wanted
    """The members of a record that the format takes, beside those of ``[dialogue]`` that all formats have."""

    @property
    def columns(self) -> ListColumns | None:
        """Where turns are columns, if that is where they are."""

    def read(self, record: SplitObject) -> ParsedDialogue:
        """Make the turns of a record from what is in its placeholders.

        Raises BadRecord GF-01 and others with the pointer inside the record.
        """

    def write(self, placeholder: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the JSON text of one of its placeholders, by its name in the shape.

        ``shapes`` are those of the record's file: of a turn at the level "message", of a part at "part", each by the
        row's ``extra`` (``shapes.shape("message", literals(turn.extra))``), where the engine has put the number.
        """


_TEXTS = {"native_id": "id", "title": "title", "domain": "domain", "language": "language", "split": "split"}
"""Placeholder, named like the column -> field of ``[dialogue]``."""

_STARTED = "started_at"
_OF_RECORDS = frozenset({"native_id", "split"})
_NO_ID = (b"n", b"[", b"{")
"""What a text begins with that is no id: null, a list, an object."""
ID_PART = "native_id:"
"""Before a number: one of the placeholders that are the id together."""
_LABEL = "label:"
"""Before the scheme's name: a placeholder that a label of the record fills."""


class RecordFields(Struct, gc=False):
    """What one record says of its dialogue."""

    native_id: str | None = None
    title: str | None = None
    domain: str | None = None
    language: str | None = None
    split: str | None = None
    started_at: datetime | None = None


def paths_of(declaration: Declaration) -> dict[str, JsonPath | None]:
    """Return the placeholders of a record that all formats have, with their paths."""
    dialogue = declaration.dialogue
    paths = {placeholder: getattr(dialogue, field) for placeholder, field in _TEXTS.items()}
    paths |= {f"{ID_PART}{number}": path for number, path in enumerate(dialogue.id_parts)}
    paths[_STARTED] = dialogue.started_at
    return paths | {label_placeholder(spec): spec.label for spec in declaration.annotations if is_whole_member(spec)}


def label_placeholder(spec: Annotations) -> str:
    """Return the name of the placeholder that a label of the record fills."""
    return _LABEL + spec.scheme


def is_whole_member(spec: Annotations) -> bool:
    """Whether a label is a member of the record that the annotation gives back."""
    is_plain = spec.on != "turn" and not (spec.by or spec.each or spec.from_file or spec.columns)
    return is_plain and spec.label is not None and all(isinstance(step, str) for step in spec.label)


class RecordFieldsReader:
    """Reads these fields of records of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        self._paths = [
            (placeholder, path, pointer(*path))
            for placeholder, path in paths_of(declaration).items()
            if path and (placeholder in _TEXTS or placeholder.startswith(ID_PART))
        ]
        self._may_lack_id = declaration.dialogue.may_lack_id
        self._started = declaration.dialogue.started_at
        self._form = declaration.times.get(_STARTED, ISO)
        self._language = declaration.languages[0] if len(declaration.languages) == 1 else None

    def read(self, record: SplitObject, taken: dict[str, str | None], findings: list[ReaderFinding]) -> RecordFields:
        """Read them, and add to ``taken`` which of them columns give back; BadRecord GF-01 for one of another type."""
        fields = RecordFields(language=self._language)
        parts: list[str] = []
        for placeholder, path, at in self._paths:
            raw = record.find(path)
            is_id = placeholder.startswith("native_id")
            if placeholder == "native_id" and self._may_lack_id and (raw is None or bytes(raw)[:1] in _NO_ID):
                continue
            if raw is not None and not is_id and bytes(raw)[:1] in (b"{", b"["):
                findings.append(set_aside(f"the {placeholder} is {kind_of(raw)}, not a text", at))
            elif raw is not None and (is_id or not is_null(raw)):
                text, suffix = text_of(raw, at, f"the {'id' if is_id else placeholder}")
                if placeholder in _TEXTS:
                    setattr(fields, placeholder, text)
                else:
                    parts.append(text)
                taken[placeholder] = placeholder + suffix
            elif raw is not None:
                taken[placeholder] = None
            elif is_id:
                name = path_text(path).removeprefix("['']").removeprefix(".")
                raise BadRecord("GF-01", f"the id, {name}, is missing", _above(record, path))
        if parts:
            fields.native_id = joined_id(parts)
        raw = record.find(self._started)
        if raw is not None and self._started is not None:
            self._read_start(raw, pointer(*self._started), fields, taken, findings)
        return fields

    def _read_start(
        self, raw: Raw, at: str, fields: RecordFields, taken: dict[str, str | None], findings: list[ReaderFinding]
    ) -> None:
        if is_null(raw):
            taken[_STARTED] = None
            return
        if bytes(raw)[:1] in (b"{", b"["):
            findings.append(set_aside(f"the time is {kind_of(raw)}, not a text", at))
            return
        text, suffix = text_of(raw, at, "the time")
        fields.started_at, how = read_time(text, self._form, is_number=suffix == LITERAL)
        if how is not None:
            taken[_STARTED] = f"{_STARTED}@{how}"
        elif fields.started_at is None:
            findings.append(ReaderFinding("GF-09", not_a_time(text, self._form), pointer=at))


def _above(record: SplitObject, path: JsonPath) -> str:
    """Return the pointer of the object in which the last name of a path is missing."""
    depth = next((depth for depth in range(len(path)) if record.find(path[: depth + 1]) is None), 0)
    return pointer(*path[:depth])


def write_field(placeholder: str, stored: StoredRecord, shapes: KnownShapes) -> bytes | None:
    """Return the JSON text of a placeholder that all formats have; None for another."""
    name, at, how = placeholder.partition("@")
    if at and name == _STARTED and stored.dialogue and stored.dialogue.started_at is not None:
        text = write_time(stored.dialogue.started_at, how, is_utc=shapes.is_utc)
        return text.encode() if how in UNIX else msgspec.json.encode(text)
    column = placeholder.removesuffix(LITERAL)
    if column in _TEXTS:
        owner = stored.record if column in _OF_RECORDS else stored.dialogue
        return write_text(placeholder, getattr(owner, column))
    if column.startswith(ID_PART):
        return write_text(placeholder, id_part(stored.loaded.native_id or "", int(column.removeprefix(ID_PART))))
    if column.startswith(_LABEL):
        scheme = f"{stored.loaded.corpus_id}.{column.removeprefix(_LABEL)}"
        return write_text(placeholder, next(row.label or "" for row in stored.annotations if row.scheme == scheme))
    return None


def take_label(spec: Annotations, record: SplitObject, taken: dict[str, str | None]) -> None:
    """Note that a label of the record gives its member back: a text or a literal that is a label."""
    raw = record.find(spec.label)
    if raw is None or not is_whole_member(spec):
        return
    if bytes(raw)[:1] not in (b"{", b"[", b"n"):
        text, suffix = text_of(raw, "", "the label")
        if text not in spec.missing_values:
            taken[label_placeholder(spec)] = label_placeholder(spec) + suffix


def given_back_by_records(taken: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return, of what columns take, only what the record's own rows hold, not its dialogue's."""
    return {
        placeholder: name
        for placeholder, name in taken.items()
        if placeholder in _OF_RECORDS or placeholder.startswith((ID_PART, _LABEL))
    }


def set_aside(detail: str, at: str) -> ReaderFinding:
    """Return the finding for a field of another type that stays in ``extra``: the dialogue is loaded without it."""
    return ReaderFinding("GF-01", detail, pointer=at, severity="warn")


def places_behind(targets: list[int | None]) -> list[int]:
    """Return the places of turns in which each stands behind what it replies to, and else as before.

    ``targets`` are the turns that turns reply to, never in a loop.
    """
    answers = defaultdict[int | None, list[int]](list)
    for turn, target in enumerate(targets):
        answers[target].append(turn)
    free = answers[None]
    places: dict[int, int] = {}
    while free:
        turn = heappop(free)
        places[turn] = len(places)
        for answer in answers[turn]:
            heappush(free, answer)
    return [places[turn] for turn in range(len(targets))]


def in_loops(targets: list[int | None]) -> list[bool]:
    """Find the turns from which following the replies leads back to them, in time that grows with their number."""
    in_loop = [False] * len(targets)
    seen_from = [-1] * len(targets)
    for start in range(len(targets)):
        turn: int | None = start
        while turn is not None and seen_from[turn] < 0:
            seen_from[turn] = start
            turn = targets[turn]
        if turn is not None and seen_from[turn] == start:
            while turn is not None and not in_loop[turn]:
                in_loop[turn] = True
                turn = targets[turn]
    return in_loop
