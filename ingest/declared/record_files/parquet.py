"""Parquet: each row is a JSON object; read in batches that fit into memory, and written back."""

import io
import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import cached_property
from itertools import accumulate, islice
from typing import IO, Any, NamedTuple

import msgspec
from msgspec import Raw
from pyarrow import lib as pa
from pyarrow import types  # type: ignore[attr-defined]
from pyarrow.compute import call_function  # type: ignore[attr-defined]
from pyarrow.ipc import read_schema  # type: ignore[attr-defined]
from pyarrow.parquet import ParquetFile, ParquetWriter

from talkhouse.ingest.declared.record_files import parquet_pages
from talkhouse.ingest.declared.record_files.content import (
    BadRawRecord,
    FileContent,
    RawRecord,
    RecordFile,
    WrittenRecord,
    check_amount,
)
from talkhouse.ingest.declared.record_files.parquet_values import Convert, converters, plain
from talkhouse.ingest.decode import BadRecord, check
from talkhouse.ingest.sources import SourceFile

_READ = 1_000
"""Rows that are read at a time."""
_PIECEMEAL: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1_000_000}
"""So that a group of rows is not read at once, which may be all of the file."""
_FOLDED = 16_000_000
"""Bytes of a group of rows whose texts are all read as dictionaries."""
_MEMORY = 64_000_000
"""Bytes that the rows should take that are read at a time."""


class NotImplementedByArrow(BadRecord):
    """What pyarrow can't read, whether a file is damaged or not."""


