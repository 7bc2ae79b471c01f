"""A copy of the sample in which tests make views of their own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest


@pytest.fixture
def writable(sample: Path, tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))) as con:
        yield con
