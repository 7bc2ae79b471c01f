"""What goes into a lake: the rows of each corpus in each table, as files that are written sorted, or kept as is."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import duckdb
from duckdb_engine import Dialect
from msgspec import structs
from pyarrow.lib import field as arrow_field
from pyarrow.lib import schema
from sqlalchemy import Table

from talkhouse import migrations
from talkhouse.export.expressions import QueryColumn
from talkhouse.export.row_stream import OnRows, QueryRows, cut, row_groups
from talkhouse.export.writers import arrow_errors, write_shards
from talkhouse.ingest.progress import Progress
from talkhouse.lake_format.documents import Columns, check_columns, columns_of_all, mismatch
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import LakeColumn, LakeFile, LakeManifest, is_whole, sha256
from talkhouse.queries.catalogue import Catalogue
from talkhouse.schema import warehouse
from talkhouse.schema.errors import UsageError, closest
from talkhouse.schema.guard import NO_SETTINGS, Settings, guard
from talkhouse.schema.sql import column_types, dicts, literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.system.memory import in_little_memory
from talkhouse.warehouse.file_hashes import FileHashes, Run, identity_of, same_still
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import SplitView
from talkhouse.warehouse.rows_hash import SHARED, RowsHash, added, belongs, rows_hash


@dataclass(frozen=True)
class Warehouses:
    """All of them, by one connection."""

    con: duckdb.DuckDBPyConnection
    all: tuple[Warehouse, ...]
    corpora: tuple[str, ...]
    """The corpora that go into the lake."""
    written: Mapping[tuple[str, str], "MadeRows"] = field(default_factory=dict)
    """Rows that are in files of the lake's form already, by table and corpus."""
    file_hashes: Mapping[str, FileHashes] = field(default_factory=dict)
    """Of warehouses that have their rows, by their names in SQL."""

    @property
    def catalogue(self) -> str:
        """SHA-256 over the SQL of the views, which all of them have alike."""
        return str(self.all[0].build["catalogue_hash"])

    @property
    def split_views(self) -> Mapping[str, SplitView]:
        """The views of one split that any of them has, by their full names."""
        return {name: view for warehouse in self.all for name, view in warehouse.split_views.items()}

    def rows(self, table: Table, corpus: str) -> str:
        """Return the query of the rows of a corpus in a table, or of those of none, in no order."""
        if (owner := self._owner(corpus)) is not None:
            return f"{_select(owner, table)} where {belongs(table, corpus)}"
        selects = [f"{_select(warehouse, table)} where {_belongs_to_none(table, warehouse)}" for warehouse in self.all]
        return selects[0] if len(selects) == 1 else _joined(table, selects)

    def hashes_of(self, corpus: str) -> FileHashes | None:
        """Return the hashes by source file of the warehouse of a corpus; None for rows that belong to none."""
        owner = self._owner(corpus)
        return None if owner is None else self.file_hashes.get(owner.database)

    def path(self, corpus: str) -> Path:
        """Return the warehouse of a corpus, or the first."""
        return (self._owner(corpus) or self.all[0]).path

    def _owner(self, corpus: str) -> Warehouse | None:
        return next((warehouse for warehouse in self.all if corpus in warehouse.corpus_ids), None)


@contextmanager
def attached(paths: Sequence[Path], only: Sequence[str], settings: Settings = NO_SETTINGS) -> Iterator[Warehouses]:
    """Open warehouses side by side, for their corpora or ``only`` for some; ``settings`` are made before all others.

    Raises what ``open_warehouse`` raises; UsageError for a corpus that none of them has, or several.
    """
    with duckdb.connect() as con:
        databases = {f"warehouse_{index}": path for index, path in enumerate(paths)}
        before = {database: identity_of(path) for database, path in databases.items()}
        for database, path in databases.items():
            warehouse.open_warehouse(path, migrations.head()).close()  # says what is wrong with it
            con.execute(f"attach {literal(str(path))} as {database} (read_only)")
        guard(con, settings)
        for database, path in databases.items():
            check_tables(con, database, path)
        # In whatever order they were named; their corpora have names, which become those of folders.
        opened = [Warehouse(con, database) for database in databases]
        found = tuple(sorted(opened, key=lambda item: item.corpus_ids))
        con.execute(f"use {found[0].database}")
        file_hashes = {name: FileHashes(con, name, same_still(before[name], path)) for name, path in databases.items()}
        warehouses = Warehouses(con, found, _wanted(found, only), file_hashes=file_hashes)
        if len(found) > 1:
            _check_shared(warehouses)
        yield warehouses
        for hashes in file_hashes.values():
            hashes.keep()


