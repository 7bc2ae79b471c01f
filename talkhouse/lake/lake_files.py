"""What goes into a lake: the rows of each corpus in each table, as files that are written sorted, or kept as is."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from pyarrow import parquet
from pyarrow.lib import RecordBatch, field, schema
from sqlalchemy import Table
from sqlalchemy import Table as Declared

from talkhouse.lake.warehouses import Warehouses
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import LakeColumn, LakeFile, LakeManifest, is_whole, sha256
from talkhouse.progress import Progress
from talkhouse.query.expressions import Column as Expression
from talkhouse.query.row_stream import OnRows, Rows, row_groups
from talkhouse.schema import warehouse
from talkhouse.schema.sql import quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.system.memory import in_little_memory
from talkhouse.warehouse.relations import columns_of
from talkhouse.warehouse.rows_hash import SHARED, rows_hash


class CorpusRows(NamedTuple):
    """The rows of a corpus in a table, before they are written."""

    table: Table
    columns: tuple[LakeColumn, ...]
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


@dataclass(frozen=True)
class PlannedCorpus:
    """The rows of a corpus in a table, and the files of the current snapshot that hold just these."""

    content: CorpusRows
    kept: tuple[LakeFile, ...] = ()
    """Empty where the rows have to be written."""
    damaged: tuple[str, ...] = ()
    """Files that would be kept but are missing or have changed."""


@dataclass(frozen=True)
class PlannedTable:
    """A table with the parts that have rows, or else one without."""

    table: Declared
    columns: tuple[LakeColumn, ...]
    parts: tuple[PlannedCorpus, ...]

    @property
    def rows(self) -> int:
        """The number of its rows."""
        return sum(part.content.rows for part in self.parts)


Plan = tuple[PlannedTable, ...]


def make_plan(warehouses: Warehouses, lake: Path, current: LakeManifest | None, progress: Progress) -> Plan:
    """Count and hash the rows of all tables, and find which of them the lake has already."""
    progress.begin("comparing", unit="rows")
    return tuple(_plan(warehouses, table, lake, current, progress) for table in metadata.tables.values())


def _plan(
    warehouses: Warehouses, table: Declared, lake: Path, current: LakeManifest | None, progress: Progress
) -> PlannedTable:
    columns = _columns(warehouses, table)
    contents = []
    for corpus in (*warehouses.corpora, SHARED):
        with warehouse.explain_damage(warehouses.path(corpus)):
            contents.append(_content(warehouses.con, table, columns, corpus, warehouses.rows(table, corpus)))
        progress.advance(contents[-1].rows)
    # A table without rows has a file too: whoever reads it sees its columns.
    with_rows = [rows for rows in contents if rows.rows] or contents[-1:]
    return PlannedTable(table, columns, tuple(_compare(rows, lake, current) for rows in with_rows))


def _columns(warehouses: Warehouses, table: Declared) -> tuple[LakeColumn, ...]:
    """Describe the columns of a table as it is declared, with DuckDB's types."""
    columns = columns_of(warehouses.con, table.schema or "main", table.name)
    types = {column["name"]: column["type"] for column in columns}
    return tuple(
        LakeColumn(
            str(column.name), types[column.name], bool(column.nullable) and not column.primary_key, column.comment or ""
        )
        for column in table.columns
    )


def _compare(rows: CorpusRows, lake: Path, current: LakeManifest | None) -> PlannedCorpus:
    """Find the files of the current snapshot that hold just these rows."""
    before = current.table(rows.full_name) if current else None
    if before is None or before.fingerprints.get(rows.corpus) != rows.fingerprint:
        return PlannedCorpus(rows)
    files = tuple(file for file in before.files if file.corpus == rows.corpus)
    damaged = tuple(file.path for file in files if not is_whole(file, lake))
    return PlannedCorpus(rows, damaged=damaged) if damaged else PlannedCorpus(rows, kept=files)


_MEMORY = 1_000_000_000
"""Bytes that DuckDB may hold while it sorts; what is above goes to the disk, so that memory does not grow with rows."""

_FILE_BYTES = 256_000_000
"""Bytes from which on the rows go on in another file."""

_COMPRESSION = {"compression": "zstd", "compression_level": 3}

_FORMAT = 1
"""Raised when the same rows are written otherwise, as with other types or comments: every lake gets its files anew."""

_LAYOUT = f"{_FORMAT} {_FILE_BYTES} {_COMPRESSION} {duckdb.__version__} {installed('pyarrow')}"
"""What decides, beside the rows and columns, how the bytes of files come out."""


def folder_of(table: Table) -> str:
    """Return the folder of a table's files inside the snapshot."""
    return qualified(table).replace(".", "/")


def _content(
    con: duckdb.DuckDBPyConnection, table: Table, columns: tuple[LakeColumn, ...], corpus: str, query: str
) -> CorpusRows:
    """Count and hash rows, whatever order they come in."""
    same = rows_hash(con, query)
    state = f"{_LAYOUT} {_schema(table, columns)} {corpus} {same}"
    return CorpusRows(table, columns, corpus, query, same.rows, hashlib.sha256(state.encode()).hexdigest()[:32])


def _schema(table: Table, columns: tuple[LakeColumn, ...]) -> str:
    return f"{qualified(table)} {table.comment} {table.info['grain']} {columns}"


def write(
    con: duckdb.DuckDBPyConnection, rows: CorpusRows, snapshot: Inside, on_rows: OnRows, bytes_a_file: int = _FILE_BYTES
) -> list[LakeFile]:
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


def _declared(types: Any, rows: CorpusRows) -> Any:
    """Return the schema of the rows with what is declared: which columns have no nulls, and all comments."""
    fields = [
        field(column.name, types.field(column.name).type, column.nullable, metadata={"comment": column.comment})
        for column in rows.columns
    ]
    return schema(fields, metadata={"table": rows.full_name, "comment": rows.table.comment or ""})


def keep(files: Iterable[LakeFile], lake: Path, snapshot: Inside) -> list[LakeFile]:
    """Put files of the current snapshot into a new one, by a second name; return them with their new paths."""
    return [_keep(file, lake, snapshot) for file in files]


def _keep(file: LakeFile, lake: Path, snapshot: Inside) -> LakeFile:
    inside = file.path.partition("/")[2]
    Inside(lake).link(file.path, snapshot, inside)
    return LakeFile(f"{snapshot.name}/{inside}", file.corpus, file.rows, file.bytes, file.sha256)


def _describe(inside: str, corpus: str, rows: int, snapshot: Inside) -> LakeFile:
    with snapshot.reading(inside) as stream:
        size = os.fstat(stream.fileno()).st_size
        return LakeFile(f"{snapshot.name}/{inside}", corpus, rows, size, sha256(stream))
