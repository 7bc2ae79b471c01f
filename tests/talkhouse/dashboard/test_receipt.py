"""The receipt of a number: query, rows, source files, and a sentence to cite; nothing until it is opened."""

import re
from html import escape
from pathlib import Path

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from talkhouse.dashboard import receipt, warehouse
from talkhouse.export.composition import rows_behind
from tests.samples import RELEASES
from tests.talkhouse.dashboard.pages import html, messages

SQL = f"select count(*) as label_count from bi.annotations where corpus_id = '{RELEASES}' and is_default limit 10000"


def page(sql: str, is_open: bool) -> None:
    import streamlit as st

    from talkhouse.dashboard import receipt, warehouse

    if is_open:
        st.session_state[receipt.widget_key("Labels", sql)] = True
    receipt.draw(warehouse.current(), "Labels", sql)


def drawn(sql: str, *, is_open: bool) -> AppTest:
    return AppTest.from_function(page, default_timeout=60, args=(sql, is_open)).run()


@pytest.mark.usefixtures("served")
def test_a_receipt_asks_nothing_until_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    rows = warehouse.ServedWarehouse.rows
    monkeypatch.setattr(warehouse.ServedWarehouse, "rows", lambda *args: asked.append(args[1]) or rows(*args))
    assert not messages(drawn(SQL, is_open=False))
    assert not asked
    assert messages(drawn(SQL, is_open=True))
    assert asked


def test_an_open_receipt_has_query_rows_files_and_a_sentence(served: Path) -> None:
    opened = drawn(SQL, is_open=True)
    assert not opened.error
    query, rows, cited = messages(opened)
    assert query == SQL
    with duckdb.connect(str(served), read_only=True) as con:
        ((count,),) = con.execute(SQL).fetchall()
        records = {record for (record,) in con.execute(f"select distinct record_id from ({rows})").fetchall()}
        assert con.execute(f"select count(*) from ({rows})").fetchall() == [(count,)]
        known = con.execute(
            "select record_id, source_pointer, sha256 from main.records join meta.source_files using (source_file_id)"
        ).fetchall()
    (shown_rows,) = (table.value for table in opened.dataframe)
    assert len(shown_rows) == 5
    assert set(shown_rows["record_id"]) <= records
    sources = re.sub(r"<(?!/td|/tr)[^>]*>", "", html(opened))
    for record, pointer, sha256 in known:
        is_shown = all(f"{escape(text)}</td>" in sources for text in (record, pointer, sha256))
        assert is_shown == (record in set(shown_rows["record_id"]))
    assert cited.startswith(f"Labels: {count} (corpora {RELEASES}; ")
    assert "Schema revision" in cited
    assert "Build 1." in cited


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("with a as (select 1 as b) select b, count(*) from a group by b having count(*) > 3", [(1,)]),
        ("select x, sum(x) from range(4) t(x) where x > 2 group by x order by 2 desc limit 1", [(3,)]),
    ],
)
def test_the_rows_behind_a_query_are_those_before_it_is_grouped(sql: str, expected: list[tuple[int]]) -> None:
    rows = rows_behind(sql)
    assert rows
    assert duckdb.execute(rows).fetchall() == expected


@pytest.mark.parametrize("sql", ["select 1", "select 1; select 2", "selec", "from a union from b"])
def test_what_is_no_select_from_somewhere_has_no_rows_behind_it(sql: str) -> None:
    assert rows_behind(sql) is None


def test_two_receipts_of_a_page_are_told_apart() -> None:
    assert receipt.widget_key("Labels", SQL) != receipt.widget_key("Turns", SQL)


def sizes_page() -> None:
    import streamlit as st

    from talkhouse.dashboard import receipt, warehouse

    queries = {"Dialogues": "select count(*) from main.dialogues", "Turns": "select count(*) from main.turns"}
    st.session_state[receipt.widget_key("", "\n".join(queries.values()))] = True
    receipt.draw_choice(warehouse.current(), queries)


@pytest.mark.usefixtures("served")
def test_of_several_numbers_the_receipt_of_one_is_chosen() -> None:
    drawn = AppTest.from_function(sizes_page, default_timeout=60).run()
    assert messages(drawn)[0] == "select count(*) from main.dialogues"
    drawn = drawn.selectbox[0].select("Turns").run()
    assert messages(drawn)[0] == "select count(*) from main.turns"
