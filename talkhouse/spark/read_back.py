"""Reads a lake back into a warehouse that nobody keeps, with the views of a catalogue."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from pyarrow import parquet
from pyarrow.lib import ArrowException, RecordBatchReader

from talkhouse import migrations
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import LakeManifest, LakeTable
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.views import create_split_views, create_views
from talkhouse.schema import warehouse
from talkhouse.schema.errors import LakeDamaged
from talkhouse.schema.sql import quoted
from talkhouse.translation.translated import TranslatedViews
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.split_views import SplitView, common_splits


@contextmanager
def warehouse_of(
    manifest: LakeManifest, lake: Path, private: Path, translation: TranslatedViews
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Make a warehouse of a lake in a private folder, with the views of its SQL, and yield a connection to it.

    It takes as much room as the one that the lake was written from.
    """
    path = private / "read_back.duckdb"
    with warehouse.create(path) as con:
        migrations.make(con)
        for table in manifest.tables:
            _fill(con, table, lake)
        catalogue = Warehouse(con).catalogue.without_labels_of(translation.tasks_without_labels)
        create_views(con, catalogue)
        create_split_views(con, catalogue, common_splits(_split_views(catalogue, translation)))
    with warehouse.connect(path) as con:
        yield con


def _split_views(catalogue: Catalogue, translation: TranslatedViews) -> Iterator[SplitView]:
    """Tell of each view of the lake that no file makes the task and the split whose rows it has, by its name."""
    written = {view.full_name for view in catalogue.views}
    there = {view.full_name for view in translation.views} | {view.full_name for view in translation.unportable}
    for task in (example.full_name for example in catalogue.examples):
        for name in sorted(there - written):
            if name.startswith(f"{task}_"):
                yield SplitView(task, name.removeprefix(f"{task}_"))


def _fill(con: duckdb.DuckDBPyConnection, table: LakeTable, lake: Path) -> None:
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


def _copy(con: duckdb.DuckDBPyConnection, table: LakeTable, file: parquet.ParquetFile) -> None:
    names = file.schema_arrow.names
    if names != [column.name for column in table.columns]:
        raise OSError(f"the columns {', '.join(names)}")
    batches = file.iter_batches()  # type: ignore[no-untyped-call]
    con.register("read", RecordBatchReader.from_batches(file.schema_arrow, batches))
    try:
        con.execute(f"insert into {quoted(table.schema)}.{quoted(table.name)} by name select * from read")
    finally:
        con.unregister("read")
