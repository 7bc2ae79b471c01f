"""Readers while snapshots are swapped: no error, no wait, and never a part of one beside a part of another."""

import json
from pathlib import Path

import pytest

from talkhouse.build.run import build
from talkhouse.ingest.progress import Silent
from tests.phases import PHASES
from tests.talkhouse.lake.test_write_lake import written
from tests.talkhouse.test_readers import Readers, add_file, lines, stand_still

KINDS = ("with_duckdb", "with_polars", "with_pyarrow")

READER = """
import json, sys, time
from pathlib import Path
import duckdb, polars
from pyarrow import parquet

kind, folder, number = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
lake = folder / "lake"

def with_duckdb(paths):
    return duckdb.execute("select count(*) from read_parquet(?)", [paths]).fetchall()[0][0]

def with_polars(paths):
    return polars.read_parquet(paths).height

def with_pyarrow(paths):
    return sum(parquet.ParquetFile(path).read().num_rows for path in paths)

with open(folder / f"reader{number}", "a", buffering=1) as seen:
    while not (folder / "end").exists():
        try:
            current = json.loads((lake / "manifest.json").read_text())
            files = {table["name"]: [str(lake / one["path"]) for one in table["files"]] for table in current["tables"]}
            row = [globals()[kind](files[name]) for name in ("loads", "records", "source_files")]
        except Exception as error:
            row = f"{type(error).__name__}: {error}"
        print(json.dumps(row), file=seen)
        time.sleep(0.1)  # leaves the processors to the writer
"""
"""Writes down, again and again, the number of builds, of records and of source files."""


@pytest.mark.slow
def test_readers_see_one_snapshot_or_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each write stands still in one of its phases until every reader has read: none of them can wait for it."""
    data, path, lake = tmp_path / "data", tmp_path / "w.duckdb", tmp_path / "lake"
    add_file(data, 0)
    build(path, Silent(), data=data)
    written(lake, path)
    readers = Readers(tmp_path, len(KINDS), script=READER, kinds=KINDS)
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
