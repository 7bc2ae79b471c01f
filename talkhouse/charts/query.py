"""Writes the queries of charts and filters: what a BI tool asks of a view."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from talkhouse.charts.declared import Chart, Filter
from talkhouse.charts.metric import Metric, metric
from talkhouse.queries.catalogue import BI
from talkhouse.schema.sql import literal, quoted

DIGITS = 9
"""Decimals by which rows are ordered: threads add up in any order, and equal rows would differ in the last ones."""

OPTIONS = 1_000
"""Values of a filter or a series that are known at most."""

DEFAULT = "is_default"
"""The column that is true in the default publication of a dialogue."""

Choices = Mapping[str, list[str]]
"""Column -> the values that were chosen; none chosen means all."""


TOTAL, TIED = "_total", "_tied"
"""Columns of a row of ``counted_sql``: how many rows there are without a limit, and how many with its first metric."""


def chart_sql(chart: Chart, metrics: Mapping[str, Metric]) -> str:
    """Return the query of a chart, one SELECT with GROUP BY; ``metrics`` are those of its view.

    Its columns are the chart's, then its metrics, then its counts.
    """
    return _chart_sql(chart, metrics, [])


def counted_sql(chart: Chart, metrics: Mapping[str, Metric]) -> str:
    """Return the same query with TOTAL and TIED at the end, for a chart with columns."""
    tied = f"partition by round({metric(chart.metrics[0], metrics).sql}, {DIGITS})"
    return _chart_sql(chart, metrics, [f"count(*) over () as {TOTAL}", f"count(*) over ({tied}) as {TIED}"])


def _chart_sql(chart: Chart, metrics: Mapping[str, Metric], others: Sequence[str]) -> str:
    columns = [column_sql(chart, column) for column in chart.columns]
    wanted = [f"{column} as {quoted(name)}" for column, name in zip(columns, chart.columns, strict=True)]
    wanted += [f"{metric(name, metrics).sql} as {quoted(name)}" for name in (*chart.metrics, *chart.counts)]
    lines = [f"select {', '.join([*wanted, *others])}", f"from {BI}.{chart.view}"]
    if chart.where:
        lines.append(f"where {chart.where}")
    if columns:
        lines.append(f"group by {', '.join(columns)}")
        lines.append(f"order by {', '.join(_order_sql(chart, name, metrics) for name in chart.order)}")
    return "\n".join([*lines, f"limit {chart.limit}"])


def column_sql(chart: Chart, column: str) -> str:
    """Return the expression of a column that a chart groups by."""
    if column == chart.x and chart.grain:
        return f"date_trunc({literal(chart.grain)}, {quoted(column)})"
    return quoted(column)


def _order_sql(chart: Chart, name: str, metrics: Mapping[str, Metric]) -> str:
    return quoted(name) if name in chart.columns else f"round({metric(name, metrics).sql}, {DIGITS}) desc"


def filter_sql(choice: Filter, limit: int) -> str:
    """Return the query of the values that a filter offers, as texts."""
    column = quoted(choice.column)
    where = f"{column} is not null" + (f" and ({choice.where})" if choice.where else "")
    return f"select distinct {column}::varchar from {BI}.{quoted(choice.view)} where {where} order by all limit {limit}"


def values_sql(view: str, column: str, limit: int) -> str:
    """Return the query of all values of a column of a view."""
    name = quoted(column)
    return f"select distinct {name} from {BI}.{quoted(view)} where {name} is not null order by all limit {limit}"


def narrowed(chart: Chart, choices: Choices, columns: Collection[str]) -> Chart:
    """Return a chart with what was chosen as further conditions, where its view has the columns.

    Where no release is chosen, nothing counts more than once: only default publications do, unless the chart tells
    releases apart.
    """
    conditions = [f"({chart.where})"] if chart.where else []
    is_chosen = bool(choices.get("release")) and "release" in columns
    if DEFAULT in columns and not is_chosen and "release" not in chart.columns:
        conditions.append(DEFAULT)
    for column in sorted(choices.keys() & set(columns)):
        if choices[column]:
            conditions.append(f"{quoted(column)} in ({', '.join(map(literal, choices[column]))})")
    return msgspec.structs.replace(chart, where=" and ".join(conditions))
