"""Records that are kept whole in ``extra``, of files other than those of dialogues: their reader and writer."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import TypeAlias

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, Files, RecordForm
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.record_files import open_records, write_records
from talkhouse.ingest.declared.record_files.content import BadRawRecord, RawRecord, WrittenRecord
from talkhouse.ingest.declared.shapes import KnownShapes, Shapes, SplitObject, join, kind_of, members_of
from talkhouse.ingest.decode import BadRecord, dump, literals
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding, SourceLocation, reject
from talkhouse.ingest.rows import Record, Row
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import RecordWriter, StoredRecord

_LEVEL = "member"
"""Of the shapes of these records."""

Others: TypeAlias = Callable[[RawRecord, Record, list[ReaderFinding]], Iterable[Row]]
"""Returns the other rows of a record, adds what it finds, and may fill in the record's own; raises BadRecord."""


@dataclass
class WholeRecords:
    """Reads files whose records are objects."""

    declaration: Declaration
    identity: Identity

    def read(self, file: SourceFile, entry: Files, form: RecordForm, others: Others) -> Iterator[Outcome]:
        """Read one file; what is wrong with it as a whole refuses it."""
        path, shapes, count = self.identity.file(file), Shapes(), 0
        try:
            records = open_records(file, self.declaration, form)
            for raw in records:
                count += 1
                location = SourceLocation(
                    file,
                    raw.pointer,
                    entry.subset,
                    entry.release,
                    record_index=raw.record_index,
                    native_id=None if isinstance(raw, BadRawRecord) else raw.key,
                    size=len(raw.raw),
                )
                yield self._record(path, location, raw, shapes, others)
        except BadRecord as bad:
            yield reject(SourceLocation(file, size=file.size), bad, file.read())
            return
        yield FileEnvelope(file, records.envelope | shapes.envelope(), count)

    def _record(
        self, path: str, location: SourceLocation, raw: RawRecord | BadRawRecord, shapes: Shapes, others: Others
    ) -> Outcome:
        if isinstance(raw, BadRawRecord):
            return reject(location, raw.problem, raw.raw)
        if raw.raw[:1] != b"{":
            bad = BadRecord("GF-01", f"{kind_of(Raw(raw.raw))}, not an object")
            return reject(location, bad, raw.quarantined)
        record = location.record(self.identity.record_id(path, raw.record_index))
        findings: list[ReaderFinding] = []
        try:
            rows = [*others(raw, record, findings), record]
        except BadRecord as bad:
            return reject(location, bad, raw.quarantined)
        extra: dict[str, Raw] = {}
        number = shapes.number(_LEVEL, SplitObject(members_of(raw.raw), {}).shape({}, extra))
        own = ({"shape": number} if number else {}) | ({"cells": raw.cells} if raw.cells else {})
        record.extra = dump(own | extra)
        return Loaded(location, rows, findings)


def record_back(stored: StoredRecord) -> bytes:
    """Write a record as JSON."""
    return _json(stored, KnownShapes(literals(stored.file.extra)))


def _json(stored: StoredRecord, shapes: KnownShapes) -> bytes:
    extra = literals(stored.loaded.extra)
    return join(shapes.shape(_LEVEL, extra), extra, lambda _: b"")


def file_back(first: StoredRecord, others: Iterable[StoredRecord]) -> Iterator[bytes]:
    """Write a file of such records, as ``write_stored`` does."""
    return write_stored(first, others, partial(_json, shapes=KnownShapes(literals(first.file.extra))))


def write_stored(first: StoredRecord, others: Iterable[StoredRecord], write: RecordWriter) -> Iterator[bytes]:
    """Write a file from its envelope or first record, and the others; those in quarantine verbatim."""
    there = (stored for stored in chain([first], others) if stored.record is not None or stored.raw is not None)
    records = (_written(stored, write) for stored in there)
    return write_records(literals(first.file.extra), records, PurePosixPath(first.path))


def _written(stored: StoredRecord, write: RecordWriter) -> WrittenRecord:
    if stored.raw is not None:
        return WrittenRecord(stored.pointer, stored.raw, is_verbatim=True)
    cells = literals(stored.loaded.extra).get("cells")
    as_written = None if cells is None else msgspec.json.decode(cells, type=dict[str, str])
    return WrittenRecord(stored.pointer, write(stored), as_written)
