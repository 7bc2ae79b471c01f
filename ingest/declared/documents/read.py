"""Reads files whose records hold a dialogue each, whatever the format."""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, Files
from talkhouse.ingest.declared.documents.dialogue_rows import DialogueRows, words_of
from talkhouse.ingest.declared.documents.gathered import Gathered
from talkhouse.ingest.declared.documents.labels import Given, labels_of
from talkhouse.ingest.declared.documents.record_fields import (
    RecordFields,
    RecordFieldsReader,
    given_back_by_records,
    paths_of,
    take_label,
)
from talkhouse.ingest.declared.documents.talk import DocumentFormat, Talk
from talkhouse.ingest.declared.documents.typed import Seen, Typed, TypedRecords, holes_in_columns
from talkhouse.ingest.declared.documents.typed_rows import TypedRows
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.record_files.by_ending import open_records
from talkhouse.ingest.declared.record_files.record import BadRawRecord, RawRecord
from talkhouse.ingest.declared.shapes import Shapes, Split, members_of, merged, wanted
from talkhouse.ingest.declared.splits import ALL, Splits
from talkhouse.ingest.declared.values import kind_of
from talkhouse.ingest.decode import BadRecord, check, dump
from talkhouse.ingest.outcomes import FileEnvelope, Outcome, ReaderFinding, Rejected, SourceLocation, reject
from talkhouse.ingest.rows import Record
from talkhouse.ingest.sources import SourceFile

DeclaredFile: TypeAlias = tuple[SourceFile, Files]
"""A file, and the ``[[files]]`` that it belongs to."""

CAREFULLY = "TALKHOUSE_READ_CAREFULLY"
"""A variable of the environment: set, every record is read one by one, to the same rows."""

_BLOCK = 4_000_000
"""Bytes of records that are decoded and handed on together."""


def read_documents(
    declaration: Declaration, document_format: DocumentFormat, files: Iterable[DeclaredFile]
) -> Iterator[Outcome]:
    """Read files in their order."""
    reader = _Reader(declaration, document_format)
    for file, entry in files:
        yield from reader.file(file, entry)


class _Place(NamedTuple):
    """The file that is read."""

    location: SourceLocation
    path: str
    """What the keys of its records begin with, behind the corpus."""


class _Read(NamedTuple):
    """What one record was read as, when nothing can be wrong any more."""

    split: Split
    fields: RecordFields
    talk: Talk
    taken: dict[str, str | None]
    labels: list[Given]
    findings: list[ReaderFinding]


