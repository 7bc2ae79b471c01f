"""Files that a user names, which anybody may have made: copied once, and read in bounded memory, as tables or not."""

import csv
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

import duckdb
from pyarrow import lib as pa
from pyarrow.ipc import get_record_batch_size  # type: ignore[attr-defined]
from pyarrow.parquet import ParquetFile

from talkhouse.export.row_stream import row_groups
from talkhouse.ingest.declared.record_files.arrow_buffers import open_arrow
from talkhouse.ingest.declared.record_files.parquet_pages import NamedFile, check_pages
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.sources import JSON_LINES
from talkhouse.schema.errors import SourceError, TalkhouseError, UsageError
from talkhouse.schema.guard import configure, guard
from talkhouse.schema.sql import column_types, literal, quoted
from talkhouse.system.files import copy_hashed, open_named
from talkhouse.system.memory import capped, lowered, out_of_memory

LABEL_FILES = ".labels.json"
"""How the names of files end that are read of a folder or an archive."""

_QUOTED = 300
"""Characters of what a reader says of a file; it may quote a line of any length."""


class Copy(NamedTuple):
    """A private copy of one file."""

    name: str
    """Its own name; of a file of a folder, the path in it."""
    path: Path


@dataclass(frozen=True)
class UserFile:
    """A file or folder that the user has named."""

    path: Path
    is_folder: bool
    copies: tuple[Copy, ...]
    """Of a folder, those of its label files."""
    sha256: str
    """Of a folder, that over the names and hashes of its label files."""

    @property
    def only(self) -> Path:
        """The copy, where it is a file."""
        return self.copies[0].path

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.only.stat().st_size


def copy_files(paths: Sequence[Path], folder: Path, limits: Limits) -> list[UserFile]:
    """Copy files to a private folder, and hash them on the way.

    Raises UsageError for what is missing or neither a file nor a folder, SourceError for what is beyond the limits.
    """
    files = []
    for index, path in enumerate(paths):
        if path.is_dir():
            files.append(_folder(path, folder / f"{index}", limits))
        else:
            copy = folder / f"{index}"
            with open_named(path, "name another file") as stream:
                digest, _ = _copy(stream, path, copy, limits)
            files.append(UserFile(path, False, (Copy(path.name, copy),), digest))
    return files


@contextmanager
def readable(files: Sequence[UserFile]) -> Iterator[None]:
    """Turn what a reader raises into UsageError or SourceError with the paths that the user knows."""
    where = ", ".join(str(file.path) for file in files) or None
    try:
        yield
    except (MemoryError, duckdb.OutOfMemoryException):
        raise
    except SourceError as error:
        raise _at(error, files, where) from error
    except (
        *(OSError, zipfile.BadZipFile, duckdb.Error, pa.ArrowException, csv.Error),
        *(BadRecord, ValueError, TypeError, OverflowError, RecursionError),
    ) as error:
        # What DuckDB says below a blank line, or as possible fixes, is about options that users do not have here.
        detail = error.detail if isinstance(error, BadRecord) else str(error).strip()
        detail = re.split(r"\n\n|\nPossible fixes|\. Detail:", detail)[0].replace("\n", "; ")
        for file in files:
            for copy in file.copies:
                detail = detail.replace(str(copy.path), copy.name)
        raise UsageError(
            "the file can't be read",
            where=where,
            found=(detail[:_QUOTED] + (" ..." if len(detail) > _QUOTED else "")) or type(error).__name__,
            next_step="name another file, or, to score it, its layout with --format",
        ) from error


def _at(error: SourceError, files: Sequence[UserFile], paths: str | None) -> TalkhouseError:
    """Return an error about a private copy as one about the file that the user has named."""
    named = {str(copy.path): file.path for file in files for copy in file.copies}
    where = named.get(str(error.where), error.where or paths)
    return SourceError(error.what, where=where, expected=error.expected, found=error.found, next_step=error.next_step)


def _folder(path: Path, folder: Path, limits: Limits) -> UserFile:
    folder.mkdir()
    copies, hashes, total = [], [], 0
    files = disk_files(path, path.name, limits) if any(os.scandir(path)) else []
    labels = [file for file in files if file.location.name.endswith(LABEL_FILES)]
    for index, file in enumerate(sorted(labels, key=lambda file: file.location)):
        copy = Copy(file.location.relative_to(path).as_posix(), folder / f"{index}")
        with file.open() as stream:
            digest, size = _copy(stream, file.location, copy.path, limits)
        total += size
        limits.check("file", total, path, f"{total:,} or more, in its files {LABEL_FILES}")
        copies.append(copy)
        hashes.append(f"{copy.name} {digest}\n")
    return UserFile(path, True, tuple(copies), sha256("".join(hashes).encode()).hexdigest())


def _copy(stream: BinaryIO | RawIOBase, path: Path, copy: Path, limits: Limits) -> tuple[str, int]:
    """Copy a file that is open; return its SHA-256 and size."""
    limits.check("file", os.fstat(stream.fileno()).st_size, path)
    return copy_hashed(stream, copy, lambda size: limits.check("file", size, path, f"{size:,} or more"))