class Parquet:
    """A Parquet file that is open."""

    def __init__(self, stream: IO[bytes], file: SourceFile, folded: Collection[str] = ()) -> None:
        """``folded``: the paths of columns whose texts are read as dictionaries."""
        self.pages = parquet_pages.ParquetPages(stream, file)
        stream.seek(0)
        self._file = ParquetFile(stream, read_dictionary=list(folded), **_PIECEMEAL)  # type: ignore[no-untyped-call]
        if self._file.num_row_groups != len(self.pages.footer.rows):
            raise BadRecord("GF-14", "damaged Parquet: its footer can't be read")

    @property
    def schema(self) -> pa.Schema:
        """The schema as Arrow has it."""
        return self._file.schema_arrow

    @property
    def rows(self) -> int:
        """How many rows the file says that it has."""
        return int(self._file.metadata.num_rows)

    def groups(self, most: int | None = None) -> range:
        """Return the groups of rows, or of these the first that have so many rows, as the file says."""
        counts = self.pages.footer.rows
        enough = next((number for number, rows in enumerate(accumulate(counts), 1) if most and rows >= most), None)
        return range(len(counts) if enough is None else enough)

    @property
    def paths(self) -> list[str]:
        """The paths of columns that have values themselves, lists and structs apart."""
        return [self._file.schema.column(place).path for place in range(len(self._file.schema))]

    def batches(
        self, rows: int, groups: range | None = None, columns: list[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read all groups of rows, or some, at most so many rows at a time.

        Raises BadRecord GF-14 where there are not as many as the file says, or a text is not UTF-8; SourceError where
        more comes out of the file than the limits allow.
        """
        count = 0
        for group in self.groups() if groups is None else groups:
            self.pages.of_group(group)
            # Not over several groups: pyarrow can't join the dictionaries of each inside of lists and structs.
            for batch in self._file.iter_batches(rows, [group], columns, use_threads=False):  # type: ignore[no-untyped-call]
                batch.validate(full=True)
                count += batch.num_rows
                yield batch
        stated = self.rows if groups is None else sum(self.pages.footer.rows[group] for group in groups)
        if count != stated:
            raise BadRecord("GF-14", f"damaged Parquet: {count:,} rows, and it says {stated:,}")

    def mean(self, groups: range) -> int:
        """Return the largest number of bytes per row in the pages of any group."""
        sizes = [sum(pages.size for pages in self.pages.of_group(group)) for group in groups]
        return max(
            (size // max(1, self.pages.footer.rows[group]) for group, size in zip(groups, sizes, strict=True)),
            default=0,
        )

    def folded(self, groups: range) -> list[str]:
        """List the columns to read as dictionaries: texts of small groups of rows, and what may unfold to much."""
        folded = dict[str, None]()
        for group in groups:
            all_pages = self.pages.of_group(group)
            is_small = sum(pages.size for pages in all_pages) <= _FOLDED
            for pages in all_pages:
                times = pages.values if pages.column.is_repeated else parquet_pages.ROWS_AT_ONCE
                if is_small or pages.dictionary * times > _MEMORY:
                    folded[pages.column.path] = None
        texts = _texts(self._file)
        return [path for path in folded if path in texts]


def _texts(file: ParquetFile) -> set[str]:
    """Return the columns of texts or bytes, by their paths.

    pyarrow's metadata of a single column are not looked at: of some damaged files it ends the process for that.
    """
    kinds = ("STRING", "NONE", "JSON", "BSON", "ENUM")
    columns = map(file.schema.column, range(len(file.schema)))
    return {
        column.path for column in columns if column.physical_type == "BYTE_ARRAY" and column.logical_type.type in kinds
    }


@contextmanager
def opened_parquet(content: FileContent, folded: Collection[str] = ()) -> Iterator[Parquet]:
    """Open a Parquet file for reading; BadRecord GF-14 where it is none, or damaged, also while it is read.

    ``folded``: the paths of columns whose texts are read as dictionaries, so that one that is there many times takes
    the memory of one.
    """
    file = content.file
    is_whole = content.is_packed or file.member is not None
    stream: Any = pa.BufferReader(content.whole()) if is_whole else file.disk.open()
    with stream, parsed(stream, file, folded) as parquet:
        yield parquet


@contextmanager
def parsed(stream: IO[bytes], file: SourceFile, folded: Collection[str] = ()) -> Iterator[Parquet]:
    """Read what an open file is, by the limits of ``file``; raises what ``opened_parquet`` does."""
    try:
        yield Parquet(stream, file, folded)
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError, MemoryError) as error:
        reason = f"{next(iter(str(error).splitlines()), type(error).__name__):.200}"
        if isinstance(error, pa.ArrowNotImplementedError) or reason.startswith("Not yet implemented"):
            detail = f"pyarrow can't read this kind of Parquet: {reason}; write the file with other types"
            raise NotImplementedByArrow("GF-14", detail) from error
        raise BadRecord("GF-14", f"pyarrow can't read this Parquet: {reason}") from error


def rows_at_a_time(content: FileContent, most: int | None = None) -> int:
    """Return the number of rows that fit into memory, by the whole file, or the groups with its first ``most`` rows.

    These are read to their end; what the file holds once is not unfolded for that. Raises what ``opened_parquet`` and
    ``Parquet.batches`` do.
    """
    with opened_parquet(content) as parquet:
        groups = parquet.groups(most)
        folded = parquet.folded(groups)
        rows = max(1, min(parquet_pages.ROWS_AT_ONCE, _MEMORY // max(1, parquet.mean(groups))))
    try:
        largest = _largest(content, groups, folded, rows)
    except NotImplementedByArrow:
        # Of some encodings pyarrow makes no dictionaries.
        largest = _largest(content, groups, [path for path in folded if _folds(content, groups, path)], rows)
    return max(1, min(_READ, rows * _MEMORY // max(1, largest)))


def _largest(content: FileContent, groups: range, folded: Collection[str], rows: int) -> int:
    largest = size = 0
    with opened_parquet(content, folded) as parquet:
        is_all = groups == parquet.groups()
        for batch in parquet.batches(rows, None if is_all else groups):
            amount = sum(map(unfolded, batch.columns))
            largest, size = max(largest, amount), size + amount
            check_amount(content.file, size)
    return largest


def _folds(content: FileContent, groups: range, path: str) -> bool:
    try:
        with opened_parquet(content, [path]) as parquet:
            for _ in parquet.batches(parquet_pages.ROWS_AT_ONCE, groups, [path]):
                pass
    except NotImplementedByArrow:
        return False
    return True


def unfolded(array: pa.Array) -> int:
    """Count the bytes that an array takes when each value stands by itself."""
    if types.is_dictionary(array.type) and not _is_text(array.type.value_type):
        return len(array) * parquet_pages.NUMBER
    if types.is_dictionary(array.type):
        lengths = call_function("binary_length", [array.dictionary]).cast(pa.int64())
        return call_function("sum", [lengths.take(array.indices)]).as_py() or 0
    if types.is_map(array.type):
        return unfolded(array.keys) + unfolded(array.items)
    if types.is_struct(array.type):
        return sum(map(unfolded, array.flatten()))
    if types.is_nested(array.type):
        return unfolded(array.flatten())
    return max(int(array.nbytes), len(array) * parquet_pages.NUMBER)


_CHECKED = 20_000
"""Rows that are read at a time of a file whose pages have been checked."""


def open_parquet(stream: IO[bytes], file: parquet_pages.NamedFile) -> pa.RecordBatchReader:
    """Check what an open file unpacks to, also where rows repeat texts that it has once, and return its rows.

    Raises BadRecord GF-14 and SourceError as ``ParquetPages`` does, and what pyarrow raises.
    """
    pages = parquet_pages.check_pages(stream, file)
    columns = [column for group in range(len(pages.footer.rows)) for column in pages.of_group(group)]
    repeated = {pages.column.path for pages in columns if pages.dictionary * _CHECKED > _MEMORY}
    size = largest = 0
    if repeated:
        folded = ParquetFile(stream, read_dictionary=[*repeated], **_PIECEMEAL)  # type: ignore[no-untyped-call]
        texts = [path for path in repeated if path in _texts(folded)]
        for batch in folded.iter_batches(_CHECKED, columns=texts) if texts else ():  # type: ignore[no-untyped-call]
            amount = sum(map(unfolded, batch.columns))
            largest, size = max(largest, amount), size + amount
            check_amount(file, size)
        stream.seek(0)
    rows = max(1, min(_CHECKED, _CHECKED * 4 * _MEMORY // max(1, largest)))
    source = ParquetFile(stream, pre_buffer=False, arrow_extensions_enabled=False)  # type: ignore[no-untyped-call]
    batches = source.iter_batches(rows, use_threads=False)  # type: ignore[no-untyped-call]
    return pa.RecordBatchReader.from_batches(source.schema_arrow, batches)


def _is_text(kind: pa.DataType) -> bool:
    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(test(kind) for test in tests)


_WRITTEN = 10_000
"""Rows that are written at a time."""


class ParquetRecords(RecordFile):
    """A Parquet file on its way in. Memory: some rows, and of a packed file its content.

    It is read twice: one that is damaged is refused before a record of it is loaded.
    """

    def __init__(self, content: FileContent) -> None:
        self._content = content
        self._schema: pa.Schema | None = None

    @property
    def envelope(self) -> dict[str, Any]:
        """The schema, as Arrow writes one, in base64."""
        if self._schema is None:
            return {}
        return {"layout": {"schema": b64encode(self._schema.serialize()).decode()}}

    def check(self, record: RawRecord) -> RawRecord | BadRawRecord:
        """Check a row, which may be deeper than a record may be."""
        try:
            check(record.raw)
        except BadRecord as bad:
            return BadRawRecord(record.record_index, record.pointer, record.raw, bad)
        return record

    @cached_property
    def _rows(self) -> int:
        return rows_at_a_time(self._content)

    def glance(self, names: frozenset[str]) -> Iterator[bytes]:
        """Yield the values of these names, without quotes and the like being escaped in them."""
        with opened_parquet(self._content) as parquet:
            paths = [path for path in parquet.paths if not names.isdisjoint(path.split("."))]
            for batch in parquet.batches(self._rows, columns=paths) if paths else ():
                for position, field in enumerate(batch.schema):
                    for name, values in _leaves(field.name, batch.column(position)):
                        if name in names:
                            yield from _as_members(name, values)

    def texts(self) -> Iterator[RawRecord]:
        """Yield the rows."""
        file = self._content.file
        if not self._content.is_packed and file.member is None:
            file.hash()
        with opened_parquet(self._content) as parquet:
            self._schema = parquet.schema
            columns = _columns(self._schema)
            size = index = 0
            encode = msgspec.json.encode
            for batch in parquet.batches(self._rows):
                values = [
                    map(column.to_json, _as(batch.column(position), column.kind).to_pylist())
                    for position, column in enumerate(columns)
                ]
                for row in zip(*values, strict=True):
                    raw = encode({column.name: value for column, value in zip(columns, row, strict=True)})
                    size += len(raw)
                    file.check_record(len(raw), f"/{index}")
                    check_amount(file, size)
                    yield RawRecord(index, f"/{index}", raw)
                    index += 1


def _leaves(name: str, array: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield the values inside of lists and structs, each with the name that is next above them."""
    if types.is_struct(array.type):
        for field, members in zip(array.type, array.flatten(), strict=True):
            yield from _leaves(field.name, members)
    elif types.is_map(array.type):
        yield from _leaves(name, array.items)
    elif types.is_nested(array.type):
        yield from _leaves(name, array.flatten())
    else:
        yield name, array.dictionary if types.is_dictionary(array.type) else array


def _as_members(name: str, values: pa.Array) -> Iterator[bytes]:
    begin = msgspec.json.encode(name) + b":"
    if types.is_string(values.type) or types.is_large_string(values.type):
        around = [pa.scalar(text, values.type) for text in (begin.decode() + '"', '"', "")]
        joined = call_function("binary_join_element_wise", [around[0], values, *around[1:]])
        yield from (bytes(buffer) for buffer in joined.buffers()[2:] if buffer is not None)
    else:
        to, _ = converters(values.type)
        yield from (begin + msgspec.json.encode(to(value)) for value in _as(values, plain(values.type)).to_pylist())


def _as(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast a column; not to its own type, which fails where a list has structs with a member that is always null."""
    return column if column.type == kind else column.cast(kind)


class _ReadColumn(NamedTuple):
    name: str
    kind: pa.DataType
    """The type by which it is read."""
    to_json: Convert


def _columns(schema: pa.Schema) -> list[_ReadColumn]:
    """Return the reader of each column.

    Raises BadRecord: GF-12 for a column that is there twice, GF-14 for a type that could not be written back.
    """
    columns = []
    counts = Counter(schema.names)
    for field in schema:
        if counts[field.name] > 1:
            raise BadRecord("GF-12", f"the column {field.name!r} occurs twice")
        try:
            to, _ = converters(field.type)
            kind = plain(field.type)
            _array([], field.type).cast(kind)
        except (TypeError, pa.ArrowException) as error:
            raise BadRecord("GF-14", f"the column {field.name!r} is of a type that can't be kept: {error}") from error
        columns.append(_ReadColumn(field.name, kind, to))
    return columns


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
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


def parquet_of(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> bytes:
    """Write some rows of a Parquet file as a file of their own."""
    buffer = io.BytesIO()
    with ParquetWriter(buffer, schema, use_compliant_nested_type=False) as writer:  # type: ignore[no-untyped-call]
        for batch in batches:
            writer.write_batch(batch)
    return buffer.getvalue()


class _Sink(io.RawIOBase):
    """Takes what a writer writes, until it is asked for it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, part: Any) -> int:
        """Keep some bytes."""
        self._parts.append(bytes(part))
        return len(part)

    def taken(self) -> bytes:
        """Return the bytes that were written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
