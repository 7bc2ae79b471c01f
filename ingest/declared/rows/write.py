"""Files of rows, written again from the tables."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import Protocol

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, which
from talkhouse.ingest.declared.record_files import write_records, write_rows
from talkhouse.ingest.declared.record_files.content import Envelope, WrittenRecord, WrittenRow
from talkhouse.ingest.declared.rows.columns import columns_of
from talkhouse.ingest.declared.rows.convokit_files import kind_of, member_back, utterance_columns
from talkhouse.ingest.declared.rows.label_files import refused_rows
from talkhouse.ingest.declared.rows.label_rows import label_file_columns
from talkhouse.ingest.declared.rows.row_files import is_csv
from talkhouse.ingest.declared.rows.spool import SCATTERED
from talkhouse.ingest.declared.rows.stored_row import LEVEL, StoredRow
from talkhouse.ingest.declared.rows.turns_back import LabelsBack, RowsBack
from talkhouse.ingest.declared.shapes import KnownShapes
from talkhouse.ingest.decode import literals
from talkhouse.ingest.stored_record import RecordWriter, StoredRecord, Writer, file_by_file

_IN_MEMORY = 16_000_000


def in_order_of_lines(rows: Iterable[StoredRow]) -> Iterator[StoredRow]:
    """Yield rows by their lines, those of one line as they come; memory: 100 bytes for each row."""
    lines, places = array("q"), array("q")
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        end = 0
        for row in rows:
            lines.append(row.line)
            places.append(end)
            raw = msgspec.msgpack.encode(row)
            file.write(len(raw).to_bytes(8) + raw)
            end += 8 + len(raw)
        for number in sorted(range(len(lines)), key=lines.__getitem__):
            file.seek(places[number])
            size = int.from_bytes(file.read(8))
            yield msgspec.msgpack.decode(file.read(size), type=StoredRow)


class _Back(Protocol):
    """Writes the rows of records of one kind of file."""

    def rows(self, stored: StoredRecord, shapes: KnownShapes, *, is_csv: bool) -> Iterator[StoredRow]:
        """Yield the rows of a record."""


def write_rows_format(declaration: Declaration) -> Writer:
    """Return what writes the files of a corpus of rows."""
    return file_by_file(_Files(declaration).write_file)


def write_row_group(declaration: Declaration) -> RecordWriter:
    """Return what writes the rows of one record, as JSON objects one below the other."""
    return _Files(declaration).write_record


class _Files:
    """Writes the files of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self._is_convokit = declaration.format == "convokit"
        columns = utterance_columns(declaration) if self._is_convokit else columns_of(declaration)
        self._turns = RowsBack(declaration, columns)

    def _back(self, path: str) -> _Back:
        """Return what writes the rows of a file: of turns, or of labels."""
        entry = which(self._declaration, path)
        if entry is None or entry.holds == "dialogues":
            return self._turns
        return LabelsBack(self._declaration, label_file_columns(self._declaration, path, entry.path))

    def write_file(self, first: StoredRecord, others: Iterator[StoredRecord]) -> Iterator[bytes]:
        """Write a file from its envelope and its records."""
        envelope, path = literals(first.file.extra), PurePosixPath(first.path)
        if self._has_members(path):
            yield from write_records(envelope, _members(chain([first], others), KnownShapes(envelope)), path)
            return
        rows = self._rows(first, others, envelope)
        yield from write_rows_of(envelope, in_order_of_lines(rows) if SCATTERED in envelope else rows, path)

    def _has_members(self, path: PurePosixPath) -> bool:
        """Whether a file is one of ConvoKit's that has no rows."""
        return self._is_convokit and kind_of(path) != "utterances"

    def _rows(self, first: StoredRecord, others: Iterator[StoredRecord], envelope: Envelope) -> Iterator[StoredRow]:
        back, shapes, has_cells = self._back(first.path), KnownShapes(envelope), is_csv(PurePosixPath(first.path))
        for stored in chain([first], others):
            if stored.raw is not None:
                yield from refused_rows(stored, envelope)
            elif stored.record is not None:
                yield from back.rows(stored, shapes, is_csv=has_cells)

    def write_record(self, stored: StoredRecord) -> bytes:
        """Write the rows of a record alone, one below the other."""
        shapes = KnownShapes(literals(stored.file.extra))
        if self._has_members(PurePosixPath(stored.path)):
            return member_back(stored, shapes)
        rows = self._back(stored.path).rows(stored, shapes, is_csv=is_csv(PurePosixPath(stored.path)))
        return b"\n".join(row.as_object() for row in sorted(rows, key=lambda row: row.line))


def _members(records: Iterable[StoredRecord], shapes: KnownShapes) -> Iterator[WrittenRecord]:
    """Write the members of a file, those in quarantine verbatim."""
    members = (stored for stored in records if stored.record is not None or stored.raw is not None)
    for number, stored in enumerate(members):
        raw = member_back(stored, shapes) if stored.raw is None else stored.raw
        yield WrittenRecord(number, stored.pointer, raw, is_verbatim=stored.raw is not None)


def write_rows_of(envelope: Envelope, rows: Iterable[StoredRow], path: PurePosixPath) -> Iterator[bytes]:
    """Write rows as a file of this path."""
    if is_csv(path):
        return write_rows(envelope, _columns(envelope), map(_written, rows), path)
    records = (WrittenRecord(number, f"/{number}", row.verbatim or row.as_object()) for number, row in enumerate(rows))
    return write_records(envelope, records, path)


def _columns(envelope: Envelope) -> list[str]:
    """Return the columns of a file, which every shape of its rows has; none where it has no rows."""
    shapes = literals(bytes(envelope["shapes"]).decode()) if "shapes" in envelope else {}
    known: dict[str, dict[str, Raw]] = msgspec.json.decode(shapes.get(LEVEL, b"{}"), type=dict[str, dict[str, Raw]])
    return [*next(iter(known.values()), {})]


def _written(row: StoredRow) -> WrittenRow:
    if row.verbatim is not None:
        return WrittenRow((), verbatim=row.verbatim)
    return WrittenRow([msgspec.json.decode(cell, type=str) for cell in row.cells.values()], row.as_written)