class _Reader:
    """Reads the records of one corpus; keeps its keys, shapes and speakers."""

    def __init__(self, declaration: Declaration, document_format: DocumentFormat) -> None:
        self._declaration = declaration
        self._format = document_format
        self._want = merged(document_format.wanted, wanted(paths_of(declaration)))
        self._fields = RecordFieldsReader(declaration)
        self._labels = labels_of(declaration)
        self._splits = Splits(declaration)
        self._identity = Identity(declaration.corpus_id)
        self._rows = DialogueRows(declaration)
        columns = None if os.environ.get(CAREFULLY) else document_format.columns
        holes = holes_in_columns(declaration)
        self._typed = None if columns is None or holes is None else TypedRecords(declaration, holes, columns, self._see)

    def file(self, file: SourceFile, entry: Files) -> Iterator[Outcome]:
        """Read one file; what is wrong with it as a whole refuses it."""
        location = SourceLocation(file, subset=entry.subset, release=entry.release, split=entry.split or ALL)
        place = _Place(location, self._identity.file(file))
        gathered, count = Gathered(file), 0
        self._rows.shapes = Shapes()
        try:
            records = open_records(file, self._declaration)
            for block, typed in self._decoded(_blocks(records.texts())):
                forms = [TypedRows(one, self._declaration, self._rows, self._labels) for one in typed]
                for number, raw in enumerate(block):
                    if self._take_typed(number, raw, forms, place, gathered):
                        continue
                    if (rejected := self._record(records.check(raw), place, gathered)) is not None:
                        yield rejected
                for form in forms:
                    form.add_turns(gathered)
                if batch := gathered.batch():
                    yield batch
                count += len(block)
        except BadRecord as problem:
            yield reject(location, problem, file.read())
            return
        yield FileEnvelope(file, records.envelope | self._rows.shapes.envelope(), count)

    def _decoded(self, blocks: Iterable[list[RawRecord]]) -> Iterator[tuple[list[RawRecord], list[Typed]]]:
        """Decode blocks in a thread of its own, one ahead: DuckDB works without Python's lock."""
        if self._typed is None:
            yield from ((block, []) for block in blocks)
            return
        with ThreadPoolExecutor(max_workers=1) as thread:
            ahead = deque[tuple[list[RawRecord], Future[list[Typed]]]]()
            for block in blocks:
                ahead.append((block, thread.submit(self._typed.decode, block)))
                if len(ahead) > 1:
                    done, typed = ahead.popleft()
                    yield done, typed.result()
            yield from ((done, typed.result()) for done, typed in ahead)

    def _take_typed(
        self, number: int, raw: RawRecord, forms: Iterable[TypedRows], place: _Place, gathered: Gathered
    ) -> bool:
        """Gather the rows of a record that was decoded with others; False where it is to be read by itself."""
        for form in forms:
            record = form.read(number, raw)
            if record is None:
                continue
            if record.fields.native_id is None:
                dialogue_id = self._identity.dialogue_without_id(place.path, raw.record_index)
            elif self._identity.is_taken(record.fields.native_id):
                return False
            else:
                key = self._identity.dialogue(record.fields.native_id, form.words(record), form.rest(record))
                dialogue_id = key.dialogue_id
            row = self._record_row(raw, place, dialogue_id, record.fields, form.layout.shape, record.extra)
            gathered.dialogues.append(self._rows.dialogue(dialogue_id, record.fields))
            form.take(record, dialogue_id, gathered)
            gathered.rows += [given.row(row) for given in record.labels]
            gathered.add(row, len(raw.raw))
            return True
        return False

    def _see(self, raw: RawRecord) -> Seen | None:
        """Read a record for a look at how it is written."""
        try:
            check(raw.raw)
            read = self._read(raw)
        except BadRecord:
            return None
        if read.findings or read.talk.offered or read.talk.extra:
            return None
        return Seen(read.split.shape(read.taken, {}), read.talk.said)

    def _record(self, raw: RawRecord | BadRawRecord, place: _Place, gathered: Gathered) -> Rejected | None:
        """Gather the rows of one record; return it where it can't be loaded."""
        try:
            if isinstance(raw, BadRawRecord):
                raise raw.problem
            self._gather(raw, self._read(raw), place, gathered)
        except BadRecord as problem:
            verbatim = raw.raw if isinstance(raw, BadRawRecord) else raw.quarantined
            return reject(_location(raw, place, None), problem, verbatim)
        return None

    def _read(self, raw: RawRecord) -> _Read:
        """Read one record; raises BadRecord."""
        if raw.raw[:1] != b"{":
            raise BadRecord("GF-01", f"the record is {kind_of(Raw(raw.raw))}, not an object")
        split = Split(members_of(raw.raw), self._want)
        taken: dict[str, str | None] = {}
        findings: list[ReaderFinding] = []
        fields = self._fields.read(split, taken, findings)
        if fields.native_id is None:
            fields.native_id = raw.key
        talk = self._format.read(split)
        labels = [given for labels in self._labels for given in labels.given(split.members, talk, findings)]
        for spec in self._labels:
            take_label(spec.spec, split, taken)
        taken |= talk.taken
        findings += talk.findings
        if not talk.said:
            findings.append(ReaderFinding("GF-02", "the record has no turns"))
        return _Read(split, fields, talk, taken, labels, findings)

    def _gather(self, raw: RawRecord, read: _Read, place: _Place, gathered: Gathered) -> None:
        """Gather the rows of a record."""
        fields, talk = read.fields, read.talk
        is_new = is_same = True
        if fields.native_id is None:
            dialogue_id = self._identity.dialogue_without_id(place.path, raw.record_index)
        else:
            columns = ([getattr(turn, name) for turn in talk.said] for name in ("role", "speaker", "text"))
            key = self._identity.dialogue(fields.native_id, words_of(*columns), self._rows.rest(fields, talk.said))
            dialogue_id, is_new, is_same = key.dialogue_id, key.is_new, key.is_same
            if key.is_taken:
                read.findings.append(ReaderFinding("GF-04", f"the id {fields.native_id!r:.100} has other words too"))
        extra = talk.extra if is_same else {}
        taken = read.taken if is_same else given_back_by_records(read.taken)
        shape = read.split.shape(taken, extra)
        record = self._record_row(raw, place, dialogue_id, fields, shape, extra)
        if is_new:
            self._rows.add(dialogue_id, fields, talk.said, gathered)
        gathered.rows += [given.row(record) for given in read.labels]
        if talk.offered:
            self._rows.candidates(record, talk, gathered)
        if read.findings:
            location = _location(raw, place, fields.native_id)
            gathered.findings += [location.finding(one, record.record_id) for one in read.findings]
        gathered.add(record, len(raw.raw))

    def _record_row(
        self,
        raw: RawRecord,
        place: _Place,
        dialogue_id: str,
        fields: RecordFields,
        shape: Mapping[str, Any],
        extra: dict[str, Raw],
    ) -> Record:
        of_file = place.location
        number = self._rows.shapes.number("record", shape)
        if number or raw.cells:
            own = ({"shape": number} if number else {}) | ({"cells": raw.cells} if raw.cells else {})
            extra = {name: Raw(msgspec.json.encode(value)) for name, value in own.items()} | extra
        split = of_file.split if fields.split is None else fields.split
        return Record(
            record_id=self._identity.record_id(place.path, raw.record_index),
            corpus_id=self._declaration.corpus_id,
            dialogue_id=dialogue_id,
            native_id=fields.native_id,
            main_speaker_id=None,
            subset=of_file.subset,
            release=of_file.release,
            split=split,
            standard_split=self._splits[split] if split is not None else None,
            record_index=raw.record_index,
            source_file_id=of_file.file.id,
            source_pointer=raw.pointer,
            extra=dump(extra),
        )


def _blocks(texts: Iterable[RawRecord]) -> Iterator[list[RawRecord]]:
    block, size = list[RawRecord](), 0
    for raw in texts:
        block.append(raw)
        size += len(raw.raw)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _location(raw: RawRecord | BadRawRecord, place: _Place, native_id: str | None) -> SourceLocation:
    return replace(
        place.location, pointer=raw.pointer, record_index=raw.record_index, native_id=native_id, size=len(raw.raw)
    )
