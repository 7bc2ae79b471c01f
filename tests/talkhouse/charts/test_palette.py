"""Colours of series: a label's by its scheme, and any other by all values of its column, whatever was chosen."""

from functools import partial
from pathlib import Path

import duckdb
import polars as pl
import pytest

from talkhouse.charts.declared import Chart, ChartKind, Metric
from talkhouse.charts.draw import NOTHING, draw
from talkhouse.charts.fields import frame
from talkhouse.charts.query import narrowed, palette
from talkhouse.explore.schemes import PLAIN, label_colours
from talkhouse.queries.files import Files, files_in

METRICS = {name: Metric(title=name.upper(), sql=f"sum({name})", label=name) for name in ("o", "t", "x")}
HEAD = 'title = "Tea"\ndescription = "Tea."\n'
CHARTS = '[[charts]]\ntitle = "Cups"\nkind = "number"\nview = "cups"\nmetrics = ["row_count"]\n'


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute(
        "create schema bi;"
        "create table schemes as select 'tea.fault' as scheme, '' as description, '' as target, '' as kind, "
        "'good_to_bad' as scale;"
        "create table labels as select 'tea.fault' as scheme, unnest(['x', 'o', 't']) as label, '' as meaning, "
        "unnest([2, 0, 1]) as label_index;"
        "create table bi.cups as select unnest(['Ben', 'Ann', 'Cy']) as who, unnest(['o', 'x', 't']) as fault, "
        "unnest(['loss', 'gain', 'same']) as outcome, unnest([9, 10, 11]) as day;"
        "create table bi.people as select unnest(['Abe', 'Ann', 'Ben', 'Cy']) as who"
    )
    return con


def files(root: Path, filters: str = "") -> Files:
    path = root / "bi" / "dashboards" / "tea.toml"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + filters + CHARTS)
    return files_in([root])


def bars(**members: object) -> Chart:
    return Chart(title="", kind=ChartKind.BAR, view="cups", x="day", **{"metrics": ("row_count",), **members})  # type: ignore[arg-type]


def test_labels_have_the_colours_of_their_scheme(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    of_scheme = label_colours(["o", "t", "x"], "good_to_bad")
    known = files(tmp_path)
    rows = partial(frame, con)
    assert palette(rows, bars(by=("fault",), scheme="tea.fault"), {}, known) == of_scheme
    shares = bars(metrics=("x", "o"), scheme="tea.fault")
    assert palette(rows, shares, METRICS, known) == {"X": of_scheme["x"], "O": of_scheme["o"]}


def test_values_have_the_order_and_scale_that_are_declared(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    chart = bars(by=("outcome",), values=("gain", "same", "loss"), scale="good_to_bad")
    found = palette(partial(frame, con), chart, {}, files(tmp_path))
    assert found == label_colours(["gain", "same", "loss"], "good_to_bad")


def test_a_choice_does_not_change_a_colour(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    chart, known = bars(by=("who",)), files(tmp_path)
    everybody = palette(partial(frame, con), chart, {}, known)
    assert everybody == dict(zip(["Ann", "Ben", "Cy"], PLAIN, strict=False))
    assert palette(partial(frame, con), narrowed(chart, {"who": ["Cy"]}, ["who"]), {}, known) == everybody


def test_a_series_has_one_colour_in_charts_of_different_views(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    known = files(tmp_path, '[[filters]]\ntitle = "Who"\ncolumn = "who"\nview = "people"\n')
    found = palette(partial(frame, con), bars(by=("who",)), {}, known)
    assert found == dict(zip(["Abe", "Ann", "Ben", "Cy"], PLAIN, strict=False))


def test_what_has_no_value_is_grey_and_new_values_come_after_those_that_are_known() -> None:
    rows = pl.DataFrame({"day": [1, 2, 3], "who": ["Ann", None, "Zoe"], "row_count": [1, 1, 1]})
    drawn = draw(bars(by=("who",)), {}, rows, {"Abe": "#111111", "Ann": "#222222"}).to_dict()
    scale = drawn["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
        "Ann": "#222222",
        "Zoe": PLAIN[2],
        "no who": NOTHING,
    }
