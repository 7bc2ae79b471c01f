"""Writes the query of a chart: what a BI tool asks of a view, as one SELECT with GROUP BY."""

from collections.abc import Mapping

from talkhouse.queries.catalogue import BI
from talkhouse.queries.dashboards import ROW_COUNT, ROWS, Chart, Metric
from talkhouse.schema.sql import literal, quoted

_DIGITS = 9
"""Decimals by which rows are ordered: threads add up in any order, and equal rows would differ in the last ones."""


def chart_sql(chart: Chart, metrics: Mapping[str, Metric]) -> str:
    """Return the query of a chart; ``metrics`` are those of its view.

    Its columns are the chart's, then its metrics, then its counts.
    """
    columns = [column_sql(chart, column) for column in chart.columns]
    wanted = [f"{column} as {quoted(name)}" for column, name in zip(columns, chart.columns, strict=True)]
    wanted += [f"{metric_sql(name, metrics)} as {quoted(name)}" for name in (*chart.metrics, *chart.counts)]
    lines = [f"select {', '.join(wanted)}", f"from {BI}.{chart.view}"]
    if chart.where:
        lines.append(f"where {chart.where}")
    if columns:
        lines.append(f"group by {', '.join(columns)}")
        first = [f"round({metric_sql(chart.metrics[0], metrics)}, {_DIGITS}) desc"] if chart.largest_first else []
        lines.append(f"order by {', '.join([*first, *map(quoted, chart.columns)])}")
    return "\n".join([*lines, f"limit {chart.limit}"])


def column_sql(chart: Chart, column: str) -> str:
    """Return the expression of a column that a chart groups by."""
    if column == chart.x and chart.grain:
        return f"date_trunc({literal(chart.grain)}, {quoted(column)})"
    return quoted(column)


def metric_sql(name: str, metrics: Mapping[str, Metric]) -> str:
    """Return the aggregate of a metric."""
    return ROWS.sql if name == ROW_COUNT else metrics[name].sql
