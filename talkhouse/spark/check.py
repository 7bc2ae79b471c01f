"""Checks a lake: its files by their hashes, then every table and view on Spark against DuckDB's, cell by cell.

DuckDB reads the same files, into a warehouse of its own for the time of the check, with the catalogue's own views.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from talkhouse import migrations
from talkhouse.lake_format.columns import check_columns, columns_of_all
from talkhouse.lake_format.documents import read_translation
from talkhouse.lake_format.manifest import Manifest, read
from talkhouse.lake_format.table_files import is_whole
from talkhouse.progress import Progress
from talkhouse.schema.errors import LakeDamaged, SchemaMismatch
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.spark.attach import attach_snapshot, check_folders, first_line
from talkhouse.spark.compare import Column, Relation, compare
from talkhouse.spark.read_back import warehouse_of
from talkhouse.spark.sessions import check_installed, session
from talkhouse.system.folders import temporary_folder
from talkhouse.translation.spark_types import spark_type
from talkhouse.translation.translated import LeftOut, Translation
from talkhouse.warehouse.opened import Warehouse

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
class Result:
    """What was compared, and where."""

    snapshot: str
    files: int
    """How many files have the hash that they were written with: all."""
    spark: str
    """The version of Spark."""
    relations: tuple[Checked, ...]
    left_out: tuple[LeftOut, ...]
    """Views that are not there, or not all of whose rows are, and why."""
    seconds: float

    @property
    def different(self) -> list[Checked]:
        """What is not equal."""
        return [relation for relation in self.relations if relation.difference]


def check(
    lake: Path,
    url: str,
    progress: Progress,
    *,
    location: str | None = None,
) -> Result:
    """Compare every table and view of a lake on Spark with DuckDB's; ``location`` is as ``attach`` has it.

    ``url``: a master (``spark://host:port``, ``local[2]``) or Spark Connect (``sc://host:port``). Raises what
    ``attach`` raises, LakeDamaged for a file with another hash, SparkFailed where nobody answers.
    """
    begun = time.monotonic()
    folder = lake.absolute()
    manifest = read(folder)
    translation = read_translation(folder, manifest)
    _check_same("another schema", migrations.head(), manifest.revision, folder)
    files = check_files(manifest, folder, progress)
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
            return Result(manifest.snapshot, files, spark.version, relations, left_out, time.monotonic() - begun)


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


def _check_relations(con: duckdb.DuckDBPyConnection, manifest: Manifest, translation: Translation, lake: Path) -> None:
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


def check_files(manifest: Manifest, lake: Path, progress: Progress) -> int:
    """Hash every file, and return how many there are; LakeDamaged names those that are missing or not as written."""
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


def relations_of(manifest: Manifest, translation: Translation) -> list[Relation]:
    """List every table and view with its columns, as they are in DuckDB and have to be in Spark."""
    tables = [
        Relation(
            table.schema,
            table.name,
            tuple(table.grain),
            tuple(Column(column.name, column.type, spark_type(column.type)) for column in table.columns),
        )
        for table in manifest.tables
    ]
    views = [
        Relation(
            view.schema,
            view.name,
            tuple(view.grain),
            tuple(Column(column.name, column.type, column.spark_type) for column in view.columns),
        )
        for view in translation.views
    ]
    return tables + views


def compare_all(
    con: duckdb.DuckDBPyConnection,
    spark: "SparkSession",
    relations: Sequence[Relation],
    refused: Mapping[str, str],
    progress: Progress,
) -> Iterator[Checked]:
    """Compare relations, two at once, and yield how each of them came out; ``refused`` could not be created."""
    progress.begin("comparing", records=len(relations), unit="tables and views")

    def compared(relation: Relation) -> Checked:
        begun = time.monotonic()
        if reason := refused.get(relation.full_name):
            return Checked(relation.full_name, 0, 0, f"{relation.full_name}: Spark refuses to create it: {reason}")
        rows, difference = _compare(con, spark, relation)
        return Checked(relation.full_name, rows, time.monotonic() - begun, difference)

    with ThreadPoolExecutor(_THREADS) as pool:
        for checked in pool.map(compared, relations):
            progress.advance(1)
            yield checked


def _compare(con: duckdb.DuckDBPyConnection, spark: "SparkSession", relation: Relation) -> tuple[int, str | None]:
    from pyspark.errors import PySparkException

    try:
        with con.cursor() as cursor:
            rows, difference = compare(cursor, spark, relation)
    except PySparkException as error:
        return 0, f"{relation.full_name}: Spark fails: {first_line(error)}"
    return rows, difference and str(difference)
