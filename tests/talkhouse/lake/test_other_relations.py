"""Warehouses and lakes whose tables and views are not those of this Talkhouse: one message, and nothing is written."""

import json
import shutil
from pathlib import Path

import duckdb
import polars as pl
import pytest

from talkhouse import migrations
from talkhouse.ingest.progress import Silent
from talkhouse.lake.lake_files import check_tables, declared_columns
from talkhouse.lake.write_lake import write_lake
from talkhouse.lake_format.documents import columns_of_all
from talkhouse.schema.errors import LakeDamaged, NotAWarehouse, SchemaMismatch, TalkhouseError, UsageError
from talkhouse.spark.check import check
from tests.data_files import data_of

CHANGES = [
    ("create view bi.mine as select 1 as x", SchemaMismatch, r"a view that the catalogue does not have[\s\S]*bi\.mine"),
    ('create view main."x\'; --" as select 1 as x', SchemaMismatch, "a view that the catalogue does not have"),
    ("drop view bi.loads", SchemaMismatch, r"a view is missing[\s\S]*bi\.loads"),
    ("drop table main.images", TalkhouseError, r"main\.images"),
    ("drop table meta.loads", TalkhouseError, r"meta\.loads|not made by Talkhouse"),
    ("drop table main.corpora", TalkhouseError, r"main\.corpora"),
    ("alter table main.images drop column extra", SchemaMismatch, r"main\.images is not as[\s\S]*extra JSON"),
    (
        "alter table main.images add column more int[3]",
        SchemaMismatch,
        r"main\.images is not as[\s\S]*more INTEGER\[3\]",
    ),
    ("alter table main.images alter column kind type integer using 1", SchemaMismatch, r"kind INTEGER"),
    ("delete from meta.loads", NotAWarehouse, "which build made it"),
    ("update meta.loads set catalogue_hash = ''", TalkhouseError, "other views"),
]


def changed(small: Path, path: Path, statement: str) -> Path:
    shutil.copyfile(small, path)
    with duckdb.connect(path) as con:
        con.execute(statement)
    return path


def test_the_declared_columns_are_those_that_migrations_make() -> None:
    with duckdb.connect() as con:
        migrations.make(con)
        found = columns_of_all(con)
        declared = declared_columns(con)
    assert declared == {name: columns for name, columns in found.items() if name != "meta.alembic_version"}


def test_a_table_less_or_with_other_columns_is_told(small: Path, tmp_path: Path) -> None:
    path = changed(small, tmp_path / "changed.duckdb", "drop table main.images; create table main.mine (x int)")
    with duckdb.connect(path) as con:
        with pytest.raises(SchemaMismatch, match=r"main\.images is missing"):
            check_tables(con, "changed", path)
        con.execute("create table main.images (x int)")
        with pytest.raises(SchemaMismatch, match=r"main\.images is not as this Talkhouse makes it"):
            check_tables(con, "changed", path)


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "error", "words"), CHANGES)
def test_a_warehouse_with_other_tables_or_views_is_refused(
    small: Path, tmp_path: Path, statement: str, error: type[TalkhouseError], words: str
) -> None:
    path = changed(small, tmp_path / "changed.duckdb", statement)
    with pytest.raises(error, match=words):
        write_lake(tmp_path / "lake", [path], Silent())
    assert not (tmp_path / "lake").exists()


@pytest.mark.slow
def test_a_table_of_the_users_own_is_none_of_the_lakes(small: Path, lake: Path, tmp_path: Path) -> None:
    path = changed(small, tmp_path / "changed.duckdb", "create schema mine; create table mine.notes (x int)")
    assert not any(part.is_new for part in write_lake(lake, [path], Silent()).parts)


@pytest.mark.long
@pytest.mark.usefixtures("pyspark")
@pytest.mark.parametrize(("kind", "words"), data_of(__file__)["a_check_tells_of_other_tables_and_views"])
def test_a_check_tells_of_other_tables_and_views(lake: Path, kind: str, words: str) -> None:
    """Before Spark is asked, which does not answer here."""
    path, pointer = lake / "snapshot-1" / "translation.json", lake / "manifest.json"
    views, tables = json.loads(path.read_bytes()), json.loads(pointer.read_bytes())
    turns = next(view for view in views["views"] if (view["schema"], view["name"]) == ("bi", "turns"))
    images = next(table for table in tables["tables"] if table["name"] == "images")
    if kind == "a view less":
        views["views"].remove(turns)
    elif kind == "a view more":
        views["views"].append({**turns, "name": "mine"})
    elif kind == "other columns":
        turns["columns"][-1]["name"] = "mine"
    elif kind == "a table less":
        tables["tables"].remove(images)
    elif kind == "a table more":
        empty = {"name": "mine", "folder": "snapshot-1/main/mine", "files": []}
        (lake / "snapshot-1/main/mine").mkdir()
        tables["tables"].append({**images, **empty})
    else:
        images["columns"][-1]["type"] = "DOUBLE"
    path.write_text(json.dumps(views))
    pointer.write_text(json.dumps(tables))
    with pytest.raises((SchemaMismatch, LakeDamaged), match=words):
        check(lake, "sc://127.0.0.1:1", Silent())


@pytest.mark.slow
@pytest.mark.usefixtures("pyspark")
def test_files_that_are_not_the_tables_are_told(lake: Path) -> None:
    """The manifest says of each that it is whole."""
    from hashlib import sha256

    pointer = lake / "manifest.json"
    good = json.loads(pointer.read_bytes())
    part = lake / "snapshot-1/main/images/corpus=mpchat/part-00000.parquet"
    other = (lake / "snapshot-1/main/turns/corpus=mpchat/part-00000.parquet").read_bytes()
    pl.DataFrame({"text": ["x" * 200_000_000]}).write_parquet(part)
    for content in (b"", b"PAR1", b"no parquet", other, other[:-9], large := part.read_bytes()):
        part.write_bytes(content)
        table = next(item for item in good["tables"] if item["name"] == "images")
        file = next(item for item in table["files"] if item["corpus"] == "mpchat")
        file["bytes"], file["sha256"] = len(content), sha256(content).hexdigest()
        pointer.write_text(json.dumps(good))
        with pytest.raises(LakeDamaged, match=r"can't be read[\s\S]*the columns of main.images") as caught:
            check(lake, "sc://127.0.0.1:1", Silent())
        assert ("too much to read" in str(caught.value)) == (content is large)


@pytest.mark.slow
def test_a_lake_that_is_no_folder_is_told(tmp_path: Path, small: Path) -> None:
    (tmp_path / "lake").symlink_to(tmp_path / "lake")
    with pytest.raises(UsageError):
        write_lake(tmp_path / "lake", [small], Silent())
