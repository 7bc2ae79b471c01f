"""Colours of labels and of series: one thing has one colour, whatever else is drawn beside it.

Each stands out from white and from a dark page by 3:1 (WCAG 2.2, 1.4.11), and can be told from the others by people who
confuse red with green or blue with yellow, as Machado et al. 2009 model what they see.
"""

from collections.abc import Iterable, Mapping, Sequence

from talkhouse.charts.declarations import dashboards
from talkhouse.charts.declared import Chart, ChartKind, Filter, Metric, Scale, metric
from talkhouse.charts.fields import Rows
from talkhouse.charts.query import OPTIONS, filter_sql, values_sql
from talkhouse.queries.files import Files
from talkhouse.schema.sql import literal

PLAIN = (
    *("#4878a8", "#cc8400", "#bc2a8c", "#30a854", "#e4543c", "#685cc0"),
    *("#5a7200", "#a8849c", "#a44e3c", "#8484f0", "#8a5a66", "#849078"),
)
NOTHING = "#808080"
"""Of what has no value."""

HEAT = ("rgba(72, 120, 168, 0.04)", "rgba(72, 120, 168, 1)")
"""Cells from the least to the greatest value: they grow out of the page, be it light or dark."""

_SCALES: dict[Scale, tuple[str, ...]] = {
    "good_to_bad": ("#009ce4", "#b48400", "#c03c60"),
    "ordered": ("#954aaa", "#00a0a8"),
}


def label_colours(labels: Sequence[str], scale: Scale | None) -> dict[str, str]:
    """Return the colour (``#rrggbb``) of each label of a scheme; ``labels`` are all of them in their declared order."""
    if scale:
        most = max(len(labels) - 1, 1)
        return {label: _between(_SCALES[scale], index / most) for index, label in enumerate(labels)}
    return {label: PLAIN[index % len(PLAIN)] for index, label in enumerate(labels)}


def _between(stops: Sequence[str], share: float) -> str:
    """Return the colour at a share (0 to 1) of the way along the stops."""
    place = share * (len(stops) - 1)
    first = min(int(place), len(stops) - 2)
    pairs = zip(_channels(stops[first]), _channels(stops[first + 1]), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * (place - first)):02x}" for low, high in pairs)


def _channels(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


_LABELS = """
select labels.label, schemes.scale
from main.labels
join main.schemes using (scheme)
where scheme = {scheme}
order by labels.label_index nulls last, labels.label
"""


def palette(rows: Rows, chart: Chart, metrics: Mapping[str, Metric], files: Files | None = None) -> dict[str, str]:
    """Return the colours of a chart's series by their names, in the order in which they are drawn.

    Empty where a series is made of several columns: then each chart has its own.
    """
    if not chart.by:
        of_label = _of_scheme(rows, chart.scheme) if chart.scheme else {}
        shown = [metric(name, metrics) for name in chart.metrics]
        return {one.title: of_label.get(one.label, PLAIN[index % len(PLAIN)]) for index, one in enumerate(shown)}
    if len(chart.by) > 1 or len(chart.metrics) > 1:
        return {}
    if chart.scheme:
        return _of_scheme(rows, chart.scheme)
    asked = values_query(chart, (choice for one in dashboards(files) for choice in one.dashboard.filters))
    values = [str(value) for value in rows(asked).to_series()] if asked else chart.values
    return label_colours(values, chart.scale)


def values_query(chart: Chart, filters: Iterable[Filter]) -> str | None:
    """Return the query of all values of a chart's one series: those of the first filter by it, on whatever page.

    None where nothing has to be asked for its colours.
    """
    is_drawn = chart.kind not in (ChartKind.TABLE, ChartKind.NUMBER)
    if not is_drawn or len(chart.by) != 1 or len(chart.metrics) > 1 or chart.scheme or chart.values:
        return None
    (column,) = chart.by
    first = next((choice for choice in filters if choice.column == column), None)
    return filter_sql(first, OPTIONS) if first else values_sql(chart.view, column, OPTIONS)


def _of_scheme(rows: Rows, scheme: str) -> dict[str, str]:
    labels = rows(_LABELS.format(scheme=literal(scheme)))
    scales: list[Scale | None] = labels["scale"].to_list()
    return label_colours(labels["label"].to_list(), scales[0] if scales else None)
