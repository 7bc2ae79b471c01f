"""Files that the workers of a cluster load into a lake: the lake of a build, or the one that was there."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.ingest.declared.declaration import of_folder
from talkhouse.ingest.declared.toml_corpus import DeclaredReader
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.keys import Ledger
from talkhouse.ingest.loading import load_corpus
from talkhouse.ingest.loading.load_corpus import _Part, _PartTask
from talkhouse.ingest.loading.workers import Processes
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.lake import attach
from talkhouse.lake import load_lake as loading
from talkhouse.lake.load_lake import RowsOfParts, load_lake
from talkhouse.lake.write_lake import LakeOutcome, LakeResult, write_lake
from talkhouse.lake_format.lake_manifest import read
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.schema.errors import RegistryError, SourceError, SparkFailed, TooMuchQuarantined, UsageError
from talkhouse.schema.guard import guard
from talkhouse.spark import workers
from tests import sail_server
from tests.declared.invented_corpora import Invented, laid_out
from tests.outside import run as run_outside
from tests.samples import PICTURES, POSTS
from tests.talkhouse.load.test_jobs import CHAT, talk, talks
from tests.talkhouse.toy import invent

KIT = Path(__file__).parents[2] / "declared" / "kit"
ALL = QuarantineLimit("100%")


def test_a_file_is_the_same_on_another_machine_by_its_size_and_time(tmp_path: Path) -> None:
    folder = talks(tmp_path / "data") / "talks"
    reader, path = DeclaredReader(of_folder(folder)), folder / "d.jsonl"
    (disk,) = (file for file in disk_files(folder, "talks") if file.location.name == path.name)
    there = _PartTask(reader, _Part((disk,), frozenset({disk.stat.path}), 0), tmp_path, Ledger(), "lz4", "elsewhere")
    shutil.copy2(path, tmp_path / "copy")
    (tmp_path / "copy").replace(path)
    assert there(lambda *_: None).files
    with pytest.raises(SourceError, match="changed while it was read"):
        replace(there, machine=workers.gethostname())(lambda *_: None)
    os.utime(path, (0, 0))
    with pytest.raises(SourceError, match="changed while it was read"):
        there(lambda *_: None)


def test_sql_over_the_files_of_a_lake_reads_no_others(tmp_path: Path) -> None:
    rows, other = RowsOfParts(Processes(2, tmp_path), Silent()), tmp_path / "other.csv"
    with duckdb.connect() as con:
        (tmp_path / loading._ROWS).mkdir()
        con.execute(f"copy (select 1) to '{tmp_path / loading._ROWS / 'part-00000.parquet'}'")
        other.write_text("secret")
        guard(con, rows.settings)
        assert con.execute(f"from read_parquet('{tmp_path}/{loading._ROWS}/*')").fetchall() == [(1,)]
        for path in (other, tmp_path / loading._ROWS / ".." / other.name):
            with pytest.raises(duckdb.PermissionException):
                con.execute(f"from read_text('{path}')")


@pytest.fixture(scope="module")
def url(pyspark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:  # noqa: ARG001
    """A server of Sail that runs Python, which takes a PySpark that it knows: 4.1."""
    pytest.importorskip("pysail", reason="Sail is not installed: uv sync --group spark")
    packages = tmp_path_factory.mktemp("packages")
    command = ["uv", "pip", "install", "--quiet", "--no-deps", "--target", str(packages), "pyspark-client==4.1.1"]
    run_outside(command, packages)
    with sail_server.running("4.1.1", packages) as address:
        yield address


def load(lake: Path, data: Path, url: str, limit: QuarantineLimit = ALL, **options: Any) -> LakeResult:
    return load_lake(lake, data, url, Silent(), limit=limit, **options)


@pytest.mark.slow
def test_a_lake_that_workers_load_is_that_of_a_build(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, roots = talks(invent(tmp_path)), (tmp_path / "roots",)
    shutil.copytree(KIT / "turns/data/bus_turns", data / "bus_turns")  # with a file of labels
    for corpus_id in (PICTURES, POSTS):
        shutil.copytree(sample_of(corpora()[corpus_id]), data / corpus_id)
    build(tmp_path / "w.duckdb", Silent(), data=data, limit=ALL, corpus_roots=roots)
    write_lake(tmp_path / "of_build", [tmp_path / "w.duckdb"], Silent())
    monkeypatch.setattr(loading, "_GROUP", 3_000)
    monkeypatch.setattr(load_corpus, "TOGETHER", 0)

    load(tmp_path / "lake", data, url, corpus_roots=roots)

    expected, found = read(tmp_path / "of_build"), read(tmp_path / "lake")
    assert [table.full_name for table in found.tables] == [table.full_name for table in expected.tables]
    pairs = zip(expected.tables, found.tables, strict=True)
    different = {first.full_name for first, other in pairs if first.fingerprints != other.fingerprints}
    assert different == {"meta.loads", "meta.checks"}
    assert found.left_out == expected.left_out
    turns = next(table for table in found.tables if table.full_name == "main.turns")
    assert len([file for file in turns.files if file.corpus == "talks"]) > 1

    with sail_server.session(url) as spark:
        assert "main.turns" in attach(spark, tmp_path / "lake")
    again = write_lake(tmp_path / "lake", [tmp_path / "w.duckdb"], Silent())
    assert {part.table for part in again.parts if part.is_new} == different
    assert [path.name for path in (tmp_path / "lake").glob(".*")] == []


@pytest.fixture
def copied_lake(small_lake: Path, tmp_path: Path) -> Iterator[Path]:
    """A lake that has to stay as it is, with nothing left in it."""
    lake = Path(shutil.copytree(small_lake, tmp_path / "kept"))
    before = sorted(path.relative_to(lake) for path in lake.rglob("*"))
    yield lake
    assert sorted(path.relative_to(lake) for path in lake.rglob("*")) == before


@pytest.mark.slow
def test_whatever_goes_wrong_the_lake_is_as_it_was(
    url: str, copied_lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = talks(tmp_path / "data")
    assert load(tmp_path / "none", data, url, dry_run=True).outcome is LakeOutcome.DRY_RUN
    assert not (tmp_path / "none").exists()
    with pytest.raises(TooMuchQuarantined, match=r"2 of 1\d records[\s\S]*TH-01"):
        load(copied_lake, data, url, QuarantineLimit("1"))
    (data / "talks" / "corpus.toml").write_text(CHAT + '[[files]]\npath = "gone.json"\n')
    with pytest.raises(RegistryError, match=r"no file fits the pattern .gone\.json."):
        load(copied_lake, data, url)
    (data / "talks" / "corpus.toml").write_text(CHAT)
    with pytest.raises(SparkFailed, match="does not answer"):
        load(copied_lake, data, "sc://127.0.0.1:1")
    monkeypatch.setattr(workers, "_made_of", lambda: "other")
    with pytest.raises(UsageError, match=rf"the worker on {workers.gethostname()} has another Talkhouse"):
        load(copied_lake, data, url)


@pytest.mark.slow
def test_a_worker_that_sees_another_folder_is_named(tmp_path: Path) -> None:
    probe = workers._Probe(tmp_path / "none", {tmp_path: 0}, workers._made_of())
    with pytest.raises(UsageError, match=rf"{workers.gethostname()} does not see this folder[\s\S]*another folder"):
        probe(lambda *_: None)
    with pytest.raises(UsageError, match="can't write to the lake"):
        replace(probe, stamps={})(lambda *_: None)


@pytest.mark.slow
def test_ctrl_c_leaves_the_lake_and_no_task(url: str, copied_lake: Path, tmp_path: Path) -> None:
    files = {f"{n:03}.jsonl": "".join(talk(f"{n}/{k}", "Hi " * 50) for k in range(2000)).encode() for n in range(60)}
    laid_out({"talks": Invented(CHAT, files, {})}, tmp_path / "data")
    command = [sys.executable, "-W", "ignore", "-m", "talkhouse.cli", "lake", str(copied_lake)]
    command += ["--data", str(tmp_path / "data"), "--remote", url]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while len([*copied_lake.glob(".manifest.json.part/*/*/*.arrow")]) < 4:
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    assert process.stderr
    errors = process.stderr.read()
    assert process.wait(timeout=300) == 130, errors
    assert "interrupted; the lake is as it was" in errors
