"""What the tests of several rooms share: the toy corpus, small lakes, and an engine for Spark's SQL."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.run import build
from tests import sail_server
from tests.file_server import FileServer, file_server
from tests.lakes import lake_of
from tests.talkhouse.overlap.test_kit import compared as compared
from tests.talkhouse.overlap.test_kit import with_overlap as with_overlap
from tests.talkhouse.toy import built, invent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def warehouse(sample: Path, tmp_path: Path) -> Path:
    """A copy of the sample, for files next to it."""
    return Path(shutil.copyfile(sample, tmp_path / "talkhouse.duckdb"))


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A data folder of toy files; the corpus is declared next to it."""
    return invent(tmp_path)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as running:
        yield running


@pytest.fixture(scope="session")
def toy_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse of the toy corpus and of dbdc3's sample, and with the corpus's declaration."""
    root = tmp_path_factory.mktemp("toy")
    shutil.copytree(sample_of(corpora()["dbdc3"]), invent(root) / "dbdc3")
    built(root).close()
    shutil.rmtree(root / "data")
    return root


@pytest.fixture
def toy_built(toy_root: Path, tmp_path: Path) -> Path:
    """A copy of that warehouse, whose data folder is gone, with the declaration next to it."""
    shutil.copytree(toy_root / "roots", tmp_path / "roots", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(toy_root / "w.duckdb", tmp_path / "w.duckdb")
    return tmp_path / "w.duckdb"


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of two small corpora, built once: in it are all kinds of rows."""
    path = tmp_path_factory.mktemp("small") / "small.duckdb"
    build(path, Silent(), only=("delidata", "mpchat"))
    return path


@pytest.fixture(scope="session")
def small_lake(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lake_of(small, tmp_path_factory.mktemp("lake") / "lake")


@pytest.fixture
def lake(small_lake: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_lake, tmp_path / "lake"))


@pytest.fixture(scope="session")
def pyspark() -> None:
    """Skip a test where PySpark is not installed, which is large."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: uv sync --group spark")


@pytest.fixture(scope="session")
def sail_url(pyspark: None) -> Iterator[str]:  # noqa: ARG001
    pytest.importorskip("pysail", reason="Sail is not installed: uv sync --group spark")
    with sail_server.running() as url:
        yield url


@pytest.fixture(scope="session")
def sail(sail_url: str) -> Iterator["SparkSession"]:
    with sail_server.session(sail_url) as spark:
        yield spark


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A file with the key of pseudonyms: the bytes from 0 to 31."""
    path = tmp_path / "keys" / "key"
    path.parent.mkdir()
    path.write_bytes(bytes(range(32)))
    path.chmod(0o600)
    return path
