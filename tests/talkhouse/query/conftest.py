"""A copy of the sample that tests may write to."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest


@pytest.fixture(scope="module")
def copied(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample that may be written to."""
    path = tmp_path_factory.mktemp("writable") / "w.duckdb"
    shutil.copy(sample, path)
    path.chmod(0o644)
    return path


@pytest.fixture
def writable(copied: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The copy, open for writing."""
    with duckdb.connect(copied) as con:
        yield con
