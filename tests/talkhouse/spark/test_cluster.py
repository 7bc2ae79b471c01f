"""A real Spark cluster on this machine: views and what it loads are equal, also when a worker dies."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event

import duckdb
import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.lake import attach
from talkhouse.lake.load_lake import load_lake
from talkhouse.lake_format.documents import read_translation
from talkhouse.lake_format.lake_manifest import LakeManifest, read
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.errors import UsageError
from talkhouse.spark import sessions
from talkhouse.spark.check import check, compare_all, relations_of, warehouse_of
from talkhouse.spark.compare import ComparedRows, compare_rows
from talkhouse.spark.sessions import attach_snapshot, session
from tests import spark_cluster
from tests.declared.invented_corpora import Invented, laid_out
from tests.lakes import differences, lake_of, with_odd_texts
from tests.spark_cluster import Cluster
from tests.talkhouse.load.test_jobs import CHAT, talk

pytestmark = pytest.mark.spark

ALL = QuarantineLimit("100%")
EMPTY = {"meta.quarantine", "meta.query_files"}
"""Tables without rows in the samples."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, pyspark: None) -> Iterator[Cluster]:  # noqa: ARG001
    spark_cluster.java()
    with spark_cluster.running(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def lake(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lake_of(filled, tmp_path_factory.mktemp("lake") / "lake")


def read_back(manifest: LakeManifest, lake: Path, folder: Path) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    return warehouse_of(manifest, lake, folder, read_translation(lake, manifest))


def test_every_table_and_view_is_equal(cluster: Cluster, lake: Path) -> None:
    done = check(lake, cluster.url, Silent())
    assert differences(done.relations) == []
    assert done.left_out == ()
    assert {relation.name for relation in done.relations if not relation.rows} == EMPTY


def test_odd_texts_are_equal_with_ansi_off(cluster: Cluster, sample: Path, tmp_path: Path) -> None:
    lake = lake_of(with_odd_texts(sample, tmp_path / "odd.duckdb"), tmp_path / "lake")
    found = read(lake)
    translation = read_translation(lake, found)
    with read_back(found, lake, tmp_path) as con, session(cluster.url, rows=1, folder=tmp_path) as spark:
        spark.conf.set("spark.sql.ansi.enabled", "false")
        refused = attach_snapshot(spark, found, translation, str(lake))
        assert refused == {}
        names = {view.full_name for view in catalogue().views}  # without those of one split
        written = [relation for relation in relations_of(found, translation) if relation.full_name in names]
        assert differences(tuple(compare_all(con, spark, written, refused, Silent()))) == []


def test_a_table_that_spark_keeps_itself_is_not_replaced(cluster: Cluster, lake: Path, tmp_path: Path) -> None:
    with session(cluster.url, rows=1, folder=tmp_path) as spark:
        spark.sql("CREATE DATABASE main")
        spark.sql("CREATE TABLE main.turns USING parquet AS SELECT 'mine' AS text")
        with pytest.raises(UsageError, match=r"main\.turns"):
            attach(spark, lake)
        assert [row.text for row in spark.table("main.turns").collect()] == ["mine"]


def test_a_worker_that_dies_in_the_middle_changes_no_row(cluster: Cluster, lake: Path, tmp_path: Path) -> None:
    found = read(lake)
    translation = read_translation(lake, found)
    relation = next(relation for relation in relations_of(found, translation) if relation.full_name == "bi.turns")
    with read_back(found, lake, tmp_path) as con, session(cluster.url, rows=1, folder=tmp_path) as spark:
        attach_snapshot(spark, found, translation, str(lake))
        rows = spark.table("bi.turns").count()
        slowly = f"reflect('java.lang.Thread', 'sleep', {20_000 // rows}L) = 'null'"  # 20 seconds in all
        frame = spark.table("bi.turns").repartition(8, "dialogue_id").where(slowly)
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(compare_rows, con, relation, lambda *_: frame.toArrow())
            tracker = spark.sparkContext.statusTracker()
            while not any(
                stage and stage.numTasks == 8 and stage.numActiveTasks == 2 and stage.numCompletedTasks
                for stage in map(tracker.getStageInfo, tracker.getActiveStageIds())
            ):
                assert not answer.done()
                time.sleep(0.02)
            cluster.workers[0].kill()
            assert not answer.done()
            assert answer.result() == ComparedRows(rows, None)
    assert "Removing worker" in cluster.log


def test_a_worker_that_dies_while_it_reads_changes_no_row(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_READY", 600.0)
    files = {
        f"{number:02}.jsonl": "".join(talk(f"{number % 20}/{id_}", f"Hi {number} " * 20) for id_ in range(2_000))
        for number in range(24)
    }
    laid_out({"talks": Invented(CHAT, {name: text.encode() for name, text in files.items()}, {})}, tmp_path / "data")
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data", limit=ALL)
    expected, loaded = lake_of(tmp_path / "w.duckdb", tmp_path / "expected"), tmp_path / "lake"
    cluster.add_workers(1)

    is_done = Event()

    def kill() -> int:
        while (written := len([*loaded.glob(".manifest.json.part/*/*/*.arrow")])) < 6:
            if is_done.wait(0.02):
                pytest.fail("nothing was written")
        cluster.workers[-1].kill()
        return written

    with ThreadPoolExecutor(1) as pool:
        killed = pool.submit(kill)
        try:
            load_lake(loaded, tmp_path / "data", cluster.url, Silent(), limit=ALL)
        finally:
            is_done.set()
        assert killed.result() < 24 * 3
    pairs = zip(read(expected).tables, read(loaded).tables, strict=True)
    different = {first.full_name for first, other in pairs if first.fingerprints != other.fingerprints}
    assert different == {"meta.loads", "meta.checks"}
