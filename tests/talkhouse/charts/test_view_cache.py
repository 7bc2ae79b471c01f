"""Views that are asked more than once are held, and give the rows that they have."""

from contextlib import nullcontext
from pathlib import Path

import duckdb
import msgspec
import pytest
from polars.testing import assert_frame_equal

import talkhouse
from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.declared import Chart, ChartKind, Dashboard, Filter, Headline
from talkhouse.charts.fields import frame
from talkhouse.charts.query import chart_sql, filter_sql, narrowed
from talkhouse.charts.view_cache import ViewCache, often_asked

WHOLE = {"turns": "select * from bi.turns"}
COLUMNS = "select table_name, list(column_name) from duckdb_columns() where schema_name = 'bi' group by 1"


def rows(con: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    return con.execute(sql).fetchall()


def held_in(con: duckdb.DuckDBPyConnection, selects: dict[str, str], most_rows: int = 100_000) -> ViewCache:
    return ViewCache(lambda: nullcontext(con), "held", selects, most_rows)


def dashboard(*charts: Chart, filters: tuple[Filter, ...] = (), headline: str = "") -> Dashboard:
    headlines = (Headline("{n}", headline),) if headline else ()
    return Dashboard(title="Turns", description="", charts=charts, filters=filters, headlines=headlines)


def chart(title: str, **more: object) -> Chart:
    return msgspec.convert(
        {"title": title, "kind": ChartKind.TABLE, "view": "turns", "metrics": ["row_count"], **more}, Chart
    )


def test_a_view_that_is_held_gives_its_rows(sample: Path) -> None:
    with talkhouse.open(sample) as con:
        held = held_in(con, WHOLE)
        for view in ("bi.turns", 'bi."turns"'):
            sql = f"select sum(bi.word_count(text)), count(*) from {view}"
            assert held.sql(sql) == sql.replace(view, '"held".turns')
            assert held.rows(sql).rows() == rows(con, sql)
        other = "select count(*) from bi.dialogues"
        assert held.sql(other) == other
        held.close()
        assert rows(con, "select count(*) from duckdb_databases() where database_name = 'held'") == [(0,)]


def test_what_is_held_stands_in_no_table_s_way(sample: Path) -> None:
    with talkhouse.open(sample) as con:
        held = held_in(con, {"schemes": "select * from bi.schemes"})
        assert rows(con, held.sql("select count(used_label_count) > 0 from bi.schemes")) == [(True,)]
        assert rows(con, "select count(kind) > 0 from main.schemes") == [(True,)]
        held.close()


@pytest.mark.parametrize(
    ("select", "most_rows"), [("select * from bi.turns", 10), ("select nothing from bi.turns", 999)]
)
def test_a_view_that_cant_be_held_is_asked_itself(sample: Path, select: str, most_rows: int) -> None:
    with talkhouse.open(sample) as con:
        held = held_in(con, {"turns": select}, most_rows)
        sql = "select count(*) from bi.turns"
        assert held.sql(sql) == sql
        held.close()


def test_what_is_held_is_what_charts_filters_and_sentences_name() -> None:
    columns = {"turns": ["corpus_id", "role", "kind", "language", "text", "word_count"]}
    by_role, by_kind = chart("a", by=["role"], where="kind = 'message'"), chart("b", by=["kind"], where="role is null")
    assert often_asked([dashboard(by_role)], {}, columns) == {}
    assert often_asked([dashboard(by_role), dashboard(by_kind)], {}, columns) == {}
    assert often_asked([dashboard(by_role, by_kind), dashboard(by_kind)], {}, columns) == {
        "turns": 'select "role", "kind" from bi."turns" where (kind = \'message\') or (role is null)'
    }
    language = Filter("language", "Language", "turns")
    assert often_asked([dashboard(by_role, filters=(language,))], {}, columns) == {
        "turns": 'select "role", "kind", "language" from bi."turns"'
    }
    for sql, names in [
        ("select count(*) as n, min(word_count) from bi.turns", ["role", "kind", "word_count"]),
        ("select count(*) as n from (select * from bi.turns)", columns["turns"]),
        ("select count(*) as n from (from bi.turns)", columns["turns"]),
    ]:
        named = ", ".join(f'"{name}"' for name in names)
        assert often_asked([dashboard(by_role, headline=sql)], {}, columns) == {
            "turns": f'select {named} from bi."turns"'
        }


@pytest.mark.slow
def test_every_declared_chart_and_filter_gives_the_same_from_what_is_held(sample: Path) -> None:
    with talkhouse.open(sample) as con:
        columns: dict[str, list[str]] = dict(con.execute(COLUMNS).fetchall())
        boards = [declared.dashboard for declared in dashboards()]
        held = held_in(con, often_asked(boards, metrics(), columns))
        compared = 0
        for board in boards:
            offered = {choice.column: rows(con, filter_sql(choice, 1)) for choice in board.filters}
            chosen = {name: [str(value) for (value,) in values] for name, values in offered.items()}
            queries = [
                *(headline.sql for headline in board.headlines),
                *(filter_sql(choice, 100) for choice in board.filters),
                *(
                    chart_sql(narrowed(chart, choices, columns[chart.view]), metrics().get(chart.view, {}))
                    for chart in board.charts
                    for choices in ({}, chosen)
                ),
            ]
            for sql in queries:
                assert_frame_equal(held.rows(sql), frame(con, sql))
                compared += held.sql(sql) != sql
        held.close()
        assert compared > 50
