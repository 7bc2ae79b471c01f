"""A server of Spark Connect that needs no Java: Sail, in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SERVER = """
import sys
import pyspark
pyspark.__version__ = sys.argv[1]
from pysail.spark import SparkConnectServer
server = SparkConnectServer()
server.start(background=True)
print(server.listening_address[1], flush=True)
sys.stdin.read()
"""


@contextmanager
def running(version: str = "4.2.0", packages: Path | None = None) -> Iterator[str]:
    """Run a server, and yield its URL; it ends with the process that started it, too.

    ``packages``: a folder of packages that it imports before all others.

    Sail is the version of Spark that PySpark is in its process; 4.2 is the newest that Sail 0.7 knows.
    """
    command = [sys.executable, "-W", "ignore", "-c", _SERVER, version]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(packages or "")},
    ) as server:
        assert server.stdout is not None
        try:
            yield f"sc://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.kill()


@contextmanager
def session(url: str) -> Iterator["SparkSession"]:
    """Open a session, and close it while there is a server: without one, a client goes on asking for minutes."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(url).create()
    try:
        yield spark
    finally:
        spark.stop()
