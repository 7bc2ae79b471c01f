"""An engine for Spark's SQL, once for all tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from talkhouse.lake import write
from talkhouse.queries.catalogue import Catalogue
from talkhouse.translation.translated import Translation
from tests import sail_server
from tests.lakes import lake_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def lake_of_sample(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of the sample, written once."""
    return lake_of(sample, tmp_path_factory.mktemp("lake") / "lake")


@pytest.fixture
def lake(lake_of_sample: Path, tmp_path: Path) -> Path:
    """A lake of the sample that a test may change."""
    return Path(shutil.copytree(lake_of_sample, tmp_path / "lake"))


@pytest.fixture(scope="session")
def translations() -> dict[str, Translation]:
    """The views that have been translated, by the hash of the catalogue."""
    return {}


@pytest.fixture
def translated_once(monkeypatch: pytest.MonkeyPatch, translations: dict[str, Translation]) -> None:
    """Translate the views once for all tests that write lakes of one catalogue: it takes most of their time."""
    translate = write.translate

    def once(con: duckdb.DuckDBPyConnection, catalogue: Catalogue) -> Translation:
        if catalogue.hash not in translations:
            translations[catalogue.hash] = translate(con, catalogue)
        return translations[catalogue.hash]

    monkeypatch.setattr(write, "translate", once)


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
