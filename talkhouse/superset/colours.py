"""The colours of a dashboard's series as Superset has them: one for a name, in all of its charts."""

from collections.abc import Iterable

from talkhouse.charts.declared import Chart, Kind, Metrics
from talkhouse.charts.palette import palette
from talkhouse.charts.rows import Rows
from talkhouse.queries.files import Files

_DRAWN = (Kind.BAR, Kind.LINE)
"""Kinds of charts with series."""


def colours(rows: Rows, charts: Iterable[Chart], metrics: Metrics, files: Files) -> dict[str, str]:
    """Return the colour (``#rrggbb``) of each series; where a label and another value share a name, the label's."""
    found: dict[str, str] = {}
    drawn = (chart for chart in charts if chart.kind in _DRAWN)
    for chart in sorted(drawn, key=lambda one: not one.scheme):
        found = {**palette(rows, chart, metrics.get(chart.view, {}), files), **found}
    return found
