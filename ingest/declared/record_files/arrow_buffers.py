"""What an Arrow file unpacks to: told by the lengths of its buffers, before any of them is unpacked.

A packed buffer begins with the length that it unpacks to, and pyarrow takes the memory that it asks for.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pyarrow import lib as pa
from pyarrow.ipc import open_file
from pyarrow.types import is_binary, is_large_binary, is_large_string, is_string

from talkhouse.ingest.declared.record_files.content import check_amount
from talkhouse.ingest.declared.record_files.parquet_pages import NUMBER, NamedFile
from talkhouse.ingest.decode import BadRecord

MAGIC = b"ARROW1"
_TAIL = 4 + len(MAGIC)
"""Bytes behind the footer: its length, and the magic number."""
_BATCH = 3
"""The number of a batch of rows among the messages; others that a block may have are dictionaries."""
_NOT_PACKED = -1
_OLD_PACKING = b"ARROW:experimental_compression"
"""In a message of before Arrow 1.0, whose buffers are packed."""
_BLOCK, _PAIR, _LENGTH = struct.Struct("<qi4xq"), struct.Struct("<qq"), struct.Struct("<q")
"""Where a message is; a buffer, or a column's length with its empty values; the length of a packed buffer."""


def open_arrow(path: Path, file: NamedFile) -> pa.RecordBatchReader:
    """Return the rows of a file, of which each batch has been checked: DuckDB believes what lists say of themselves.

    Raises what ``check_buffers`` raises; the texts of dictionaries count as often as rows have them.
    """
    with path.open("rb") as stream:
        size = check_buffers(stream, file)
    try:
        source = open_file(pa.memory_map(str(path)))  # type: ignore[no-untyped-call]
        for batch in _batches(source):
            batch.validate(full=True)
            size += sum(_repeated(column) for column in batch.columns if isinstance(column, pa.DictionaryArray))
            check_amount(file, size)
    except MemoryError:  # pyarrow's own is an ArrowException, too
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise BadRecord("GF-14", f"damaged Arrow: {error}") from error
    return pa.RecordBatchReader.from_batches(source.schema, _batches(source))


def _batches(source: "pa.RecordBatchFileReader") -> "Iterator[pa.RecordBatch]":
    return (source.get_batch(number) for number in range(source.num_record_batches))


def _repeated(column: pa.DictionaryArray) -> int:
    """Return how many bytes texts take where each stands by itself."""
    kind = column.type.value_type
    if not (is_string(kind) or is_large_string(kind) or is_binary(kind) or is_large_binary(kind)):
        return 0
    # It makes a function in Python for each of hundreds in C++, which takes longer than many files do.
    from pyarrow.compute import call_function  # type: ignore[attr-defined]

    lengths = call_function("binary_length", [column.dictionary]).take(column.indices)
    return int(call_function("sum", [lengths.cast("int64")]).as_py() or 0)


def check_buffers(stream: IO[bytes], file: NamedFile) -> int:
    """Return the bytes that all buffers of an open file unpack to.

    Raises BadRecord GF-14 where that can't be read, SourceError where it is more than the limits allow.
    """
    try:
        size = 0
        for at, metadata, _ in _blocks(stream, file):
            stream.seek(at)
            size += _unpacked(stream, stream.read(metadata), at + metadata, file)
            check_amount(file, size)
    except (struct.error, IndexError, ValueError) as error:
        raise BadRecord("GF-14", f"damaged Arrow: what its buffers unpack to can't be read: {error}") from error
    return size


def _blocks(stream: IO[bytes], file: NamedFile) -> list[tuple[int, ...]]:
    """Return where each message begins, and the bytes of its metadata and its body."""
    stream.seek(max(file.size - _TAIL, 0))
    tail = stream.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or length + _TAIL > file.size:
        raise BadRecord("GF-14", f"not an Arrow file, or cut off: it does not end with a footer and {MAGIC.decode()}")
    file.limits.check("record", length, file.id, f"{length:,} bytes of its footer")
    stream.seek(file.size - _TAIL - length)
    footer = _Flat.root(stream.read(length))
    blocks = [block for field in (2, 3) for block in footer.structs(field, _BLOCK)]
    if any(min(block) < 0 for block in blocks) or sum(block[1] + block[2] for block in blocks) > file.size:
        # They overlap, so that a few bytes would be read any number of times.
        raise BadRecord("GF-14", "damaged Arrow: its batches have more bytes than the file")
    return blocks


def _unpacked(stream: IO[bytes], raw: bytes, body: int, file: NamedFile) -> int:
    """Return the bytes of a message's buffers, or of the rows that it says it has without any."""
    file.limits.check("record", len(raw), file.id, f"{len(raw):,} bytes about a batch")
    message = _Flat.root(raw[8:] if raw[:4] == b"\xff" * 4 else raw[4:])
    batch = message.table(2) if message.number(1, "<B") == _BATCH else message.table(2).table(1)
    is_packed = batch.place(3) or _OLD_PACKING in raw
    size = 0
    for at, length in batch.structs(2, _PAIR):
        if is_packed and length:
            stream.seek(body + at)
            (unpacked,) = _LENGTH.unpack(stream.read(_LENGTH.size))
            length = length - _LENGTH.size if unpacked == _NOT_PACKED else unpacked
        if length < 0:
            raise IndexError(f"a buffer of {length:,} bytes")
        size += length
    if is_packed:  # others stay in the file
        file.limits.check("file", size, file.id, f"{size:,} bytes of a batch")
    return max(size, NUMBER * batch.number(0, "<q"), *(length for length, _ in batch.structs(1, _PAIR)), 0)


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

    def number(self, field: int, form: str) -> int:
        """Return a number of a form of ``struct``."""
        place = self.place(field)
        return self._read(form, place) if place else 0

    def table(self, field: int) -> "_Flat":
        """Return a table in this one; IndexError where there is none."""
        if not (place := self.place(field)):
            raise IndexError("a message is empty")
        return _Flat(self._raw, place + self._read("<I", place))

    def structs(self, field: int, form: struct.Struct) -> Iterator[tuple[int, ...]]:
        """Return structs that follow each other."""
        if not (place := self.place(field)):
            return iter(())
        begin = place + self._read("<I", place)
        end = begin + 4 + self._read("<I", begin) * form.size
        if end > len(self._raw):
            raise IndexError("cut off")
        return form.iter_unpack(self._raw[begin + 4 : end])

    def _read(self, form: str, at: int) -> int:
        return int(struct.unpack_from(form, self._raw, at)[0])
