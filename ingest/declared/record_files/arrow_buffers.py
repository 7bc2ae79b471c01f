"""What an Arrow file unpacks to: told by the lengths of its buffers, before any of them is unpacked.

A packed buffer begins with the length that it unpacks to, and pyarrow takes the memory that it asks for.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from pyarrow import lib as pa
from pyarrow.ipc import open_file, read_message  # type: ignore[attr-defined]

from talkhouse.ingest.declared.record_files.content import check_amount
from talkhouse.ingest.declared.record_files.parquet import unfolded
from talkhouse.ingest.declared.record_files.parquet_pages import NUMBER, NamedFile
from talkhouse.ingest.decode import BadRecord

MAGIC = b"ARROW1"
_TAIL = 4 + len(MAGIC)
"""Bytes behind the footer: its length, and the magic number."""
_OLD_PACKING = b"ARROW:experimental_compression"  # before Arrow 1.0
_BLOCK, _PAIR = struct.Struct("<qi4xq"), struct.Struct("<qq")
"""Where a message is, and the bytes of its two parts; where a buffer is, and its bytes, or the values of a column."""


def open_arrow(path: Path, file: NamedFile) -> pa.RecordBatchReader:
    """Return the rows of a file, of which each batch has been checked: DuckDB believes what lists say of themselves.

    The texts of dictionaries count as often as rows have them, also in lists. Raises BadRecord GF-14 for what can't be
    read, SourceError for what unpacks to more than the limits allow.
    """
    try:
        content = pa.memory_map(str(path)).read_buffer()
        size = 0
        for at, metadata, body in _blocks(content, file):
            file.limits.check("record", metadata, file.id, f"{metadata:,} bytes about a batch")
            size += _unpacked(read_message(content.slice(at, metadata + body)), file)
            check_amount(file, size)
        source = open_file(content)  # type: ignore[no-untyped-call]
        numbers, size = range(source.num_record_batches), 0
        for batch in map(source.get_batch, numbers):
            batch.validate(full=True)
            size += sum(map(unfolded, batch.columns))
            check_amount(file, size)
        return pa.RecordBatchReader.from_batches(source.schema, map(source.get_batch, numbers))
    except MemoryError:  # pyarrow's own is an ArrowException, too
        raise
    except (pa.ArrowException, struct.error, IndexError, OSError, ValueError, TypeError) as error:
        raise BadRecord("GF-14", f"damaged Arrow: {error}") from error


def _blocks(content: pa.Buffer, file: NamedFile) -> list[tuple[int, ...]]:
    """Return the start of each message, and the sizes in bytes of its metadata and its body."""
    tail = content.slice(max(content.size - _TAIL, 0)).to_pybytes()
    length = int.from_bytes(tail[:4], "little")
    begin = content.size - _TAIL - length
    if tail[4:] != MAGIC or begin < 0:
        raise BadRecord("GF-14", f"no Arrow file, or cut off: it does not end with a footer and {MAGIC.decode()}")
    file.limits.check("record", length, file.id, f"{length:,} bytes of its footer")
    footer = content.slice(begin, length).to_pybytes()
    blocks = [block for field in (2, 3) for block in _structs(footer, _table(footer, 0), field, _BLOCK)]
    if any(min(block) < 0 for block in blocks) or sum(block[1] + block[2] for block in blocks) > content.size:
        # They overlap, so that a few bytes would be read any number of times.
        raise BadRecord("GF-14", "damaged Arrow: its batches have more bytes than the file")
    return blocks


def _unpacked(message: pa.Message, file: NamedFile) -> int:
    """Return the bytes of a message's buffers, or of the rows that it says it has without any."""
    raw, body = message.metadata.to_pybytes(), message.body
    batch = _table(raw, _place(raw, _table(raw, 0), 2))
    if message.type == "dictionary":
        batch = _table(raw, _place(raw, batch, 1))
    is_packed = _place(raw, batch, 3) or _OLD_PACKING in raw
    size = 0
    for at, length in _structs(raw, batch, 2, _PAIR):
        if is_packed and length:
            (unpacked,) = struct.unpack("<q", body.slice(at, 8))
            length = length - 8 if unpacked == -1 else unpacked  # -1: it is not packed after all
        if length < 0:
            raise IndexError(f"a buffer of {length:,} bytes")
        size += length
    if is_packed:  # others stay in the file
        file.limits.check("file", size, file.id, f"{size:,} bytes of a batch")
    # Some columns have no buffers, and any number of values.
    return max(size, *(NUMBER * values for values, _ in _structs(raw, batch, 1, _PAIR)), 0)


def _place(raw: bytes, table: int, field: int) -> int:
    """Return the position of a field of a FlatBuffer's table, or 0 if it is missing."""
    fields, inside = table - _number(raw, table, "<i"), 4 + 2 * field
    offset = _number(raw, fields + inside, "<H") if inside < _number(raw, fields, "<H") else 0
    return table + offset if offset else 0


def _table(raw: bytes, place: int) -> int:
    """Return the position of the table that is referenced there."""
    return place + _number(raw, place)


def _structs(raw: bytes, table: int, field: int, form: struct.Struct) -> Iterator[tuple[int, ...]]:
    if place := _place(raw, table, field):
        begin = place + _number(raw, place)
        yield from form.iter_unpack(raw[begin + 4 : begin + 4 + _number(raw, begin) * form.size])


def _number(raw: bytes, at: int, form: str = "<I") -> int:
    return int(struct.unpack_from(form, raw, at)[0])
