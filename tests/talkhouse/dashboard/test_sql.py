"""SQL: a query from a page reads the warehouse and nothing else, and whatever it does, the page lives."""

import shlex
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psutil
import pytest
from pyarrow import ipc
from streamlit.testing.v1 import AppTest

from talkhouse.dashboard import download, errors, tables, warehouse
from talkhouse.dashboard.content import sql
from talkhouse.dashboard.content.sql import EXAMPLE_QUERIES
from talkhouse.schema.errors import QueryFailed
from tests.commands import COMMAND
from tests.data_files import data_of
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
    found: pl.DataFrame = page.session_state["sql_result"].rows.texts
    return found


@pytest.mark.usefixtures("served")
def test_a_query_from_an_address_is_shown_and_not_run() -> None:
    page = draw("sql", query="select 6 * 7 as answer")
    assert page.session_state["query"] == "select 6 * 7 as answer"
    assert "sql_result" not in page.session_state
    assert table(run(page)).rows() == [("42",)]


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_rows_are_exact_and_said_to_be_more_where_they_are() -> None:
    page = ask(
        "select i, case i when 0 then '' when 1 then null else 'a' || chr(0) || '<b>*c*</b>' end as t "
        "from range(1500) t(i)"
    )
    rows = table(page)
    assert rows.height == sql.ROWS
    assert rows["t"].to_list()[:3] == ["", None, "a\\x00<b>*c*</b>"]
    assert "The first 1,000 rows; there are more." in [caption.value for caption in page.caption]


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("selec 1", 'syntax error at or near "selec"'),
        pytest.param("delete from main.turns", "a query may only read", marks=pytest.mark.slow),
        pytest.param("from read_text('/etc/passwd')", "a query can't reach files", marks=pytest.mark.slow),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_command(query: str, message: str) -> None:
    page = ask(query)
    assert not page.exception
    assert [error.value for error in page.error] == ["The query has no result."]
    assert message in messages(page)[0]


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_query_that_needs_more_memory_than_it_may_take_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "MEMORY", "200MB")
    assert "needs more memory" in messages(ask("select len(range(400_000_000))"))[0]


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_an_endless_query_is_stopped_and_the_page_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "SECONDS", 1)
    page = ask(ENDLESS)
    assert "the query took too long and was stopped" in messages(page)[0]
    page.session_state["query"] = "select 1 as one"
    assert table(run(page)).rows() == [("1",)]


def write_rows(folder: Path, warehouse: Path, query: str, seconds: float = 600, **options: Any) -> None:
    """Run the command that writes a query's rows into a folder, as a page does."""
    command = ["sql", "-", "--format", "csv", "--output", str(folder / "rows.csv"), "--db", str(warehouse)]
    download.run_command(command, folder, text=query, seconds=seconds, **options)


@pytest.mark.slow
def test_a_page_that_is_left_ends_its_query(tmp_path: Path, served: Path) -> None:
    started: list[psutil.Process] = []

    def leave(_: float) -> None:
        started[:] = [child for child in psutil.Process().children(recursive=True) if str(tmp_path) in _line(child)]
        if len(started) == 2:  # the command, and the process of the query, which it has forked
            raise LeftError

    with pytest.raises(LeftError):
        write_rows(tmp_path, served, ENDLESS, waiting=leave)
    _, alive = psutil.wait_procs(started, timeout=300)
    assert not alive


class LeftError(Exception):
    pass


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


