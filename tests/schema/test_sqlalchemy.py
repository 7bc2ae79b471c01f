"""SQLAlchemy on a warehouse: our URL reflects tables, keys and comments, and the stock one runs queries."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.automap import automap_base
from sqlalchemy.orm import Session

import talkhouse
from talkhouse.ingest.registry import corpora
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.errors import BadName, UsageError, WarehouseMissing
from talkhouse.schema.tables import metadata
from tests.lanes import first_quick

VIEWS = [view.full_name for view in catalogue().views]


@pytest.fixture(scope="module")
def engine(sample: Path) -> Iterator[sa.Engine]:
    created = sa.create_engine(f"talkhouse:///{sample}")
    yield created
    created.dispose()


def counted(url: str, options: str = "") -> str:
    """Count the corpora in a process of its own, in which nothing of Talkhouse is imported."""
    script = f"""
import sqlalchemy as sa
with sa.create_engine("{url}"{options}).connect() as con:
    print(con.execute(sa.text("select count(*) from main.corpora")).scalar_one())
"""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_url_works_where_nothing_of_ours_is_imported(sample: Path) -> None:
    assert counted(f"talkhouse:///{sample}") == f"{len(corpora())}\n"


@pytest.mark.slow
def test_the_stock_url_runs_queries_and_reflects_no_columns_or_keys(sample: Path, tmp_path: Path) -> None:
    assert counted(f"duckdb:///{sample}", ", connect_args={'read_only': True}") == f"{len(corpora())}\n"
    # A copy, since a process that has the file open by Talkhouse can't open it with other settings.
    engine = sa.create_engine(f"duckdb:///{shutil.copy(sample, tmp_path)}", connect_args={"read_only": True})
    found = sa.inspect(engine)
    assert "turns" in found.get_table_names(schema="main")
    for asked in (found.get_columns, found.get_pk_constraint, found.get_foreign_keys):
        # Where one of these passes, docs/clients.md says too much.
        with pytest.raises(sa.exc.ProgrammingError):
            asked("turns", schema="main")
    engine.dispose()


def test_tables_are_reflected_with_types_keys_and_comments(engine: sa.Engine) -> None:
    for schema in (None, "meta"):
        reflected = sa.MetaData()
        reflected.reflect(engine, schema=schema)
        for table in (table for table in metadata.tables.values() if table.schema == schema):
            found = reflected.tables[table.fullname]
            assert found.comment == table.comment
            assert [(column.name, column.comment) for column in found.columns] == [
                (column.name, column.comment) for column in table.columns
            ]
            assert relations(found) == relations(table)
            grain = table.info["grain"]
            is_key = not any(table.columns[name].nullable for name in grain)
            assert tuple(found.primary_key.columns.keys()) == (grain if is_key else ())


def relations(table: sa.Table) -> set[tuple[str, ...]]:
    """Return the foreign keys of a table, each as its own columns and those that it points at."""
    return {
        (
            *constraint.column_keys,
            *(f"{element.column.table.fullname}.{element.column.name}" for element in constraint.elements),
        )
        for constraint in table.foreign_key_constraints
    }


@pytest.mark.parametrize("name", first_quick(VIEWS, 10))
def test_a_view_is_reflected_and_read(engine: sa.Engine, name: str) -> None:
    schema, _, plain = name.partition(".")
    view = sa.Table(plain, sa.MetaData(), schema=schema, autoload_with=engine)
    assert view.comment
    assert all(column.comment for column in view.columns)
    with engine.connect() as con:
        rows = con.execute(sa.select(view).limit(3)).mappings().all()
        assert con.execute(sa.select(sa.func.count()).select_from(view)).scalar_one() >= len(rows)
    assert all(row.keys() == view.columns.keys() for row in rows)


def test_lists_come_as_lists_and_json_as_objects(engine: sa.Engine) -> None:
    examples = sa.Table("breakdown_detection", sa.MetaData(), schema="dbdc3", autoload_with=engine)
    dialogues = sa.Table("dialogues", sa.MetaData(), autoload_with=engine)
    with engine.connect() as con:
        contexts = con.execute(sa.select(examples.c.context)).scalars().all()
        extras = con.execute(sa.select(dialogues.c.extra).where(dialogues.c.extra.is_not(None))).scalars().all()
    assert all(isinstance(context, list) for context in contexts)
    assert extras
    assert all(isinstance(extra, dict) for extra in extras)


@pytest.mark.slow
def test_automap_finds_its_way_from_a_turn_to_its_dialogue(engine: sa.Engine) -> None:
    base = automap_base()
    base.prepare(autoload_with=engine)
    with Session(engine) as session:
        turn = session.scalars(sa.select(base.classes.turns).limit(1)).one()
        assert turn.dialogues.dialogue_id == turn.dialogue_id
        assert turn.dialogues.corpora.title


def test_it_opens_read_only_beside_our_own_connections(engine: sa.Engine, sample: Path) -> None:
    with talkhouse.open(sample), engine.connect() as con:
        with pytest.raises(sa.exc.DBAPIError, match="read-only"):
            con.execute(sa.text("delete from main.corpora"))
        con.rollback()
        assert con.execute(sa.text("select count(*) from main.corpora")).scalar_one() > 0


def test_settings_of_duckdb_stand_in_the_url(sample: Path) -> None:
    engine = sa.create_engine(f"talkhouse:///{sample}?timezone=Asia/Tokyo")
    with engine.connect() as con:
        assert con.execute(sa.text("select current_setting('timezone')")).scalar_one() == "Asia/Tokyo"
    engine.dispose()


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("talkhouse:///{folder}/typo.duckdb", WarehouseMissing, "there is no warehouse here"),
        ("talkhouse://", UsageError, r"names no warehouse[\s\S]*talkhouse:///talkhouse\.duckdb"),
        ("talkhouse:///{folder}/main.duckdb", BadName, "ambiguous"),
    ],
)
def test_a_wrong_url_says_what_is_wrong(tmp_path: Path, url: str, error: type[Exception], message: str) -> None:
    (tmp_path / "main.duckdb").touch()
    with pytest.raises(error, match=message):
        sa.create_engine(url.format(folder=tmp_path)).connect()
    assert [path.name for path in tmp_path.iterdir()] == ["main.duckdb"]