MEMORY = 600_000_000
"""Bytes that DuckDB may hold of millions of rows; what is above goes to the disk."""

_OWN_MEMORY = 300_000_000
"""Of these, what the reading itself may hold."""

_BESIDE = 1_500_000_000
"""Bytes of addresses for all that DuckDB does not count, as files may say that they need any number."""

_THREADS = 4
"""More read no faster, for one thread hands over the rows, and each holds memory."""

_BATCH_ROWS = 2_048
"""Rows that are read at once: as many as DuckDB itself has in its hands."""


class Rows(NamedTuple):
    """Rows on their way from a file into memory."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


class Reader(NamedTuple):
    """The connection that reads, and the limits of what it reads."""

    con: duckdb.DuckDBPyConnection
    limits: Limits

    def rows(self, select: str) -> Rows:
        """Return the rows of a query."""
        rows = self.con.sql(select).to_arrow_reader(_BATCH_ROWS)
        return Rows(rows.schema, row_groups(rows))


def bounded(
    batches: Iterable[pa.RecordBatch], limits: Limits, check_rows: Callable[[int], None]
) -> Iterator[pa.RecordBatch]:
    """Yield Arrow batches; ``check_rows`` raises where there are too many rows.

    Raises SourceError for more bytes than a file may have.
    """
    rows = size = 0
    for batch in batches:
        rows, size = rows + batch.num_rows, size + get_record_batch_size(batch)
        check_rows(rows)
        limits.check("file", size, None, f"{size:,} or more, as they are read")
        yield batch


@contextmanager
def reading(
    warehouse: duckdb.DuckDBPyConnection, folder: Path, limits: Limits, what: str, next_step: str
) -> Iterator[Reader]:
    """Yield a reader of the files in a private folder; SourceError where ``what`` they have takes too much memory."""
    with duckdb.connect() as con:
        spilled = str(folder / "spilled")
        guard(
            con, {"allowed_directories": (str(folder),), "temp_directory": spilled, "memory_limit": f"{_OWN_MEMORY}B"}
        )
        configure(con, {"enable_progress_bar": False, "threads": str(min(_THREADS, os.cpu_count() or 1))})
        try:
            with lowered(warehouse, MEMORY), capped(con, _BESIDE):
                yield Reader(con, limits)
        except (MemoryError, duckdb.OutOfMemoryException) as error:
            raise out_of_memory(
                SourceError,
                f"reading the {what}",
                error,
                expected=f"{what} that can be read in about a gigabyte",
                next_step=next_step,
            ) from error


_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ARROW = (".arrow", ".feather")

TABLES = (*_DELIMITERS, *JSON_LINES, ".parquet", *_ARROW)
"""Endings of the files that are read as tables."""

_HEAD = 1_000_000
"""Characters of the names of a CSV file's columns."""


class FileTable(NamedTuple):
    """A file that is open as a table."""

    file: UserFile
    view: str
    """The name of the view on the reader's connection; it has of the file's columns those that are wanted."""
    names: list[str]
    """The names of all columns of the file."""


def open_tables(reader: Reader, files: Sequence[UserFile], wanted: Sequence[str]) -> list[FileTable]:
    """Open each file as a table with the columns that are wanted.

    Raises UsageError where a file can't be read, or has a name twice:
    capital and small letters are the same.
    """
    tables: list[FileTable] = []
    for index, file in enumerate(files):
        with readable([file]):
            tables.append(_open_table(reader, f"table_{index}", file, wanted))
            check_names(names_of(tables), "the files differ in the letters of a column's name")
    return tables


def names_of(tables: Sequence[FileTable]) -> list[str]:
    """Return the names of the columns that any of the files has."""
    return list(dict.fromkeys(name for table in tables for name in table.names))


def select_of(reader: Reader, tables: Sequence[FileTable], wanted: Iterable[str]) -> str:
    """Return the query of the rows of all files, of their columns those that are wanted.

    Raises SourceError where their texts have too many bytes.
    """
    selects = []
    for file, view, all_names in tables:
        names = [name for name in wanted if name in all_names]
        if file.path.suffix.lower() == ".parquet":
            _check_texts(reader, file, view, names)
        selects.append(f"select {', '.join(map(quoted, names)) or 'null::varchar as warning'} from {view}")
    return " union all by name ".join(selects)


def _open_table(reader: Reader, name: str, file: UserFile, wanted: Sequence[str]) -> FileTable:
    """Create a view of a file; in text formats each column is text, to be read as what it should be."""
    suffix = file.path.suffix.lower()
    if suffix in _DELIMITERS:
        names, source = _csv(file.only, _DELIMITERS[suffix], wanted)
    elif suffix in JSON_LINES:
        names, source = _json_lines(reader, file, wanted)
    elif suffix == ".parquet":
        names, source = _parquet(reader, file)
    elif suffix in _ARROW:
        rows = open_arrow(file.only, NamedFile(str(file.path), file.size, reader.limits))
        check_names(rows.schema.names)
        reader.con.register(f"{name}_rows", rows)
        names, source = rows.schema.names, f"select * from {name}_rows"
    else:
        raise UsageError(
            f"the name '{file.path.name}' does not show what is in it",
            where=file.path,
            expected=f"a name that ends in {', '.join(TABLES)}, or a layout named by --format",
            next_step="rename the file, or add --format",
        )
    reader.con.execute(f"create temp view {name} as {source}")
    return FileTable(file, name, names)


