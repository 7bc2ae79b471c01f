"""What a declaration says stands in the files of its tasks as text, and never becomes SQL."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.charts.declarations import dashboards
from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, DeclaredTask
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.queries.catalogue import Catalogue, catalogue_of
from talkhouse.queries.files import Files, own_files
from talkhouse.warehouse.declared_tasks import task_files
from tests.commands import run
from tests.conftest import invented_examples
from tests.data_files import data_of
from tests.declared.talks_in_files import build_talks, declared

SQL = (
    '\'; drop table main.turns; -- from task_labels\n\u2028drop table main.turns; --\x00 $corpus ${given} {{x}} """ 🥶'
)
REPLY = DeclaredTask("reply", "next_turn", 1, role=SQL, description=SQL)
TALKS = {"train.json": [{"id": "a", "turns": [["user", "Hi"], [SQL, SQL], ["bot", "Yes"]]}]}

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def catalogue(declaration: Declaration) -> Catalogue:
    return catalogue_of((*own_files(), *task_files(declaration)))


@invented_examples(20)
@given(title=TEXTS, description=TEXTS, role=TEXTS)
def test_only_a_role_is_in_the_sql_and_there_as_a_literal(title: str, description: str, role: str) -> None:
    plain = declared(
        DeclaredTask("reply", "next_turn", 1, role="bot"), DeclaredTask("mood", "turn_label", 1, scheme="mood")
    )
    tasks = (DeclaredTask("reply", "next_turn", 1, role=role, description=description), plain.tasks[1])
    texts = {file.name: _below_head(file.text) for file in task_files(declared(*tasks, title=title)) if file.is_sql}
    expected = {file.name: _below_head(file.text) for file in task_files(plain) if file.is_sql}
    found = texts.pop("examples/reply.sql")
    usual = expected.pop("examples/reply.sql")
    assert texts == expected
    before, after = usual.split("'bot'")
    literal = found.removeprefix(before).removesuffix(after)
    assert duckdb.execute(f"select {literal}").fetchall() == [(role,)]


def _below_head(text: str) -> str:
    """Return the SQL of a file: what follows the lines that begin with two dashes, as they are told apart by it."""
    lines = text.splitlines(keepends=True)
    return "".join(lines[next(number for number, line in enumerate(lines) if not line.startswith("--")) :])


@invented_examples(20)
@given(title=TEXTS, description=TEXTS)
def test_title_and_description_are_those_of_the_page(title: str, description: str) -> None:
    (page,) = dashboards(task_files_and_metrics(declared(title=title, description=description)))
    assert page.dashboard.title == (" ".join(title.split()) or "salon")
    assert page.dashboard.description.startswith(" ".join(description.split()))


def task_files_and_metrics(declaration: Declaration) -> Files:
    metrics = [file for file in own_files() if file.folder == "bi" and file.name == "metrics.toml"]
    return (*metrics, *task_files(declaration))


def test_a_page_has_another_name_than_those_of_all_corpora() -> None:
    names = [page.name for page in dashboards((*own_files(), *task_files(declared(corpus_id="overview"))))]
    assert "overview_charts" in names
    assert len({*names}) == len(names)


def test_a_task_without_a_description_says_what_it_is() -> None:
    (view,) = [view for view in catalogue(declared(REPLY_OF_BOT)).written_views if view.full_name == "salon.reply"]
    assert view.comment == "Salon, the next turn: each turn of the role bot, with all turns before it."


REPLY_OF_BOT = DeclaredTask("reply", "next_turn", 1, role="bot")


def test_labels_that_nobody_declared_are_not_refused() -> None:
    tasks = (
        DeclaredTask("mood", "turn_label", 1, scheme="mood"),
        DeclaredTask("topic", "dialogue_label", 1, scheme="topic"),
    )
    scores = {score.name: score.scheme for score in catalogue(declared(*tasks)).scores if score.schema == "salon"}
    assert scores == {"mood": "salon.mood", "topic": None}


