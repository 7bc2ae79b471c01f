"""The columns of a chart's rows: what people call them, and how their numbers are written."""

from collections.abc import Mapping
from dataclasses import dataclass

from talkhouse.queries.dashboards import ROW_COUNT, ROWS, Chart, Metric, NumberFormat

D3_FORMATS = {NumberFormat.INTEGER: ",d", NumberFormat.DECIMAL: ",.2f", NumberFormat.PERCENT: ",.1%"}
"""Number formats as D3 writes them."""

COLOURS = (
    *("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888"),
    *("#994455", "#44aa99", "#997700", "#6699cc", "#bb5500", "#9977cc"),
)
"""Of the series of a chart: first Paul Tol's bright scheme, which people with any vision of colours can tell apart."""

_PYTHON_FORMATS = {NumberFormat.INTEGER: ",.0f", NumberFormat.DECIMAL: ",.2f", NumberFormat.PERCENT: ",.1%"}
_NOT_SAID = ("_id", "_bin", "_index", "_at")


@dataclass(frozen=True)
class Field:
    """A column of a chart's rows; ``metric`` is None where the chart groups by it."""

    name: str
    title: str
    metric: Metric | None = None


def fields(chart: Chart, metrics: Mapping[str, Metric]) -> list[Field]:
    """Return the columns that ``talkhouse.queries.chart_sql`` gives for a chart, in its order."""
    of_view = {ROW_COUNT: ROWS, **metrics}
    return [
        *(Field(column, title(column)) for column in chart.columns),
        *(Field(name, of_view[name].title, of_view[name]) for name in (*chart.metrics, *chart.counts)),
    ]


def title(column: str) -> str:
    """Return a column's name as a title: ``corpus_id`` is Corpus, ``turn_count_bin`` is Turn count."""
    for ending in _NOT_SAID:
        column = column.removesuffix(ending)
    return column.replace("_", " ").capitalize()


def number(value: float | None, how: NumberFormat) -> str:
    """Write a number as people read it; an en dash for none."""
    return "\N{EN DASH}" if value is None else format(value, _PYTHON_FORMATS[how])
