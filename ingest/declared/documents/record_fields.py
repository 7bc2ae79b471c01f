"""What a record says of its dialogue, by ``[dialogue]``: read from the record, and written from the tables."""

from collections.abc import Mapping
from datetime import datetime

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest.declared.declaration.model import ISO, UNIX, Annotations, Declaration, JsonPath
from talkhouse.ingest.declared.shapes import LITERAL, Split, is_null, text_of, write_text
from talkhouse.ingest.declared.times import read_time, write_time
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.stored_record import StoredRecord

_TEXTS = {"native_id": "id", "title": "title", "domain": "domain", "language": "language", "split": "split"}
"""Hole, named like the column -> field of ``[dialogue]``."""

_STARTED = "started_at"
_OF_RECORDS = frozenset({"native_id", "split"})
_NO_ID = (b"n", b"[", b"{")
"""What a text begins with that is no id: null, a list, an object."""
_LABEL = "label:"
"""Before the scheme's name: a hole that a label of the record fills."""


class RecordFields(Struct, gc=False):
    """What one record says of its dialogue."""

    native_id: str | None = None
    title: str | None = None
    domain: str | None = None
    language: str | None = None
    split: str | None = None
    started_at: datetime | None = None


def paths_of(declaration: Declaration) -> dict[str, JsonPath | None]:
    """Return the holes of a record that all formats have, with their paths."""
    paths = {hole: getattr(declaration.dialogue, field) for hole, field in _TEXTS.items()}
    paths[_STARTED] = declaration.dialogue.started_at
    return paths | {label_hole(spec): spec.label for spec in declaration.annotations if is_whole_member(spec)}


def label_hole(spec: Annotations) -> str:
    """Return the name of the hole that a label of the record fills."""
    return _LABEL + spec.scheme


def is_whole_member(spec: Annotations) -> bool:
    """Whether a label is a member of the record that the annotation gives back."""
    is_plain = spec.on != "turn" and not (spec.by or spec.each or spec.from_file or spec.columns)
    return is_plain and spec.label is not None and None not in spec.label


class RecordFieldsReader:
    """Reads these fields of records of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        self._paths = [
            (hole, path, pointer(*path)) for hole, path in paths_of(declaration).items() if path and hole in _TEXTS
        ]
        self._may_lack_id = declaration.dialogue.may_lack_id
        self._started = declaration.dialogue.started_at
        self._form = declaration.times.get(_STARTED, ISO)
        self._language = declaration.languages[0] if len(declaration.languages) == 1 else None

    def read(self, record: Split, taken: dict[str, str | None], findings: list[ReaderFinding]) -> RecordFields:
        """Read them, and add to ``taken`` which of them columns give back; BadRecord GF-01 for one of another type."""
        fields = RecordFields(language=self._language)
        for hole, path, at in self._paths:
            raw = record.find(path)
            if hole == "native_id" and self._may_lack_id and (raw is None or bytes(raw)[:1] in _NO_ID):
                continue
            if raw is not None and (hole == "native_id" or not is_null(raw)):
                text, suffix = text_of(raw, at, f"the {'id' if hole == 'native_id' else hole}")
                setattr(fields, hole, text)
                taken[hole] = hole + suffix
            elif raw is not None:
                taken[hole] = None
            elif hole == "native_id":
                raise BadRecord("GF-01", f"the id, {'.'.join(map(str, path))}, is missing", _above(record, path))
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
        text, suffix = text_of(raw, at, "the time")
        fields.started_at, how = read_time(text, self._form, is_number=suffix == LITERAL)
        if how is not None:
            taken[_STARTED] = f"{_STARTED}@{how}"
        elif fields.started_at is None:
            findings.append(ReaderFinding("GF-09", f"{text!r:.100} is no time of the form {self._form}", pointer=at))


def _above(record: Split, path: JsonPath) -> str:
    """Return the pointer of the object in which the last name of a path is missing."""
    depth = next((depth for depth in range(len(path)) if record.find(path[: depth + 1]) is None), 0)
    return pointer(*path[:depth])


def write_field(hole: str, stored: StoredRecord) -> bytes | None:
    """Return the JSON text of a hole that all formats have; None for another."""
    name, at, how = hole.partition("@")
    if at and name == _STARTED and stored.dialogue and stored.dialogue.started_at is not None:
        text = write_time(stored.dialogue.started_at, how)
        return text.encode() if how in UNIX else msgspec.json.encode(text)
    column = hole.removesuffix(LITERAL)
    if column in _TEXTS:
        owner = stored.record if column in _OF_RECORDS else stored.dialogue
        return write_text(hole, getattr(owner, column))
    if column.startswith(_LABEL):
        scheme = f"{stored.loaded.corpus_id}.{column.removeprefix(_LABEL)}"
        return write_text(hole, next(row.label or "" for row in stored.annotations if row.scheme == scheme))
    return None


def take_label(spec: Annotations, record: Split, taken: dict[str, str | None]) -> None:
    """Note that a label of the record gives its member back: a text or a literal that is a label."""
    raw = record.find(spec.label)
    if raw is None or not is_whole_member(spec):
        return
    if bytes(raw)[:1] not in (b"{", b"[", b"n"):
        text, suffix = text_of(raw, "", "the label")
        if text not in spec.missing_values:
            taken[label_hole(spec)] = label_hole(spec) + suffix


def given_back_by_records(taken: Mapping[str, str | None]) -> dict[str, str | None]:
    """Leave of what columns take only what a record's own rows hold, not its dialogue's."""
    return {hole: name for hole, name in taken.items() if hole in _OF_RECORDS or hole.startswith(_LABEL)}
