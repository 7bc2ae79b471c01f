"""Charts as Altair has them: worked examples, and every declared chart on the sample."""

import re
from html import unescape
from typing import Any

import duckdb
import polars as pl
import pytest

from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.declared import Chart, ChartKind, Grain, Metric, NumberFormat
from talkhouse.charts.draw import draw, nothing, with_units
from talkhouse.charts.fields import fields, frame, number, title
from talkhouse.charts.query import chart_sql
from talkhouse.charts.words import alternative
from talkhouse.report.figures import svg
from talkhouse.visible import visible

DRAWN = (ChartKind.BAR, ChartKind.LINE, ChartKind.HEATMAP)
CHARTS = [(one, chart) for one in dashboards() for chart in one.dashboard.charts if chart.kind in DRAWN]
FIRST = [next(chart for _, chart in CHARTS if chart.kind is kind) for kind in DRAWN]
DECLARED = [
    pytest.param(chart, id=f"{one.name}-{chart.title}", marks=() if chart in FIRST else pytest.mark.slow)
    for one, chart in CHARTS
]
"""All of them; in the quick lane the first of each kind, for the pages of the dashboard draw the others there."""
CUPS = {
    "sips": Metric(title="Sips", sql="sum(sips)"),
    "spilt": Metric(title="Spilt", sql="avg(spilt)", format=NumberFormat.PERCENT),
}
HOSTILE = [
    *(
        "a\u2028b",
        "a\u2029b",
        "\u202ea",
        "a\0b",
        "*",
        "^.*$",
        "a.b[0]",
        "a:Q",
        "it's",
        '"]',
        "\\",
        "\\1",
        "{x}",
        "{{x}}",
    ),
    *("%s", "$x$", "${x}", "<b>b</b>", "[red]", "#{datum}", "datum['a']"),
]
"""Names that mean something to Vega's expressions, Polars, or what shows them."""
ROWS = pl.DataFrame({"who": ["Ann", None], "day": [1, 2], "sips": [5, 7], "spilt": [0.5, None]})


def cups(**members: Any) -> dict[str, Any]:
    chart = Chart(title="", view="cups", **members)
    drawn: dict[str, Any] = draw(chart, CUPS, ROWS).to_dict()
    return drawn


def marks(drawn: dict[str, Any]) -> list[dict[str, Any]]:
    (rows,) = drawn["datasets"].values()
    return rows


@pytest.mark.parametrize("chart", DECLARED)
def test_every_declared_chart_is_drawn_from_its_rows(con: duckdb.DuckDBPyConnection, chart: Chart) -> None:
    of_view = metrics().get(chart.view, {})
    rows = frame(con, chart_sql(chart, of_view))
    drawn = draw(chart, of_view, rows).to_dict()  # checked against Vega-Lite's schema
    assert [mark["_value"] for mark in marks(drawn)] == [
        None if value is None else float(value) for metric in chart.metrics for value in rows[metric].to_list()
    ]
    shown = {tooltip["title"]: tooltip["field"] for tooltip in drawn["encoding"]["tooltip"]}
    pointed = {one.name: shown[one.title] for one in fields(chart, of_view) if one.metric}
    for name, field in pointed.items():
        assert [mark[field] for mark in marks(drawn)][: rows.height] == rows[name].to_list()


def test_several_metrics_are_series() -> None:
    drawn = cups(kind=ChartKind.BAR, x="day", metrics=("sips", "spilt"))
    assert [(mark["_x"], mark["_series"], mark["_value"]) for mark in marks(drawn)] == [
        (1, "Sips", 5.0),
        (2, "Sips", 7.0),
        (1, "Spilt", 0.5),
        (2, "Spilt", None),
    ]
    assert drawn["encoding"]["xOffset"]["field"] == "_series"


def test_a_null_that_bars_are_grouped_by_has_a_name() -> None:
    drawn = cups(kind=ChartKind.BAR, x="who", metrics=("sips",), horizontal=True)
    assert [mark["_x"] for mark in marks(drawn)] == ["Ann", "no who"]
    assert drawn["encoding"]["y"]["field"] == "_x"
    assert nothing("known_speaker_name") == "people without a known name"


