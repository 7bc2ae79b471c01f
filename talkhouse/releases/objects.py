"""The files of a release, Parquet of the rows of a corpus in a table, and the frame: written, read in bounds, verified.

A release is what it should be where the bytes of its files are, then their rows, and then the contents that it is named
after. The same is asked of copies of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from pyarrow import lib as pa
from pyarrow.parquet import ParquetWriter

from talkhouse.export.expressions import QueryColumn
from talkhouse.export.row_stream import QueryRows, cut, row_groups
from talkhouse.export.writers import arrow_errors
from talkhouse.ingest.decode import BadRecord
from talkhouse.lake_format import lake_manifest
from talkhouse.releases.manifest import MANIFEST, ReleasedObject
from talkhouse.releases.store import Problem, Stored, problems_of_bytes, read
from talkhouse.schema.errors import ReleaseDamaged, SourceError
from talkhouse.schema.guard import guard
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.warehouse import HOUSEKEEPING, ROW_GROUP, STORAGE_VERSION
from talkhouse.system.files import sha256_of, sync
from talkhouse.warehouse.content_ids import contents_of
from talkhouse.warehouse.opened import opened
from talkhouse.warehouse.rows_hash import VOLATILE, RowsHash, rows_hash

POSTGRESQL = ("postgresql://", "postgres://")
"""How the address of a copy begins."""


class WrittenObject(NamedTuple):
    """A file, and what a manifest says of its bytes."""

    file: str
    bytes: int
    sha256: str


def write_rows(
    con: duckdb.DuckDBPyConnection, query: str, rows: Mapping[str, int], folder: Path
) -> list[WrittenObject]:
    """Write the rows of a query to files of a folder, one after the other; ``rows``: how many, by the file's name."""
    with arrow_errors("Parquet"):
        schema, batches = QueryRows(con, con.sql(query)).batches(QueryColumn.as_stored)
        for name, of_file in zip(rows, cut(batches, rows.values()), strict=True):
            (folder / name).unlink(missing_ok=True)  # where a first attempt had too little memory
            with ParquetWriter(folder / name, schema, compression="zstd", compression_level=3) as writer:  # type: ignore[no-untyped-call]
                for group in row_groups(of_file):
                    writer.write_batch(group)
    return [described(folder / name) for name in rows]


def described(path: Path) -> WrittenObject:
    """Force a file to the disk, take from everybody the right to write to it, and describe it."""
    sync(path)
    path.chmod(0o444)
    return WrittenObject(path.name, path.stat().st_size, sha256_of(path))


def frame_address(con: duckdb.DuckDBPyConnection, database: str) -> str:
    """Hash all that a frame has: 32 hex digits."""
    lines = [line for (line,) in con.execute(sql_of(__file__, "frame_ddl"), [database]).fetchall()]
    return sha256("\n".join(lines).encode()).hexdigest()[:32]


def write_frame(con: duckdb.DuckDBPyConnection, database: str, path: Path) -> WrittenObject:
    """Write a warehouse without rows: all tables, views and macros with their comments."""
    path.unlink(missing_ok=True)  # where a first attempt had too little memory
    options = f"row_group_size {ROW_GROUP}, storage_version '{STORAGE_VERSION}'"
    con.execute(f"attach {literal(str(path))} as frame ({options})")
    try:
        con.execute(f"copy from database {quoted(database)} to frame (schema)")
        con.execute("checkpoint frame")
    finally:
        con.execute("detach frame")
    return described(path)


@contextmanager
def rows_of(stored: Stored, file: ReleasedObject) -> Iterator[Any]:
    """Open an object and yield its rows as a stream of Arrow; ReleaseDamaged where that can't be."""
    try:
        with stored.objects.rows(file.file) as rows:
            yield rows
    except (pa.ArrowException, BadRecord, SourceError, OSError, UnicodeDecodeError, OverflowError) as error:
        raise ReleaseDamaged(
            f"an object of the release '{stored.release.name}' can't be read",
            where=stored.store / stored.objects.path / file.file,
            expected="Parquet that Talkhouse wrote",
            found=str(error),
            next_step=f"see all of it with: talkhouse release verify {stored.release.name}",
        ) from error


def verify(store: Path, name: str) -> list[Problem]:
    """Return the defects of a release; UsageError if there is no such release."""
    try:
        stored = read(store, name)
    except ReleaseDamaged as error:
        return [Problem(MANIFEST, error.found or error.what)]
    problems = problems_of_bytes(stored)
    changed = {problem.file for problem in problems}
    with duckdb.connect() as con:
        guard(con)
        for table in stored.release.tables:
            for file in table.files:
                if file.file not in changed and (problem := _problem_of_rows(con, stored, table.table, file)):
                    problems.append(problem)
    return problems


def _problem_of_rows(
    con: duckdb.DuckDBPyConnection, stored: Stored, table: str, file: ReleasedObject
) -> Problem | None:
    try:
        with rows_of(stored, file) as rows:
            con.register("rows_of_object", rows)
            found = rows_hash(con, "from rows_of_object", without=VOLATILE.get(table, frozenset()))
            con.unregister("rows_of_object")
    except (ReleaseDamaged, duckdb.Error) as error:
        return Problem(file.file, f"can't be read: {str(error).splitlines()[0]}")
    is_same = found == RowsHash(file.rows, file.rows_hash)
    return None if is_same else Problem(file.file, "other rows")


def differs(store: Path, name: str, other: str) -> list[Problem]:
    """Compare a release with a warehouse, by its rows, or with a lake or a copy in PostgreSQL, by the id they carry."""
    release = read(store, name).release
    if other.startswith(POSTGRESQL):
        found = _id_of_copy(other)
    elif Path(other).is_dir():
        found = lake_manifest.read(Path(other)).content_id
    else:
        with opened(Path(other)) as warehouse:
            warehouse.con.execute(f"use {quoted(warehouse.database)}")
            corpora = [corpus.corpus_id for corpus in release.corpora]
            found = contents_of(warehouse.con, warehouse.database, corpora).content_id
    # An address may have a password in it.
    shown = "the copy in PostgreSQL" if other.startswith(POSTGRESQL) else other
    return [] if found == release.content_id else [Problem(shown, "not of this release's content_id")]


def _id_of_copy(url: str) -> str | None:
    from talkhouse.postgres.record import read_record
    from talkhouse.postgres.server import connected

    with connected(url) as server:
        published = read_record(server, HOUSEKEEPING)
    return None if published is None else published.content_id