def _check_shared(warehouses: Warehouses) -> None:
    """Raise UsageError where warehouses have different rows of no corpus under one key."""
    for table in metadata.tables.values():
        grain = ", ".join(quoted(column) for column in table.info["grain"])
        rows = warehouses.rows(table, SHARED)
        twice = dicts(warehouses.con.execute(f"select {grain} from ({rows}) group by all having count(*) > 1 limit 1"))
        if twice:
            raise UsageError(
                f"the warehouses disagree on a row of {qualified(table)}",
                found=", ".join(f"{column} = {value}" for column, value in twice[0].items()),
                next_step="build them with one version of Talkhouse: talkhouse build",
            )


def _wanted(found: Sequence[Warehouse], only: Sequence[str]) -> tuple[str, ...]:
    counts = Counter(corpus for warehouse in found for corpus in warehouse.corpus_ids)
    if twice := sorted(corpus for corpus, count in counts.items() if count > 1):
        raise UsageError(
            f"the corpus {twice[0]} is in two of the warehouses",
            found=", ".join(str(warehouse.path) for warehouse in found if twice[0] in warehouse.corpus_ids),
            next_step="name warehouses of different corpora",
        )
    for corpus in only:
        if corpus not in counts:
            raise UsageError(
                f"no corpus '{corpus}' to write",
                expected=f"one of: {', '.join(closest(corpus, counts))}",
                next_step="see what is in the warehouse with: talkhouse status",
            )
    return tuple(sorted(set(only) or counts))


def _select(warehouse: Warehouse, table: Table) -> str:
    columns = ", ".join(quoted(column.name) for column in table.columns)
    return f"select {columns} from {warehouse.database}.{qualified(table)}"


def _belongs_to_none(table: Table, warehouse: Warehouse) -> str:
    return " and ".join(f"({belongs(table, corpus)}) is not true" for corpus in warehouse.corpus_ids) or "true"


_NUMBERED = {"meta.loads": ("load_id", 1), "meta.findings": ("finding_index", 0)}
"""Tables whose rows each build numbers for itself: the column, and its first number."""


def _joined(table: Table, selects: Sequence[str]) -> str:
    """Return the query of the rows of no corpus in several warehouses: each of them once.

    Builds are numbered anew, in the order in which they began, and what a check has found and cost is added up.
    """
    union, name = " union ".join(f"({select})" for select in selects), qualified(table)
    if name == "meta.checks":
        # Sorted, since DuckDB adds numbers up in any order and the sum differs in a digit.
        return (
            "select check_name, severity, condition, sum(offending)::bigint as offending, "
            f"list_sum(list(milliseconds order by milliseconds)) as milliseconds from ({union}) group by all"
        )
    if name not in _NUMBERED:
        return union
    column, first = _NUMBERED[name]
    others = ", ".join(quoted(other.name) for other in table.columns if other.name != column)
    return (
        f"select * replace ((row_number() over (order by {others}) + {first - 1})::integer as {column}) "
        f"from (select distinct on ({others}) * from ({union}) order by {column})"
    )


_VIEWS = "select schema_name || '.' || view_name from duckdb_views() where database_name = ? and not internal"


def check_tables(con: duckdb.DuckDBPyConnection, database: str, path: Path) -> None:
    """Raise SchemaMismatch for a warehouse with a table less than are declared, or one with other columns.

    Tables that somebody has added are none of the lake's.
    """
    check_columns(declared_columns(con), columns_of_all(con, database), path)


def declared_columns(con: duckdb.DuckDBPyConnection) -> Columns:
    """Describe the tables as they are declared, with the types as DuckDB calls them."""
    dialect = Dialect()
    columns = [(qualified(table), column) for table in metadata.tables.values() for column in table.columns]
    # A text is declared with its compression, which is no part of the type.
    types = [str(column.type.compile(dialect)).partition(" USING ")[0] for _, column in columns]
    distinct = sorted({*types})
    query = f"select {', '.join(f'typeof(null::{type_})' for type_ in distinct)}"
    (names,) = con.execute(query).fetchall()
    called = dict(zip(distinct, names, strict=True))
    declared: dict[str, dict[str, str]] = {name: {} for name, _ in columns}
    for (name, column), type_ in zip(columns, types, strict=True):
        declared[name][column.name] = called[type_]
    return declared


