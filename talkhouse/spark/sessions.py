"""Sessions of Spark for the check: on a master, in this process, or by Spark Connect, and what stands in the way."""

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

from talkhouse.schema.errors import SparkFailed, UsageError
from talkhouse.spark.attach import first_line

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
