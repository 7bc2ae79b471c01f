"""SQL: a query from a page reads the warehouse and nothing else, and whatever it does, the page lives."""

import shlex
import subprocess
from pathlib import Path

import duckdb
import polars as pl
import psutil
import pytest
from streamlit.testing.v1 import AppTest

from schema.errors import QueryFailed
from talkhouse.dashboard import command, tables
from talkhouse.dashboard.content import sql
from talkhouse.dashboard.example_queries import EXAMPLE_QUERIES
from talkhouse.query.row_stream import Rows
from talkhouse.query.writers import write
from tests.commands import COMMAND
from tests.talkhouse.dashboard.pages import draw, html, messages, prepared

ENDLESS = "select count(*) from range(1_000_000_000_000) t(i) where hash(i) % 7 = 3"


def ask(query: str) -> AppTest:
    """Draw the page with a query, and click Run."""
    return run(draw("sql", query=query))


def run(page: AppTest) -> AppTest:
    return next(button for button in page.button if button.label == "Run").click().run()


def table(page: AppTest) -> pl.DataFrame:
    assert not page.exception
    assert not page.error, messages(page)
    found: pl.DataFrame = page.session_state["sql_result"].rows
    return found


@pytest.mark.usefixtures("served")
def test_a_query_from_an_address_is_shown_and_not_run() -> None:
    page = draw("sql", query="select 6 * 7 as answer")
    assert page.text_area[0].value == "select 6 * 7 as answer"
    assert "sql_result" not in page.session_state
    assert table(run(page)).rows() == [(42,)]


@pytest.mark.usefixtures("served")
def test_rows_are_exact_and_said_to_be_more_where_they_are() -> None:
    page = ask(
        "select i, case i when 0 then '' when 1 then null else 'a' || chr(0) || '<b>*c*</b>' end as t "
        "from range(1500) t(i)"
    )
    rows = table(page)
    assert rows.height == sql.ROWS
    assert rows["t"].to_list()[:3] == ["", None, "a\0<b>*c*</b>"]
    assert "The first 1,000 rows; there are more." in [caption.value for caption in page.caption]


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("selec 1", 'syntax error at or near "selec"'),
        ("select 1; select 2", "2 statements: SELECT, SELECT"),
        ("-- nothing", "the query is empty"),
        pytest.param("delete from main.turns", "a query may only read", marks=pytest.mark.slow),
        pytest.param("from read_text('/etc/passwd')", "a query can't reach files", marks=pytest.mark.slow),
        pytest.param("select * from main.turn", "one of: main.turns", marks=pytest.mark.slow),
        pytest.param(
            "with x as (copy (select 1) to 'w.duckdb' (use_tmp_file false)) from x", "files", marks=pytest.mark.slow
        ),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_command(query: str, said: str) -> None:
    page = ask(query)
    assert not page.exception
    assert [error.value for error in page.error] == ["The query has no result."]
    assert said in messages(page)[0]


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_query_that_needs_more_memory_than_it_may_take_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "MEMORY", "200MB")
    assert "needs more memory" in messages(ask("select len(range(400_000_000))"))[0]


@pytest.mark.usefixtures("served")
def test_an_endless_query_is_stopped_and_the_page_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "SECONDS", 1)
    page = ask(ENDLESS)
    assert "the query took too long and was stopped" in messages(page)[0]
    page.text_area[0].set_value("select 1 as one")
    assert table(run(page)).rows() == [(1,)]


def test_a_page_that_is_left_ends_its_query(tmp_path: Path, served: Path) -> None:
    started: list[psutil.Process] = []

    def leave(_: float) -> None:
        started[:] = [one for one in psutil.Process().children(recursive=True) if str(tmp_path) in _line(one)]
        if len(started) == 2:  # the command, and the process of the query, which it has forked
            raise LeftError

    options = ["--format", "csv", "--output", str(tmp_path / "rows.csv"), "--db", str(served)]
    with pytest.raises(LeftError):
        command.run(["sql", "-", *options], tmp_path, text=ENDLESS, seconds=600, waiting=leave)
    _, alive = psutil.wait_procs(started, timeout=300)
    assert not alive


