"""What the layouts of publishers are read from: label files, lines, and rows of scores."""

import ast
import json
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from pyarrow import lib as pa

from talkhouse.ingest.decode import BadRecord, check_depth
from talkhouse.ingest.files.archives import open_archive, open_member
from talkhouse.ingest.files.disk_files import readable as readable_archive
from talkhouse.ingest.files.limits import Limits
from talkhouse.queries.heads import LayoutQuery
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import literal
from talkhouse.scores.examples import Examples
from talkhouse.scores.typed import KEYS
from talkhouse.scores.workspace import Bound, ScoringTable, ScoringWorkspace, check_rows
from talkhouse.user_files import LABEL_FILES, Reader, Rows, UserFile, readable

_DOCUMENTS = pa.schema([("path", pa.string()), ("content", pa.string())])
_LONGEST_LINE = 16_777_216
"""Bytes of a line, and of a row of JSON Lines: DuckDB holds several of that size."""

_TOGETHER = 16_000_000
"""Bytes of documents that are handed over at once."""


def load_layout(
    workspace: ScoringWorkspace, reader: Reader, file: UserFile, layout: LayoutQuery, most: int
) -> ScoringTable:
    """Create the table that a publisher's layout reads; UsageError where its file can't be read."""
    form = layout.reads
    with readable([file]):
        if form == "documents":
            columns = "path, content::json as content"
            batches = _batches(_documents(file, reader.limits))
            documents = workspace.load(form, Rows(_DOCUMENTS, batches), reader.limits, most, columns)
            if not workspace.count(documents):
                raise ValueError(f"it has no file whose name ends in {LABEL_FILES}")
            return documents
        if form == "score_rows":
            columns = "scores::double[] as scores"
            rows = workspace.load("array_rows", _array_rows(file.only), reader.limits, most, columns)
            return workspace.create(form, f"select row_number() over () - 1 as row_index, scores from {rows}")
        lines = reader.rows(f"select row_number() over () - 1 as line_index, line from {_lines(file)}")
        return workspace.load(form, lines, reader.limits, most)


def apply_layout(
    workspace: ScoringWorkspace,
    file: UserFile,
    layout: LayoutQuery,
    source: ScoringTable,
    examples: Examples,
    most: int,
) -> ScoringTable:
    """Create a table of predictions from what a layout reads; UsageError where that is of another layout."""
    relations = {"keys": examples.keys, "other_keys": examples.others, layout.reads: source}
    sql = Bound(layout, "layouts", {name: f"from {table}" for name, table in relations.items()})
    # What is wrong with the SQL shows before a row is read; what comes then is wrong with the rows.
    columns = sql.check(workspace.con)
    if not columns.keys() & KEYS:
        raise CatalogueError(
            "the SQL file gives no key of an example",
            where=layout.path,
            expected=f"one of the columns {', '.join(sorted(KEYS))}",
            found=f"the columns {', '.join(columns)}",
            next_step="select it: docs/score-metrics.md says what a layout gives",
        )
    with readable([file]):
        laid_out = workspace.create("laid_out", f"select * from ({sql.sql}) limit {most + 1}")
        check_rows(workspace.count(laid_out), most)
    return laid_out


def _lines(file: UserFile) -> str:
    return (
        f"read_csv({literal(str(file.only))}, auto_detect = false, header = false, columns = {{'line': 'VARCHAR'}}, "
        f"delim = e'\\x01', quote = '', escape = '', max_line_size = {_LONGEST_LINE}, "
        f"buffer_size = {2 * _LONGEST_LINE}, parallel = false, "
        "hive_partitioning = false, compression = 'none')"
    )


def _batches(documents: Iterator[tuple[str, str]]) -> Iterator[pa.RecordBatch]:
    held: list[tuple[str, str]] = []
    size = 0
    for name, text in documents:
        held.append((name, text))
        size += len(text)
        if size > _TOGETHER:
            yield _batch(held)
            held, size = [], 0
    if held:
        yield _batch(held)


def _batch(documents: list[tuple[str, str]]) -> pa.RecordBatch:
    names, texts = zip(*documents, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(names, pa.string()), pa.array(texts, pa.string())], schema=_DOCUMENTS)