def test_the_largest_stay_in_their_order() -> None:
    drawn = cups(kind=ChartKind.BAR, x="who", metrics=("sips",), largest_first=True)
    assert drawn["encoding"]["x"]["sort"] == ["Ann", "no who"]


def test_pointing_shows_the_counts() -> None:
    drawn = cups(kind=ChartKind.LINE, x="day", metrics=("spilt",), counts=("sips",))
    assert [(one["title"], one.get("format")) for one in drawn["encoding"]["tooltip"]] == [
        ("Day", None),
        ("Spilt", ",.1%"),
        ("Sips", ",d"),
    ]


def test_times_are_named_by_their_unit(con: duckdb.DuckDBPyConnection) -> None:
    rows = frame(con, "select timestamp '2020-03-01' as day, 1 as sips")
    chart = Chart(title="", view="cups", kind=ChartKind.BAR, x="day", grain=Grain.MONTH, metrics=("sips",))
    assert [mark["_x"] for mark in marks(draw(chart, CUPS, rows).to_dict())] == ["2020-03"]
    assert with_units(chart, rows).rows() == [("2020-03", 1)]


def test_a_bar_that_is_more_than_nothing_is_seen() -> None:
    encoding = cups(kind=ChartKind.BAR, x="day", metrics=("sips",))["encoding"]
    assert encoding["strokeWidth"] == {"condition": {"test": "datum['_value'] > 0", "value": 1.5}, "value": 0}
    assert encoding["stroke"] == encoding["color"]


def test_wide_sums_are_integers(con: duckdb.DuckDBPyConnection) -> None:
    rows = frame(con, "select sum(i) as whole, sum(i / 2.0::decimal(9, 1)) as part from range(5) t(i)")
    assert rows.schema["whole"] == pl.Int64
    assert rows.row(0) == (10, 5.0)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("corpus_id", "Corpus"),
        ("turn_count_bin", "Number of turns"),
        ("shared_count", "Number shared"),
        ("x_count", "Number of X"),
        ("said_at", "Time"),
        ("bot", "Bot"),
        ("next_speaker_name", "Next speaker"),
        ("is_changed", "Changed"),
        ("start_ms", "Start (ms)"),
    ],
)
def test_columns_have_titles(column: str, expected: str) -> None:
    assert title(column) == expected


@pytest.mark.parametrize(
    ("value", "how", "expected"),
    [
        (1234567, NumberFormat.INTEGER, "1,234,567"),
        (0.1234, NumberFormat.PERCENT, "12.3%"),
        (2.345, NumberFormat.DECIMAL, "2.35"),
        (0.1262, NumberFormat.PRECISE, "0.126"),
        (None, NumberFormat.PERCENT, "\N{EN DASH}"),
    ],
)
def test_numbers_are_written_as_people_read_them(value: float | None, how: NumberFormat, expected: str) -> None:
    assert number(value, how) == expected


@pytest.mark.parametrize("kind", [ChartKind.BAR, *(pytest.param(kind, marks=pytest.mark.slow) for kind in DRAWN[1:])])
def test_no_name_is_code_or_a_pattern(kind: ChartKind) -> None:
    for first, second, third in zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], HOSTILE[2:] + HOSTILE[:2], strict=True):
        metric = {first: Metric(title=second, sql="")}
        rows = pl.DataFrame({third: HOSTILE, second: HOSTILE[::-1], first: range(len(HOSTILE))})
        chart = Chart(title="", view="talks", kind=kind, x=third, by=(second,), metrics=(first,), largest_first=True)
        drawn = svg(draw(chart, metric, rows, {HOSTILE[0]: "#000000"}), "a", "")
        told = alternative(chart, fields(chart, metric), rows)
        assert visible(told) == told
        titles = [title for title in re.findall("<title>(.*?)</title>", drawn) if title]
        assert kind is ChartKind.LINE or len(titles) == len(HOSTILE)
        assert all(visible(first) in unescape(drawn) for first in (third, second))
