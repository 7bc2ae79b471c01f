"""The toy corpus as a data folder, and as a warehouse that is built once."""

import shutil
from pathlib import Path

import pytest

from talkhouse.ingest.registry import corpora, sample_of
from tests.talkhouse.toy import invent, made


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A data folder of toy files; the corpus is declared beside it."""
    return invent(tmp_path)


@pytest.fixture(scope="session")
def toy_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse of the toy corpus and of dbdc3's sample, and with the corpus's declaration."""
    root = tmp_path_factory.mktemp("toy")
    shutil.copytree(sample_of(corpora()["dbdc3"]), invent(root) / "dbdc3")
    made(root).close()
    shutil.rmtree(root / "data")
    return root


@pytest.fixture
def toy_built(toy_root: Path, tmp_path: Path) -> Path:
    """A copy of that warehouse, whose data folder is gone, with the declaration beside it."""
    shutil.copytree(toy_root / "roots", tmp_path / "roots", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(toy_root / "w.duckdb", tmp_path / "w.duckdb")
    return tmp_path / "w.duckdb"
