"""An engine for Spark's SQL, once for all tests."""

from collections.abc import Iterator

import pytest
from pyspark.sql.connect.session import SparkSession

from tests.talkhouse.lake import sail as engine


@pytest.fixture(scope="session")
def sail() -> Iterator[SparkSession]:
    """A session of Sail."""
    with engine.session() as spark:
        yield spark
