"""What a declaration says stands in the files of its tasks as text, and never becomes SQL."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.charts.declarations import dashboards
from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, DeclaredTask
from talkhouse.queries.catalogue import Catalogue, catalogue_of
from talkhouse.queries.files import Files, own_files
from talkhouse.warehouse.declared_tasks import task_files
from tests.conftest import invented_examples
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
