"""The colours of a dashboard's series as Superset has them: one for a name, in all of its charts."""

from collections.abc import Iterable

from talkhouse.charts.colours import palette
from talkhouse.charts.declarations import Metrics
from talkhouse.charts.declared import Chart, ChartKind, metric
from talkhouse.charts.fields import Rows
from talkhouse.queries.files import Files

_DRAWN = (ChartKind.BAR, ChartKind.LINE)
"""Kinds of charts with series."""


def colours(rows: Rows, charts: Iterable[Chart], metrics: Metrics, files: Files) -> dict[str, str]:
    """Return the colour (``#rrggbb``) of each series; where a label and another value share a name, the label's."""
    found: dict[str, str] = {}
    drawn = (chart for chart in charts if chart.kind in _DRAWN)
    for chart in sorted(drawn, key=lambda one: not one.scheme):
        of_view = metrics.get(chart.view, {})
        of_chart = palette(rows, chart, of_view, files)
        # Superset looks a series that is a metric up by the metric's name, though it shows the title.
        named = {name: metric(name, of_view).title for name in chart.metrics}
        of_chart |= {name: of_chart[title] for name, title in named.items() if title in of_chart}
        found = {**of_chart, **found}
    return found
