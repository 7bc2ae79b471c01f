"""An engine for Spark's SQL, once for all tests."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests import sail_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def pyspark() -> None:
    """Skip a test where PySpark is not installed, which is large."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: uv sync --group spark")


@pytest.fixture(scope="session")
def sail_url(pyspark: None) -> Iterator[str]:  # noqa: ARG001
    """A server of Sail."""
    pytest.importorskip("pysail", reason="Sail is not installed: uv sync --group spark")
    with sail_server.running() as url:
        yield url


@pytest.fixture(scope="session")
def sail(sail_url: str) -> Iterator["SparkSession"]:
    """A session of Sail."""
    with sail_server.session(sail_url) as spark:
        yield spark
