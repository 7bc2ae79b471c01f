"""The first difference between two Parquet files: in the schema, or in a value, however rows are grouped."""

import gzip
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
from pyarrow import lib as pa

from talkhouse.ingest.declared.record_files.content import FileContent, is_packed
from talkhouse.ingest.declared.record_files.parquet import Parquet, opened_parquet, parsed, rows_at_a_time
from talkhouse.ingest.declared.record_files.parquet_values import converters, plain
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.sources import SourceFile
from talkhouse.restore.differences import FileDifference

_SHOWN = 60
"""Characters of a value or type that are shown."""


def parquet_difference(file: SourceFile, restored: Path) -> FileDifference | None:
    """Compare a publisher's file with the one that was written back; memory: some rows of each.

    Raises BadRecord where one of them is no Parquet.
    """
    stream: Any = (
        pa.BufferReader(gzip.decompress(restored.read_bytes())) if is_packed(file.path) else restored.open("rb")
    )
    content = FileContent(file)
    rows = rows_at_a_time(content)
    with stream, opened_parquet(content) as before, parsed(stream, file) as after:
        if difference := _of_schemas(before.schema, after.schema):
            return difference
        start = 0
        for one, other in zip_longest(_tables(before, rows), _tables(after, rows)):
            counts = [0 if table is None else table.num_rows for table in (one, other)]
            if counts[0] != counts[1]:
                expected, found = (f"{start + count:,} or more" for count in counts)
                return FileDifference("another number of rows", "", expected=expected, found=found)
            if difference := _of_tables(one, other, start):
                return difference
            start += one.num_rows
    return None


def _of_schemas(one: pa.Schema, other: pa.Schema) -> FileDifference | None:
    if one.equals(other, check_metadata=True):
        return None
    for field, its in zip_longest(one, other):
        if field is None or its is None or not field.equals(its, check_metadata=True):
            shown = [str(part)[:_SHOWN] if part is not None else "no column" for part in (field, its)]
            name = (its if field is None else field).name
            return FileDifference("another column", pointer(name), expected=shown[0], found=shown[1])
    return FileDifference("other notes in the schema", "", expected=_notes(one), found=_notes(other))


def _notes(schema: pa.Schema) -> str:
    return ", ".join(sorted(key.decode(errors="replace") for key in schema.metadata or {})) or "none"


def _tables(parquet: Parquet, rows: int) -> Iterator[pa.Table]:
    """Read so many rows at a time, however they are grouped."""
    rest: list[pa.RecordBatch] = []
    for batch in parquet.batches(rows):
        rest.append(batch)
        while sum(part.num_rows for part in rest) >= rows:
            table = pa.Table.from_batches(rest)
            yield table.slice(0, rows)
            rest = table.slice(rows).to_batches()
    if rest:
        yield pa.Table.from_batches(rest)


def _of_tables(one: pa.Table, other: pa.Table, start: int) -> FileDifference | None:
    """Compare rows, column by column; ``start`` is the number of the first."""
    for field in one.schema:
        pair = [table.column(field.name).cast(plain(field.type)) for table in (one, other)]
        # Arrow takes 0.0 for -0.0, and NaN for another value than NaN.
        if not _may_hold_floats(field.type) and pair[0].equals(pair[1]):
            continue
        to, _ = converters(field.type)
        texts = [[msgspec.json.encode(to(value)) for value in column.to_pylist()] for column in pair]
        for row, (text, its) in enumerate(zip(*texts, strict=True)):
            if text != its:
                shown = [part.decode(errors="replace")[:_SHOWN] for part in (text, its)]
                return FileDifference(
                    "another value", pointer(start + row, field.name), expected=shown[0], found=shown[1]
                )
    return None


def _may_hold_floats(kind: pa.DataType) -> bool:
    return any(name in str(kind) for name in ("float", "double"))
