"""An engine for Spark's SQL, once for all tests."""

from collections.abc import Iterator

import pytest
from pyspark.sql.connect.session import SparkSession

from tests import sail_server


@pytest.fixture(scope="session")
def sail_url() -> Iterator[str]:
    """A server of Sail."""
    with sail_server.running() as url:
        yield url


@pytest.fixture(scope="session")
def sail(sail_url: str) -> Iterator[SparkSession]:
    """A session of Sail."""
    with sail_server.session(sail_url) as spark:
        yield spark
