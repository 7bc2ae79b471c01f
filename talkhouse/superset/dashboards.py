"""Dashboards and their charts as Superset imports them, by the identifiers under which it knows what it has already."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import yaml
from msgspec import structs

from talkhouse.charts.declarations import Metrics
from talkhouse.charts.declared import (
    COLUMNS,
    Chart,
    ChartKind,
    Dashboard,
    Filter,
    Metric,
    NumberFormat,
    box_height,
    metric,
    rows_of_charts,
)
from talkhouse.charts.fields import NUMBERS, TIMES, Rows, along
from talkhouse.charts.query import DEFAULT, column_sql, palette
from talkhouse.charts.words import FilledHeadline
from talkhouse.escaping import plain
from talkhouse.queries.files import Files
from talkhouse.schema.sql import quoted

_SAME: Mapping[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("settings.yaml").read_text(encoding="utf-8")
)


def _same(kind: str) -> dict[str, Any]:
    """Return the members that everything of a kind has: a copy, since YAML would write one object as a reference."""
    return deepcopy(_SAME[kind])


_GRID = "GRID_ID"

_FITS, _LEAST = 3, 4
"""Columns in which a title fits, and the width of a narrower chart: three stand in a row."""

_Columns = Mapping[str, Collection[str]]
"""View -> its columns."""


def dashboard(
    declared: Dashboard, name: str, text: str, columns: _Columns, colours: Mapping[str, str], database: str
) -> dict[str, Any]:
    """Describe a dashboard: ``text`` stands above its charts, ``database`` is the name of the connection.

    ``colours`` are those of the series by their names.
    """
    described = [_declared(choice, declared.charts, columns, name, database) for choice in declared.filters]
    return {
        **_same("dashboard"),
        "dashboard_title": declared.title,
        "description": declared.description,
        "uuid": identity(database, "dashboard", name),
        "position": _position(declared, name, text, database),
        "metadata": {
            **_same("metadata"),
            "native_filter_configuration": [*_once(declared.charts, columns, name, database), *described],
            "label_colors": dict(colours),
        },
        "version": VERSION,
    }


def _position(declared: Dashboard, name: str, text: str, database: str) -> dict[str, Any]:
    """Return the layout of the text and the charts, row by row."""
    elements: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "HEADER_ID": {"id": "HEADER_ID", "type": "HEADER", "meta": {"text": declared.title}},
    }
    rows = [_row(elements, 0, [_text(text)])]
    numbers = count(1)
    for number, row in enumerate(rows_of_charts(map(_with_room, declared.charts)), start=1):
        boxes = [_box(chart, next(numbers), name, database) for chart in row]
        rows.append(_row(elements, number, boxes))
    elements[_GRID] = {"id": _GRID, "type": "GRID", "children": rows, "parents": [_ROOT]}
    elements[_ROOT] = {"id": _ROOT, "type": "ROOT", "children": [_GRID]}
    return elements


def _with_room(chart: Chart) -> Chart:
    """Return a chart whose title has room next to Superset's icons."""
    return structs.replace(chart, width=_LEAST) if chart.width < _FITS else chart


def _row(elements: dict[str, Any], number: int, boxes: list[dict[str, Any]]) -> str:
    """Add a row to the elements of a dashboard and return its id."""
    key = f"ROW-{number}"
    for box in boxes:
        elements[box["id"]] = {**box, "children": [], "parents": [_ROOT, _GRID, key]}
    elements[key] = {
        "id": key,
        "type": "ROW",
        "meta": {"background": "BACKGROUND_TRANSPARENT"},
        "children": [box["id"] for box in boxes],
        "parents": [_ROOT, _GRID],
    }
    return key


def _text(code: str) -> dict[str, Any]:
    return {"id": "MARKDOWN-0", "type": "MARKDOWN", "meta": {"code": code, "width": COLUMNS, "height": _height(code)}}


def _box(chart: Chart, number: int, name: str, database: str) -> dict[str, Any]:
    meta = {
        "chartId": number,  # the import sets it
        "uuid": identity(database, "chart", f"{name}/{chart.title}"),
        "sliceName": chart.title,
        "width": chart.width,
        "height": box_height(chart),
    }
    return {"id": f"CHART-{number}", "type": "CHART", "meta": meta}


