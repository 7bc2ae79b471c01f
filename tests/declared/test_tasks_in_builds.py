"""A corpus that is only declared: its tasks come with the build, and stay with the warehouse."""

import shutil
from pathlib import Path

import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.commands import run
from tests.data_files import data_of

pytestmark = pytest.mark.slow

DECLARATION = data_of(__file__)["declaration"]
LINES = (
    '{"id": "1", "polite": "yes", "messages": [{"role": "user", "content": "Is this the 7?"}, '
    '{"role": "assistant", "content": "It is."}]}\n'
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "bus_talk"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(DECLARATION, encoding="utf-8")
    (folder / "talks.jsonl").write_text(LINES, encoding="utf-8")
    return tmp_path / "data"


@pytest.fixture
def warehouse(data: Path, tmp_path: Path) -> Path:
    build(tmp_path / "w.duckdb", Silent(), data=data)
    return tmp_path / "w.duckdb"


def files(path: Path) -> list[tuple[str, ...]]:
    with talkhouse.open(path) as con:
        return con.execute("select name from meta.query_files where folder = 'bus_talk' order by all").fetchall()


def test_tasks_are_scored_when_the_declaration_is_gone(warehouse: Path, data: Path) -> None:
    shutil.rmtree(data)
    assert "accuracy" in run("score", "bus_talk.reply", "--baseline", "oracle", "--db", warehouse).stdout
    assert "F1 macro" in run("score", "bus_talk.manners", "--baseline", "oracle", "--db", warehouse).stdout
    assert ("bi/dashboards/bus_talk.toml",) in files(warehouse)


def test_a_second_build_changes_nothing(warehouse: Path, data: Path) -> None:
    assert build(warehouse, Silent(), data=data).unchanged_since is not None


def test_a_task_that_is_no_longer_declared_is_gone(warehouse: Path, data: Path) -> None:
    path = data / "bus_talk" / "corpus.toml"
    path.write_text(DECLARATION.partition('[[tasks]]\nname = "manners"')[0], encoding="utf-8")
    build(warehouse, Silent(), data=data)
    assert ("reply.sql",) in files(warehouse)
    assert ("manners.sql",) not in files(warehouse)


def test_sql_beside_data_is_not_run(data: Path, tmp_path: Path) -> None:
    folder = data / "bus_talk" / "queries"
    folder.mkdir()
    (folder / "mine.sql").write_text("-- Mine.\n-- grain: one\nselect 1 as one\n", encoding="utf-8")
    build(tmp_path / "w.duckdb", Silent(), data=data)
    assert ("mine.sql",) not in files(tmp_path / "w.duckdb")


def test_sql_of_a_folder_that_is_named_takes_the_place_of_a_task_s(data: Path, tmp_path: Path) -> None:
    named = tmp_path / "corpora" / "bus_talk"
    shutil.copytree(data / "bus_talk", named)
    (data / "bus_talk" / "corpus.toml").unlink()
    (named / "queries" / "bi" / "dashboards").mkdir(parents=True)
    (named / "queries" / "mine.sql").write_text("-- Mine.\n-- grain: one\nselect 1 as one\n", encoding="utf-8")
    page = 'title = "Mine"\ndescription = ""\ncharts = []\n'
    (named / "queries" / "bi" / "dashboards" / "bus_talk.toml").write_text(page, encoding="utf-8")
    path = tmp_path / "w.duckdb"
    build(path, Silent(), data=data, corpus_roots=(tmp_path / "corpora",))
    with talkhouse.open(path) as con:
        assert con.execute("select one from bus_talk.mine").fetchall() == [(1,)]
        assert con.execute("select response from bus_talk.reply").fetchall() == [("It is.",)]
        ((text,),) = con.execute("select text from meta.query_files where name like 'bi/%'").fetchall()
    assert text == page
    score = ("score", "bus_talk.reply", "--baseline", "oracle", "--db", path)
    assert run(*score, env={"TALKHOUSE_CORPORA": str(tmp_path / "corpora")}).returncode == 0


def test_what_is_restored_can_be_built_again(warehouse: Path, data: Path, tmp_path: Path) -> None:
    shutil.rmtree(data)
    (tmp_path / "back").mkdir()
    restored = run("restore", "bus_talk", "--output", tmp_path / "back" / "bus_talk", "--db", warehouse)
    assert restored.stdout.startswith("Restored 2 files")
    assert (tmp_path / "back" / "bus_talk" / "corpus.toml").read_text(encoding="utf-8") == DECLARATION
    build(tmp_path / "again.duckdb", Silent(), data=tmp_path / "back")
    assert files(tmp_path / "again.duckdb") == files(warehouse)


SPANS = data_of(__file__)["spans"]


def test_a_build_notes_no_view_that_only_a_lake_can_do_nothing_about(data: Path, tmp_path: Path) -> None:
    (data / "bus_talk" / "corpus.toml").write_text(DECLARATION + SPANS, encoding="utf-8")
    assert not [note for note in build(tmp_path / "w.duckdb", Silent(), data=data).notes if "lake" in note]
    done = run("lake", "lake", "--db", "w.duckdb", "--dry-run", cwd=tmp_path)
    assert "left out: bus_talk.places: can't be translated" in done.stdout + done.stderr, done.stderr
