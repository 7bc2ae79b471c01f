"""The files of a release: Parquet of the rows of a corpus in a table, and the frame; written, and read in bounds."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from pyarrow import lib as pa

from talkhouse.ingest.decode import BadRecord
from talkhouse.releases.manifest import ReleasedTable, object_name
from talkhouse.releases.store import Stored
from talkhouse.schema.errors import ReleaseDamaged, SourceError
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.tables import metadata
from talkhouse.schema.warehouse import ROW_GROUP, STORAGE_VERSION
from talkhouse.system.files import sha256_of, sync
from talkhouse.warehouse.rows_hash import TableHash, corpora_of, corpus_of


class WrittenObject(NamedTuple):
    """A file, and what a manifest says of its bytes."""

    file: str
    bytes: int
    sha256: str


def write_rows(con: duckdb.DuckDBPyConnection, database: str, of: TableHash, folder: Path) -> WrittenObject:
    """Write the rows of a corpus in a table, sorted by grain, to a file in a folder that the connection may reach."""
    table = metadata.tables[of.table.removeprefix("main.")]
    grain = ", ".join(f"{quoted(column)} nulls last" for column in table.info["grain"])
    belongs = f"{corpus_of(table, corpora_of(con, database))} = {literal(of.corpus)}"
    path = folder / object_name(of.table, of.corpus, of.hash)
    con.execute(
        f"copy (from {quoted(database)}.{of.table} where {belongs} order by {grain}) "
        f"to {literal(str(path))} (format parquet, compression zstd)"
    )
    return described(path)


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
def rows_of(stored: Stored, table: ReleasedTable) -> Iterator[Any]:
    """Open an object and yield its rows as a stream of Arrow; ReleaseDamaged where that can't be."""
    try:
        with stored.objects.rows(table.file) as rows:
            yield rows
    except (pa.ArrowException, BadRecord, SourceError, OSError, UnicodeDecodeError, OverflowError) as error:
        raise ReleaseDamaged(
            f"an object of the release '{stored.release.name}' can't be read",
            where=stored.store / stored.objects.path / table.file,
            expected="Parquet that Talkhouse wrote",
            found=str(error),
            next_step=f"see all of it with: talkhouse release verify {stored.release.name}",
        ) from error
