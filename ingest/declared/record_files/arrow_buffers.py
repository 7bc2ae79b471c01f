"""What an Arrow file unpacks to: told by the lengths of its buffers, before any of them is unpacked.

A packed buffer begins with the length that it unpacks to, and pyarrow takes the memory that it asks for.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from pyarrow import lib as pa
from pyarrow.ipc import RecordBatchFileReader, open_file, read_message  # type: ignore[attr-defined]
from pyarrow.types import is_binary, is_large_binary, is_large_string, is_string

from talkhouse.ingest.declared.record_files.content import check_amount
from talkhouse.ingest.declared.record_files.parquet_pages import NUMBER, NamedFile
from talkhouse.ingest.decode import BadRecord

MAGIC = b"ARROW1"
_TAIL = 4 + len(MAGIC)
"""Bytes behind the footer: its length, and the magic number."""
_NOT_PACKED = -1
_OLD_PACKING = b"ARROW:experimental_compression"  # before Arrow 1.0
_BLOCK, _PAIR = struct.Struct("<qi4xq"), struct.Struct("<qq")
"""Where a message is, and the bytes of its two parts; where a buffer is, and its bytes, or the values of a column."""


def open_arrow(path: Path, file: NamedFile) -> pa.RecordBatchReader:
    """Return the rows of a file, of which each batch has been checked: DuckDB believes what lists say of themselves.

    The texts of dictionaries count as often as rows have them. Raises BadRecord GF-14 for what can't be read,
    SourceError for what unpacks to more than the limits allow.
    """
    try:
        content = pa.memory_map(str(path)).read_buffer()
        size = 0
        for at, metadata, body in _blocks(content, file):
            file.limits.check("record", metadata, file.id, f"{metadata:,} bytes about a batch")
            size += _unpacked(read_message(content.slice(at, metadata + body)), file)
            check_amount(file, size)
        source = open_file(content)  # type: ignore[no-untyped-call]
        for batch in _batches(source):
            batch.validate(full=True)
            size += sum(_repeated(column) for column in batch.columns if isinstance(column, pa.DictionaryArray))
            check_amount(file, size)
        return pa.RecordBatchReader.from_batches(source.schema, _batches(source))
    except MemoryError:  # pyarrow's own is an ArrowException, too
        raise
    except (pa.ArrowException, struct.error, IndexError, OSError, ValueError, TypeError) as error:
        raise BadRecord("GF-14", f"damaged Arrow: {error}") from error


def _batches(source: RecordBatchFileReader) -> Iterator[pa.RecordBatch]:
    return (source.get_batch(number) for number in range(source.num_record_batches))


def _blocks(content: pa.Buffer, file: NamedFile) -> list[tuple[int, ...]]:
    """Return where each message begins, and the bytes of its metadata and its body."""
    tail = content.slice(max(content.size - _TAIL, 0)).to_pybytes()
    length = int.from_bytes(tail[:4], "little")
    begin = content.size - _TAIL - length
    if tail[4:] != MAGIC or begin < 0:
        raise BadRecord("GF-14", f"no Arrow file, or cut off: it does not end with a footer and {MAGIC.decode()}")
    file.limits.check("record", length, file.id, f"{length:,} bytes of its footer")
    footer = _Flat.root(content.slice(begin, length).to_pybytes())
    blocks = [block for field in (2, 3) for block in footer.structs(field, _BLOCK)]
    if any(min(block) < 0 for block in blocks) or sum(block[1] + block[2] for block in blocks) > content.size:
        # They overlap, so that a few bytes would be read any number of times.
        raise BadRecord("GF-14", "damaged Arrow: its batches have more bytes than the file")
    return blocks


def _repeated(column: pa.DictionaryArray) -> int:
    """Return how many bytes texts take where each stands by itself."""
    kind = column.type.value_type
    if not (is_string(kind) or is_large_string(kind) or is_binary(kind) or is_large_binary(kind)):
        return 0
    # It makes a function in Python for each of hundreds in C++, which takes longer than many files do.
    from pyarrow.compute import call_function  # type: ignore[attr-defined]

    lengths = call_function("binary_length", [column.dictionary]).take(column.indices)
    return int(call_function("sum", [lengths.cast("int64")]).as_py() or 0)


def _unpacked(message: pa.Message, file: NamedFile) -> int:
    """Return the bytes of a message's buffers, or of the rows that it says it has without any."""
    raw, body = message.metadata.to_pybytes(), message.body
    batch = _Flat.root(raw).table(2)
    if message.type == "dictionary":
        batch = batch.table(1)
    is_packed = batch.place(3) or _OLD_PACKING in raw
    size = 0
    for at, length in batch.structs(2, _PAIR):
        if is_packed and length:
            (unpacked,) = struct.unpack("<q", body.slice(at, 8))
            length = length - 8 if unpacked == _NOT_PACKED else unpacked
        if length < 0:
            raise IndexError(f"a buffer of {length:,} bytes")
        size += length
    if is_packed:  # others stay in the file
        file.limits.check("file", size, file.id, f"{size:,} bytes of a batch")
    # Some columns have no buffers, and any number of values.
    return max(size, *(NUMBER * values for values, _ in batch.structs(1, _PAIR)), 0)


class _Flat:
    """A table of a FlatBuffer; a field that is missing counts as empty."""

    def __init__(self, raw: bytes, at: int) -> None:
        self._raw, self._at = raw, at

    @classmethod
    def root(cls, raw: bytes) -> "_Flat":
        """Return the table that all others are in."""
        return cls(raw, *struct.unpack_from("<I", raw))

    def place(self, field: int) -> int:
        """Return where a field is, or 0 where it is missing."""
        fields = self._at - self._read("<i", self._at)
        inside = 4 + 2 * field
        offset = self._read("<H", fields + inside) if inside < self._read("<H", fields) else 0
        return self._at + offset if offset else 0

    def table(self, field: int) -> "_Flat":
        """Return a table in this one."""
        place = self.place(field)
        return _Flat(self._raw, place + self._read("<I", place))

    def structs(self, field: int, form: struct.Struct) -> Iterator[tuple[int, ...]]:
        """Return structs that follow each other."""
        if not (place := self.place(field)):
            return iter(())
        begin = place + self._read("<I", place)  # of their number
        return form.iter_unpack(self._raw[begin + 4 : begin + 4 + self._read("<I", begin) * form.size])

    def _read(self, form: str, at: int) -> int:
        return int(struct.unpack_from(form, self._raw, at)[0])
