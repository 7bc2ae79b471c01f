"""The views of declared tasks in older DuckDBs, and in an engine for Spark's SQL."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import talkhouse
from talkhouse.ingest.declared.declaration.model import TurnFields
from talkhouse.lake_format.documents import read_translation
from talkhouse.lake_format.lake_manifest import read
from talkhouse.postgres.plan import Options
from talkhouse.postgres.publish import publish, verify
from talkhouse.spark.compare import ComparedRelation, SparkColumn, compare
from talkhouse.spark.sessions import attach
from talkhouse.warehouse.opened import Warehouse
from tests import sail_server
from tests.declared.talks_in_files import build_talks, declared
from tests.declared.test_tasks import FILES, TASKS
from tests.lakes import lake_of
from tests.postgres_server import Database
from tests.talkhouse.postgres.builds import Steps
from tests.test_clients import LAST_BEFORE_2, OLDEST, answers, in_duckdb

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


A_TREE = {
    "id": "tree",
    "turns": [["user", "Tea?"], ["bot", "Yes.", 0], ["user", "Now?", 1], ["bot", "No.", 0]],
    "labels": [[2, "mood", 0, 0, "calm"]],
    "at": 3,
    "answers": [["No."], ["Never."]],
}

QUERIES = [f"from salon.{task.name}{split}" for task in TASKS for split in ("", "_train", "_test")]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = FILES | {"test.json": [*FILES["test.json"], A_TREE]}
    return build_talks(tmp_path_factory.mktemp("salon"), files, declared(*TASKS, turn=TurnFields(reply_to=("to",))))


@pytest.fixture
def spark() -> Iterator["SparkSession"]:
    pytest.importorskip("pyspark", reason="PySpark is not installed: uv sync --group spark")
    pytest.importorskip("pysail", reason="Sail is not installed: uv sync --group spark")
    with sail_server.running() as url, sail_server.session(url) as session:
        yield session


@pytest.mark.slow
@pytest.mark.parametrize("version", [OLDEST, LAST_BEFORE_2])
def test_an_older_duckdb_gives_the_same_rows(version: str, warehouse: Path) -> None:
    expected = answers([sys.executable], QUERIES, warehouse)
    assert dict(zip(QUERIES, answers(in_duckdb(version), QUERIES, warehouse), strict=True)) == dict(
        zip(QUERIES, expected, strict=True)
    )


@pytest.mark.long
def test_postgresql_has_the_same_rows_but_for_the_lists_of_spans(warehouse: Path, postgres: Database) -> None:
    with talkhouse.open(warehouse) as con:
        publish(Warehouse(con), postgres.url(), Options(), Steps())
        verified = verify(Warehouse(con), postgres.url(), "", Steps())
        queries = [query for query in QUERIES if not query.startswith("from salon.place")]
        of_talks = {query: con.execute(f"select count(*) {query}").fetchone() for query in queries}
    assert verified.differences == ()
    with postgres.connect() as server:
        assert {query: server.execute(f"select count(*) {query}".encode()).fetchone() for query in queries} == of_talks


@pytest.mark.slow
def test_spark_s_sql_gives_the_same_rows_but_for_spans_whose_type_no_lake_has(
    warehouse: Path, tmp_path: Path, spark: "SparkSession"
) -> None:
    lake = lake_of(warehouse, tmp_path / "lake")
    attach(spark, lake)
    views = {view.full_name: view for view in read_translation(lake, read(lake)).views if view.schema == "salon"}
    assert {*views} == {query.removeprefix("from ") for query in QUERIES if not query.startswith("from salon.place")}
    with talkhouse.open(warehouse) as con:
        for name, view in views.items():
            columns = tuple(SparkColumn(column.name, column.type, column.spark_type) for column in view.columns)
            found = compare(con, spark, ComparedRelation(view.schema, view.name, tuple(view.grain), columns))
            assert not found.difference, (name, found.difference)
