"""Sessions of Spark, on a master, in this process or by Spark Connect; and a lake's tables and views in one of them."""

import re
import shutil
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from talkhouse.lake_format.documents import read_translation, statements
from talkhouse.lake_format.lake_manifest import LakeManifest, check_revision, read, strangers
from talkhouse.schema.errors import LakeDamaged, SparkFailed, UsageError
from talkhouse.translation.translated import TranslatedViews, spark_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_T = TypeVar("_T")

_ANSWER = 5.0
"""Seconds in which the machine at the other end has to take a connection."""

_READY = 60.0
"""Seconds in which a session has to be there: Spark itself would go on asking."""

_SMALL = 1_000_000
"""Rows of a lake up to which starting and planning takes Spark longer than the work."""

_SETTINGS = {"spark.app.name": "talkhouse lake", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}

_FOR_SMALL = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}
"""No code is made for a query that reads a few thousand rows, and few tasks; four times as fast there."""

_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
"""Compile quickly rather than well, and have room for it: with little, Java stops compiling in the middle."""

_QUIET = """
rootLogger.level = off
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
"""


@contextmanager
def session(url: str, *, rows: int, folder: Path) -> Iterator["SparkSession"]:
    """Yield a session on a master (``spark://host:port``, ``local[2]``) or of Spark Connect (``sc://host:port``).

    ``rows``: how many the lake has; ``folder``: for temporary files. Raises UsageError where PySpark or Java is
    missing, SparkFailed if Spark does not answer in time.
    """
    check_installed()
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    from pyspark.sql import SparkSession

    small = _FOR_SMALL if rows <= _SMALL else {}
    if url.startswith("sc:"):
        _check_answers(url, "sc", 15002)
        spark = _within(_READY, lambda: _connected(url, small), url)
    else:
        _check_java()
        if url.startswith("local"):
            environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if url.startswith("spark:"):
            _check_answers(url, "spark", 7077)
        builder = SparkSession.builder.master(url).config(map={**_SETTINGS, **small, **_files(folder)})
        spark = _within(_READY, lambda: _ready(builder.getOrCreate()), url)
    try:
        yield spark
    finally:
        spark.stop()


def check_installed() -> None:
    """Raise UsageError where PySpark is missing; it is not imported, which takes long."""
    if find_spec("pyspark") is None:
        raise UsageError("this needs PySpark; type: pip install 'talkhouse[spark]'")


def _connected(remote: str, settings: dict[str, str]) -> "SparkSession":
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(remote).create()
    for name, value in settings.items():
        if spark.conf.isModifiable(name):
            spark.conf.set(name, value)
    return _ready(spark)


def _ready(spark: "SparkSession") -> "SparkSession":
    """Run the smallest query that needs a worker with a free core."""
    spark.range(1).count()
    return spark


def _files(folder: Path) -> dict[str, str]:
    """Keep Spark's own files and messages out of the user's sight: errors come as exceptions, too."""
    quiet = folder / "log4j2.properties"
    quiet.write_text(_QUIET, encoding="utf-8")
    options = f"{_JVM} -Dlog4j2.configurationFile={quiet.as_uri()}"
    return {
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.local.dir": str(folder),
        "spark.driver.extraJavaOptions": options,
        "spark.executor.extraJavaOptions": _JVM,
    }


def _check_java() -> None:
    home = environ.get("JAVA_HOME")
    if not shutil.which(str(Path(home, "bin", "java")) if home else "java"):
        raise UsageError(
            "there is no Java, which Spark runs on",
            expected="Java 17 or later, in JAVA_HOME or the PATH",
            found=f"JAVA_HOME={home}" if home else "none",
            next_step="install it (on Debian: apt-get install openjdk-17-jre-headless), or name a server: --remote",
        )


def _check_answers(url: str, scheme: str, port: int) -> None:
    """Connect to the machine that a URL names, since Spark itself tries for minutes."""
    try:
        parts = urlsplit(url)
        host, number = parts.hostname, parts.port or port
    except ValueError:
        host, number = None, port
        parts = urlsplit("")
    if parts.scheme != scheme or not host:
        raise UsageError(f"this is not an address: {url}", expected=f"{scheme}://HOST:{port}")
    try:
        socket.create_connection((host, number), timeout=_ANSWER).close()
    except OSError as error:
        raise _no_answer(url, error.strerror or str(error)) from error


def _within(seconds: float, work: Callable[[], _T], url: str) -> _T:
    """Do work that may wait for ever; raise SparkFailed after so many seconds."""
    done: list[_T] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            done.append(work())
        except Exception as error:  # noqa: BLE001  # py4j and gRPC have their own
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise _no_answer(url, first_line(failed[0])) from failed[0]
    if not done:
        raise _no_answer(url, f"no session within {seconds:.0f} seconds")
    return done[0]


def _no_answer(url: str, found: str) -> SparkFailed:
    import pyspark

    return SparkFailed(
        "Spark does not answer",
        where=url,
        expected=f"Spark {pyspark.__version__}, as PySpark is here, and a worker with a free core",
        found=found,
        next_step="start it, or name another one",
    )


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
