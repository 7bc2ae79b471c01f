"""What a chart's limit leaves out: how many rows there are, and how many of them tie where it cuts."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import polars as pl

from talkhouse.charts.declared import Chart
from talkhouse.charts.fields import title
from talkhouse.charts.formats import number
from talkhouse.charts.metric import Metric, metric
from talkhouse.charts.query import DIGITS, cut_sql


class Cut(NamedTuple):
    """What a limit leaves out."""

    total: int
    """Rows without the limit."""
    note: str
    """How many rows tie at the limit; empty where none is left out that is as large as the last one shown."""


def cut(
    run: Callable[[str], pl.DataFrame], chart: Chart, metrics: Mapping[str, Metric], rows: pl.DataFrame
) -> Cut | None:
    """Ask what the limit of a chart leaves out; None where it has fewer rows. ``run`` returns the rows of a query."""
    if rows.height < chart.limit or not chart.columns:
        return None
    values = rows[chart.metrics[0]]
    last = round(values[-1], DIGITS) if chart.largest_first and values[-1] is not None else None
    total, tied = run(cut_sql(chart, metrics, last)).row(0)
    shown = int((values.round(DIGITS) == last).sum()) if last is not None else 0
    if tied == shown:
        return Cut(total, "")
    at = number(last, metric(chart.metrics[0], metrics).format)
    order = ", ".join(title(column).lower() for column in chart.columns[:3])
    return Cut(total, f"{tied:,} tie at {at}; {shown:,} of them {'is' if shown == 1 else 'are'} shown, by {order}.")
