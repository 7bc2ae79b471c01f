"""Dashboards as Superset imports them: where each chart stands, and which filters act on which charts."""

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any

from talkhouse.charts.declared import COLUMNS, Chart, Dashboard, Filter
from talkhouse.charts.grid import box_height, rows_of_charts
from talkhouse.superset.charts import condition
from talkhouse.superset.names import VERSION, identity

_ROOT, _GRID = "ROOT_ID", "GRID_ID"


def dashboard(declared: Dashboard, name: str, columns: Mapping[str, Collection[str]], database: str) -> dict[str, Any]:
    """Describe a dashboard; ``columns`` are those of each view, ``database`` the name of the connection."""
    return {
        "dashboard_title": declared.title,
        "description": declared.description,
        "css": "",
        "slug": None,
        "uuid": identity(database, "dashboard", name),
        "position": _position(declared, name, database),
        "metadata": {
            "native_filter_configuration": [
                _filter(one, declared.charts, columns, name, database) for one in declared.filters
            ],
            "cross_filters_enabled": True,
            "refresh_frequency": 0,
            "timed_refresh_immune_slices": [],
            "expanded_slices": {},
            "label_colors": {},
            "color_scheme": "supersetColors",
        },
        "published": True,
        "version": VERSION,
    }


def _position(declared: Dashboard, name: str, database: str) -> dict[str, Any]:
    """Lay out the description and the charts, row by row."""
    elements: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "HEADER_ID": {"id": "HEADER_ID", "type": "HEADER", "meta": {"text": declared.title}},
    }
    rows = [_row(elements, 0, [_text(declared)])]
    numbers = count(1)
    for number, row in enumerate(rows_of_charts(declared.charts), start=1):
        boxes = [_box(chart, next(numbers), name, database) for chart in row]
        rows.append(_row(elements, number, boxes))
    elements[_GRID] = {"id": _GRID, "type": "GRID", "children": rows, "parents": [_ROOT]}
    elements[_ROOT] = {"id": _ROOT, "type": "ROOT", "children": [_GRID]}
    return elements


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


def _text(declared: Dashboard) -> dict[str, Any]:
    height = 8 + 4 * (len(declared.description) // 150)
    return {
        "id": "MARKDOWN-0",
        "type": "MARKDOWN",
        "meta": {"code": declared.description, "width": COLUMNS, "height": height},
    }


def _box(chart: Chart, number: int, name: str, database: str) -> dict[str, Any]:
    meta = {
        "chartId": number,  # the import sets it
        "uuid": identity(database, "chart", f"{name}/{chart.title}"),
        "sliceName": chart.title,
        "width": chart.width,
        "height": box_height(chart),
    }
    return {"id": f"CHART-{number}", "type": "CHART", "meta": meta}


def _filter(
    declared: Filter, charts: Sequence[Chart], columns: Mapping[str, Collection[str]], name: str, database: str
) -> dict[str, Any]:
    """Describe a filter; the charts without its column are out of its scope, where Superset shows that they are."""
    outside = [
        number for number, chart in enumerate(charts, start=1) if declared.column not in columns.get(chart.view, ())
    ]
    return {
        "id": f"NATIVE_FILTER-{identity(database, 'filter', f'{name}/{declared.column}')}",
        "type": "NATIVE_FILTER",
        "filterType": "filter_select",
        "name": declared.title,
        "description": "",
        "targets": [{"column": {"name": declared.column}, "datasetUuid": identity(database, "dataset", declared.view)}],
        "adhoc_filters": [condition(declared.where)] if declared.where else [],
        "scope": {"rootPath": [_ROOT], "excluded": outside},
        "cascadeParentIds": [],
        "controlValues": {
            "multiSelect": True,
            "enableEmptyFilter": False,
            "defaultToFirstItem": False,
            "inverseSelection": False,
            "searchAllOptions": False,
        },
        "defaultDataMask": {"extraFormData": {}, "filterState": {}, "ownState": {}},
    }
