"""Which colour each series of a chart has: by its labels' scheme, or by all values of its column."""

from collections.abc import Iterable, Mapping

from talkhouse.charts.colours import PLAIN, Scale, label_colours
from talkhouse.charts.declarations import dashboards
from talkhouse.charts.declared import Chart, Filter, Kind
from talkhouse.charts.metric import Metric, metric
from talkhouse.charts.query import OPTIONS, filter_sql, values_sql
from talkhouse.charts.rows import Rows
from talkhouse.queries.files import Files
from talkhouse.schema.sql import literal

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
    is_drawn = chart.kind not in (Kind.TABLE, Kind.NUMBER)
    if not is_drawn or len(chart.by) != 1 or len(chart.metrics) > 1 or chart.scheme or chart.values:
        return None
    (column,) = chart.by
    first = next((choice for choice in filters if choice.column == column), None)
    return filter_sql(first, OPTIONS) if first else values_sql(chart.view, column, OPTIONS)


def _of_scheme(rows: Rows, scheme: str) -> dict[str, str]:
    labels = rows(_LABELS.format(scheme=literal(scheme)))
    scales: list[Scale | None] = labels["scale"].to_list()
    return label_colours(labels["label"].to_list(), scales[0] if scales else None)
