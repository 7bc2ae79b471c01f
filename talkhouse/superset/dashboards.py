"""Dashboards as Superset imports them: where each chart stands, below the text, with filters and colours."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from msgspec import structs

from talkhouse.charts.declared import COLUMNS, Chart, Dashboard, box_height, rows_of_charts
from talkhouse.superset.filters import ROOT, Columns, filters
from talkhouse.superset.names import VERSION, identity
from talkhouse.superset.text import height

_GRID = "GRID_ID"

_FITS, _LEAST = 3, 4
"""Columns in which a title fits, and what a narrower chart gets: three stand in a row."""


def dashboard(
    declared: Dashboard, name: str, text: str, columns: Columns, colours: Mapping[str, str], database: str
) -> dict[str, Any]:
    """Describe a dashboard: ``text`` stands above its charts, ``database`` is the name of the connection.

    ``colours`` are those of the series by their names.
    """
    return {
        "dashboard_title": declared.title,
        "description": declared.description,
        "css": "",
        "slug": None,
        "uuid": identity(database, "dashboard", name),
        "position": _position(declared, name, text, database),
        "metadata": {
            "native_filter_configuration": filters(declared.filters, declared.charts, columns, name, database),
            "cross_filters_enabled": True,
            "refresh_frequency": 0,
            "timed_refresh_immune_slices": [],
            "expanded_slices": {},
            "label_colors": dict(colours),
            "color_scheme": "supersetColors",
        },
        "published": True,
        "version": VERSION,
    }


def _position(declared: Dashboard, name: str, text: str, database: str) -> dict[str, Any]:
    """Lay out the text and the charts, row by row."""
    elements: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "HEADER_ID": {"id": "HEADER_ID", "type": "HEADER", "meta": {"text": declared.title}},
    }
    rows = [_row(elements, 0, [_text(text)])]
    numbers = count(1)
    for number, row in enumerate(rows_of_charts(map(_with_room, declared.charts)), start=1):
        boxes = [_box(chart, next(numbers), name, database) for chart in row]
        rows.append(_row(elements, number, boxes))
    elements[_GRID] = {"id": _GRID, "type": "GRID", "children": rows, "parents": [ROOT]}
    elements[ROOT] = {"id": ROOT, "type": "ROOT", "children": [_GRID]}
    return elements


def _with_room(chart: Chart) -> Chart:
    """Return a chart whose title has room beside the signs that Superset puts there."""
    return structs.replace(chart, width=_LEAST) if chart.width < _FITS else chart


def _row(elements: dict[str, Any], number: int, boxes: list[dict[str, Any]]) -> str:
    """Add a row to the elements of a dashboard and return its id."""
    key = f"ROW-{number}"
    for box in boxes:
        elements[box["id"]] = {**box, "children": [], "parents": [ROOT, _GRID, key]}
    elements[key] = {
        "id": key,
        "type": "ROW",
        "meta": {"background": "BACKGROUND_TRANSPARENT"},
        "children": [box["id"] for box in boxes],
        "parents": [ROOT, _GRID],
    }
    return key


def _text(code: str) -> dict[str, Any]:
    return {"id": "MARKDOWN-0", "type": "MARKDOWN", "meta": {"code": code, "width": COLUMNS, "height": height(code)}}


def _box(chart: Chart, number: int, name: str, database: str) -> dict[str, Any]:
    meta = {
        "chartId": number,  # the import sets it
        "uuid": identity(database, "chart", f"{name}/{chart.title}"),
        "sliceName": chart.title,
        "width": chart.width,
        "height": box_height(chart),
    }
    return {"id": f"CHART-{number}", "type": "CHART", "meta": meta}
