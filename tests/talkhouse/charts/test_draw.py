"""Charts as Altair has them: worked examples, honest axes, odd rows, and every declared chart on the sample."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from itertools import product
from typing import Any

import duckdb
import polars as pl
import pytest

from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.declared import WEEKDAYS, Chart, ChartKind, Grain, Metric, NumberFormat
from talkhouse.charts.draw import draw, nothing, with_units
from talkhouse.charts.fields import fields, frame, number, title, with_weekdays
from talkhouse.charts.query import chart_sql
from talkhouse.charts.words import alternative, only_zero, single
from talkhouse.escaping import visible
from talkhouse.report.figures import svg
from tests.lanes import first_quick

DRAWN = (ChartKind.BAR, ChartKind.LINE, ChartKind.HEATMAP)
CHARTS = [(declared, chart) for declared in dashboards() for chart in declared.dashboard.charts if chart.kind in DRAWN]
FIRST = [next(chart for _, chart in CHARTS if chart.kind is kind) for kind in DRAWN]
DECLARED = [
    pytest.param(chart, id=f"{declared.name}-{chart.title}", marks=() if chart in FIRST else pytest.mark.slow)
    for declared, chart in CHARTS
]
"""All of them; in the quick lane the first of each kind, for the pages of the dashboard draw the others there."""
CUPS = {
    "sips": Metric(title="Sips", sql="sum(sips)"),
    "spilt": Metric(title="Spilt", sql="avg(spilt)", format=NumberFormat.PERCENT),
}
HOSTILE = [
    *("a\u2028b", "a\u2029b", "\u202ea", "a\0b", "*", "^.*$", "a.b[0]", "a:Q", "it's", '"]', "\\", "\\1"),
    *("{x}", "{{x}}", "%s", "$x$", "${x}", "<b>b</b>", "[red]", "#{datum}", "datum['a']"),
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
    pointed = {field.name: shown[field.title] for field in fields(chart, of_view) if field.metric}
    for name, field in pointed.items():
        assert [mark[field] for mark in marks(drawn)][: rows.height] == rows[name].to_list()


def test_several_metrics_are_series() -> None:
    drawn = cups(kind=ChartKind.BAR, x="day", metrics=("sips", "spilt"))
    sips, spilt = [(1, "Sips", 5.0), (2, "Sips", 7.0)], [(1, "Spilt", 0.5), (2, "Spilt", None)]
    assert [(mark["_x"], mark["_series"], mark["_value"]) for mark in marks(drawn)] == sips + spilt
    assert drawn["encoding"]["xOffset"]["field"] == "_series"


def test_a_null_that_bars_are_grouped_by_has_a_name() -> None:
    drawn = cups(kind=ChartKind.BAR, x="who", metrics=("sips",), horizontal=True)
    assert [mark["_x"] for mark in marks(drawn)] == ["Ann", "no who"]
    assert drawn["encoding"]["y"]["field"] == "_x"
    assert nothing("known_speaker_name") == "people without a known name"
    largest_first = cups(kind=ChartKind.BAR, x="who", metrics=("sips",), largest_first=True)
    assert largest_first["encoding"]["x"]["sort"] == ["Ann", "no who"]


def test_pointing_shows_the_counts() -> None:
    drawn = cups(kind=ChartKind.LINE, x="day", metrics=("spilt",), counts=("sips",))
    pointed = [(entry["title"], entry.get("format")) for entry in drawn["encoding"]["tooltip"]]
    assert pointed == [("Day", None), ("Spilt", ",.1%"), ("Sips", ",d")]


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
        *(("corpus_id", "Corpus"), ("said_at", "Time"), ("bot", "Bot"), ("is_changed", "Changed")),
        *(("turn_count_bin", "Number of turns"), ("shared_count", "Number shared"), ("x_count", "Number of X")),
        *(("next_speaker_name", "Next speaker"), ("start_ms", "Start (ms)")),
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


@pytest.mark.parametrize("kind", first_quick(DRAWN))
def test_no_name_is_code_or_a_pattern(kind: ChartKind) -> None:
    names = [*zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], HOSTILE[2:] + HOSTILE[:2], strict=True)]
    for first, second, third in names[:: 3 if kind is ChartKind.BAR else 1]:  # each is in the cells, too
        metric = {first: Metric(title=second, sql="")}
        rows = pl.DataFrame({third: HOSTILE, second: HOSTILE[::-1], first: range(len(HOSTILE))})
        chart = Chart(title="", view="talks", kind=kind, x=third, by=(second,), metrics=(first,), largest_first=True)
        drawn = svg(draw(chart, metric, rows, {HOSTILE[0]: "#000000"}), "a", "")
        text = alternative(chart, fields(chart, metric), rows)
        assert visible(text) == text
        titles = [title for title in re.findall("<title>(.*?)</title>", drawn) if title]
        assert kind is ChartKind.LINE or len(titles) == len(HOSTILE)
        assert all(visible(first) in unescape(drawn) for first in (third, second))


SIPS_AND_SHARES = {
    "sips": Metric(title="Sips", sql="sum(sips)"),
    "share": Metric(title="Share", sql="avg(share)", format=NumberFormat.PERCENT),
    "rest": Metric(title="Rest", sql="1 - avg(share)", format=NumberFormat.PERCENT),
}


def bars(**members: Any) -> Chart:
    return Chart(**{"title": "", "kind": ChartKind.BAR, "view": "cups", "x": "who", "metrics": ("sips",), **members})


def encoding(chart: Chart, rows: dict[str, list[Any]]) -> dict[str, Any]:
    drawn: dict[str, Any] = draw(chart, SIPS_AND_SHARES, pl.DataFrame(rows)).to_dict()
    return drawn["encoding"]


def test_empty_bins_have_a_place() -> None:
    x = encoding(bars(x="cup_count_bin"), {"cup_count_bin": [0, 10, 35], "sips": [5, 7, 1]})["x"]
    assert x["scale"]["domain"] == [0, 5, 10, 15, 20, 25, 30, 35]
    assert x["title"] == "Number of cups (in steps of 5)"


def test_a_bin_is_shown_by_its_ends() -> None:
    drawn = draw(bars(x="cups_bin"), SIPS_AND_SHARES, pl.DataFrame({"cups_bin": [0, 10], "sips": [5, 7]})).to_dict()
    ((_, rows),) = drawn["datasets"].items()
    assert [row["_shown"] for row in rows] == ["0 to 9", "10 to 19"]


def test_years_and_weeks_without_rows_have_a_place() -> None:
    days = [datetime(2018, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)]
    x = encoding(bars(x="said_at", grain=Grain.YEAR), {"said_at": days, "sips": [5, 7]})["x"]
    assert (x["title"], x["scale"]["domain"]) == ("Year", ["2018", "2019", "2020", "2021"])
    mondays = [datetime(2026, 2, 23, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC)]
    x = encoding(bars(x="said_at", grain=Grain.WEEK), {"said_at": mondays, "sips": [5, 7]})["x"]
    assert (x["title"], x["scale"]["domain"]) == ("Week", ["2026-02-23", "2026-03-02", "2026-03-09"])


def test_thousands_are_short_and_zero_is_zero() -> None:
    axis = encoding(bars(), {"who": ["Ann", "Ben"], "sips": [5_000, 7]})["y"]["axis"]
    assert axis["labelExpr"] == "format(datum.value, '~s')"
    assert "format" not in axis


@pytest.mark.parametrize(
    ("members", "shares", "ends_at_100"),
    [
        ({}, [0.2, 0.96], True),
        ({}, [0.2, 0.3], False),
        ({}, [0.2, 1.5], False),
        ({}, [-0.2, 0.9], False),
        ({"metrics": ("share", "rest"), "stacked": True}, [0.2, 0.3], True),
    ],
)
def test_shares_end_at_100_percent_where_they_come_near_it(
    members: dict[str, Any], shares: list[float], ends_at_100: bool
) -> None:
    rows = {"who": ["Ann", "Ben"], "share": shares, "rest": [1 - share for share in shares]}
    scale = encoding(bars(**{"metrics": ("share",), **members}), rows)["y"].get("scale", {})
    assert (scale.get("domain") == [0, 1]) == ends_at_100


@pytest.mark.parametrize(("count", "may_be_left_out"), [(8, False), (200, True)])
def test_names_that_are_long_are_slanted_and_all_there_while_they_have_room(count: int, may_be_left_out: bool) -> None:
    rows = {"who": [f"tea.party_number_{number}" for number in range(count)], "sips": range(count)}
    axis = encoding(bars(), rows)["x"]["axis"]
    assert (axis["labelAngle"], axis["labelOverlap"]) == (-45, may_be_left_out)


@pytest.mark.parametrize(
    ("members", "row", "expected"),
    [
        ({}, {"who": "Ann", "sips": 1250}, "All 1,250 sips: who Ann."),
        ({}, {"who": "Ann", "sips": 1}, "Sips: 1 (who Ann)."),
        ({"metrics": ("share",), "counts": ("sips",)}, {"who": None, "share": 0.5, "sips": 4}, "no who: share 50.0%"),
        ({"metrics": ("share", "rest")}, {"who": "Ann", "share": 0.5, "rest": 0.5}, None),
        ({"kind": ChartKind.HEATMAP, "by": ("what",)}, {"who": "Ann", "what": "tea", "sips": 3}, None),
    ],
)
def test_a_single_bar_is_a_sentence(members: dict[str, Any], row: dict[str, Any], expected: str | None) -> None:
    chart = bars(**members)
    text = single(chart, fields(chart, SIPS_AND_SHARES), pl.DataFrame([row]))
    assert (text is None) == (expected is None)
    assert (expected or "") in (text or "")
    assert single(chart, fields(chart, SIPS_AND_SHARES), pl.DataFrame([row, row])) is None


def test_bars_that_are_all_0_are_a_sentence() -> None:
    chart = bars(metrics=("share",))
    rows = pl.DataFrame({"who": ["Ann", "Ben"], "share": [0.0, None]})
    assert only_zero(chart, fields(chart, SIPS_AND_SHARES), rows) == "By who, in each of 2 cases: share 0.0%."
    assert only_zero(chart, fields(chart, SIPS_AND_SHARES), rows.with_columns(share=pl.Series([0.0, 0.1]))) is None


def test_a_chart_is_said_by_its_ends() -> None:
    chart = bars(by=("what",))
    rows = pl.DataFrame({"who": ["Ann", "Ben", "Cy"], "what": ["tea", None, "ale"], "sips": [5, 7000, None]})
    assert alternative(chart, fields(chart, SIPS_AND_SHARES), rows) == (
        "Bar chart: Sips by who and what. Sips: from 5 (Ann, tea) to 7,000 (Ben, no what)."
    )


ODD_SIPS = {"sips": Metric(title="Sips", sql="sum(sips)")}
SERIES = ((), ("what",), ("what", "size"))
METRICS = (("row_count",), ("sips",), ("row_count", "sips"))
ODD_ROWS = {
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
    for x, by, shown, form in product(("who", "day"), SERIES, METRICS, forms):
        yield Chart(title="", view="cups", x=x, by=by, metrics=shown, **form)
    for kind, by in product((ChartKind.BAR, ChartKind.LINE), SERIES):
        yield Chart(title="", view="cups", kind=kind, x="drunk_at", by=by, metrics=("sips",), grain=Grain.MONTH)
    for x, y in (("who", "day"), ("day", "who")):
        yield Chart(title="", view="cups", kind=ChartKind.HEATMAP, x=x, by=(y,), metrics=("sips",))


@pytest.fixture(params=ODD_ROWS)
def odd_cups(request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        con.execute("create schema bi")
        con.execute(
            "create table bi.cups "
            "(who varchar, what varchar, size integer, day integer, drunk_at timestamp, sips integer)"
        )
        con.execute(ODD_ROWS[request.param])
        yield con


@pytest.mark.parametrize("step", [20, pytest.param(1, marks=pytest.mark.slow)], ids=["some forms", "all forms"])
def test_every_form_is_drawn_whatever_the_rows_are(odd_cups: duckdb.DuckDBPyConnection, step: int) -> None:
    for chart in list(charts())[3::step]:
        rows = frame(odd_cups, chart_sql(chart, ODD_SIPS))
        drawn = draw(chart, ODD_SIPS, rows).to_dict()  # checked against Vega-Lite's schema
        (marks,) = drawn["datasets"].values()
        assert len(marks) == rows.height * len(chart.metrics)


def test_numbers_with_a_null_among_them_stay_in_their_order() -> None:
    chart = Chart(title="", view="cups", kind=ChartKind.BAR, x="day", metrics=("sips",))
    with duckdb.connect() as con:
        rows = frame(con, "select unnest([9, 10, null]) as day, 1 as sips")
    assert draw(chart, ODD_SIPS, rows).to_dict()["encoding"]["x"]["sort"] == ["9", "10", "no day"]


def test_days_of_the_week_stand_in_their_order_by_their_names() -> None:
    chart = Chart(title="", view="cups", kind=ChartKind.HEATMAP, metrics=("sips",), x="hour_of_day", by=("weekday",))
    raw = pl.DataFrame({"hour_of_day": [9, 23], "weekday": [7, 2], "sips": [1, 2]})
    drawn: dict[str, Any] = draw(chart, CUPS, with_weekdays(chart, raw)).to_dict()
    assert [mark["_series"] for mark in marks(drawn)] == ["Sunday", "Tuesday"]
    assert drawn["encoding"]["y"]["sort"] == list(WEEKDAYS)
    assert drawn["encoding"]["x"]["scale"]["domain"] == list(range(24))
    line = Chart(title="", view="cups", kind=ChartKind.LINE, metrics=("sips",), x="at", grain=Grain.WEEKDAY)
    days = with_weekdays(line, pl.DataFrame({"at": [2, 7], "sips": [1, 2]}))
    assert draw(line, CUPS, days).to_dict()["encoding"]["x"]["sort"] == ["Tuesday", "Sunday"]


def test_no_colour_stands_for_two_series_and_one_series_needs_no_legend() -> None:
    chart = Chart(title="", view="cups", kind=ChartKind.BAR, metrics=("sips",), x="day", by=("who",))
    many = pl.DataFrame({"day": [1] * 40, "who": [f"{number:02}" for number in range(40)], "sips": [1] * 40})
    colours = draw(chart, CUPS, many).to_dict()["encoding"]["color"]["scale"]["range"]
    assert len({*colours}) == 40
    assert "legend" not in draw(chart, CUPS, many.head(1)).to_dict()["encoding"]["color"]


def test_the_values_of_a_scale_stand_in_its_order() -> None:
    chart = Chart(title="", view="cups", kind=ChartKind.BAR, metrics=("sips",), x="who", along=("low", "10", "9"))
    assert "order by list_position(['low', '10', '9'], \"who\"::varchar) nulls last" in chart_sql(chart, CUPS)
    rows = pl.DataFrame({"who": ["low", "10", "9", "other"], "sips": [1, 2, 3, 4]})
    assert draw(chart, CUPS, rows).to_dict()["encoding"]["x"]["sort"] == ["low", "10", "9", "other"]
