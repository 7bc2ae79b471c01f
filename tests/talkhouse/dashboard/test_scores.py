"""Scores: all content of the file next to the warehouse is shown, and does no harm."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from tests.talkhouse.dashboard.conftest import Compared
from tests.talkhouse.dashboard.pages import draw, html, messages, words

TABLE = "create table runs as select 'a' as run, 0.5 as value, null as slice, '<b>*x*</b>' as note from range(2)"


@pytest.fixture
def beside(changed: Callable[[str], Path]) -> Path:
    """The path of the scores, next to a copy of the samples."""
    return changed("select 1").with_name("scores.duckdb")


def write(path: Path, *statements: str) -> None:
    with duckdb.connect(path) as con:
        for statement in statements:
            con.execute(statement)


def titles(page: AppTest) -> set[str]:
    return {entry["page_name"] for entry in page._registered_pages.values() if "page_name" in entry}


@pytest.mark.slow
def test_the_page_is_there_only_with_scores(beside: Path) -> None:
    assert not beside.exists()
    assert "Scores" not in titles(draw())
    write(beside, TABLE)
    assert "Scores" in titles(draw())


def test_each_table_and_view_is_shown(beside: Path) -> None:
    write(beside, TABLE, "create view best as select max(value) as best from runs", "comment on table runs is '*Runs*'")
    page = draw("scores")
    assert page.selectbox[0].options == ["main.best", "main.runs"]
    page.selectbox[0].select("main.runs").run()
    assert not page.exception
    shown = page.dataframe[0].value
    assert shown.columns.tolist() == ["run", "value", "slice", "note"]
    assert shown["note"].tolist() == ["<b>*x*</b>"] * 2
    assert {"\\*Runs\\*", "2 rows."} <= {caption.value for caption in page.caption}
    assert page.get("download_button")


@pytest.mark.slow
def test_a_view_can_reach_nothing_else(beside: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    write(beside, f"create view secret as from read_csv('{tmp_path / 'secret.csv'}')")
    assert "disabled" in messages(draw("scores"))[0]


@pytest.mark.slow
def test_a_file_without_tables_says_so(beside: Path) -> None:
    write(beside)
    assert [info.value for info in draw("scores").info] == ["There is no table in it."]


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"not a database"])
def test_what_can_not_be_opened_is_said(beside: Path, content: bytes) -> None:
    beside.write_bytes(content)
    page = draw("scores")
    assert [error.value for error in page.error] == ["This can't be shown."]
    assert str(beside) in messages(page)[0]


@pytest.mark.slow
def test_a_file_that_is_written_to_in_between_is_shown_anew(beside: Path) -> None:
    write(beside, TABLE)
    page = draw("scores")
    # It is not open between two drawings, so that it can also be written to.
    write(beside, "drop table runs", "create table other as select 1 as one")
    assert page.run().selectbox[0].options == ["main.other"]


@pytest.mark.slow
def test_saved_runs_stand_side_by_side(two_runs: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALKHOUSE_DB", str(two_runs.warehouse))
    page = draw("scores")
    shown = words(html(page))
    right = [sum(run[key][0] == label for key, label in two_runs.right.items()) for run in two_runs.labels]
    first, second = (f"{count / len(two_runs.right):.4f}" for count in right)
    assert "Metric careful <b>*bold*</b> " in shown
    assert f" Accuracy {first} {second} " in shown
    assert "<b>*bold*" not in html(page)
    # What the publisher's program does not give is there when it is asked for, and marked.
    assert "Gold O, predicted O" not in shown
    page.toggle[0].set_value(True).run()
    agreed = [sum(run[key][0] == label == "O" for key, label in two_runs.right.items()) for run in two_runs.labels]
    assert " Gold O, predicted O {} * {} * ".format(*agreed) in words(html(page))


@pytest.mark.slow
def test_of_many_runs_the_newest_stand_side_by_side(
    two_runs: Compared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("talkhouse.duckdb", "scores.duckdb"):
        (tmp_path / name).write_bytes(two_runs.warehouse.with_name(name).read_bytes())
    write(
        tmp_path / "scores.duckdb",
        "insert into runs select runs.* replace (concat('r', n) as run, saved_at + to_hours(n) as saved_at) "
        "from range(1, 61) as numbers(n), runs where run = 'careful'",
        "insert into metrics select metrics.* replace (concat('r', n) as run) "
        "from range(1, 61) as numbers(n), metrics where run = 'careful'",
    )
    monkeypatch.setenv("TALKHOUSE_DB", str(tmp_path / "talkhouse.duckdb"))
    page = draw("scores")
    assert "The newest 50 of 62; the view main.comparison has all." in {caption.value for caption in page.caption}
    shown = words(html(page))
    assert (" r11 " in shown, " r60 " in shown, " r10 " in shown, "careful" in shown) == (True, True, False, False)
