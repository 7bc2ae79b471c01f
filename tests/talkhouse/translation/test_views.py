"""Every view is in the lake, and gives the same rows on an engine for Spark's SQL as in DuckDB."""

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from talkhouse.queries.catalogue import catalogue
from talkhouse.spark.attach import attach
from talkhouse.spark.compare import Column, Relation, compare
from talkhouse.translation.translate import translate
from talkhouse.translation.translated import Translation, View
from tests.talkhouse.lake.test_write import written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def translation(opened: duckdb.DuckDBPyConnection) -> Translation:
    """The views of the sample."""
    return translate(opened, catalogue())


def test_every_view_is_translated(translation: Translation, con: duckdb.DuckDBPyConnection) -> None:
    views = con.execute("select schema_name, view_name from duckdb_views() where not internal").fetchall()
    assert not translation.unportable
    assert {(view.schema, view.name) for view in translation.views} == set(views)


def test_a_view_comes_after_those_that_it_reads(translation: Translation) -> None:
    created: set[str] = set()
    names = {view.full_name for view in translation.views}
    for view in translation.views:
        assert {name for name in names - created if f" {name}\n" in f"{view.sql}\n"} == set(), view.full_name
        created.add(view.full_name)


def test_every_view_gives_the_rows_that_it_gives_in_duckdb(
    translation: Translation, con: duckdb.DuckDBPyConnection, sample: Path, tmp_path: Path, sail: "SparkSession"
) -> None:
    written(tmp_path / "lake", sample)
    attach(sail, tmp_path / "lake")
    compared = {view.full_name: compare(con, sail, relation(view)) for view in translation.views}
    assert {name: str(one.difference) for name, one in compared.items() if one.difference} == {}
    assert [name for name, one in compared.items() if not one.rows] == []


def relation(view: View) -> Relation:
    columns = tuple(Column(column.name, column.type, column.spark_type) for column in view.columns)
    return Relation(view.schema, view.name, tuple(view.grain), columns)
