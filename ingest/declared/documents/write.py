"""Writes files whose records hold a dialogue each, from the tables alone."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import PurePosixPath

import msgspec

from talkhouse.ingest.declared.documents.record_fields import write_field
from talkhouse.ingest.declared.documents.talk import DocumentFormat
from talkhouse.ingest.declared.record_files import write_records
from talkhouse.ingest.declared.record_files.content import WrittenRecord
from talkhouse.ingest.declared.shapes import KnownShapes, join
from talkhouse.ingest.decode import literals
from talkhouse.ingest.stored_record import RecordWriter, StoredRecord, Writer, file_by_file


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
    """Return the JSON text of a record."""
    extra = literals(stored.loaded.extra)

    def fill(hole: str) -> bytes:
        own = write_field(hole, stored)
        return own if own is not None else document_format.write(hole, stored, shapes)

    return join(shapes.of("record", extra), extra, fill)