@pytest.mark.slow
def test_a_file_above_the_limit_ends_the_command(tmp_path: Path, served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MOST_BYTES", 1_000_000)
    with pytest.raises(QueryFailed, match="too large for a page"):
        write_rows(tmp_path, served, "select repeat('x', 1000) || i from range(1_000_000_000_000) t(i)")
    assert not (tmp_path / "rows.csv").exists()


@pytest.mark.slow
def test_a_command_that_takes_too_long_is_ended(tmp_path: Path, served: Path) -> None:
    with pytest.raises(QueryFailed, match="took too long"):
        write_rows(tmp_path, served, ENDLESS, seconds=1)


@pytest.mark.slow
@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("file_format", ["csv", pytest.param("parquet", marks=pytest.mark.slow)])
def test_a_download_has_all_rows_as_the_command_that_is_shown_writes_them(tmp_path: Path, file_format: str) -> None:
    page = draw("sql", query="-- all\nselect dialogue_id, '=' || text as text from main.turns order by all")
    page.session_state["file_format"] = file_format
    page.session_state["escape_formulas"] = True  # where there is the choice: in CSV
    page.run()
    page.button(key="make_file").click().run()
    (shown,) = messages(page)
    assert ("--escape-formulas" in shown) == (file_format == "csv")
    subprocess.run([*COMMAND, *shlex.split(shown)[1:]], cwd=tmp_path, check=True, capture_output=True)
    assert prepared(page).path.read_bytes() == (tmp_path / f"result.{file_format}").read_bytes()


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_an_example_query_is_put_into_the_console() -> None:
    page = draw("sql")
    title, query = next(iter(EXAMPLE_QUERIES.items()))
    next(button for button in page.button if button.label == title).click().run()
    assert page.session_state["query"] == query


@pytest.mark.usefixtures("served")
def test_views_are_shown_with_what_their_columns_mean() -> None:
    page = draw("sql", view="dbdc3.breakdown_detection")
    assert "The challenge&#x27;s hard label at threshold 0.0, its script&#x27;s default." in html(page)


@pytest.mark.slow
@pytest.mark.usefixtures("empty")
def test_a_warehouse_without_corpora_can_be_queried() -> None:
    assert table(ask("select count(*) from main.corpora")).rows() == [("0",)]


DRAWN = data_of(__file__)["drawn"]


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_page_draws_the_texts_of_the_console_and_sorts_by_numbers() -> None:
    page = ask(DRAWN)
    shown = table(page)
    assert shown.rows() == [
        ("1.0", "12.500", "999999999999999999", "10", "infinity", "a\\u202eb", None),
        (None, None, None, None, None, "a\\u202eb", None),
        ("0.25", "2.000", "1", "9", "0044-03-15 (BC)", "a\\u202eb", None),
    ]
    (drawn,) = page.dataframe
    numbers = [name for name, kind in drawn.value.dtypes.items() if str(kind) == "double[pyarrow]"]
    assert numbers == ["half", "money", "total", "nothing"]
    texts = ipc.open_stream(drawn.proto.arrow_data.styler.display_values).read_all()
    for name in ("half", "money", "large"):
        assert texts[name].to_pylist() == [text or "None" for text in shown[name]]


@pytest.mark.slow
@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    "query",
    [
        "from duckdb_settings()",
        "select 42::variant, {'a': 1}::variant",
        "select 12345678901234567890123456789012345678901234567890::bignum",
        "select 'POINT(1 2)'::geometry",
        "select 99999999999999999999999999999999999999::decimal(38, 0)",
        "select date 'infinity', timestamp '-infinity'",
        "from test_all_types()",
        f"select {', '.join(f'{number}.5 as c{number}' for number in range(1500))} from range(40)",
    ],
)
def test_every_type_is_shown(query: str) -> None:
    assert table(ask(query)).height


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_rows_that_are_too_large_for_a_table_are_said_to_be_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_BYTES", 1_000_000)
    page = ask("select repeat('x', 10_000) as t from range(300)")
    assert 0 < table(page).height < 300
    assert any("there are more" in caption.value for caption in page.caption)


