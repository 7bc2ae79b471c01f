"""Files of records for tests: read one, and write it back from what was read."""

import dataclasses
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, Dialect, RecordForm
from talkhouse.ingest.declared.record_files import open_records, write_records, write_rows
from talkhouse.ingest.declared.record_files.content import (
    BadRawRecord,
    FileContent,
    RawRecord,
    RecordFile,
    RowTable,
    WrittenRecord,
    WrittenRow,
)
from talkhouse.ingest.declared.record_files.csv_files import CsvRows
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.ingest.sources import SourceFile, opened

DECLARED = Declaration("toy", "", "toy/corpus.toml", "Toys", "chat", ())
ORDINARY = Dialect()


def parquet(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


@contextmanager
def source(name: str, raw: bytes, limits: Limits = DEFAULT) -> Iterator[SourceFile]:
    with TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(raw)
        with opened(disk_files(Path(folder), "toy", limits)) as ([file], _):
            yield file


def records_of(
    name: str, raw: bytes, record: RecordForm = "item", limits: Limits = DEFAULT, dialect: Dialect = ORDINARY
) -> tuple[RecordFile, list[RawRecord | BadRawRecord]]:
    with source(name, raw, limits) as file:
        record_file = open_records(file, dataclasses.replace(DECLARED, dialect=dialect), record)
        return record_file, list(record_file)


def stored(envelope: object) -> dict[str, Raw]:
    """Return an envelope as a writer gets it."""
    return msgspec.json.decode(msgspec.json.encode(envelope), type=dict[str, Raw])


def written(record: RawRecord | BadRawRecord) -> WrittenRecord:
    if isinstance(record, BadRawRecord):
        return WrittenRecord(record.pointer, record.raw, is_verbatim=True)
    return WrittenRecord(record.pointer, record.raw, record.cells)


def back(name: str, raw: bytes, record: RecordForm = "item", dialect: Dialect = ORDINARY) -> bytes:
    """Read bytes as a file of this name, and write it back."""
    record_file, records = records_of(name, raw, record, dialect=dialect)
    return b"".join(write_records(stored(record_file.envelope), map(written, records), PurePosixPath(name)))


def rows_of(
    name: str, raw: bytes, dialect: Dialect = ORDINARY, limits: Limits = DEFAULT
) -> tuple[CsvRows, list[RowTable]]:
    with source(name, raw, limits) as file:
        row_file = CsvRows(FileContent(file), dialect)
        return row_file, list(row_file.tables())


def rows_back(name: str, raw: bytes, dialect: Dialect = ORDINARY) -> bytes:
    """Read bytes as a file of rows of this name, and write it back."""
    row_file, tables = rows_of(name, raw, dialect)
    rows = (
        WrittenRow(row, table.as_written.get(position, {}))
        for table in tables
        for position, row in enumerate(table.cells.rows())
    )
    return b"".join(write_rows(stored(row_file.envelope), row_file.columns, rows, PurePosixPath(name)))
