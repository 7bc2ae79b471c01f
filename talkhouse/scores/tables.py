"""Files of predictions as relations: tables in any export format, and what the layouts of publishers are read from."""

import ast
import csv
import json
import re
import struct
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
from pyarrow import lib as pa
from pyarrow.ipc import open_file

from queries.catalogue import Query
from schema.errors import UsageError
from schema.sql import literal, quoted

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_LINES = (".jsonl", ".ndjson")
_ARROW = (".arrow", ".feather")
TABLES = (*_DELIMITERS, *_JSON_LINES, ".parquet", *_ARROW)
"""Endings of the files that are read as tables."""

_NUMBERS = {"<f2": pa.float16(), "<f4": pa.float32(), "<f8": pa.float64()}
"""Types of a NumPy array of scores, and those of Arrow that have the same bytes."""

_LARGEST = 2_000_000_000
"""Bytes of all documents of a folder or archive together: those of a challenge are a few megabytes."""


def read_tables(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """Create the view ``raw``: the rows of all files, their columns by name; UsageError where one can't be read."""
    selects = []
    for index, path in enumerate(paths):
        with readable(path):
            select = _table(con, path)
            con.execute(f"create or replace temp view raw_{index} as {select}")
        selects.append(f"select * from raw_{index}")
    con.execute("create or replace temp view raw as " + " union all by name ".join(selects))


def read_layout(con: duckdb.DuckDBPyConnection, path: Path, layout: Query) -> None:
    """Create the view ``raw`` from a publisher's layout; UsageError where it can't be read.

    What the layout reads is a table or view that is named like its form: documents, lines or score_rows.
    """
    form = layout.facts["reads"]
    with readable(path):
        if form == "documents":
            documents = [*_documents(path)]
            if not documents:
                raise ValueError("it has no file whose name ends in .labels.json")
            names, texts = zip(*documents, strict=True)
            table = pa.table({"path": pa.array(names, pa.string()), "content": pa.array(texts, pa.string())})
            con.register("document_texts", table)
            con.execute(
                "create or replace temp view documents as select path, content::json as content from document_texts"
            )
        elif form == "score_rows":
            con.register("array_rows", pa.table({"scores": _array(path)}))
            con.execute(
                "create or replace temp view score_rows as select row_number() over () - 1 as row_index, "
                "scores::double[] as scores from array_rows"
            )
        else:
            con.execute(
                "create or replace temp view lines as select row_number() over () - 1 as line_index, line "
                f"from {_lines(path)}"
            )
        con.execute(f"create or replace temp table laid_out as {layout.sql}")
        con.execute("create or replace temp view raw as from laid_out")


def is_world_log(path: Path) -> bool:
    """Tell whether a file of JSON Lines is a log of dialogues and not a table: by its first line."""
    if path.suffix.lower() not in _JSON_LINES or not path.is_file():
        return False
    with path.open("rb") as stream:
        return b'"dialog"' in stream.readline()


@contextmanager
def readable(*paths: Path) -> Iterator[None]:
    """Turn what a reader raises into UsageError with the paths."""
    try:
        yield
    except (OSError, zipfile.BadZipFile, duckdb.Error, pa.ArrowException, ValueError, csv.Error) as error:
        # What DuckDB says below a blank line, or as possible fixes, is about options that nobody has here.
        said = re.split(r"\n\n|\nPossible fixes", str(error).strip())[0].replace("\n", "; ")
        raise UsageError(
            "the predictions can't be read",
            where=", ".join(map(str, paths)) or None,
            found=said or type(error).__name__,
            next_step="name another file, or its layout with --format",
        ) from error


def _table(con: duckdb.DuckDBPyConnection, path: Path) -> str:
    """Return a SELECT of a file; in text formats each column is text, to be read as what it should be."""
    suffix, file = path.suffix.lower(), literal(str(path))
    if not path.is_file():
        raise UsageError("there is no such file", where=path, next_step="name a file of predictions")
    if suffix in _DELIMITERS:
        return f"select * from {_csv(path, _DELIMITERS[suffix])}"
    if suffix in _JSON_LINES:
        keys = f"select distinct unnest(json_keys(json)) from read_ndjson_objects({file}) order by all"
        names = [name for (name,) in con.execute(keys).fetchall()]
        if not names:
            raise ValueError("the file has no rows")
        members = [f"json ->> {literal('$.' + json.dumps(name))} as {quoted(name)}" for name in names]
        return f"select {', '.join(members)} from read_ndjson_objects({file})"
    if suffix == ".parquet":
        return f"select * from read_parquet({file})"
    if suffix in _ARROW:
        name = f"arrow_{path.resolve()}"
        with pa.memory_map(str(path)) as source:
            con.register(name, open_file(source).read_all())  # type: ignore[no-untyped-call]
        return f"select * from {quoted(name)}"
    raise UsageError(
        f"the name '{path.name}' does not show what is in it",
        where=path,
        expected=f"a name that ends in {', '.join(TABLES)}, or a layout named by --format",
        next_step="rename the file, or add --format",
    )


def _csv(path: Path, delimiter: str) -> str:
    """Return the reader of a CSV or TSV file by the names in its first line, all columns as text."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        names = next(csv.reader(stream, delimiter=delimiter), [])
    if not names or len(set(names)) < len(names):
        raise ValueError("the first line has no names, or one twice" if names else "the file is empty")
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({literal(str(path))}, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', allow_quoted_nulls = false)"
    )


def _lines(path: Path) -> str:
    """Return the reader of the lines of a text."""
    return (
        f"read_csv({literal(str(path))}, auto_detect = false, header = false, columns = {{'line': 'VARCHAR'}}, "
        "delim = e'\\x01', quote = '', escape = '', max_line_size = 200_000_000, parallel = false)"
    )


def _documents(path: Path) -> Iterator[tuple[str, str]]:
    """Read the label files of a folder or zip archive: name and text of each."""
    if path.is_dir():
        for file in sorted(path.rglob("*.labels.json")):
            yield _document(str(file.relative_to(path)), file.read_bytes())
        return
    with zipfile.ZipFile(path) as archive:
        members = [one for one in archive.infolist() if one.filename.endswith(".labels.json")]
        if sum(one.file_size for one in members) > _LARGEST:
            raise ValueError(f"its label files have more than {_LARGEST:,} bytes")
        for member in sorted(members, key=lambda one: one.filename):
            yield _document(member.filename, archive.read(member))


def _document(name: str, content: bytes) -> tuple[str, str]:
    """Return a name and a text; ValueError with the name where the text is no JSON."""
    try:
        text = content.decode("utf-8-sig")
        json.loads(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return name, text


def _array(path: Path) -> pa.Array:
    """Read a two-dimensional NumPy array of numbers, without NumPy: its header is a Python literal."""
    data = path.read_bytes()
    if data[:6] != b"\x93NUMPY":
        raise ValueError("not a NumPy array (.npy)")
    width, size = ("<H", 2) if data[6] == 1 else ("<I", 4)
    (length,) = struct.unpack_from(width, data.ljust(12), 8)
    begin = 8 + size + length
    if len(data) < begin:
        raise ValueError("the file is cut: it ends within its header")
    header = ast.literal_eval(data[8 + size : begin].decode("latin-1"))
    shape, kind = header["shape"], header["descr"]
    if kind not in _NUMBERS or header["fortran_order"] or len(shape) != 2:
        raise ValueError(f"an array of {kind}, {shape}: (examples, candidates) of floats, row by row, is needed")
    numbers = _NUMBERS[kind]
    if len(data) - begin != shape[0] * shape[1] * numbers.bit_width // 8:
        raise ValueError(f"the file is cut: {shape} numbers of {numbers.bit_width // 8} bytes are announced")
    flat = pa.Array.from_buffers(numbers, shape[0] * shape[1], [None, pa.py_buffer(data).slice(begin)])
    return pa.FixedSizeListArray.from_arrays(flat, shape[1])