def check_views(warehouse: Warehouse, catalogue: Catalogue) -> None:
    """Raise SchemaMismatch for a warehouse with a view more or less than the catalogue, with those of single splits."""
    there = {name for (name,) in warehouse.con.execute(_VIEWS, [warehouse.database]).fetchall()}
    written = {view.full_name for view in catalogue.views}
    if missing := sorted(written - there):
        raise mismatch("a view is missing", warehouse.path, missing[0], "")
    if others := sorted(there - written - warehouse.split_views.keys()):
        raise mismatch("there is a view that the catalogue does not have", warehouse.path, "", others[0])


class CorpusRows(NamedTuple):
    """The rows of a corpus in a table, or those of a run of its source files, before they are written."""

    table: Table
    columns: tuple[LakeColumn, ...]
    corpus: str
    query: str
    rows: int
    fingerprint: str
    """32 hex digits, the same for the same rows, columns and layout."""
    run: Run | None = None

    @property
    def full_name(self) -> str:
        """The name of the table as a user types it."""
        return qualified(self.table)

    @property
    def sorted(self) -> str:
        """The query of the rows by grain."""
        order = ", ".join(f"{quoted(column)} asc nulls last" for column in self.table.info["grain"])
        return f"from ({self.query}) order by {order}"

    @property
    def folder(self) -> str:
        """The folder of its files inside the snapshot."""
        return f"{folder_of(self.table)}/corpus={self.corpus}"


class MadeRows(NamedTuple):
    """The rows of a corpus in a table that are written already, in a private folder."""

    same: RowsHash
    folder: Path
    files: tuple[LakeFile, ...]


@dataclass(frozen=True)
class PlannedCorpus:
    """The rows of a corpus in a table, or a run of them, and the files of the current snapshot that hold just these."""

    content: CorpusRows
    files: tuple[LakeFile, ...] = ()
    """Empty where the rows have to be written."""
    damaged: tuple[str, ...] = ()
    """Files that would be kept but are missing or have changed."""


@dataclass(frozen=True)
class PlannedTable:
    """A table with the parts that have rows, or else one without."""

    table: Table
    columns: tuple[LakeColumn, ...]
    parts: tuple[PlannedCorpus, ...]
    fingerprints: Mapping[str, str]
    """Of all rows of each corpus."""

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
    warehouses: Warehouses, table: Table, lake: Path, current: LakeManifest | None, progress: Progress
) -> PlannedTable:
    columns = columns_of_table(warehouses.con, table)
    contents = []
    for corpus in (*warehouses.corpora, SHARED):
        with warehouse.explain_damage(warehouses.path(corpus)):
            contents.append(
                _content(table, columns, corpus, warehouses.rows(table, corpus), _same(warehouses, table, corpus))
            )
        progress.advance(contents[-1].rows)
    # A table without rows has a file too: so readers see its columns.
    with_rows = [rows for rows in contents if rows.rows] or contents[-1:]
    parts = [part for rows in with_rows for part in _compare(rows, warehouses.hashes_of(rows.corpus), lake, current)]
    return PlannedTable(table, columns, tuple(parts), {rows.corpus: rows.fingerprint for rows in with_rows})


def _same(warehouses: Warehouses, table: Table, corpus: str) -> RowsHash:
    """Count and hash rows; most tables of a corpus have none, which is seen in a fifth of the time."""
    if written := warehouses.written.get((qualified(table), corpus)):
        return written.same
    hashes = warehouses.hashes_of(corpus)
    if hashes and (of_files := hashes.of(table).get(corpus)):
        return added(of_files.values())
    query = warehouses.rows(table, corpus)
    is_empty = not warehouses.con.execute(f"select 1 from ({query}) limit 1").fetchall()
    return added(()) if is_empty else rows_hash(warehouses.con, query)


def columns_of_table(con: duckdb.DuckDBPyConnection, table: Table) -> tuple[LakeColumn, ...]:
    """Describe the columns of a table as it is declared, with DuckDB's types."""
    types = column_types(con, qualified(table))
    return tuple(
        LakeColumn(
            str(column.name), types[column.name], bool(column.nullable) and not column.primary_key, column.comment or ""
        )
        for column in table.columns
    )


def _compare(
    rows: CorpusRows, hashes: FileHashes | None, lake: Path, current: LakeManifest | None
) -> list[PlannedCorpus]:
    """Find the files of the current snapshot that hold just these rows, of a large table run by run."""
    before = current.table(rows.full_name) if current else None
    files = [file for file in before.files if file.corpus == rows.corpus] if before else []
    is_same = before is not None and before.fingerprints.get(rows.corpus) == rows.fingerprint
    whole = _planned(rows, files if is_same else [], lake)
    runs = hashes.runs(rows.table, rows.corpus) if hashes and not whole.files else []
    parts = [_content(rows.table, rows.columns, rows.corpus, "", run.same)._replace(run=run) for run in runs]
    planned = [_planned(part, [file for file in files if file.fingerprint == part.fingerprint], lake) for part in parts]
    return planned or [whole]