_ROOT = "ROOT_ID"

ONCE = "Each turn once"
"""The title of the filter that leaves the default publication of each dialogue."""


def counted_once(charts: Sequence[Chart], columns: _Columns) -> list[Chart]:
    """Return the charts that count default publications alone: those that don't tell the publisher's releases apart."""
    return [chart for chart in charts if DEFAULT in columns.get(chart.view, ()) and "release" not in chart.columns]


def _once(charts: Sequence[Chart], columns: _Columns, name: str, database: str) -> list[dict[str, Any]]:
    inside = counted_once(charts, columns)
    if not inside:
        return []
    described = _describe(DEFAULT, ONCE, inside[0].view, _outside(charts, inside), name, database)
    chosen = {"filters": [{"col": DEFAULT, "op": "IN", "val": [True]}]}
    state = {"label": "true", "value": [True], "validateStatus": False}
    return [{**described, "defaultDataMask": {"extraFormData": chosen, "filterState": state, "ownState": {}}}]


def _declared(choice: Filter, charts: Sequence[Chart], columns: _Columns, name: str, database: str) -> dict[str, Any]:
    """Describe a filter; the charts without its column are out of its scope, where Superset shows that they are."""
    inside = [chart for chart in charts if choice.column in columns.get(chart.view, ())]
    where = f"{quoted(choice.column)} is not null" + (f" and ({choice.where})" if choice.where else "")
    described = _describe(choice.column, choice.title, choice.view, _outside(charts, inside), name, database)
    return {**described, "adhoc_filters": [condition(where)]}


def _outside(charts: Sequence[Chart], inside: Collection[Chart]) -> list[int]:
    return [number for number, chart in enumerate(charts, start=1) if chart not in inside]


def _describe(column: str, title: str, view: str, outside: list[int], name: str, database: str) -> dict[str, Any]:
    return {
        **_same("filter"),
        "id": f"NATIVE_FILTER-{identity(database, 'filter', f'{name}/{column}')}",
        "name": title,
        "targets": [{"column": {"name": column}, "datasetUuid": identity(database, "dataset", view)}],
        "scope": {"rootPath": [_ROOT], "excluded": outside},
    }


_LINE = 150
"""The approximate number of letters in a line."""

_COUNTING = (
    f"*{ONCE}*: a dialogue that several of the publisher's releases publish counts by its default publication. To see "
    "one of the publisher's releases whole, "
    "clear this filter, and choose the publisher's release."
)


def text(description: str, found: Iterable[FilledHeadline], built: datetime | None, *, is_counted_once: bool) -> str:
    """Return the text of a dashboard; the numbers in it are those of the build."""
    sentences = [f"- {_sentence(headline)}" for headline in found]
    if sentences and built:
        sentences.append(f"\nSentences as of the build of {built:%d %B %Y}; the charts show every later build.")
    parts = [plain(description.strip(), lines=True), "\n".join(sentences), _COUNTING if is_counted_once else ""]
    return "\n\n".join(part for part in parts if part)


