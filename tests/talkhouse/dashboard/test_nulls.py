"""A warehouse in which every column that may be null is null: no page, command or file ends with a traceback."""

import shutil
from pathlib import Path

import duckdb
import pytest

from talkhouse.charts.declarations import dashboards
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.tables import metadata, qualified
from tests.commands import run
from tests.data_files import data_of
from tests.talkhouse.dashboard.pages import draw, html, messages

PLACES = {"split", "release"}
"""Columns by which a task view and ``main.examples`` find each other; each is null in some corpus anyway."""

PAGES = ["", "read", "quality", "sql", *(file.name for file in dashboards() if file.name != "quality")]
COMMANDS = data_of(__file__)["commands"]


@pytest.fixture(scope="session")
def nulls(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples without anything that a corpus may leave out, but for what is a key."""
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("nulls") / "w.duckdb"))
    with duckdb.connect(path) as con:
        for table in metadata.tables.values():
            keys = {*table.info["grain"], *PLACES, *(key.parent.name for key in table.foreign_keys)}
            names = [column.name for column in table.columns if column.nullable and column.name not in keys]
            if names:
                con.execute(f"update {qualified(table)} set {', '.join(f'{name} = null' for name in names)}")
    return path


@pytest.fixture
def served_nulls(nulls: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TALKHOUSE_DB", str(nulls))
    return nulls


def test_a_label_without_a_meaning_is_shown(served_nulls: Path) -> None:
    with duckdb.connect(served_nulls, read_only=True) as con:
        assert con.execute("select count(meaning) from main.labels").fetchall() == [(0,)]
    page = draw("tasks", task="dbdc3.breakdown_detection")
    assert not page.error
    assert "<b>" in html(page)


@pytest.mark.slow
@pytest.mark.usefixtures("served_nulls")
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_drawn(name: str) -> None:
    page = draw(name)
    assert not page.error, messages(page)


@pytest.mark.slow
@pytest.mark.usefixtures("served_nulls")
@pytest.mark.parametrize("task", [query.full_name for query in catalogue().examples])
def test_every_task_is_drawn(task: str) -> None:
    """A view whose examples are made of what is null here has none; then the page says so."""
    page = draw("tasks", task=task)
    assert not page.error or "has no row of example" in "".join(messages(page)), messages(page)


@pytest.mark.slow
def test_conversations_and_records_are_drawn(served_nulls: Path) -> None:
    with duckdb.connect(served_nulls, read_only=True) as con:
        records = con.execute("select min(record_id) from main.records group by corpus_id, dialogue_id is null")
        for (record,) in records.fetchall():
            page = draw("read", record=record)
            assert not page.exception, record
            assert not page.error, record
            # What files had where this has null can't be written back: the page says so.
            assert not draw("read", record=record, source=record).exception, record


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_every_command_says_what_is_there(nulls: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, "--db", nulls, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
