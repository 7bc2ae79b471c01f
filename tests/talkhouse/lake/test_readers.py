"""Readers while snapshots are swapped: no error, no wait, and never a part of one with a part of another."""

import json
from pathlib import Path

import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.phases import PHASES
from tests.talkhouse.lake.test_write_lake import written
from tests.talkhouse.test_readers import Readers, add_file, lines, stand_still

KINDS = ("with_duckdb", "with_polars", "with_pyarrow")

READER = """
import duckdb, polars
from pyarrow import parquet

lake = folder / "lake"

def files():
    current = json.loads((lake / "manifest.json").read_text())
    found = {table["name"]: [str(lake / one["path"]) for one in table["files"]] for table in current["tables"]}
    return [found[name] for name in ("loads", "records", "source_files")]

def with_duckdb():
    return [duckdb.execute("select count(*) from read_parquet(?)", [paths]).fetchone()[0] for paths in files()]

def with_polars():
    return [polars.read_parquet(paths).height for paths in files()]

def with_pyarrow():
    return [sum(parquet.ParquetFile(path).read().num_rows for path in paths) for paths in files()]
"""
"""Ways to read the number of builds, of records and of source files."""


@pytest.mark.slow
def test_readers_see_one_snapshot_or_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each write stands still in one of its phases until every reader has read: none of them can wait for it."""
    data, path, lake = tmp_path / "data", tmp_path / "w.duckdb", tmp_path / "lake"
    add_file(data, 0)
    build(path, Silent(), data=data)
    written(lake, path)
    readers = Readers(tmp_path, len(KINDS), ways=READER, kinds=KINDS)
    readers.all_read_again()
    phases = [where for phase, where in PHASES["lake"].items() if phase not in ("open", "clear")]
    for number, phase in enumerate(phases, start=1):
        add_file(data, number)
        build(path, Silent(), data=data)
        with monkeypatch.context() as patch:
            stand_still(patch, phase, readers)
            written(lake, path)
        readers.all_read_again()
    (tmp_path / "end").touch()
    assert [process.wait(timeout=300) for process in readers.processes] == [0] * len(KINDS)
    for file in readers.files:
        rows = [json.loads(line) for line in lines(file)]
        assert all(row == [row[0]] * 3 for row in rows), rows  # build number n has n files, each a record
        assert [row[0] for row in rows] == sorted(row[0] for row in rows)
        assert {row[0] for row in rows} == set(range(1, len(phases) + 2))
