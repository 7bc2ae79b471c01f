"""Creates the databases, tables and views of a lake in a session of Spark."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from talkhouse.lake_format.documents import read_translation, statements
from talkhouse.lake_format.lake_manifest import LakeManifest, check_revision, read, strangers
from talkhouse.schema.errors import LakeDamaged, SparkFailed, UsageError
from talkhouse.translation.translated import TranslatedViews, spark_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUPPORTED = "4."
"""How the versions begin with which the views have been compared."""


def attach(spark: "SparkSession", lake: str | Path, *, location: str | None = None) -> tuple[str, ...]:
    """Create the tables and views of a lake in a session of Spark, and return their names, tables first.

    ``lake``: the folder as this process reads it. ``location``: the same folder as the cluster reads it, such as
    ``s3://bucket/lake``; without it, the folder's absolute path, which every worker then needs to see.

    The session sees the snapshot that is the lake's now; a newer one when the lake is attached again, which replaces
    what was attached before. Databases that exist (``main``, ``bi`` ...) are used, and other tables in them are left.

    Raises NotALake, LakeDamaged or SchemaMismatch for the folder, UsageError for a version of Spark that is not
    supported or a table that would be lost, SparkFailed where Spark refuses or finds no files.
    """
    folder = Path(lake).absolute()
    manifest = read(folder)
    check_revision(manifest, folder)
    translation = read_translation(folder, manifest)
    if location is None:
        check_folders(manifest, folder)
    refused = attach_snapshot(spark, manifest, translation, location or str(folder))
    for name, reason in refused.items():
        raise SparkFailed(
            f"Spark refuses to create {name}", found=reason, next_step="see its SQL with: talkhouse lake DIR --sql NAME"
        )
    return (*(table.full_name for table in manifest.tables), *(view.full_name for view in translation.views))


def attach_snapshot(
    spark: "SparkSession", manifest: LakeManifest, translation: TranslatedViews, location: str
) -> dict[str, str]:
    """Create what a manifest describes, and return the names that Spark refuses, with its reasons.

    The folder of the lake is at ``location`` for the cluster.
    """
    check_version(spark)
    _check_free(spark, manifest)
    refused: dict[str, str] = {}
    for statement in statements(manifest, translation, location.rstrip("/")):
        if reason := _refusal(spark, statement.sql):
            refused.setdefault(statement.name, reason)
    if not refused.keys() & {table.full_name for table in manifest.tables}:
        _check_rows(spark, manifest, location)
    return refused


def check_folders(manifest: LakeManifest, lake: Path) -> None:
    """Raise LakeDamaged where the folder of a table has something else: Spark reads all of it, and follows links."""
    if others := strangers(manifest, lake):
        raise LakeDamaged(
            "something lies in the lake that its manifest does not name, or a link in place of a file",
            where=lake,
            found=", ".join(others[:3]) + (", ..." if len(others) > 3 else ""),
            next_step="move it out of the lake, or write the lake again with: talkhouse lake DIR",
        )


def check_version(spark: "SparkSession") -> None:
    """Raise UsageError for a version of Spark that the views have not been compared with."""
    if not spark.version.startswith(SUPPORTED):
        raise UsageError(
            "this version of Spark is not supported",
            expected="Spark 4",
            found=f"Spark {spark.version}",
            next_step="use another cluster, or try the SQL yourself: talkhouse lake DIR --sql",
        )


def _check_free(spark: "SparkSession", manifest: LakeManifest) -> None:
    """Refuse to replace a table whose rows Spark keeps itself: they would be lost. Ours are over files elsewhere."""
    for schema in sorted({table.schema for table in manifest.tables}):
        names = {table.name for table in manifest.tables if table.schema == schema}
        there = spark.catalog.listTables(schema) if spark.catalog.databaseExists(schema) else []
        for table in there:
            if table.name in names and table.tableType == "MANAGED":
                raise UsageError(
                    f"Spark has a table {schema}.{table.name} of its own, which attaching the lake would delete",
                    next_step="attach the lake in another catalog, or rename that table",
                )


def _refusal(spark: "SparkSession", sql: str) -> str | None:
    """Run a statement; return Spark's reason for refusing it, if any."""
    from pyspark.errors import PySparkException, UnsupportedOperationException

    try:
        spark.sql(sql)
    except PySparkException as error:
        # An engine without that statement looks into the folders by itself.
        is_needless = isinstance(error, UnsupportedOperationException) and sql.endswith("RECOVER PARTITIONS")
        return None if is_needless else first_line(error)
    return None


def _check_rows(spark: "SparkSession", manifest: LakeManifest, location: str) -> None:
    """Count the rows of a small table: Spark creates tables over a folder that is not there, too."""
    from pyspark.errors import PySparkException

    table = min((table for table in manifest.tables if table.rows), key=lambda table: table.rows, default=None)
    if table is None:
        return
    try:
        rows, reason = spark.table(spark_name(table.schema, table.name)).count(), ""
    except PySparkException as error:
        rows, reason = 0, first_line(error)
    if rows != table.rows:
        raise SparkFailed(
            "Spark does not find the lake's files",
            where=location,
            expected=f"{table.rows} rows in {table.full_name}",
            found=reason or f"{rows} rows",
            next_step="give the folder as the cluster's machines see it, all of them: location=",
        )


def first_line(error: Exception) -> str:
    """Return the message of an exception of Spark, without the plan and the stack below it."""
    text = re.split(r"\n|(?<!\s)\s+SQLSTATE: ", str(error).strip(), maxsplit=1)[0]
    return text or type(error).__name__