def test_many_schemes_have_one_table_and_few_charts() -> None:
    many = tuple(Annotations(f"s{number}", number) for number in range(1000))
    (page,) = dashboards(task_files_and_metrics(declared(annotations=many)))
    assert len(page.dashboard.charts) < 60


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    path: Path = build_talks(tmp_path_factory.mktemp("hostile"), TALKS, declared(REPLY, title=SQL, description=SQL))
    with talkhouse.open(path) as con:
        yield con


@pytest.mark.slow
def test_sql_in_a_title_or_role_is_text(hostile: duckdb.DuckDBPyConnection) -> None:
    assert hostile.execute("select turn_index, context, response from salon.reply").fetchall() == [(1, ["Hi"], SQL)]
    ((comment,),) = hostile.execute("select comment from duckdb_views() where view_name = 'reply'").fetchall()
    assert comment == " ".join(SQL.split()) + "."


def test_views_are_the_same_in_any_order_of_their_files() -> None:
    tasks = (
        DeclaredTask("topic", "dialogue_label", 1, scheme="topic"),
        DeclaredTask("mood", "turn_label", 1, scheme="mood"),
        REPLY,
    )
    files = (*own_files(), *task_files(declared(*tasks)))
    assert catalogue_of(files).hash == catalogue_of(files[::-1]).hash


# A corpus that is only declared: its tasks come with the build, and stay with the warehouse.

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


@pytest.mark.slow
def test_tasks_are_scored_when_the_declaration_is_gone(warehouse: Path, data: Path) -> None:
    shutil.rmtree(data)
    assert "accuracy" in run("score", "bus_talk.reply", "--baseline", "oracle", "--db", warehouse).stdout
    assert "F1 macro" in run("score", "bus_talk.manners", "--baseline", "oracle", "--db", warehouse).stdout
    assert ("bi/dashboards/bus_talk.toml",) in files(warehouse)


@pytest.mark.slow
def test_a_second_build_changes_nothing(warehouse: Path, data: Path) -> None:
    assert build(warehouse, Silent(), data=data).unchanged_since is not None


@pytest.mark.slow
def test_a_task_that_is_no_longer_declared_is_gone(warehouse: Path, data: Path) -> None:
    path = data / "bus_talk" / "corpus.toml"
    path.write_text(DECLARATION.partition('[[tasks]]\nname = "manners"')[0], encoding="utf-8")
    build(warehouse, Silent(), data=data)
    assert ("reply.sql",) in files(warehouse)
    assert ("manners.sql",) not in files(warehouse)


@pytest.mark.slow
def test_sql_beside_data_is_not_run(data: Path, tmp_path: Path) -> None:
    folder = data / "bus_talk" / "queries"
    folder.mkdir()
    (folder / "mine.sql").write_text("-- Mine.\n-- grain: one\nselect 1 as one\n", encoding="utf-8")
    build(tmp_path / "w.duckdb", Silent(), data=data)
    assert ("mine.sql",) not in files(tmp_path / "w.duckdb")


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_is_restored_can_be_built_again(warehouse: Path, data: Path, tmp_path: Path) -> None:
    shutil.rmtree(data)
    (tmp_path / "back").mkdir()
    restored = run("restore", "bus_talk", "--output", tmp_path / "back" / "bus_talk", "--db", warehouse)
    assert restored.stdout.startswith("Restored 2 files")
    assert (tmp_path / "back" / "bus_talk" / "corpus.toml").read_text(encoding="utf-8") == DECLARATION
    build(tmp_path / "again.duckdb", Silent(), data=tmp_path / "back")
    assert files(tmp_path / "again.duckdb") == files(warehouse)


SPANS = data_of(__file__)["spans"]


@pytest.mark.slow
def test_a_build_notes_no_view_that_only_a_lake_can_do_nothing_about(data: Path, tmp_path: Path) -> None:
    (data / "bus_talk" / "corpus.toml").write_text(DECLARATION + SPANS, encoding="utf-8")
    assert not [note for note in build(tmp_path / "w.duckdb", Silent(), data=data).notes if "lake" in note]
    done = run("lake", "lake", "--db", "w.duckdb", "--dry-run", cwd=tmp_path)
    assert "left out: bus_talk.places: can't be translated" in done.stdout + done.stderr, done.stderr
