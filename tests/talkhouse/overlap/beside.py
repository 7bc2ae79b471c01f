"""A copy of our own kit with its overlap beside it, for what shows an overlap."""

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.talkhouse.overlap.test_kit import KITS, Kit

OWN: Kit = KITS[0].values[0]  # type: ignore[assignment]


@pytest.fixture
def with_overlap(compared: Callable[[Kit], duckdb.DuckDBPyConnection], tmp_path: Path) -> Path:
    """A copy of the warehouse of the kit, with its overlap beside it and nothing else."""
    with compared(OWN) as con:
        ((path,),) = con.execute("select path from duckdb_databases() where not internal").fetchall()
    folder = tmp_path / "copied"
    folder.mkdir()
    for name in ("w.duckdb", "overlap.duckdb"):
        shutil.copyfile(Path(path).with_name(name), folder / name)
    return folder / "w.duckdb"