def _planned(rows: CorpusRows, files: Sequence[LakeFile], lake: Path) -> PlannedCorpus:
    damaged = tuple(file.path for file in files if not is_whole(file, lake))
    return PlannedCorpus(rows, damaged=damaged) if damaged else PlannedCorpus(rows, files=tuple(files))


_MEMORY = 1_000_000_000
"""Bytes that DuckDB may hold while it sorts; what is above goes to the disk, so that memory does not grow with rows."""

_FILE_BYTES = 256_000_000
"""Bytes from which on the rows go on in another file."""

_COMPRESSION = {"compression": "zstd", "compression_level": 3}

_FORMAT = 1
"""Raised when the same rows are written otherwise, as with other types or comments: every lake gets its files anew."""

_LAYOUT = f"{_FORMAT} {_FILE_BYTES} {_COMPRESSION} {duckdb.__version__} {installed('pyarrow')}"
"""What decides, in addition to rows and columns, how the bytes of files come out."""


def folder_of(table: Table) -> str:
    """Return the folder of a table's files inside the snapshot."""
    return qualified(table).replace(".", "/")


def _content(table: Table, columns: tuple[LakeColumn, ...], corpus: str, query: str, same: RowsHash) -> CorpusRows:
    described = f"{qualified(table)} {table.comment} {table.info['grain']} {columns}"
    state = f"{_LAYOUT} {described} {corpus} {same}"
    return CorpusRows(table, columns, corpus, query, same.rows, hashlib.sha256(state.encode()).hexdigest()[:32])


def write(
    con: duckdb.DuckDBPyConnection,
    parts: Sequence[CorpusRows],
    query: str,
    snapshot: Inside,
    on_rows: OnRows,
    *,
    first: int = 0,
    bytes_a_file: int = _FILE_BYTES,
) -> list[LakeFile]:
    """Write the rows of a query, those of each part after the other, to files of a snapshot, each to its own.

    ``first``: the number of the first file. Returns them with paths that begin with the snapshot's name.
    """

    def create(number: int, index: int) -> AbstractContextManager[BinaryIO]:
        return snapshot.below(parts[0].folder).creating(_name(number + index))

    def work() -> list[LakeFile]:
        files: list[LakeFile] = []
        stream = QueryRows(con, con.sql(query), on_rows=on_rows)
        with arrow_errors("Parquet"):
            types, batches = stream.batches(QueryColumn.as_stored)
            for part, rows in zip(parts, cut(batches, [part.rows for part in parts]), strict=True):
                number = first + len(files)
                described = _declared(types, part)
                shards = write_shards(
                    row_groups(rows), described, partial(create, number), bytes_a_file, **_COMPRESSION
                )
                files += [_describe(number + index, part, shard.rows, snapshot) for index, shard in enumerate(shards)]
        return files

    return in_little_memory(con, _MEMORY, work)


def _name(index: int) -> str:
    return f"part-{index:05}.parquet"


def _declared(types: Any, rows: CorpusRows) -> Any:
    """Return the schema of the rows with what is declared: which columns have no nulls, and all comments."""
    fields = [
        arrow_field(column.name, types.field(column.name).type, column.nullable, metadata={"comment": column.comment})
        for column in rows.columns
    ]
    return schema(fields, metadata={"table": rows.full_name, "comment": rows.table.comment or ""})


def link(files: Iterable[LakeFile], folder: Path, to: Inside, first: int = 0) -> list[LakeFile]:
    """Link the files of a corpus in a table into another folder, and return them with their new paths there.

    ``first``: the number of the first of them.
    """
    linked = []
    for index, file in enumerate(files, first):
        inside = f"{file.path.partition('/')[2].rpartition('/')[0]}/{_name(index)}"
        Inside(folder).link(file.path, to, inside)
        linked.append(structs.replace(file, path=f"{to.name}/{inside}"))
    return linked


def _describe(number: int, part: CorpusRows, rows: int, snapshot: Inside) -> LakeFile:
    inside = f"{part.folder}/{_name(number)}"
    with snapshot.reading(inside) as stream:
        size = os.fstat(stream.fileno()).st_size
        fingerprint = part.fingerprint if part.run else None
        return LakeFile(f"{snapshot.name}/{inside}", part.corpus, rows, size, sha256(stream), fingerprint)
