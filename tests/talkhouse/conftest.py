"""Lakes, and an engine for Spark's SQL, once for all tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from talkhouse.build.progress import Silent
from talkhouse.build.run import build
from tests import sail_server
from tests.lakes import lake_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of two small corpora, built once: in it are all kinds of rows."""
    path = tmp_path_factory.mktemp("small") / "small.duckdb"
    build(path, Silent(), only=("delidata", "mpchat"))
    return path


@pytest.fixture(scope="session")
def small_lake(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of the small warehouse, written once."""
    return lake_of(small, tmp_path_factory.mktemp("lake") / "lake")


@pytest.fixture
def lake(small_lake: Path, tmp_path: Path) -> Path:
    """A lake of the small warehouse that a test may change."""
    return Path(shutil.copytree(small_lake, tmp_path / "lake"))


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
