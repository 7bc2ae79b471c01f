"""Parquet: each row is a JSON object, its columns in the order of the schema."""

import io
import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any

import msgspec
from msgspec import Raw
from pyarrow import lib as pa
from pyarrow import types  # type: ignore[attr-defined]
from pyarrow.ipc import read_schema  # type: ignore[attr-defined]
from pyarrow.parquet import ParquetWriter

from talkhouse.ingest.declared.record_files.content import Content, check_amount
from talkhouse.ingest.declared.record_files.parquet_batches import opened_parquet, rows_at_a_time
from talkhouse.ingest.declared.record_files.parquet_values import converters, plain
from talkhouse.ingest.declared.record_files.record import BadRawRecord, RawRecord, WrittenRecord
from talkhouse.ingest.decode import BadRecord, check

_WRITTEN = 10_000
"""Rows that are written at a time."""


class ParquetRecords:
    """A Parquet file on its way in; a ``RecordFile``. Memory: some rows, and of a packed file its content.

    It is read twice: one that is damaged is refused before a record of it is loaded.
    """

    def __init__(self, content: Content) -> None:
        self._content = content
        self._schema: pa.Schema | None = None

    @property
    def envelope(self) -> dict[str, Any]:
        """The schema, as Arrow writes one, in base64."""
        if self._schema is None:
            return {}
        return {"layout": {"schema": b64encode(self._schema.serialize()).decode()}}

    def __iter__(self) -> Iterator[RawRecord | BadRawRecord]:
        """Yield the rows, each checked."""
        return map(self.check, self.texts())

    def check(self, record: RawRecord) -> RawRecord | BadRawRecord:
        """Check a row, which may be deeper than a record may be."""
        try:
            check(record.raw)
        except BadRecord as bad:
            return BadRawRecord(record.record_index, record.pointer, record.raw, bad)
        return record

    def texts(self) -> Iterator[RawRecord]:
        """Yield the rows."""
        file = self._content.file
        if not self._content.is_packed and file.member is None:
            file.hash()
        rows = rows_at_a_time(self._content)
        with opened_parquet(self._content) as parquet:
            self._schema = parquet.schema
            columns = _columns(self._schema)
            size = index = 0
            encode = msgspec.json.encode
            for batch in parquet.batches(rows):
                values = [
                    map(to, _as(batch.column(position), kind).to_pylist())
                    for position, (_, kind, to) in enumerate(columns)
                ]
                for row in zip(*values, strict=True):
                    raw = encode({name: value for (name, _, _), value in zip(columns, row, strict=True)})
                    size += len(raw)
                    file.check_record(len(raw), f"/{index}")
                    check_amount(file, size)
                    yield RawRecord(index, f"/{index}", raw)
                    index += 1


def _as(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast a column; not to its own type, which fails where a list has structs with a member that is always null."""
    return column if column.type == kind else column.cast(kind)


def _columns(schema: pa.Schema) -> list[tuple[str, pa.DataType, Any]]:
    """Return the name of each column, the type by which it is read, and what makes JSON of its values.

    Raises BadRecord: GF-12 for a column that is there twice, GF-14 for a type that could not be written back.
    """
    columns = []
    counts = Counter(schema.names)
    for field in schema:
        if counts[field.name] > 1:
            raise BadRecord("GF-12", f"the column {field.name!r} is there twice")
        try:
            to, _ = converters(field.type)
            kind = plain(field.type)
            _array([], field.type).cast(kind)
        except (TypeError, pa.ArrowException) as error:
            raise BadRecord("GF-14", f"the column {field.name!r} is of a type that can't be kept: {error}") from error
        columns.append((field.name, kind, to))
    return columns


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Make an array of a type from values of its plain type."""
    array = pa.array(values, plain(kind))
    if types.is_dictionary(kind):
        encoded = array.cast(kind.value_type).dictionary_encode()
        indices = encoded.indices.cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, encoded.dictionary, ordered=kind.ordered)
    return _as(array, kind)


def write_parquet(layout: Mapping[str, Raw], records: Iterable[WrittenRecord]) -> Iterator[bytes]:
    """Write a Parquet file from the objects of its rows; yield a piece for every 10,000 of them."""
    schema = read_schema(pa.py_buffer(b64decode(msgspec.json.decode(layout["schema"]))))
    back = {field.name: converters(field.type)[1] for field in schema}
    sink = _Sink()
    rows = iter(records)
    with ParquetWriter(pa.PythonFile(sink, mode="w"), schema, use_compliant_nested_type=False) as writer:  # type: ignore[no-untyped-call]
        while some := list(islice(rows, _WRITTEN)):
            objects = [json.loads(row.raw, parse_float=Decimal) for row in some]
            arrays = [_array([back[field.name](item[field.name]) for item in objects], field.type) for field in schema]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """Takes what a writer writes, until it is asked for it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, part: Any) -> int:
        """Take some bytes."""
        self._parts.append(bytes(part))
        return len(part)

    def taken(self) -> bytes:
        """Give out what was written since it was asked last."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
