"""What a chart's limit leaves out: how many rows there are, and how many of them tie where it cuts."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from talkhouse.charts.declared import MOST_ROWS, Chart, Kind
from talkhouse.charts.fields import title
from talkhouse.charts.formats import number
from talkhouse.charts.metric import Metric, metric
from talkhouse.charts.query import DIGITS, TIED, TOTAL


class Cut(NamedTuple):
    """What a limit leaves out."""

    total: int
    """Rows without the limit."""
    note: str
    """How many rows tie at the limit; empty where none is left out that is as large as the last one shown."""


def is_cut(chart: Chart) -> bool:
    """Whether it is worth knowing what a chart's limit leaves out: it is a table, or has a limit of its own."""
    return bool(chart.columns) and (chart.kind is Kind.TABLE or chart.limit < MOST_ROWS)


def cut(chart: Chart, metrics: Mapping[str, Metric], rows: pl.DataFrame) -> Cut | None:
    """Say what the limit of a chart leaves out of the rows of its ``counted_sql``; None where it has fewer rows."""
    if rows.height < chart.limit:
        return None
    values = rows[chart.metrics[0]]
    total, tied = rows[TOTAL][-1], rows[TIED][-1]
    if not chart.largest_first or values[-1] is None:
        return Cut(total, "")
    last = round(values[-1], DIGITS)
    shown = int((values.round(DIGITS) == last).sum())
    if tied == shown:
        return Cut(total, "")
    at = number(last, metric(chart.metrics[0], metrics).format)
    order = ", ".join(title(column).lower() for column in chart.columns[:3])
    return Cut(total, f"{tied:,} tie at {at}; {shown:,} of them {'is' if shown == 1 else 'are'} shown, by {order}.")
