"""Charts as Superset imports them, and the identifiers by which it knows what it has imported before."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID, uuid5

from talkhouse.charts.declared import Chart, ChartKind, Metric, NumberFormat, metric
from talkhouse.charts.fields import NUMBERS, TIMES, along

_ALONE = "On its own, without the dashboard's filters, this chart counts a turn once for each release that has it."


def chart(
    declared: Chart, dashboard: str, metrics: Mapping[str, Metric], database: str, *, is_counted_once: bool
) -> dict[str, Any]:
    """Describe a chart of a dashboard; ``metrics`` are those of its view."""
    first = metric(declared.metrics[0], metrics)
    kind, own = _KINDS[declared.kind], _SETTINGS[declared.kind](declared)
    where = [condition(declared.where)] if declared.where else []
    params = {
        "datasource": "0__table",  # the import sets it
        "viz_type": kind,
        "adhoc_filters": where,
        "time_range": "No filter",
        "row_limit": declared.limit,
        "y_axis_format": NUMBERS[first.format].d3,
        "extra_form_data": {},
        **own,
    }
    if declared.stacked and first.format is NumberFormat.PERCENT:
        params |= {"truncateYAxis": True, "y_axis_bounds": [0, 1]}
    return {
        "slice_name": declared.title,
        "description": " ".join(filter(None, [declared.description, _ALONE if is_counted_once else ""])) or None,
        "viz_type": kind,
        "params": params,
        "query_context": json.dumps(_query_context(declared, params)),
        "cache_timeout": None,
        "uuid": identity(database, "chart", f"{dashboard}/{declared.title}"),
        "version": VERSION,
        "dataset_uuid": identity(database, "dataset", declared.view),
    }


def _number(declared: Chart) -> dict[str, Any]:
    return {"metric": declared.metrics[0], "header_font_size": 0.4, "subheader_font_size": 0.15}


def _table(declared: Chart) -> dict[str, Any]:
    return {
        "query_mode": "aggregate",
        "groupby": list(declared.by),
        "metrics": list(declared.metrics),
        "timeseries_limit_metric": declared.metrics[0] if declared.largest_first else None,
        "order_desc": True,
        "show_cell_bars": False,
        "table_timestamp_format": "%Y-%m-%d %H:%M",
        "allow_rearrange_columns": True,
    }


def _lines(declared: Chart) -> dict[str, Any]:
    return {
        "x_axis": declared.x,
        "time_grain_sqla": TIMES[declared.grain].iso_8601 if declared.grain else None,
        "x_axis_sort": declared.metrics[0] if declared.largest_first else declared.x,
        # What comes first is drawn at the left, but at the bottom of a horizontal chart.
        "x_axis_sort_asc": declared.largest_first == declared.horizontal,
        "x_axis_title": "" if declared.horizontal else along(declared),
        "x_axis_title_margin": 30,
        "xAxisLabelInterval": "auto" if declared.x.endswith("_bin") else "0",
        "groupby": list(declared.by),
        "metrics": list(declared.metrics),
        "order_desc": declared.largest_first,
        "sort_series_type": "name",
        "sort_series_ascending": True,
        "show_legend": bool(declared.by) or len(declared.metrics) > 1,
        "legendType": "scroll",
        "legendOrientation": "top",
        "rich_tooltip": True,
        "tooltipTimeFormat": "smart_date",
    }


def _bars(declared: Chart) -> dict[str, Any]:
    return {
        **_lines(declared),
        "orientation": "horizontal" if declared.horizontal else "vertical",
        "stack": "Stack" if declared.stacked else None,
        "xAxisForceCategorical": not declared.grain,
    }


def _heatmap(declared: Chart) -> dict[str, Any]:
    return {
        "x_axis": declared.x,
        "groupby": declared.by[0],
        "metric": declared.metrics[0],
        "normalize_across": "heatmap",
        "linear_color_scheme": "schemeBlues",
        "sort_x_axis": "alpha_asc",
        "sort_y_axis": "alpha_asc",
        "show_legend": True,
        "show_values": False,
        "show_percentage": False,
        "value_bounds": [None, None],
        "left_margin": 100,
        "bottom_margin": "auto",
    }


_KINDS = {
    ChartKind.NUMBER: "big_number_total",
    ChartKind.TABLE: "table",
    ChartKind.BAR: "echarts_timeseries_bar",
    ChartKind.LINE: "echarts_timeseries_line",
    ChartKind.HEATMAP: "heatmap_v2",
}
_SETTINGS: Mapping[ChartKind, Callable[[Chart], dict[str, Any]]] = {
    ChartKind.NUMBER: _number,
    ChartKind.TABLE: _table,
    ChartKind.BAR: _bars,
    ChartKind.LINE: _lines,
    ChartKind.HEATMAP: _heatmap,
}


def condition(sql: str) -> dict[str, Any]:
    """Describe an SQL condition as Superset has it in the filters of charts."""
    return {"clause": "WHERE", "expressionType": "SQL", "sqlExpression": sql, "filterOptionName": "where"}


def _query_context(declared: Chart, params: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the chart's query: Superset's REST interface runs it, a browser makes its own of the parameters."""
    query = {
        "columns": [_axis(declared, column) for column in declared.columns],
        "metrics": list(declared.metrics),
        "orderby": [[name, name in declared.columns] for name in declared.order],
        "filters": [],
        "extras": {"where": f"({declared.where})" if declared.where else "", "having": ""},
        "row_limit": declared.limit,
        "time_range": "No filter",
    }
    return {
        "datasource": {"id": 0, "type": "table"},  # the import sets it
        "force": False,
        "form_data": params,
        "queries": [query],
        "result_format": "json",
        "result_type": "full",
    }


def _axis(declared: Chart, column: str) -> Any:
    if column == declared.x and declared.grain:
        return {
            "columnType": "BASE_AXIS",
            "expressionType": "SQL",
            "label": column,
            "sqlExpression": column,
            "timeGrain": TIMES[declared.grain].iso_8601,
        }
    return column


VERSION = "1.0.0"
"""Version of Superset's import format."""

_NAMESPACE = UUID("8a7d1d4e-0f5c-4c0b-9a53-6f2f3f0f6c11")


def identity(database: str, kind: str, name: str = "") -> str:
    """Return the same UUID for the same thing of the same database in every bundle."""
    return str(uuid5(_NAMESPACE, "\0".join((database, kind, name))))