def _documents(file: UserFile, limits: Limits) -> Iterator[tuple[str, str]]:
    """Read the label files of a folder or archive: name and text of each."""
    for name, content in _copied(file, limits) if file.is_folder else _members(file, limits):
        yield name, _text(name, content)


def _copied(file: UserFile, limits: Limits) -> Iterator[tuple[str, bytes]]:
    for copy in file.copies:
        limits.check("record", copy.path.stat().st_size, file.path / copy.name)
        yield copy.name, copy.path.read_bytes()


def _members(file: UserFile, limits: Limits) -> Iterator[tuple[str, bytes]]:
    with readable_archive(file.path, file.size):
        archive, members = open_archive(file.only, file.path.name, limits)
        with closing(archive):
            for name, size in sorted(members):
                if name.endswith(LABEL_FILES):
                    limits.check("record", size, f"{file.path}/{name}")
                    with open_member(archive, name) as stream:
                        content = stream.read(size + 1)
                    if len(content) != size:
                        raise EOFError(f"{name} has another size than the archive says")
                    yield name, content


def _text(name: str, content: bytes) -> str:
    """Return the text of a document; ValueError with its name where it is no JSON, or has a key twice."""
    try:
        check_depth(content)
        text = content.decode("utf-8-sig")
        json.loads(text, object_pairs_hook=_unique, parse_int=str)
    except BadRecord as error:
        raise ValueError(f"{name}: {error.detail}") from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; ValueError for a repeated key, since programs differ on which they take."""
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise ValueError(f"the key {key[:60]!r} is in an object twice")
        members[key] = value
    return members


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


class _ArrayShape(NamedTuple):
    """What the header of an array says, as NumPy writes it."""

    shape: tuple[int, ...]
    type: str
    is_by_column: bool


def _array_rows(path: Path) -> Rows:
    """Return the rows of a two-dimensional array of floats, as a column ``scores``; ValueError for another array."""
    data = pa.memory_map(str(path)).read_buffer()
    header = _numpy_header(data)
    size = header.numbers.bit_width // 8
    if data.size - header.begin != header.rows * header.columns * size:
        raise ValueError(
            f"the file is cut or too long: ({header.rows}, {header.columns}) numbers of {size} bytes are announced"
        )
    schema = pa.schema([("scores", pa.list_(header.numbers, header.columns))])
    return Rows(schema, _array_batches(data, header, schema))


def _array_batches(data: pa.Buffer, header: _Header, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    width = header.columns * header.numbers.bit_width // 8
    step = max(1, _PIECE // width)
    for start in range(0, header.rows, step):
        rows = min(step, header.rows - start)
        piece = data.slice(header.begin + start * width, rows * width)
        flat = pa.Array.from_buffers(header.numbers, rows * header.columns, [None, piece])
        yield pa.RecordBatch.from_arrays([pa.FixedSizeListArray.from_arrays(flat, header.columns)], schema=schema)


def _numpy_header(data: pa.Buffer) -> _Header:
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
    array = _array_shape(head[8 + size : begin])
    shape = array.shape
    if array.type not in _NUMBERS or array.is_by_column or len(shape) != 2 or not shape[1]:
        raise ValueError(f"an array of {array.type}, {shape}: (examples, candidates) of floats, row by row, is needed")
    return _Header(begin, shape[0], shape[1], _NUMBERS[array.type])


def _array_shape(text: bytes) -> _ArrayShape:
    """Read the text of a header; ValueError for another one than NumPy's."""
    try:
        header: Any = ast.literal_eval(text.decode("latin-1").strip())
        shape, kind, by_column = header["shape"], header["descr"], header["fortran_order"]
        if len(header) != 3 or not isinstance(shape, tuple) or not isinstance(by_column, bool):
            raise TypeError
        if not all(type(length) is int and 0 <= length < 2**48 for length in shape):
            raise TypeError
        return _ArrayShape(shape, kind if isinstance(kind, str) else "records", by_column)
    except (ValueError, TypeError, LookupError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError("the header is not that of a NumPy array: descr, fortran_order and shape") from error
