"""Rows of many records, gathered until they are worth a batch."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import astuple

from talkhouse.ingest.outcomes import LoadedBatch, ReaderFinding
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Record, Row, Turn
from talkhouse.ingest.sources import SourceFile


class Gathered:
    """The rows of one file's records on their way."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._begin()

    def _begin(self) -> None:
        self.records: list[Record] = []
        self.dialogues: list[Dialogue] = []
        self.rows: list[Row] = []
        """All other rows."""
        self.findings: list[ReaderFinding] = []
        self.turns: list[Turn] = []
        self._columns: list[ColumnBatch] = []
        self._count = self._size = 0

    def add(self, record: Record, size: int) -> None:
        """Add a record of so many bytes, when its other rows have been added."""
        self.records.append(record)
        self._count += 1
        self._size += size

    def add_columns(self, batches: Iterable[ColumnBatch], size: int) -> None:
        """Add the rows of records of so many bytes in all."""
        for batch in batches:
            self._columns.append(batch)
            self._count += len(batch) if batch.kind is Record else 0
        self._size += size

    def batch(self) -> LoadedBatch | None:
        """Return what was gathered, and begin anew; None where that is nothing."""
        if not self._count:
            return None
        batches = (_columns(Record, self.records), _columns(Dialogue, self.dialogues), _columns(Turn, self.turns))
        column_batches = [batch for batch in batches if batch is not None] + self._columns
        batch = LoadedBatch(self._file, self._count, self._size, self.rows, column_batches, self.findings)
        self._begin()
        return batch


def _columns(kind: type[Row], rows: list[Any]) -> ColumnBatch | None:
    if not rows:
        return None
    shared = {"source_file_id": rows[0].source_file_id} if kind is Record else {}
    columns = dict(zip(kind.__struct_fields__, zip(*map(astuple, rows), strict=True), strict=True))
    return ColumnBatch(kind, shared, {name: column for name, column in columns.items() if name not in shared})