def _csv(path: Path, delimiter: str, wanted: Sequence[str]) -> tuple[list[str], str]:
    """Return the columns of a CSV or TSV file, those of its first line, and the query of what is wanted, as text."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        names = next(csv.reader(_head(stream), delimiter=delimiter), [])
    if not names:
        raise ValueError("the first line has no names" if path.stat().st_size else "the file is empty")
    check_names(names)
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(names)))
    members = [f"c{names.index(name)} as {quoted(name)}" for name in wanted if name in names]
    source = (
        f"read_csv({literal(str(path))}, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', allow_quoted_nulls = false, "
        "hive_partitioning = false, compression = 'none')"
    )
    return names, f"select {', '.join(members) or 'null::varchar as warning'} from {source}"


def _head(stream: TextIO) -> Iterator[str]:
    """Yield the first lines of a file; ValueError where its columns' names have no end."""
    left = _HEAD
    while left and (line := stream.readline(left)):
        left -= len(line)
        yield line
    if not left:
        raise ValueError(f"the names of the columns have more than {_HEAD:,} characters")


def _parquet(reader: Reader, file: UserFile) -> tuple[list[str], str]:
    """Return the columns of a Parquet file, and its query; ValueError for a column twice."""
    with file.only.open("rb") as stream:
        check_pages(stream, NamedFile(str(file.path), file.size, reader.limits))
        names = ParquetFile(stream).schema_arrow.names  # type: ignore[no-untyped-call]
    # DuckDB would read the second of two by another name.
    check_names(names)
    return names, f"select * from read_parquet({literal(str(file.only))}, hive_partitioning = false)"


def _check_texts(reader: Reader, file: UserFile, table: str, names: list[str]) -> None:
    """Raise SourceError where texts that the file has once make too many bytes, since rows repeat them."""
    types = column_types(reader.con, table)
    lengths = {"VARCHAR": "strlen", "BLOB": "octet_length"}
    texts = [(name, lengths[types[name]]) for name in names if types[name] in lengths]
    if texts:
        sizes = " + ".join(f"coalesce(sum({length}({quoted(name)})), 0)" for name, length in texts)
        ((size,),) = reader.con.execute(f"select {sizes} from {table}").fetchall()
        reader.limits.check("file", int(size), file.path, f"{int(size):,}, as its rows repeat texts")


_TWICE = "len(keys) > len(list_distinct(list_transform(keys, lambda key: lower(key))))"


def _json_lines(reader: Reader, file: UserFile, wanted: Sequence[str]) -> tuple[list[str], str]:
    """Return the keys of all rows, and the query of those that are wanted; ValueError for a key twice."""
    source = f"read_ndjson_objects({literal(str(file.only))}, compression = 'none')"
    reader.con.execute(
        "create or replace temp table shapes as "
        f"select json_type(json) = 'OBJECT' as is_object, json_keys(json) as keys from {source} group by all"
    )
    _check_shapes(reader, source)
    rows = reader.con.execute("select distinct unnest(keys) from shapes order by all limit 10001").fetchall()
    names = [name for (name,) in rows]
    if not names:
        raise ValueError("the file has no rows")
    try:
        check_names(names)
    except ValueError as error:
        raise ValueError(f"{error}, in different rows") from error
    members = [f"json ->> {literal('$.' + json.dumps(name))} as {quoted(name)}" for name in wanted if name in names]
    return names, f"select {', '.join(members) or 'null::varchar as warning'} from {source}"


def _check_shapes(reader: Reader, source: str) -> None:
    """Raise ValueError for rows that are no objects, or have a key twice, with the first of them."""
    for bad, problem in (("not is_object", "not a JSON object"), (_TWICE, "a key is in it twice")):
        if not reader.con.execute(f"select 1 from shapes where {bad} limit 1").fetchall():
            continue
        ((row, text),) = reader.con.execute(
            "select row, text from (select row_number() over () as row, (json::varchar)[:80] as text, "
            f"json_type(json) = 'OBJECT' as is_object, json_keys(json) as keys from {source}) where {bad} limit 1"
        ).fetchall()
        raise ValueError(f"row {row:,}: {problem}: {text}")


_MOST = 10_000


def check_names(names: Iterable[str], problem: str = "a column is in it twice") -> None:
    """Raise ValueError for a name twice, capital and small letters being the same, as in DuckDB; and for too many."""
    known: dict[str, str] = {}
    for place, name in enumerate(names, 1):
        before = known.setdefault(name.lower(), name)
        if len(known) < place:
            raise ValueError(f"{problem}: {before[:60]!r} and {name[:60]!r}")
    if len(known) > _MOST:
        raise ValueError(f"it has {len(known):,} columns, more than {_MOST:,}")