@pytest.mark.slow
def test_commands_wait_for_one_another_whoever_asked_for_them(
    tmp_path: Path, served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    waited: list[int] = []
    free = threading.Event()

    def ask_for(name: str, waiting: Callable[[float], object], queued: Callable[[int], object]) -> None:
        folder = tmp_path / name
        folder.mkdir()
        write_rows(folder, served, "select 1", waiting=waiting, queued=queued)
        ran.append(name)

    def held(_: float) -> None:
        free.wait(60)
        raise LeftError

    def third(first: int) -> None:
        waited.append(first)
        free.set()

    def leave(_: int) -> None:
        raise LeftError

    def hold(name: str) -> None:
        with suppress(LeftError):
            ask_for(name, held, leave)

    monkeypatch.setattr(download, "AT_ONCE", 2)
    holding = [threading.Thread(target=hold, args=(name,)) for name in ("a", "b")]
    for thread in holding:
        thread.start()
    while len(download._queue) < 2:
        time.sleep(0.01)
    with pytest.raises(LeftError):
        ask_for("left", lambda _: None, leave)  # a page that is left while it waits
    assert len(download._queue) == 2
    ask_for("c", lambda _: None, third)
    for thread in holding:
        thread.join()
    assert (ran, set(waited), download._queue) == (["c"], {1}, [])


def test_all_that_pages_run_takes_three_quarters_of_the_memory_at_most() -> None:
    shares = [warehouse.MEMORY, warehouse.MEMORY_BESIDE, *[download.MEMORY] * download.AT_ONCE]
    assert sum(int(share.removesuffix("%")) for share in shares) <= 75


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_message_says_what_to_do_on_a_page() -> None:
    message = messages(ask("from nowhere"))[0]
    assert "expected: one of: " in message
    assert message.endswith("next:     see Views and tables, and their columns, on the SQL page")
    outside = messages(ask("from 'file.csv'"))[0]
    assert "sandboxed" in outside
    assert "--" not in outside


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_rows_of_any_query_are_drawn_by_the_columns_that_are_chosen() -> None:
    page = ask("select i % 3 as place, 'a.b' as \"odd [name]\", count(*) from range(9) t(i) group by all order by all")
    page = page.button_group(key="as").select("Bars").run()
    assert not page.exception
    assert page.selectbox(key="along").options == ["place", "odd [name]", "count_star()"]
    (chart,) = page.get("vega_lite_chart")
    assert '"count_star()"' in chart.proto.spec
    page = ask("select 'x' as a, 'y' as b")
    page = page.button_group(key="as").select("Lines").run()
    assert "needs a column of numbers" in page.info[0].value


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_one_number_by_other_columns_is_offered_as_a_chart_until_somebody_chooses() -> None:
    cups = "select unnest([{}]) as place, 'Ann' as who, unnest([3, 5]) as cups"

    def shown(page: AppTest, query: str) -> AppTest:
        page.session_state["query"] = query
        return run(page)

    page = ask(cups.format("'a', 'b'"))
    assert [page.session_state[name] for name in ("as", "along", "by")] == ["Bars", "place", "who"]
    assert len(page.get("vega_lite_chart")) == 1
    page = shown(page, cups.format("'2020-01', '2021-02'"))
    assert page.session_state["as"] == "Lines"
    for other in (cups.format("'a', 'a'"), "select 1 as one", "select 'a' as a, 1 as b, 2 as c", "select 'a' as a"):
        page = shown(page, other)
        assert (page.session_state["as"], len(page.dataframe)) == ("Table", 1), other
    page = page.button_group(key="as").select("Table").run()
    page = page.button_group(key="as").select("Bars").run()
    page = page.button_group(key="as").select("Table").run()
    assert shown(page, cups.format("'a', 'b'")).session_state["as"] == "Table", "somebody has chosen"


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_the_last_queries_come_back_the_last_one_first() -> None:
    page = ask("select 1 as one")
    page.session_state["query"] = "select 2 as two"
    page = run(page)
    last = [button for button in page.button if button.key and button.key.startswith("last_")]
    assert [button.label for button in last] == ["select 2 as two", "select 1 as one"]
    assert last[1].click().run().session_state["query"] == "select 1 as one"


@pytest.mark.usefixtures("served")
def test_a_query_is_made_of_the_view_and_columns_that_are_chosen() -> None:
    page = draw("sql", view="main.corpora")
    page = page.multiselect(key="chosen_columns").select("corpus_id").run()
    page = next(button for button in page.button if button.label == "Put into the query").click().run()
    assert page.session_state["query"] == 'select "corpus_id"\nfrom "main"."corpora"\nlimit 100'


def test_advice_for_a_terminal_is_replaced_by_that_for_a_page_and_other_advice_is_kept() -> None:
    message = "the query failed\n  found:    --unsafe\n  next:     list the views with: talkhouse views"
    assert errors.on_a_page(message).splitlines()[1:] == [
        "  found:    --unsafe",
        "  next:     see Views and tables, and their columns, on the SQL page",
    ]
    assert errors.on_a_page("a\n  next:     fix the query") == "a\n  next:     fix the query"


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_without_the_component_there_is_a_plain_text_area(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "_COMPONENT", "talkhouse.not_declared")
    page = draw("sql", query="select 6 * 7 as answer")
    assert page.text_area[0].value == "select 6 * 7 as answer"
    page.text_area[0].set_value("select 1 as one")
    assert table(run(page)).rows() == [("1",)]
