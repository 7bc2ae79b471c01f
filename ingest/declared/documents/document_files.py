"""Reads and writes files whose records hold a dialogue each, whatever the format."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import PurePosixPath
from typing import TypeAlias

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import ALL, ISO, ISO_OFFSET, ISO_UTC, Declaration, Files, Splits
from talkhouse.ingest.declared.documents.dialogue_rows import DialogueRows, ReadRecord, dialogues_of
from talkhouse.ingest.declared.documents.labels import labels_of
from talkhouse.ingest.declared.documents.parsed_record import (
    DocumentFormat,
    RecordFieldsReader,
    paths_of,
    take_label,
    write_field,
)
from talkhouse.ingest.declared.documents.typed import Seen, Typed, TypedRecords, placeholders_of_keys, typed_dialogues
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.offsets import (
    SAID_AT,
    STARTED_AT,
    Offset,
    Offsets,
    offsets_of_names,
    paths_of_times,
    with_form,
)
from talkhouse.ingest.declared.record_files import open_records, write_records
from talkhouse.ingest.declared.record_files.content import BadRawRecord, RawRecord, RecordFile, WrittenRecord
from talkhouse.ingest.declared.shapes import KnownShapes, Shapes, SplitObject, join, kind_of, members_of, merged, wanted
from talkhouse.ingest.declared.times import EPOCH, NO_OFFSET, BadTimes
from talkhouse.ingest.decode import BadRecord, check, literals
from talkhouse.ingest.outcomes import FileEnvelope, Outcome, ReaderFinding, Rejected, SourceLocation, reject
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import RecordWriter, StoredRecord, Writer, file_by_file

DeclaredFile: TypeAlias = tuple[SourceFile, Files]
"""A file, and the ``[[files]]`` that it belongs to."""

CAREFULLY = "TALKHOUSE_READ_CAREFULLY"
"""A variable of the environment: set, every record is read one by one, to the same rows."""

_BLOCK = 4_000_000
"""Bytes of records that are decoded and handed on together."""


def read_documents(
    declaration: Declaration, format_of: Callable[[Declaration], DocumentFormat], files: Iterable[DeclaredFile]
) -> Iterator[Outcome]:
    """Read files in their order; ``format_of`` makes the format of a declaration."""
    reader = _DocumentReader(declaration, format_of)
    for file, entry in files:
        yield from reader.file(file, entry)


class _RecordReader:
    """Reads records by one declaration."""

    def __init__(self, declaration: Declaration, document_format: DocumentFormat) -> None:
        self._format = document_format
        self._want = merged(document_format.wanted, wanted(paths_of(declaration)))
        self._fields = RecordFieldsReader(declaration)
        self.labels = labels_of(declaration)
        columns = None if os.environ.get(CAREFULLY) else document_format.columns
        placeholders = placeholders_of_keys(declaration)
        self._typed = (
            None
            if columns is None or placeholders is None
            else TypedRecords(declaration, placeholders, columns, self._see)
        )

    def decoded(self, blocks: Iterable[list[RawRecord]]) -> Iterator[tuple[list[RawRecord], list[Typed]]]:
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

    def _see(self, raw: RawRecord) -> Seen | None:
        try:
            check(raw.raw)
            read = self._read(raw)
        except BadRecord:
            return None
        if read.findings or read.dialogue.candidates or read.dialogue.extra:
            return None
        return read.split.shape(read.taken, {}), read.dialogue.turns

    def read_of(self, block: Sequence[RawRecord], reads: Mapping[int, ReadRecord], n: int) -> ReadRecord:
        return reads.get(n) or self._read(block[n])

    def checked(self, raw: RawRecord | BadRawRecord, location: SourceLocation) -> ReadRecord | Rejected:
        """Read one record; return it where it can't be loaded."""
        try:
            if isinstance(raw, BadRawRecord):
                raise raw.problem
            return self._read(raw)
        except BadRecord as problem:
            verbatim = raw.raw if isinstance(raw, BadRawRecord) else raw.quarantined
            place = replace(location, pointer=raw.pointer, record_index=raw.record_index, size=len(raw.raw))
            return reject(place, problem, verbatim)

    def _read(self, raw: RawRecord) -> ReadRecord:
        if raw.raw[:1] != b"{":
            raise BadRecord("GF-01", f"the record is {kind_of(Raw(raw.raw))}, not an object")
        split = SplitObject(members_of(raw.raw), self._want)
        taken: dict[str, str | None] = {}
        findings: list[ReaderFinding] = []
        fields = self._fields.read(split, taken, findings)
        if fields.native_id is None:
            fields.native_id = raw.key
        dialogue = self._format.read(split)
        labels = [label for labels in self.labels for label in labels.read(split.members, dialogue, findings)]
        for spec in self.labels:
            take_label(spec.spec, split, taken)
        taken |= dialogue.taken
        findings += dialogue.findings
        if not dialogue.turns:
            findings.append(ReaderFinding("GF-02", "the record has no turns"))
        return ReadRecord(split, fields, dialogue, taken, labels, findings)

    def offsets(self, raw: RawRecord) -> Iterator[tuple[str, Offset]]:
        """Yield the offsets of a record's times, where it can be read, by a declaration of the form ISO_OFFSET."""
        try:
            check(raw.raw)
            read = self._read(raw)
        except BadRecord:
            return
        said = ((SAID_AT, turn.said_at) for turn in read.dialogue.turns)
        for key, since in ((STARTED_AT, read.fields.started_at), *said):
            if since is not None:
                yield key, None if since == NO_OFFSET else since - EPOCH


