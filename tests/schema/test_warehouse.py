"""Opening a warehouse: read-only, and a clear message for everything that can stand in the way."""

import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.schema.errors import (
    BadName,
    NotAWarehouse,
    OpenedOtherwise,
    SchemaMismatch,
    WarehouseLocked,
    WarehouseMissing,
)


@pytest.fixture
def copy(sample: Path, tmp_path: Path) -> Path:
    path = tmp_path / "copy.duckdb"
    shutil.copy(sample, path)
    path.chmod(0o644)
    return path


@contextmanager
def another_process(code: str) -> Iterator[None]:
    """Run Python in another process that says 'ready' and then waits for its standard input to close."""
    script = textwrap.dedent(code) + "\nprint('ready', flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        yield
    finally:
        process.communicate("\n")


def test_a_warehouse_opens_read_only(sample: Path) -> None:
    with talkhouse.open(sample) as con, pytest.raises(duckdb.InvalidInputException, match="read-only"):
        con.execute("delete from main.turns")


def test_the_path_may_come_from_the_environment(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALKHOUSE_DB", str(sample))
    with talkhouse.open() as con:
        assert con.execute("select count(*) > 0 from main.turns").fetchall() == [(True,)]


@pytest.mark.slow
def test_many_processes_read_at_once(sample: Path) -> None:
    with another_process(f"import talkhouse; con = talkhouse.open({str(sample)!r})"), talkhouse.open(sample) as con:
        assert con.execute("select 1").fetchall() == [(1,)]


def test_a_missing_file_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(WarehouseMissing, match=r"no warehouse here\n.*talkhouse build"):
        talkhouse.open(tmp_path / "none.duckdb")


def test_a_writer_is_named(copy: Path) -> None:
    with (
        another_process(f"import duckdb; con = duckdb.connect({str(copy)!r})"),
        pytest.raises(WarehouseLocked, match=r"PID \d+"),
    ):
        talkhouse.open(copy)


def test_other_settings_in_this_process_are_named(copy: Path) -> None:
    message = r"this process has the file open for writing[\s\S]*engine.dispose"
    with duckdb.connect(copy), pytest.raises(OpenedOtherwise, match=message):
        talkhouse.open(copy)


def test_what_is_opened_after_a_build_has_its_rows_and_what_was_open_keeps_its_own(copy: Path) -> None:
    query = "select title from main.corpora limit 1"
    engine = sa.create_engine(f"talkhouse:///{copy}")
    with duckdb.connect(copy, read_only=True), talkhouse.open(copy) as before:
        with engine.connect() as con:
            (old,) = con.execute(sa.text(query)).one()
        new = shutil.copyfile(copy, copy.with_name("new.duckdb"))
        with duckdb.connect(new) as writer:
            writer.execute("update main.corpora set title = 'newer'")
        new.replace(copy)
        with talkhouse.open(copy) as after, engine.connect() as con:
            assert con.execute(sa.text(query)).one() == ("newer",)
            assert [each.execute(query).fetchall() for each in (after, after.cursor().cursor())] == 2 * [[("newer",)]]
        assert [each.execute(query).fetchall() for each in (before, before.cursor())] == 2 * [[(old,)]]


def test_connections_of_a_process_may_differ_in_how_they_were_made(copy: Path) -> None:
    con = talkhouse.open(copy)
    with con, duckdb.connect(copy, read_only=True) as plain, duckdb.connect() as attaching:
        attaching.execute(f"attach '{copy}' as w (read_only)")
        assert plain.execute("select count(*) from main.turns").fetchone() == (
            attaching.execute("select count(*) from w.main.turns").fetchone()
        )


def test_a_newer_schema_is_refused(copy: Path) -> None:
    with duckdb.connect(copy) as con:
        con.execute("update meta.alembic_version set version_num = '9999'")
    with pytest.raises(SchemaMismatch, match=r"newer schema[\s\S]*revision 9999[\s\S]*upgrade Talkhouse"):
        talkhouse.open(copy)


def test_an_older_schema_says_to_migrate(copy: Path) -> None:
    with duckdb.connect(copy) as con:
        con.execute("update meta.alembic_version set version_num = '0006'")
    with pytest.raises(SchemaMismatch, match=r"older schema[\s\S]*talkhouse migrate"):
        talkhouse.open(copy)


MADE_UP = (
    *("(' 0007')", "('0000')", "('00065')", "('banana')", "('\u0660007')", "(repeat('9', 100000))"),
    *("(null)", "('0007'), (null)", "(null) limit 0", "(7)", "(['0007'])"),
)
"""Rows of the table of revisions that no Talkhouse has made."""


@pytest.mark.parametrize(
    "rows", [*("('')", "('0007'), ('0006')"), *(pytest.param(rows, marks=pytest.mark.slow) for rows in MADE_UP)]
)
def test_a_revision_that_talkhouse_does_not_make_is_refused(copy: Path, rows: str) -> None:
    with duckdb.connect(copy) as con:
        con.execute("drop table meta.alembic_version")
        con.execute(f"create table meta.alembic_version as from (values {rows}) as made_up (version_num)")
    before = copy.read_bytes()
    with pytest.raises(NotAWarehouse, match="one schema revision, of four digits") as error:
        talkhouse.open(copy)
    assert len(str(error.value)) < 1000
    with pytest.raises(NotAWarehouse, match="one schema revision, of four digits"):
        build(copy, Silent())
    assert copy.read_bytes() == before


def test_a_file_named_after_a_schema_is_refused(copy: Path) -> None:
    renamed = copy.rename(copy.with_name("dbdc3.duckdb"))
    with pytest.raises(BadName, match="named after a schema"):
        talkhouse.open(renamed)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.duckdb"
    path.write_text("these are notes, and no database")
    with pytest.raises(NotAWarehouse, match="not a valid DuckDB database"):
        talkhouse.open(path)


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(path) as con:
        con.execute("create table turns (text varchar)")
    with pytest.raises(NotAWarehouse, match="not made by Talkhouse"):
        talkhouse.open(path)
