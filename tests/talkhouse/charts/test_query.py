"""The query of a chart: worked examples, and every declared chart on the sample."""

import duckdb
import pytest

from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.declared import Chart, ChartKind, Grain, Metric
from talkhouse.charts.query import chart_sql, narrowed

SIPS = {"sips": Metric(title="Sips", sql="sum(sips)")}
DECLARED = [
    pytest.param(chart, id=f"{one.name}-{chart.title}") for one in dashboards() for chart in one.dashboard.charts
]


@pytest.fixture
def cups() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("create schema bi")
    con.execute("create table bi.cups (drunk_at timestamp, who varchar, sips integer)")
    con.execute(
        "insert into bi.cups values ('2020-01-03', 'Ann', 5), ('2020-11-02', 'Ben', 7), ('2021-02-01', 'Ann', 1),"
        " (null, 'Ann', 20), ('2020-05-05', null, 3)"
    )
    return con


@pytest.mark.parametrize(
    ("chart", "expected"),
    [
        (Chart(title="", kind=ChartKind.NUMBER, view="cups", metrics=("sips",)), ["36"]),
        (Chart(title="", kind=ChartKind.NUMBER, view="cups", metrics=("row_count",), where="sips > 4"), ["3"]),
        (
            Chart(title="", kind=ChartKind.TABLE, view="cups", by=("who",), metrics=("row_count", "sips")),
            ["Ann 3 26", "Ben 1 7", "None 1 3"],
        ),
        (
            Chart(
                title="", kind=ChartKind.TABLE, view="cups", by=("who",), metrics=("sips",), largest_first=True, limit=2
            ),
            ["Ann 26", "Ben 7"],
        ),
        (
            Chart(title="", kind=ChartKind.BAR, view="cups", x="drunk_at", grain=Grain.YEAR, metrics=("row_count",)),
            ["2020-01-01 00:00:00 3", "2021-01-01 00:00:00 1", "None 1"],
        ),
        (
            Chart(title="", kind=ChartKind.BAR, view="cups", x="who", metrics=("sips",), counts=("row_count",)),
            ["Ann 26 3", "Ben 7 1", "None 3 1"],
        ),
        (
            Chart(
                title="",
                kind=ChartKind.LINE,
                view="cups",
                x="drunk_at",
                grain=Grain.MONTH,
                by=("who",),
                metrics=("sips",),
                where="who = 'Ben' or sips = 1",
            ),
            ["2020-11-01 00:00:00 Ben 7", "2021-02-01 00:00:00 Ann 1"],
        ),
    ],
)
def test_worked_examples(cups: duckdb.DuckDBPyConnection, chart: Chart, expected: list[str]) -> None:
    rows = cups.execute(chart_sql(chart, SIPS)).fetchall()
    assert [" ".join(map(str, row)) for row in rows] == expected


def test_what_differs_in_the_last_digits_is_in_the_order_of_names(cups: duckdb.DuckDBPyConnection) -> None:
    cups.execute(
        "create table bi.shares as from (values ('Ben', 0.1::double + 0.2), ('Ann', 0.3::double)) as t(who, share)"
    )
    chart = Chart(title="", kind=ChartKind.TABLE, view="shares", by=("who",), metrics=("share",), largest_first=True)
    share = Metric(title="Share", sql="sum(share)")
    assert [who for who, _ in cups.execute(chart_sql(chart, {"share": share})).fetchall()] == ["Ann", "Ben"]


def test_names_are_quoted(cups: duckdb.DuckDBPyConnection) -> None:
    cups.execute('create view bi.odd as select who as "group", sips as "a ""b""" from bi.cups')
    chart = Chart(title="", kind=ChartKind.TABLE, view="odd", by=("group", 'a "b"'), metrics=("row_count",), limit=1)
    found = cups.execute(chart_sql(chart, {}))
    assert [name for name, *_ in found.description] == ["group", 'a "b"', "row_count"]


@pytest.mark.slow
@pytest.mark.parametrize("chart", DECLARED)
def test_a_chart_of_ours_has_rows(con: duckdb.DuckDBPyConnection, chart: Chart) -> None:
    columns = con.table(f"bi.{chart.view}").columns
    found = con.execute(chart_sql(narrowed(chart, {}, columns), metrics().get(chart.view, {})))
    assert [name for name, *_ in found.description] == [*chart.columns, *chart.metrics, *chart.counts]
    rows = found.fetchall()
    for index, name in enumerate((*chart.metrics, *chart.counts), start=len(chart.columns)):
        assert any(row[index] is not None for row in rows), name
    assert len({row[: len(chart.columns)] for row in rows}) == len(rows)
    # Nothing is cut off but by a limit that readers are told.
    assert len(rows) < chart.limit or str(chart.limit) in chart.title + chart.description
