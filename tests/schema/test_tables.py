"""The tables: what the migration makes, what the metadata says and what rows carry is one and the same."""

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from sqlalchemy import Table

from talkhouse import migrations
from talkhouse.ingest.rows import ROWS, Row
from talkhouse.schema import contents, warehouse
from talkhouse.schema.tables import metadata, owned_by, qualified

OF_LOADING = {"label_index"}
"""Columns that no reader fills."""

TABLES = sorted(metadata.tables.values(), key=qualified)

SHAPE = """
select columns.schema_name, columns.table_name, column_name, data_type, is_nullable, columns.comment, tables.comment
from duckdb_columns() as columns inner join duckdb_tables() as tables using (table_oid)
order by all
"""
KEYS = "select schema_name, table_name, constraint_type, constraint_column_names from duckdb_constraints() order by all"


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "new.duckdb"
    migrations.upgrade(path)
    return path


def test_the_migrations_make_what_a_new_database_has(migrated: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.duckdb"
    with warehouse.create(new) as con:
        migrations.make(con)
    with duckdb.connect(migrated) as first, duckdb.connect(new) as other:
        for query in (SHAPE, KEYS, "select sql from duckdb_tables() order by all", "from meta.alembic_version"):
            assert first.execute(query).fetchall() == other.execute(query).fetchall()


def test_every_table_and_column_is_commented(migrated: Path) -> None:
    with duckdb.connect(migrated) as con:
        assert con.execute("select table_name from duckdb_tables() where comment is null").fetchall() == []
        bare = "select table_name, column_name from duckdb_columns() where not internal and comment is null"
        assert con.execute(bare).fetchall() == []


def test_long_texts_are_stored_with_zstd_in_the_oldest_version_that_has_it(migrated: Path) -> None:
    with warehouse.create(migrated) as con:
        (sql,) = con.execute("select sql from duckdb_tables() where table_name = 'turns'").fetchall()[0]
        assert '"text" VARCHAR USING COMPRESSION ZSTD' in sql
        (tags,) = con.execute("select tags from duckdb_databases() where path is not null").fetchall()[0]
        assert tags["storage_version"].startswith("v1.2.0")


def test_row_groups_are_small(migrated: Path) -> None:
    with warehouse.create(migrated) as con:
        con.execute("insert into main.participants select i, 's', null, null from range(50_000) as numbers(i)")
        con.execute("checkpoint")
        groups = (
            "select distinct row_group_id, max(start + count) from pragma_storage_info('main.participants') group by 1"
        )
        assert len(con.execute(groups).fetchall()) == 1 + 50_000 // warehouse.ROW_GROUP


@pytest.mark.slow
def test_the_alembic_program_comes_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "by_alembic.duckdb"
    alembic = [str(Path(sys.executable).with_name("alembic")), "-x", f"db={path}"]
    root = Path(__file__).parents[2]
    subprocess.run([*alembic, "upgrade", "head"], check=True, cwd=root, capture_output=True)
    with duckdb.connect(path, read_only=True) as con:
        assert contents.revision(con, path) == migrations.head()
        assert con.execute("select count(*) from duckdb_tables()").fetchall() == [(len(TABLES) + 1,)]
    done = subprocess.run([*alembic, "check"], check=True, cwd=root, capture_output=True, text=True)
    assert "No new upgrade operations detected" in done.stdout
    subprocess.run([*alembic, "downgrade", "base"], check=True, cwd=root, capture_output=True)
    with duckdb.connect(path, read_only=True) as con:
        assert con.execute("select table_name from duckdb_tables()").fetchall() == [("alembic_version",)]


def test_the_alembic_program_leaves_a_warehouse_as_it_is(sample: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    alembic, root = Path(sys.executable).with_name("alembic"), Path(__file__).parents[2]
    for words, problem in ((["-x", f"db={path}"], "talkhouse migrate"), ([], "name an empty database")):
        done = subprocess.run([alembic, *words, "upgrade", "head"], cwd=root, capture_output=True, text=True)
        assert done.returncode != 0
        assert problem in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    assert path.read_bytes() == sample.read_bytes()


def test_head_is_what_alembic_takes_for_it() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    assert ScriptDirectory.from_config(config).get_current_head() == migrations.head()


@pytest.mark.parametrize("table", TABLES, ids=qualified)
def test_a_table_declares_its_grain_and_owner(table: Table) -> None:
    names = {column.name for column in table.columns}
    assert set(table.info["grain"]) <= names
    assert table.info["owner"] is None or table.info["owner"] in names
    if table.primary_key.columns:
        assert tuple(column.name for column in table.primary_key.columns) == table.info["grain"]


@pytest.mark.parametrize("table", TABLES, ids=qualified)
def test_references_point_at_columns_that_exist(table: Table) -> None:
    for key in table.foreign_keys:
        assert key.column is not None


@pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.TABLE)
def test_a_row_has_the_columns_of_its_table(kind: type[Row]) -> None:
    columns = [column.name for column in metadata.tables[kind.TABLE].columns if column.name not in OF_LOADING]
    assert list(kind.__struct_fields__) == columns, "ingest/rows.py and schema/tables differ: see migrations/README.md"


def test_rows_of_a_corpus_are_told_by_key_even_where_one_id_begins_another(migrated: Path) -> None:
    turns = metadata.tables["turns"]
    with warehouse.create(migrated) as con:
        con.execute("begin")
        row = "? as dialogue_id, 0 as turn_index, '' as role, '' as kind, '' as text"
        insert = f"insert into main.turns by name select {row}"
        con.execute(insert, ["toy:1"])
        con.execute(insert, ["toy_two:1"])
        found = con.execute(f"select dialogue_id from main.turns where {owned_by(turns, 'toy')}").fetchall()
        con.execute("rollback")
    assert found == [("toy:1",)]
