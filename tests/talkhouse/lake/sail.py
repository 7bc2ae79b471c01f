"""Sail, an engine for Spark's SQL that needs no Java: in this process, by Spark Connect."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyspark
import pytest
from pysail.spark import SparkConnectServer
from pyspark.sql.connect.session import SparkSession


@contextmanager
def session() -> Iterator[SparkSession]:
    """Open a session in a server that ends with it."""
    with pytest.MonkeyPatch.context() as patch:
        # Sail 0.7 refuses a PySpark that it has not heard of, though it speaks the same protocol.
        patch.setattr(pyspark, "__version__", "4.1.1")
        server = SparkConnectServer("127.0.0.1", 0)
        server.start(background=True)
        _, port = server.listening_address
        spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        try:
            yield spark
        finally:
            spark.stop()
            server.stop()
