"""Charts without rows, and charts whose columns are null: every form is drawn, as the report's Vega has it, too."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import duckdb
import pytest

from talkhouse.charts.declared import Chart, ChartKind, Grain, Metric
from talkhouse.charts.draw import draw
from talkhouse.charts.fields import frame
from talkhouse.charts.query import chart_sql

SIPS = {"sips": Metric(title="Sips", sql="sum(sips)")}
SERIES = ((), ("what",), ("what", "size"))
METRICS = (("row_count",), ("sips",), ("row_count", "sips"))
ROWS = {
    "none": "",
    "only null": "insert into bi.cups values (null, null, null, null, null, null)",
    "some null": "insert into bi.cups values (null, null, null, null, null, null), "
    "('Ann', 'tea', 2, 9, '2026-01-02', 3), ('Ben', 'tea', 2, 10, '2026-02-03', null)",
}


def charts() -> Iterator[Chart]:
    """Yield bars, lines and heat maps in every form that a declaration may have."""
    forms: list[dict[str, Any]] = [
        {"kind": ChartKind.BAR},
        {"kind": ChartKind.BAR, "largest_first": True},
        {"kind": ChartKind.BAR, "horizontal": True, "stacked": True},
        {"kind": ChartKind.LINE},
    ]
    for x, by, metrics, form in product(("who", "day"), SERIES, METRICS, forms):
        yield Chart(title="", view="cups", x=x, by=by, metrics=metrics, **form)
    for kind, by in product((ChartKind.BAR, ChartKind.LINE), SERIES):
        yield Chart(title="", view="cups", kind=kind, x="drunk_at", by=by, metrics=("sips",), grain=Grain.MONTH)
    for x, y in (("who", "day"), ("day", "who")):
        yield Chart(title="", view="cups", kind=ChartKind.HEATMAP, x=x, by=(y,), metrics=("sips",))


@pytest.fixture(params=ROWS)
def cups(request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        con.execute("create schema bi")
        con.execute(
            "create table bi.cups "
            "(who varchar, what varchar, size integer, day integer, drunk_at timestamp, sips integer)"
        )
        con.execute(ROWS[request.param])
        yield con


@pytest.mark.parametrize("step", [20, pytest.param(1, marks=pytest.mark.slow)], ids=["some forms", "all forms"])
def test_every_form_is_drawn_whatever_the_rows_are(cups: duckdb.DuckDBPyConnection, step: int) -> None:
    for chart in list(charts())[3::step]:
        rows = frame(cups, chart_sql(chart, SIPS))
        drawn = draw(chart, SIPS, rows).to_dict()  # checked against Vega-Lite's schema
        (marks,) = drawn["datasets"].values()
        assert len(marks) == rows.height * len(chart.metrics)


def test_numbers_with_a_null_among_them_stay_in_their_order() -> None:
    chart = Chart(title="", view="cups", kind=ChartKind.BAR, x="day", metrics=("sips",))
    with duckdb.connect() as con:
        rows = frame(con, "select unnest([9, 10, null]) as day, 1 as sips")
    drawn = draw(chart, SIPS, rows).to_dict()
    assert drawn["encoding"]["x"]["sort"] == ["9", "10", "no day"]
