"""Parquet: each row is a JSON object, its columns in the order of the schema."""

import io
import json
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from itertools import islice
from typing import IO, Any

import msgspec
from msgspec import Raw
from pyarrow import lib as pa
from pyarrow import types  # type: ignore[attr-defined]
from pyarrow.compute import call_function  # type: ignore[attr-defined]
from pyarrow.ipc import read_schema  # type: ignore[attr-defined]
from pyarrow.parquet import ParquetFile, ParquetWriter

from talkhouse.ingest.declared.record_files.content import Content
from talkhouse.ingest.declared.record_files.parquet_values import converters, plain
from talkhouse.ingest.declared.record_files.record import BadRawRecord, RawRecord, WrittenRecord
from talkhouse.ingest.decode import BadRecord, check

_MAGIC = b"PAR1"
_READ, _WRITTEN = 1_000, 10_000
"""Rows that are read and written at a time."""
_LOOKED_AT = 20
"""Rows that are read at a time as long as nobody knows how large they are."""
_PIECEMEAL: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1_000_000}
"""So that a group of rows is not read at once, which may be all of the file."""
_FOLDED = 16_000_000
"""Bytes of a group of rows whose texts are read as dictionaries."""
_MEMORY = 64_000_000
"""Bytes that the rows should take that are read at a time."""


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
        with opened_parquet(self._content) as parquet:
            self._schema = parquet.schema_arrow
            columns = _columns(self._schema)
            rows = self._rows_at_a_time()
            size = index = 0
            encode = msgspec.json.encode
            for batch in batches(parquet, rows):
                values = [
                    map(to, _as(batch.column(position), kind).to_pylist())
                    for position, (_, kind, to) in enumerate(columns)
                ]
                for row in zip(*values, strict=True):
                    raw = encode({name: value for (name, _, _), value in zip(columns, row, strict=True)})
                    size += len(raw)
                    self._check_size(len(raw), size, index)
                    yield RawRecord(index, f"/{index}", raw)
                    index += 1

    def _rows_at_a_time(self) -> int:
        """Read the file to its end without unfolding what it holds once, and return how many rows fit into memory."""
        with opened_parquet(self._content) as parquet:
            texts = _texts(parquet)
        try:
            largest = self._largest(texts)
        except _NotImplemented:
            # Of some encodings pyarrow makes no dictionaries.
            largest = self._largest([path for path in texts if self._folds(path)])
        return max(1, min(_READ, _LOOKED_AT * _MEMORY // max(1, largest)))

    def _largest(self, folded: Collection[str]) -> int:
        """Read the file to its end, and return the bytes that the largest of its batches takes unfolded."""
        largest = size = 0
        with opened_parquet(self._content, folded) as parquet:
            for batch in batches(parquet, _LOOKED_AT):
                unfolded = sum(map(_unfolded, batch.columns))
                largest, size = max(largest, unfolded), size + unfolded
                self._check_size(0, size, 0)
        return largest

    def _folds(self, path: str) -> bool:
        """Whether the texts of a column can be read as dictionaries."""
        try:
            with opened_parquet(self._content, [path]) as parquet:
                for _ in batches(parquet, _LOOKED_AT, [path]):
                    pass
        except _NotImplemented:
            return False
        return True

    def _check_size(self, record: int, size: int, index: int) -> None:
        """Raise SourceError where a record is too large, or far more comes out of the file than files hold."""
        file = self._content.file
        file.check_record(record, f"/{index}")
        if size > file.limits.record:
            file.limits.check("ratio", size // file.size, file.id, f"{size:,} bytes or more, of {file.size:,}")


def _as(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast a column; not to its own type, which fails where a list has structs with a member that is always null."""
    return column if column.type == kind else column.cast(kind)


class _NotImplemented(BadRecord):
    """What pyarrow can't read, whether a file is damaged or not."""


@contextmanager
def opened_parquet(content: Content, folded: Collection[str] = ()) -> Iterator[ParquetFile]:
    """Open a Parquet file for reading; BadRecord GF-14 where it is none, or damaged, also while it is read.

    ``folded``: the paths of columns whose texts are read as dictionaries, so that one that is there many times takes
    the memory of one.
    """
    file = content.file
    if content.is_packed or file.member is not None:
        stream: Any = pa.BufferReader(content.whole())
    else:
        file.hash()
        stream = file.disk.open()
    with stream, parsed(stream, folded) as parquet:
        yield parquet


@contextmanager
def parsed(stream: IO[bytes], folded: Collection[str] = ()) -> Iterator[ParquetFile]:
    """Read what an open file is; raises what ``opened_parquet`` does."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    begin = stream.read(4)
    stream.seek(max(size - 4, 0))
    if begin != _MAGIC or stream.read(4) != _MAGIC:
        raise BadRecord("GF-14", "not Parquet, as its name says, or cut off: it does not begin and end with PAR1")
    stream.seek(0)
    try:
        yield ParquetFile(stream, read_dictionary=list(folded), **_PIECEMEAL)  # type: ignore[no-untyped-call]
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError, MemoryError) as error:
        said = f"{next(iter(str(error).splitlines()), type(error).__name__):.200}"
        if isinstance(error, pa.ArrowNotImplementedError) or said.startswith("Not yet implemented"):
            detail = f"pyarrow can't read this kind of Parquet: {said}; write the file with other types"
            raise _NotImplemented("GF-14", detail) from error
        raise BadRecord("GF-14", f"pyarrow can't read this Parquet: {said}") from error


def _texts(parquet: ParquetFile) -> list[str]:
    """List the columns of texts or bytes, by their paths; none where a group of rows is too large for dictionaries.

    The metadata of a single column are not looked at: of some damaged files pyarrow ends the process for that.
    """
    kinds = ("STRING", "NONE", "JSON", "BSON", "ENUM")
    groups = (parquet.metadata.row_group(number) for number in range(parquet.num_row_groups))
    if max((group.total_byte_size for group in groups), default=0) > _FOLDED:
        return []
    columns = map(parquet.schema.column, range(len(parquet.schema)))
    return [one.path for one in columns if one.physical_type == "BYTE_ARRAY" and one.logical_type.type in kinds]


def _unfolded(array: pa.Array) -> int:
    """Count the bytes that an array takes when each value stands by itself."""
    if types.is_dictionary(array.type):
        lengths = call_function("binary_length", [array.dictionary]).cast(pa.int64())
        return call_function("sum", [lengths.take(array.indices)]).as_py() or 0
    if types.is_map(array.type):
        return _unfolded(array.keys) + _unfolded(array.items)
    if types.is_struct(array.type):
        return sum(map(_unfolded, array.flatten()))
    return _unfolded(array.flatten()) if types.is_nested(array.type) else int(array.nbytes)


def batches(parquet: ParquetFile, rows: int = _READ, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Read all rows, at most so many at a time.

    Raises BadRecord GF-14 where there are not as many as the file says, or a text is not UTF-8.
    """
    count = 0
    for group in range(parquet.num_row_groups):
        # Not over several groups: pyarrow can't join the dictionaries of each inside of lists and structs.
        for batch in parquet.iter_batches(rows, [group], columns, use_threads=False):  # type: ignore[no-untyped-call]
            batch.validate(full=True)
            count += batch.num_rows
            yield batch
    if count != parquet.metadata.num_rows:
        raise BadRecord("GF-14", f"damaged Parquet: {count:,} rows, and it says {parquet.metadata.num_rows:,}")


def _columns(schema: pa.Schema) -> list[tuple[str, pa.DataType, Any]]:
    """Return the name of each column, the type by which it is read, and what makes JSON of its values.

    Raises BadRecord: GF-12 for a column that is there twice, GF-14 for a type that could not be written back.
    """
    columns = []
    for field in schema:
        if schema.names.count(field.name) > 1:
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