class LeftError(Exception):
    pass


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def test_a_file_above_the_limit_ends_the_command(tmp_path: Path, served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MOST_BYTES", 1_000_000)
    endless = "select repeat('x', 1000) || i from range(1_000_000_000_000) t(i)"
    options = ["--format", "csv", "--output", str(tmp_path / "rows.csv"), "--db", str(served)]
    with pytest.raises(QueryFailed, match="too large for a page"):
        command.run(["sql", "-", *options], tmp_path, text=endless, seconds=600)
    assert not (tmp_path / "rows.csv").exists()


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path, served: Path) -> None:
    options = ["--format", "csv", "--output", str(tmp_path / "rows.csv"), "--db", str(served)]
    with pytest.raises(QueryFailed, match="took too long"):
        command.run(["sql", "-", *options], tmp_path, text=ENDLESS, seconds=1)


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("file_format", ["csv", pytest.param("parquet", marks=pytest.mark.slow)])
def test_a_download_has_all_rows_as_the_command_that_is_shown_writes_them(tmp_path: Path, file_format: str) -> None:
    page = draw("sql", query="-- all\nselect dialogue_id, text from main.turns order by all")
    page.session_state["file_format"] = file_format
    page.run()
    page.button(key="make_file").click().run()
    (shown,) = messages(page)
    subprocess.run([*COMMAND, *shlex.split(shown)[1:]], cwd=tmp_path, check=True, capture_output=True)
    assert prepared(page).path.read_bytes() == (tmp_path / f"result.{file_format}").read_bytes()


@pytest.mark.usefixtures("served")
def test_a_download_of_a_broken_query_says_what_is_wrong() -> None:
    page = draw("sql", query="selec 1")
    page.button(key="make_file").click().run()
    assert not page.exception
    assert any("syntax error" in message for message in messages(page))
    assert not page.get("download_button")


@pytest.mark.parametrize("title", EXAMPLE_QUERIES)
def test_an_example_query_has_rows(title: str, con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute(EXAMPLE_QUERIES[title]).fetchall()


@pytest.mark.usefixtures("served")
def test_an_example_query_is_put_into_the_console() -> None:
    page = draw("sql")
    title, query = next(iter(EXAMPLE_QUERIES.items()))
    next(button for button in page.button if button.label == title).click().run()
    assert page.text_area[0].value == query


@pytest.mark.usefixtures("served")
def test_views_are_shown_with_what_their_columns_mean() -> None:
    page = draw("sql", view="dbdc3.breakdown_detection")
    assert "The challenge&#x27;s hard label at threshold 0.0, its script&#x27;s default." in html(page)


@pytest.mark.usefixtures("empty")
def test_a_warehouse_without_corpora_can_be_queried() -> None:
    assert table(ask("select count(*) from main.corpora")).rows() == [(0,)]


TYPES = """
select 0/0::double as nan, 12.5::decimal(10, 3) as decimal,
    1234567890123456.789 as long_decimal, date '2020-01-02' as day, null::int as nothing, '' as empty,
    timestamptz '2020-01-02 03:04:05.123456+00' as moment, 'a'::blob as bytes, {'a': [1, null]} as struct,
    map {'x': 1} as map, ['a b', null, ''] as list, true as truth, 9007199254740993 as large, 1e300 as far,
    0.5 as half, 1 as same, 2 as same
"""


def test_every_type_is_shown_with_all_its_digits(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with path.open("w", newline="") as stream, duckdb.connect() as con:
        con.execute("set timezone = 'UTC'")
        write(Rows(con.sql(TYPES)), "parquet", stream)
    shown = tables.exact(tables.read(path)).row(0, named=True)
    assert shown == {
        "nan": "NaN",
        "decimal": 12.5,
        "long_decimal": "1234567890123456.789",
        "day": "2020-01-02",
        "nothing": None,
        "empty": "",
        "moment": "2020-01-02 03:04:05.123456+00:00",
        "bytes": "b'a'",
        "struct": '{"a": [1, null]}',
        "map": '{"x": 1}',
        "list": '["a b", null, ""]',
        "truth": "true",
        "large": "9007199254740993",
        "far": "1e+300",
        "half": 0.5,
        "same": 1,
        "same_1": 2,
    }
