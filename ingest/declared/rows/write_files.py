"""Files of rows, written again from the tables."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import PurePosixPath

import msgspec

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.record_files.record import Envelope, WrittenRecord, WrittenRow
from talkhouse.ingest.declared.record_files.write import write_records, write_rows
from talkhouse.ingest.declared.rows.opening import is_csv
from talkhouse.ingest.declared.rows.read import SCATTERED
from talkhouse.ingest.declared.rows.sorted_rows import in_order_of_lines
from talkhouse.ingest.declared.rows.write import RowsBack, StoredRow
from talkhouse.ingest.declared.shapes import KnownShapes
from talkhouse.ingest.decode import literals
from talkhouse.ingest.stored_record import StoredRecord


class TurnFiles:
    """Writes files of turns of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        self._back = RowsBack(declaration)

    def write_file(self, first: StoredRecord, others: Iterator[StoredRecord]) -> Iterator[bytes]:
        """Write a file from its envelope and its records."""
        envelope = literals(first.file.extra)
        path = PurePosixPath(first.path)
        shapes, has_cells = KnownShapes(envelope), is_csv(path)
        records = chain([first] if first.record else [], others)
        rows: Iterable[StoredRow] = (
            row for stored in records for row in self._back.rows(stored, shapes, is_csv=has_cells)
        )
        if SCATTERED in envelope:
            rows = in_order_of_lines(rows)
        return write_rows_of(envelope, rows, path)

    def write_record(self, stored: StoredRecord) -> bytes:
        """Write the rows of a record alone, one below the other."""
        envelope = literals(stored.file.extra)
        path = PurePosixPath(stored.path)
        rows = list(self._back.rows(stored, KnownShapes(envelope), is_csv=is_csv(path)))
        rows.sort(key=lambda row: row.line)
        return b"\n".join(map(as_object, rows))


def write_rows_of(envelope: Envelope, rows: Iterable[StoredRow], path: PurePosixPath) -> Iterator[bytes]:
    """Write rows as a file of this path."""
    if is_csv(path):
        return write_rows(envelope, (_written(row) for row in rows), path)
    numbered = enumerate(rows)
    records = (WrittenRecord(number, f"/{number}", as_object(row)) for number, row in numbered)
    return write_records(envelope, records, path)


def _written(row: StoredRow) -> WrittenRow:
    return WrittenRow([msgspec.json.decode(cell, type=str) for cell in row.cells.values()], row.as_written)


def as_object(row: StoredRow) -> bytes:
    """Write a row as a JSON object."""
    members = (msgspec.json.encode(key) + b":" + cell for key, cell in row.cells.items())
    return b"{" + b",".join(members) + b"}"
