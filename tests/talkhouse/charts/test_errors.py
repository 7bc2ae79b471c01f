"""A chart, metric or filter that can't be computed: the error names the file and line of its declaration."""

from pathlib import Path

import duckdb
import pytest

from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.query import chart_sql, filter_sql, sql_of_chart, sql_of_filter
from talkhouse.queries.files import files_in
from talkhouse.schema.errors import CatalogueError

METRIC = '[cups.sips]\ntitle = "Sips"\nsql = "sum(sips)"\n'
DASHBOARD = """title = "Tea"
description = "Who drinks what."

[[filters]]
title = "Drinker"
column = "who"
view = "cups"

[[charts]]
title = "Cups"
kind = "bar"
view = "cups"
x = "who"
metrics = ["sips"]
"""


def compute(con: duckdb.DuckDBPyConnection, root: Path) -> None:
    """Run the filter and the chart."""
    files = files_in([root])
    (declared,) = dashboards(files)
    (chart,), (choice,) = declared.dashboard.charts, declared.dashboard.filters
    with sql_of_filter(choice, files):
        con.execute(filter_sql(choice, 10))
    with sql_of_chart(con.execute, chart, files):
        con.execute(chart_sql(chart, metrics(files).get(chart.view, {})))


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "problem", "expected"),
    [
        ("bi/dashboards/tea.toml", 'x = "who"', 'x = "whom"', 10, "the chart 'Cups'", "one of: who"),
        ("bi/dashboards/tea.toml", 'x = "who"', 'x = "who"\nwhere = "sip > 1"', 10, "the chart 'Cups'", "one of: sips"),
        ("bi/dashboards/tea.toml", 'view = "cups"\nx', 'view = "mugs"\nx', 10, "the chart 'Cups'", None),
        ("bi/dashboards/tea.toml", 'column = "who"', 'column = "whom"', 5, "the filter 'Drinker'", "one of: who"),
        ("bi/metrics.toml", "sum(sips)", "sum(sip)", 1, "the metric sips of bi.cups", "one of: sips"),
    ],
)
def test_a_declaration_that_does_not_fit_is_named(
    tmp_path: Path, name: str, old: str, new: str, line: int, problem: str, expected: str | None
) -> None:
    files = {"bi/dashboards/tea.toml": DASHBOARD, "bi/metrics.toml": METRIC}
    if "mugs" in new:
        files["bi/metrics.toml"] += METRIC.replace("cups", "mugs")
    assert old in files[name]
    for path, text in files.items():
        (tmp_path / "tea" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tea" / path).write_text(text.replace(old, new) if path == name else text)
    with duckdb.connect() as con:
        con.execute("create schema bi")
        con.execute("create table bi.cups (who varchar, sips integer)")
        with pytest.raises(CatalogueError) as caught:
            compute(con, tmp_path)
    assert caught.value.what == f"{problem} can't be computed"
    assert caught.value.where == f"{tmp_path / 'tea' / name}:{line}"
    assert expected is None or expected in str(caught.value.expected)
