"""What a limit leaves out, told from the rows without it."""

import duckdb
import pytest

from talkhouse.charts.declared import Chart, ChartKind, Metric
from talkhouse.charts.fields import frame
from talkhouse.charts.query import TIED, TOTAL, chart_sql, counted_sql
from talkhouse.charts.words import Cut, cut

SIPS = {"sips": Metric(title="Sips", sql="sum(sips)")}


@pytest.mark.parametrize(
    ("limit", "is_largest_first", "expected"),
    [
        (1, True, Cut(5, "")),
        (2, True, Cut(5, "3 tie at 4; 1 of them is shown, by who.")),
        (3, True, Cut(5, "3 tie at 4; 2 of them are shown, by who.")),
        (4, True, Cut(5, "")),
        (2, False, Cut(5, "")),
        (9, True, None),
    ],
)
def test_ties_at_the_limit_are_counted(limit: int, is_largest_first: bool, expected: Cut | None) -> None:
    chart = Chart(
        title="Sips",
        kind=ChartKind.TABLE,
        view="cups",
        by=("who",),
        metrics=("sips",),
        largest_first=is_largest_first,
        limit=limit,
    )
    with duckdb.connect() as con:
        con.execute("create schema bi")
        con.execute(
            "create table bi.cups as "
            "from (values ('a', 9), ('b', 4), ('c', 3), ('c', 1), ('d', 4), ('e', 1)) cups(who, sips)"
        )
        rows = frame(con, counted_sql(chart, SIPS))
        assert cut(chart, SIPS, rows) == expected
        assert rows.drop(TOTAL, TIED).equals(frame(con, chart_sql(chart, SIPS)))
