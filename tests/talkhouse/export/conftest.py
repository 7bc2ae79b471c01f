"""A copy of the sample that tests may write to, and a folder with files that a query may not touch."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest


@pytest.fixture(scope="module")
def copied(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("writable") / "w.duckdb"))
    path.chmod(0o644)
    return path


@pytest.fixture
def writable(copied: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(copied) as con:
        yield con


@pytest.fixture(scope="module")
def files(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, bytes]:
    """A warehouse and files that a query might reach for, in a folder, with what they hold."""
    folder = tmp_path_factory.mktemp("sandbox")
    shutil.copy(sample, folder / "w.duckdb")
    (folder / "mine.csv").write_text("a,b\n1,secret\n")
    (folder / "mine.json").write_text('{"a": "secret"}')
    duckdb.execute(f"copy (select 'secret' as b) to '{folder}/mine.parquet'")
    return {path: path.read_bytes() for path in folder.rglob("*")}


@pytest.fixture
def folder(files: dict[Path, bytes]) -> Iterator[Path]:
    """The folder of these files; a test may change none of them and make no other."""
    (folder,) = {path.parent for path in files}
    yield folder
    assert {path: path.read_bytes() for path in folder.rglob("*")} == files