class _DocumentReader:
    def __init__(self, declaration: Declaration, format_of: Callable[[Declaration], DocumentFormat]) -> None:
        self._declaration = declaration
        self._reader_of = cache(lambda form: _reader_of(declaration, format_of, form))
        self._times = paths_of_times(declaration)
        self._identity = Identity(declaration.corpus_id)
        self._rows = DialogueRows(declaration, self._identity, Splits(declaration))

    def file(self, file: SourceFile, entry: Files) -> Iterator[Outcome]:
        """Read one file; what is wrong with it as a whole refuses it."""
        location = SourceLocation(file, subset=entry.subset, release=entry.release, split=entry.split or ALL)
        path, count = self._identity.file(file), 0
        self._rows.shapes, self._rows.bad_times = Shapes(), BadTimes()
        try:
            records = open_records(file, self._declaration)
            offsets = self._offsets(records, file)
            self._rows.shapes.is_utc = offsets.is_utc
            reader = self._reader_of(ISO_UTC if offsets.is_utc else ISO)
            for block, typed in reader.decoded(_blocks(records.texts())):
                some = [typed_dialogues(one, block, reader.labels) for one in typed]
                decoded = {n for one in some for n in one.of_records}
                reads: dict[int, ReadRecord] = {}
                for n, raw in enumerate(block):
                    if n not in decoded:
                        read = reader.checked(records.check(raw), location)
                        if isinstance(read, Rejected):
                            yield read
                        else:
                            reads[n] = read
                some.append(dialogues_of(reads))
                read_again = partial(reader.read_of, block, reads)
                if batch := self._rows.batch(block, location, path, some, read_again):
                    yield batch
                count += len(block)
        except BadRecord as problem:
            yield reject(location, problem, file.read())
            return
        yield from (replace(finding, file=file) for finding in (*offsets.findings(), *self._rows.bad_times.rest()))
        yield FileEnvelope(file, records.envelope | self._rows.shapes.envelope(), count)

    def _offsets(self, records: RecordFile, file: SourceFile) -> Offsets:
        """Look how times are written, and only where a glance finds several offsets, at each of them."""
        offsets = Offsets()
        near = offsets_of_names(records, self._times.values()) if self._times else set[Offset]()
        if len(near) > 1:
            reader = self._reader_of(ISO_OFFSET)
            for raw in open_records(file, self._declaration).texts():
                for key, offset in reader.offsets(raw):
                    offsets.add(key, offset)
                if offsets.mixed or (offsets.are_several and None not in near):
                    break
        return offsets


def _reader_of(
    declaration: Declaration, format_of: Callable[[Declaration], DocumentFormat], form: str
) -> _RecordReader:
    declaration = declaration if form == ISO else with_form(declaration, form)
    return _RecordReader(declaration, format_of(declaration))


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


def documents_writer(document_format: DocumentFormat) -> Writer:
    """Make the writer of a corpus's files."""

    def write_file(first: StoredRecord, rest: Iterator[StoredRecord]) -> Iterable[bytes]:
        has_envelope = first.record is None and first.raw is None
        envelope = literals(first.file.extra)
        shapes = KnownShapes(envelope)
        records = rest if has_envelope else chain([first], rest)
        return write_records(
            envelope,
            (_written(number, stored, document_format, shapes) for number, stored in enumerate(records)),
            PurePosixPath(first.path),
        )

    return file_by_file(write_file)


def document_writer(document_format: DocumentFormat) -> RecordWriter:
    """Make the writer of a single record."""

    def write_record(stored: StoredRecord) -> bytes:
        return _json(stored, document_format, KnownShapes(literals(stored.file.extra)))

    return write_record


def _written(number: int, stored: StoredRecord, document_format: DocumentFormat, shapes: KnownShapes) -> WrittenRecord:
    if stored.raw is not None:
        return WrittenRecord(number, stored.pointer, stored.raw, is_verbatim=True)
    cells = literals(stored.loaded.extra).get("cells")
    return WrittenRecord(
        stored.loaded.record_index,
        stored.pointer,
        _json(stored, document_format, shapes),
        None if cells is None else msgspec.json.decode(cells, type=Mapping[str, str]),
    )


def _json(stored: StoredRecord, document_format: DocumentFormat, shapes: KnownShapes) -> bytes:
    extra = literals(stored.loaded.extra)

    def fill(placeholder: str) -> bytes:
        own = write_field(placeholder, stored, shapes)
        return own if own is not None else document_format.write(placeholder, stored, shapes)

    return join(shapes.shape("record", extra), extra, fill)
