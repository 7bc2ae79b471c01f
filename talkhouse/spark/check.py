"""Checks a lake: its files by their hashes, then every table and view on Spark against DuckDB's, cell by cell.

DuckDB reads the same files, into a warehouse of its own for the time of the check, with the catalogue's own views.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from pyarrow.lib import ArrowException, RecordBatchReader

from talkhouse import migrations
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.progress import Progress
from talkhouse.lake_format.documents import check_columns, columns_of_all, read_translation
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import LakeManifest, LakeTable, is_whole, read
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.views import create_split_views, create_views
from talkhouse.schema import warehouse
from talkhouse.schema.errors import LakeDamaged, SchemaMismatch, SourceError
from talkhouse.schema.sql import quoted
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.spark.compare import ComparedRelation, SparkColumn, compare
from talkhouse.spark.sessions import attach_snapshot, check_folders, check_installed, first_line, session
from talkhouse.system.files import temporary_folder
from talkhouse.translation.translated import LeftOutView, TranslatedViews, View, spark_type
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import SplitView, common_splits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_VERSION_TABLE = f"{HOUSEKEEPING}.{migrations.VERSION_TABLE}"

_THREADS = 2
"""Queries at once: while one is planned, another runs."""


@dataclass(frozen=True)
class Checked:
    """A table or view that was compared: how many rows are equal, and what differs first."""

    name: str
    rows: int
    seconds: float
    difference: str | None


@dataclass(frozen=True)
class SparkResult:
    """What was compared, and where."""

    snapshot: str
    files: int
    """How many files have the hash that they were written with: all."""
    spark: str
    """The version of Spark."""
    relations: tuple[Checked, ...]
    left_out: tuple[LeftOutView, ...]
    """Views that are not there, or not all of whose rows are, and why."""
    seconds: float

    @property
    def different(self) -> list[Checked]:
        """What is not equal."""
        return [relation for relation in self.relations if relation.difference]


def check(lake: Path, url: str, progress: Progress, *, location: str | None = None) -> SparkResult:
    """Compare every table and view of a lake on Spark with DuckDB's; ``location`` is as ``attach`` has it.

    ``url``: a master (``spark://host:port``, ``local[2]``) or Spark Connect (``sc://host:port``). Raises what
    ``attach`` raises, LakeDamaged for a file with another hash, SparkFailed if Spark does not answer.
    """
    begun = time.monotonic()
    folder = lake.absolute()
    manifest = read(folder)
    translation = read_translation(folder, manifest)
    _check_same("another schema", migrations.head(), manifest.revision, folder)
    files = _check_files(manifest, folder, progress)
    check_folders(manifest, folder)
    check_installed()
    rows = sum(table.rows for table in manifest.tables)
    with temporary_folder() as private, warehouse_of(manifest, folder, private, translation) as con:
        _check_same("other views", Warehouse(con).catalogue.hash, manifest.catalogue, folder)
        _check_relations(con, manifest, translation, folder)
        progress.begin("starting Spark")
        with session(url, rows=rows, folder=private) as spark:
            progress.begin("creating tables and views")
            refused = attach_snapshot(spark, manifest, translation, location or str(folder))
            relations = tuple(compare_all(con, spark, relations_of(manifest, translation), refused, progress))
            left_out = tuple(translation.left_out)
            return SparkResult(manifest.snapshot, files, spark.version, relations, left_out, time.monotonic() - begun)


def _check_same(what: str, expected: str, there: str, lake: Path) -> None:
    """Refuse a lake whose tables or views are not those that DuckDB would have here."""
    if expected != there:
        raise SchemaMismatch(
            f"the lake has {what} than this Talkhouse, so that there is nothing to compare it with",
            where=lake,
            expected=expected,
            found=there,
            next_step="write the lake again with: talkhouse lake DIR   or use the Talkhouse that wrote it",
        )


def _check_relations(
    con: duckdb.DuckDBPyConnection, manifest: LakeManifest, translation: TranslatedViews, lake: Path
) -> None:
    """Refuse a lake with a table or view more or less than it would have here, or one with other columns."""
    expected = dict(columns_of_all(con))
    for view in translation.unportable:
        expected.pop(view.full_name, None)
    del expected[_VERSION_TABLE]
    there = {
        relation.full_name: {column.name: column.type for column in relation.columns}
        for relation in relations_of(manifest, translation)
    }
    check_columns(expected, there, lake)
    check_columns({name: expected.get(name, {}) for name in there}, there, lake)


def _check_files(manifest: LakeManifest, lake: Path, progress: Progress) -> int:
    """Hash every file, and return their number; LakeDamaged names those that are missing or not as written."""
    every = [file for table in manifest.tables for file in table.files]
    progress.begin("hashing files", records=len(every), unit="files")
    damaged = []
    for file in every:
        if not is_whole(file, lake):
            damaged.append(file.path)
        progress.advance(1)
    if damaged:
        raise LakeDamaged(
            f"{len(damaged)} of {len(every)} files are missing, or are not what was written",
            where=lake,
            found=", ".join(damaged[:8]),
            next_step="copy the lake again, or move it away and write it again with: talkhouse lake DIR",
        )
    return len(every)


def relations_of(manifest: LakeManifest, translation: TranslatedViews) -> list[ComparedRelation]:
    """List every table and view with its columns, as they are in DuckDB and have to be in Spark."""
    relations: list[LakeTable | View] = [*manifest.tables, *translation.views]
    return [
        ComparedRelation(
            relation.schema,
            relation.name,
            tuple(relation.grain),
            tuple(SparkColumn(column.name, column.type, spark_type(column.type)) for column in relation.columns),
        )
        for relation in relations
    ]


def compare_all(
    con: duckdb.DuckDBPyConnection,
    spark: "SparkSession",
    relations: Sequence[ComparedRelation],
    refused: Mapping[str, str],
    progress: Progress,
) -> Iterator[Checked]:
    """Compare relations, two at once, and yield how each of them came out; ``refused`` could not be created."""
    progress.begin("comparing", records=len(relations), unit="tables and views")

    def compared(relation: ComparedRelation) -> Checked:
        begun = time.monotonic()
        if reason := refused.get(relation.full_name):
            return Checked(relation.full_name, 0, 0, f"{relation.full_name}: Spark refuses to create it: {reason}")
        rows, difference = _compare(con, spark, relation)
        return Checked(relation.full_name, rows, time.monotonic() - begun, difference)

    with ThreadPoolExecutor(_THREADS) as pool:
        for checked in pool.map(compared, relations):
            progress.advance(1)
            yield checked


def _compare(
    con: duckdb.DuckDBPyConnection, spark: "SparkSession", relation: ComparedRelation
) -> tuple[int, str | None]:
    from pyspark.errors import PySparkException

    try:
        with con.cursor() as cursor:
            rows, difference = compare(cursor, spark, relation)
    except PySparkException as error:
        return 0, f"{relation.full_name}: Spark fails: {first_line(error)}"
    return rows, difference and str(difference)


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
    """Return for each view of the lake that no file makes the task and the split whose rows it has, by its name."""
    written = {view.full_name for view in catalogue.views}
    there = {view.full_name for view in translation.views} | {view.full_name for view in translation.unportable}
    for task in (example.full_name for example in catalogue.examples):
        for name in sorted(there - written):
            if name.startswith(f"{task}_"):
                yield SplitView(task, name.removeprefix(f"{task}_"), only_default=True)


def _fill(con: duckdb.DuckDBPyConnection, table: LakeTable, lake: Path) -> None:
    """Copy a table's files; LakeDamaged for one that is not as the manifest says."""
    for file in table.files:
        try:
            with Inside(lake).rows(file.path) as rows:
                _copy(con, table, rows)
        except (OSError, BadRecord, SourceError, ArrowException, duckdb.Error) as error:
            raise LakeDamaged(
                "a file of the lake can't be read",
                where=lake / file.path,
                expected=f"Parquet with the columns of {table.full_name}",
                found=str(error).splitlines()[0].partition(". Detail:")[0],
                next_step="write the lake again with: talkhouse lake DIR",
            ) from error


def _copy(con: duckdb.DuckDBPyConnection, table: LakeTable, rows: RecordBatchReader) -> None:
    names = rows.schema.names
    if names != [column.name for column in table.columns]:
        raise OSError(f"the columns {', '.join(names)}")
    con.register("read", rows)
    try:
        con.execute(f"insert into {quoted(table.schema)}.{quoted(table.name)} by name select * from read")
    finally:
        con.unregister("read")
