"""Every view is in the lake, and gives the same rows on an engine for Spark's SQL as in DuckDB."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import talkhouse
from talkhouse.lake_format.documents import read_translation
from talkhouse.lake_format.lake_manifest import read
from talkhouse.queries.catalogue import catalogue
from talkhouse.spark.compare import ComparedRelation, SparkColumn, compare
from talkhouse.spark.sessions import attach
from talkhouse.translation.translate import translate
from talkhouse.translation.translated import TranslatedViews, View
from talkhouse.warehouse.opened import Warehouse
from tests.lakes import lake_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def translation(small: Path) -> TranslatedViews:
    with talkhouse.open(small) as con:
        return translate(con, catalogue(), Warehouse(con).split_views)


def test_every_view_is_translated(translation: TranslatedViews, small: Path) -> None:
    with talkhouse.open(small) as con:
        views = con.execute("select schema_name, view_name from duckdb_views() where not internal").fetchall()
    assert {(view.schema, view.name) for view in translation.views} == set(views)


def test_a_view_comes_after_those_that_it_reads(translation: TranslatedViews) -> None:
    created: set[str] = set()
    names = {view.full_name for view in translation.views}
    for view in translation.views:
        assert {name for name in names - created if f" {name}\n" in f"{view.sql}\n"} == set(), view.full_name
        created.add(view.full_name)


@pytest.mark.slow
def test_every_view_gives_the_rows_that_it_gives_in_duckdb(filled: Path, tmp_path: Path, sail: "SparkSession") -> None:
    lake = lake_of(filled, tmp_path / "lake")
    attach(sail, lake)
    views = read_translation(lake, read(lake)).views
    with talkhouse.open(filled) as con:
        compared = {view.full_name: compare(con, sail, relation(view)) for view in views}
    assert {name: str(view.difference) for name, view in compared.items() if view.difference} == {}
    # No published corpus labels whole dialogues.
    assert [name for name, view in compared.items() if not view.rows] == ["bi.dialogue_labels"]


def relation(view: View) -> ComparedRelation:
    columns = tuple(SparkColumn(column.name, column.type, column.spark_type) for column in view.columns)
    return ComparedRelation(view.schema, view.name, tuple(view.grain), columns)
