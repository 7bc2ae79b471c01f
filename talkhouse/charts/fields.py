"""The columns of a chart's rows, and what people call them."""

from collections.abc import Mapping
from dataclasses import dataclass

from talkhouse.charts.declared import Chart, Metric, NumberFormat, metric

_NOT_SAID = ("_id", "_bin", "_index")


@dataclass(frozen=True)
class Field:
    """A column of a chart's rows; ``metric`` is None where the chart groups by it."""

    name: str
    title: str
    metric: Metric | None = None

    @property
    def format(self) -> NumberFormat | None:
        """How its numbers are written; None where it may have texts."""
        return self.metric.format if self.metric else None


def fields(chart: Chart, metrics: Mapping[str, Metric]) -> list[Field]:
    """Return the columns that ``talkhouse.charts.query`` gives for a chart, in its order."""
    aggregates = ((name, metric(name, metrics)) for name in (*chart.metrics, *chart.counts))
    return [
        *(Field(column, along(chart) if column == chart.x else title(column)) for column in chart.columns),
        *(Field(name, aggregate.title, aggregate) for name, aggregate in aggregates),
    ]


def along(chart: Chart) -> str:
    """Return the title of x: a time that is truncated is called by its unit."""
    return chart.grain.capitalize() if chart.grain else title(chart.x)


def title(column: str) -> str:
    """Return a column's name as a title: ``corpus_id`` is Corpus, ``turn_count_bin`` is Number of turns."""
    for ending in _NOT_SAID:
        column = column.removesuffix(ending)
    if column.endswith("_count"):
        column = f"number of {column.removesuffix('_count')}s"
    if column.endswith("_percent"):
        column = f"{column.removesuffix('_percent')} (%)"
    return column.replace("_", " ").capitalize()
