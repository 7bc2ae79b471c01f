"""The files of one corpus in one table: written sorted, the same rows always as the same bytes, or kept as they are."""

import hashlib
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

from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.manifest import Column, File
from talkhouse.lake_format.table_files import sha256
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

FORMAT = 1
"""Raised when the same rows are written otherwise, as with other types or comments: every lake gets its files anew."""

_LAYOUT = f"{FORMAT} {_FILE_BYTES} {_COMPRESSION} {duckdb.__version__} {installed('pyarrow')}"
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


def write(
    con: duckdb.DuckDBPyConnection, rows: Content, snapshot: Inside, on_rows: OnRows, bytes_a_file: int = _FILE_BYTES
) -> list[File]:
    """Write rows, sorted by grain, to files of a snapshot; return them with paths that begin with its name."""
    order = ", ".join(f"{quoted(column)} asc nulls last" for column in rows.table.info["grain"])

    def work() -> list[int]:
        stream = Rows(con, con.sql(f"from ({rows.query}) order by {order}"), on_rows=on_rows)
        with _query_errors():
            types, batches = stream.batches(Expression.as_stored)
            return _write(row_groups(batches), _declared(types, rows), snapshot.below(rows.folder), bytes_a_file)

    counts = in_little_memory(con, _MEMORY, work)
    return [
        _describe(f"{rows.folder}/{_name(index)}", rows.corpus, count, snapshot) for index, count in enumerate(counts)
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


def _write(groups: Iterator[Any], declared: Any, folder: Inside, bytes_a_file: int) -> list[int]:
    """Write row groups to as many files as they need, at least one; return the number of rows of each."""
    counts: list[int] = []
    group = next(groups, None)
    while not counts or group is not None:
        counts.append(0)
        with (
            folder.creating(_name(len(counts) - 1)) as stream,
            parquet.ParquetWriter(stream, declared, **_COMPRESSION) as writer,  # type: ignore[no-untyped-call]
        ):
            while group is not None and stream.tell() < bytes_a_file:
                writer.write_batch(RecordBatch.from_arrays(group.columns, schema=declared))
                counts[-1] += group.num_rows
                group = next(groups, None)
    return counts


def _name(index: int) -> str:
    return f"part-{index:05}.parquet"


def _declared(types: Any, rows: Content) -> Any:
    """Return the schema of the rows with what is declared: which columns have no nulls, and all comments."""
    fields = [
        field(column.name, types.field(column.name).type, column.nullable, metadata={"comment": column.comment})
        for column in rows.columns
    ]
    return schema(fields, metadata={"table": rows.full_name, "comment": rows.table.comment or ""})


def keep(files: Iterable[File], lake: Path, snapshot: Inside) -> list[File]:
    """Put files of the current snapshot into a new one, by a second name; return them with their new paths."""
    return [_keep(file, lake, snapshot) for file in files]


def _keep(file: File, lake: Path, snapshot: Inside) -> File:
    inside = file.path.partition("/")[2]
    Inside(lake).link(file.path, snapshot, inside)
    return File(f"{snapshot.name}/{inside}", file.corpus, file.rows, file.bytes, file.sha256)


def _describe(inside: str, corpus: str, rows: int, snapshot: Inside) -> File:
    with snapshot.reading(inside) as stream:
        size = os.fstat(stream.fileno()).st_size
        return File(f"{snapshot.name}/{inside}", corpus, rows, size, sha256(stream))
