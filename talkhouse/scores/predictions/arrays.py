"""NumPy's arrays of scores, without NumPy: the header is a Python literal, and what it says is checked."""

import ast
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pyarrow import lib as pa

_NUMBERS = {"<f2": pa.float16(), "<f4": pa.float32(), "<f8": pa.float64()}
"""Types of a NumPy array of scores, and those of Arrow that have the same bytes."""

_LONGEST_HEADER = 10_000
"""Bytes; NumPy itself reads no longer one of a file that it does not trust."""

_PIECE = 16_000_000
"""Bytes of the rows that are handed over at once."""


class _Header(NamedTuple):
    begin: int
    """Where the numbers begin."""
    rows: int
    columns: int
    numbers: pa.DataType


def array_rows(path: Path) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the rows of a two-dimensional array of floats, as a column ``scores``; ValueError for another array."""
    data = pa.memory_map(str(path)).read_buffer()
    header = _header(data)
    size = header.numbers.bit_width // 8
    if data.size - header.begin != header.rows * header.columns * size:
        raise ValueError(
            f"the file is cut or too long: ({header.rows}, {header.columns}) numbers of {size} bytes are announced"
        )
    schema = pa.schema([("scores", pa.list_(header.numbers, header.columns))])
    return schema, _batches(data, header, schema)


def _batches(data: pa.Buffer, header: _Header, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    width = header.columns * header.numbers.bit_width // 8
    step = max(1, _PIECE // width)
    for start in range(0, header.rows, step):
        rows = min(step, header.rows - start)
        piece = data.slice(header.begin + start * width, rows * width)
        flat = pa.Array.from_buffers(header.numbers, rows * header.columns, [None, piece])
        yield pa.RecordBatch.from_arrays([pa.FixedSizeListArray.from_arrays(flat, header.columns)], schema=schema)


def _header(data: pa.Buffer) -> _Header:
    head = data.slice(0, min(data.size, _LONGEST_HEADER + 12)).to_pybytes()
    if head[:6] != b"\x93NUMPY":
        raise ValueError("not a NumPy array (.npy)")
    if head[6:7] not in (b"\x01", b"\x02", b"\x03", b""):
        raise ValueError(f"an array of version {head[6]}: 1 to 3 are known")
    width, size = ("<H", 2) if head[6:7] == b"\x01" else ("<I", 4)
    (length,) = struct.unpack_from(width, head.ljust(12, b"\0"), 8)
    begin = 8 + size + length
    if data.size < begin:
        raise ValueError("the file is cut: it ends within its header")
    if length > _LONGEST_HEADER:
        raise ValueError(f"a header of {length:,} bytes: at most {_LONGEST_HEADER:,} are read")
    shape, kind, by_column = _said(head[8 + size : begin])
    if kind not in _NUMBERS or by_column or len(shape) != 2 or not shape[1]:
        raise ValueError(f"an array of {kind}, {shape}: (examples, candidates) of floats, row by row, is needed")
    return _Header(begin, shape[0], shape[1], _NUMBERS[kind])


def _said(text: bytes) -> tuple[tuple[int, ...], str, bool]:
    """Return the shape, the type, and whether the numbers stand column by column; ValueError for another header."""
    try:
        header: Any = ast.literal_eval(text.decode("latin-1").strip())
        shape, kind, by_column = header["shape"], header["descr"], header["fortran_order"]
        if len(header) != 3 or not isinstance(shape, tuple) or not isinstance(by_column, bool):
            raise TypeError
        if not all(type(one) is int and 0 <= one < 2**48 for one in shape):
            raise TypeError
        return shape, kind if isinstance(kind, str) else "records", by_column
    except (ValueError, TypeError, LookupError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError("the header is not that of a NumPy array: descr, fortran_order and shape") from error
