"""Axes and words that tell the truth: every bin and year, 0, 100 %, and a sentence for a single bar."""

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from talkhouse.charts.declared import Chart, ChartKind, Grain, Metric, NumberFormat
from talkhouse.charts.draw import draw
from talkhouse.charts.fields import fields
from talkhouse.charts.words import alternative, only_zero, single

SIPS = {
    "sips": Metric(title="Sips", sql="sum(sips)"),
    "share": Metric(title="Share", sql="avg(share)", format=NumberFormat.PERCENT),
    "rest": Metric(title="Rest", sql="1 - avg(share)", format=NumberFormat.PERCENT),
}


def bars(**members: Any) -> Chart:
    return Chart(**{"title": "", "kind": ChartKind.BAR, "view": "cups", "x": "who", "metrics": ("sips",), **members})


def encoding(chart: Chart, rows: dict[str, list[Any]]) -> dict[str, Any]:
    drawn: dict[str, Any] = draw(chart, SIPS, pl.DataFrame(rows)).to_dict()
    return drawn["encoding"]


def test_empty_bins_have_a_place() -> None:
    x = encoding(bars(x="cup_count_bin"), {"cup_count_bin": [0, 10, 35], "sips": [5, 7, 1]})["x"]
    assert x["scale"]["domain"] == [0, 5, 10, 15, 20, 25, 30, 35]
    assert x["title"] == "Number of cups (in steps of 5)"


def test_a_bin_is_shown_by_its_ends() -> None:
    drawn = draw(bars(x="cups_bin"), SIPS, pl.DataFrame({"cups_bin": [0, 10], "sips": [5, 7]})).to_dict()
    ((_, rows),) = drawn["datasets"].items()
    assert [row["_shown"] for row in rows] == ["0 to 9", "10 to 19"]


def test_years_without_rows_have_a_place() -> None:
    days = [datetime(2018, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)]
    x = encoding(bars(x="said_at", grain=Grain.YEAR), {"said_at": days, "sips": [5, 7]})["x"]
    assert (x["title"], x["scale"]["domain"]) == ("Year", ["2018", "2019", "2020", "2021"])


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


@pytest.mark.parametrize(
    ("members", "row", "expected"),
    [
        ({}, {"who": "Ann", "sips": 1250}, "All 1,250 sips: who Ann."),
        ({"metrics": ("share",), "counts": ("sips",)}, {"who": None, "share": 0.5, "sips": 4}, "no who: share 50.0%"),
        ({"metrics": ("share", "rest")}, {"who": "Ann", "share": 0.5, "rest": 0.5}, None),
        ({"kind": ChartKind.HEATMAP, "by": ("what",)}, {"who": "Ann", "what": "tea", "sips": 3}, None),
    ],
)
def test_a_single_bar_is_a_sentence(members: dict[str, Any], row: dict[str, Any], expected: str | None) -> None:
    chart = bars(**members)
    said = single(chart, fields(chart, SIPS), pl.DataFrame([row]))
    assert (said is None) == (expected is None)
    assert (expected or "") in (said or "")
    assert single(chart, fields(chart, SIPS), pl.DataFrame([row, row])) is None


def test_bars_that_are_all_0_are_a_sentence() -> None:
    chart = bars(metrics=("share",))
    rows = pl.DataFrame({"who": ["Ann", "Ben"], "share": [0.0, None]})
    assert only_zero(chart, fields(chart, SIPS), rows) == "By who, in each of 2 cases: share 0.0%."
    assert only_zero(chart, fields(chart, SIPS), rows.with_columns(share=pl.Series([0.0, 0.1]))) is None


def test_a_chart_is_said_by_its_ends() -> None:
    chart = bars(by=("what",))
    rows = pl.DataFrame({"who": ["Ann", "Ben", "Cy"], "what": ["tea", None, "ale"], "sips": [5, 7000, None]})
    assert alternative(chart, fields(chart, SIPS), rows) == (
        "Bar chart: Sips by who and what. Sips: from 5 (Ann, tea) to 7,000 (Ben, no what)."
    )