def _height(code: str) -> int:
    """Return the height of a text in units of 8 pixels."""
    return 5 + sum(3 * (1 + len(line) // _LINE) if line else 1 for line in code.splitlines())


def _sentence(found: FilledHeadline) -> str:
    parts = (f"**{plain(part)}**" if is_value else plain(part) for part, is_value in found.parts)
    return " ".join(["".join(parts), *_place(found)])


def _place(found: FilledHeadline) -> Iterator[str]:
    """Return the place to read the sentence: Superset does not know the address of the pages that show it."""
    if place := found.record_id or found.dialogue_id:
        turn = "" if found.turn_index is None else f", turn {found.turn_index}"
        yield plain(f"({place}{turn})")


_DRAWN = (ChartKind.BAR, ChartKind.LINE)
"""Kinds of charts with series."""


def colours(rows: Rows, charts: Iterable[Chart], metrics: Metrics, files: Files) -> dict[str, str]:
    """Return the colour (``#rrggbb``) of each series; if a label and another value share a name, the label's."""
    found: dict[str, str] = {}
    drawn = (chart for chart in charts if chart.kind in _DRAWN)
    for chart in sorted(drawn, key=lambda item: not item.scheme):
        of_view = metrics.get(chart.view, {})
        of_chart = palette(rows, chart, of_view, files)
        # Superset looks a series that is a metric up by the metric's name, though it shows the title.
        named = {name: metric(name, of_view).title for name in chart.metrics}
        of_chart |= {name: of_chart[title] for name, title in named.items() if title in of_chart}
        found = {**of_chart, **found}
    return found


_ALONE = "On its own, without the dashboard's filters, this chart counts a turn once for each release that has it."


def chart(
    declared: Chart, dashboard: str, metrics: Mapping[str, Metric], database: str, *, is_counted_once: bool
) -> dict[str, Any]:
    """Describe a chart of a dashboard; ``metrics`` are those of its view."""
    first = metric(declared.metrics[0], metrics)
    kind, own = _KINDS[declared.kind], _SETTINGS[declared.kind](declared)
    where = [condition(declared.where)] if declared.where else []
    params = {
        **_same("chart"),
        "viz_type": kind,
        "adhoc_filters": where,
        "row_limit": declared.limit,
        "y_axis_format": NUMBERS[first.format].d3,
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
    return {**_same("number"), "metric": declared.metrics[0]}


def _table(declared: Chart) -> dict[str, Any]:
    return {
        **_same("table"),
        "groupby": list(declared.by),
        "metrics": list(declared.metrics),
        "timeseries_limit_metric": declared.metrics[0] if declared.largest_first else None,
    }


def _lines(declared: Chart) -> dict[str, Any]:
    return {
        **_same("lines"),
        "x_axis": declared.x if declared.truncated_to else _axis(declared, declared.x),
        "time_grain_sqla": TIMES[declared.truncated_to].iso_8601 if declared.truncated_to else None,
        "x_axis_sort": declared.metrics[0] if declared.largest_first else declared.x,
        # What comes first is drawn at the left, but at the bottom of a horizontal chart.
        "x_axis_sort_asc": declared.largest_first == declared.horizontal,
        "x_axis_title": "" if declared.horizontal else along(declared),
        "xAxisLabelInterval": "auto" if declared.x.endswith("_bin") else "0",
        "groupby": list(declared.by),
        "metrics": list(declared.metrics),
        "order_desc": declared.largest_first,
        "show_legend": bool(declared.by) or len(declared.metrics) > 1,
    }


def _bars(declared: Chart) -> dict[str, Any]:
    return {
        **_lines(declared),
        "orientation": "horizontal" if declared.horizontal else "vertical",
        "stack": "Stack" if declared.stacked else None,
        "xAxisForceCategorical": not declared.truncated_to,
    }


def _heatmap(declared: Chart) -> dict[str, Any]:
    return {
        **_same("heatmap"),
        "x_axis": declared.x if declared.truncated_to else _axis(declared, declared.x),
        "groupby": declared.by[0],
        "metric": declared.metrics[0],
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
        **_same("query"),
        "columns": [_axis(declared, column) for column in declared.columns],
        "metrics": list(declared.metrics),
        "orderby": [[name, name in declared.columns] for name in declared.order],
        "extras": {"where": f"({declared.where})" if declared.where else "", "having": ""},
        "row_limit": declared.limit,
    }
    return {**_same("query_context"), "form_data": params, "queries": [query]}


def _axis(declared: Chart, column: str) -> Any:
    if column == declared.x and declared.grain:
        return {
            "columnType": "BASE_AXIS",
            "expressionType": "SQL",
            "label": column,
            "sqlExpression": column if declared.truncated_to else column_sql(declared, column),
            "timeGrain": TIMES[declared.truncated_to].iso_8601 if declared.truncated_to else None,
        }
    return column


VERSION = "1.0.0"
"""Version of Superset's import format."""

_NAMESPACE = UUID("8a7d1d4e-0f5c-4c0b-9a53-6f2f3f0f6c11")


def identity(database: str, kind: str, name: str = "") -> str:
    """Return the same UUID for the same thing of the same database in every bundle."""
    return str(uuid5(_NAMESPACE, "\0".join((database, kind, name))))
