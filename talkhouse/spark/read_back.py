"""Reads a lake back into a warehouse that nobody keeps, with the views of a catalogue."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
from pyarrow import parquet
from pyarrow.lib import ArrowException, RecordBatchReader

from talkhouse import migrations
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.manifest import Manifest, Table
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.views import create_split_views, create_views
from talkhouse.schema import warehouse
from talkhouse.schema.errors import LakeDamaged
from talkhouse.schema.sql import quoted


@contextmanager
def warehouse_of(
    manifest: Manifest, lake: Path, private: Path, catalogue: Catalogue, splits: Mapping[str, Iterable[str]]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Make a warehouse of a lake in a private folder, with the views of a catalogue, and yield a connection to it.

    ``splits``: those that each corpus declares. It takes as much room as the one that the lake was written from.
    """
    path = private / "read_back.duckdb"
    with warehouse.create(path) as con:
        migrations.make(con)
        create_views(con, catalogue)
        for table in manifest.tables:
            _fill(con, table, lake)
        create_split_views(con, catalogue, splits)
    with warehouse.connect(path) as con:
        yield con


def _fill(con: duckdb.DuckDBPyConnection, table: Table, lake: Path) -> None:
    """Copy a table's files; LakeDamaged for one that is not as the manifest says."""
    for file in table.files:
        try:
            with Inside(lake).reading(file.path) as stream:
                _copy(con, table, parquet.ParquetFile(stream))  # type: ignore[no-untyped-call]
        except (OSError, ArrowException, duckdb.Error) as error:
            raise LakeDamaged(
                "a file of the lake can't be read",
                where=lake / file.path,
                expected=f"Parquet with the columns of {table.full_name}",
                found=str(error).splitlines()[0],
                next_step="write the lake again with: talkhouse lake DIR",
            ) from error


def _copy(con: duckdb.DuckDBPyConnection, table: Table, file: parquet.ParquetFile) -> None:
    names = file.schema_arrow.names
    if names != [column.name for column in table.columns]:
        raise OSError(f"the columns {', '.join(names)}")
    batches = file.iter_batches()  # type: ignore[no-untyped-call]
    con.register("read", RecordBatchReader.from_batches(file.schema_arrow, batches))
    try:
        con.execute(f"insert into {quoted(table.schema)}.{quoted(table.name)} by name select * from read")
    finally:
        con.unregister("read")
