"""The files of one corpus in one table: written sorted, the same rows always as the same bytes, or kept as they are."""

import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from pyarrow import parquet
from pyarrow.lib import RecordBatch, field, schema
from sqlalchemy import Table

from talkhouse.lake.inside import Inside
from talkhouse.lake.manifest import Column, File, Manifest
from talkhouse.query.expressions import Column as Expression
from talkhouse.query.row_stream import OnRows, Rows, row_groups
from talkhouse.schema.sql import quoted
from talkhouse.schema.tables import qualified
from talkhouse.system.memory import in_little_memory
from talkhouse.warehouse.row_sets import row_set

_MEMORY = 1_000_000_000
"""Bytes that DuckDB may hold while it sorts; what is above goes to the disk, so that memory does not grow with rows."""

_FILE_BYTES = 256_000_000
"""Bytes from which on the rows go on in another file."""

_COMPRESSION = {"compression": "zstd", "compression_level": 3}

_LAYOUT = f"1 {_FILE_BYTES} {_COMPRESSION} {duckdb.__version__} {installed('pyarrow')}"
"""What decides, beside the rows and columns, how the bytes of files come out."""


class Content(NamedTuple):
    """The rows of a corpus in a table, before they are written."""

    table: Table
    columns: tuple[Column, ...]
    corpus: str
    query: str
    rows: int
    fingerprint: str
    """32 hex digits, the same for the same rows, columns and layout."""

    @property
    def full_name(self) -> str:
        """The name of the table as SQL writes it."""
        return qualified(self.table)

    @property
    def folder(self) -> str:
        """The folder of its files inside the snapshot."""
        return f"{folder_of(self.table)}/corpus={self.corpus}"


def folder_of(table: Table) -> str:
    """Return the folder of a table's files inside the snapshot."""
    return qualified(table).replace(".", "/")


def content(
    con: duckdb.DuckDBPyConnection, table: Table, columns: tuple[Column, ...], corpus: str, query: str
) -> Content:
    """Count and hash rows, whatever order they come in."""
    same = row_set(con, query)
    state = f"{_LAYOUT} {_schema(table, columns)} {corpus} {same}"
    return Content(table, columns, corpus, query, same.rows, hashlib.sha256(state.encode()).hexdigest()[:32])


def _schema(table: Table, columns: tuple[Column, ...]) -> str:
    return f"{qualified(table)} {table.comment} {table.info['grain']} {columns}"


def write(con: duckdb.DuckDBPyConnection, found: Content, snapshot: Inside, on_rows: OnRows) -> list[File]:
    """Write rows, sorted by grain, to files of a snapshot; return them with paths that begin with its name."""
    order = ", ".join(f"{quoted(column)} asc nulls last" for column in found.table.info["grain"])

    def work() -> list[int]:
        rows = Rows(con.sql(f"from ({found.query}) order by {order}"), on_rows=on_rows)
        with _query_errors():
            types, batches = rows.batches(Expression.as_stored)
            return _write(row_groups(batches), _declared(types, found), snapshot.below(found.folder))

    counts = in_little_memory(con, _MEMORY, work)
    return [
        _describe(f"{found.folder}/{_name(index)}", found.corpus, rows, snapshot) for index, rows in enumerate(counts)
    ]


@contextmanager
def _query_errors() -> Iterator[None]:
    """Where a query fails halfway, Arrow raises DuckDB's message as an OSError without a number."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise duckdb.Error(str(error)) from error
        raise


def _write(groups: Iterator[Any], declared: Any, folder: Inside) -> list[int]:
    """Write row groups to as many files as they need, at least one; return the number of rows of each."""
    counts: list[int] = []
    group = next(groups, None)
    while not counts or group is not None:
        counts.append(0)
        with (
            folder.creating(_name(len(counts) - 1)) as stream,
            parquet.ParquetWriter(stream, declared, **_COMPRESSION) as writer,  # type: ignore[no-untyped-call]
        ):
            while group is not None and stream.tell() < _FILE_BYTES:
                writer.write_batch(RecordBatch.from_arrays(group.columns, schema=declared))
                counts[-1] += group.num_rows
                group = next(groups, None)
    return counts


def _name(index: int) -> str:
    return f"part-{index:05}.parquet"


def _declared(types: Any, found: Content) -> Any:
    """Return the schema of the rows with what is declared: which columns have no nulls, and all comments."""
    fields = [
        field(one.name, types.field(one.name).type, nullable=one.nullable, metadata={"comment": one.comment})
        for one in found.columns
    ]
    return schema(fields, metadata={"table": qualified(found.table), "comment": found.table.comment or ""})


def keep(files: Iterable[File], lake: Path, snapshot: Inside) -> list[File]:
    """Put files of the current snapshot into a new one, by a second name; return them with their new paths."""
    return [_keep(file, lake, snapshot) for file in files]


def _keep(file: File, lake: Path, snapshot: Inside) -> File:
    inside = file.path.partition("/")[2]
    Inside(lake).link(file.path, snapshot, inside)
    return File(f"{snapshot.name}/{inside}", file.corpus, file.rows, file.bytes, file.sha256)


def is_whole(file: File, lake: Path) -> bool:
    """Tell whether a file is there, and no link is on the way to it, with the bytes that it was written with."""
    try:
        with Inside(lake).reading(file.path) as stream:
            return os.fstat(stream.fileno()).st_size == file.bytes and sha256(stream) == file.sha256
    except OSError:
        return False


def strangers(found: Manifest, lake: Path) -> list[str]:
    """Return the paths in the folders of tables that an engine would read and the manifest does not name.

    Those that begin with a dot or an underscore are hidden from engines. What is named must be a file, and no link.
    """
    others = []
    for table in found.tables:
        named = {file.path for file in table.files if _is_file(file, lake)}
        try:
            there = [f"{table.folder}/{path}" for path in Inside(lake, table.folder).files()]
        except OSError:
            there = [table.folder]
        others += [path for path in there if path not in named and not any(map(_is_hidden, path.split("/")))]
    return others


def _is_file(file: File, lake: Path) -> bool:
    try:
        with Inside(lake).reading(file.path):
            return True
    except OSError:
        return False


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def sha256(stream: io.BufferedReader) -> str:
    """Hash the bytes of a file: 64 hex digits."""
    return hashlib.file_digest(stream, "sha256").hexdigest()


def _describe(inside: str, corpus: str, rows: int, snapshot: Inside) -> File:
    with snapshot.reading(inside) as stream:
        size = os.fstat(stream.fileno()).st_size
        return File(f"{snapshot.name}/{inside}", corpus, rows, size, sha256(stream))
