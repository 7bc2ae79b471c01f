"""Dashboards as Superset imports them: text, charts in their places, filters, and colours of series."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any

from msgspec import structs

from talkhouse.charts.declarations import Metrics
from talkhouse.charts.declared import COLUMNS, Chart, ChartKind, Dashboard, Filter, box_height, metric, rows_of_charts
from talkhouse.charts.fields import Rows
from talkhouse.charts.query import DEFAULT, palette
from talkhouse.charts.words import FilledHeadline
from talkhouse.queries.files import Files
from talkhouse.schema.sql import quoted
from talkhouse.superset.charts import VERSION, condition, identity
from talkhouse.visible import plain

_GRID = "GRID_ID"

_FITS, _LEAST = 3, 4
"""Columns in which a title fits, and what a narrower chart gets: three stand in a row."""

_Columns = Mapping[str, Collection[str]]
"""View -> its columns."""


def dashboard(
    declared: Dashboard, name: str, text: str, columns: _Columns, colours: Mapping[str, str], database: str
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
            "native_filter_configuration": _filters(declared.filters, declared.charts, columns, name, database),
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
    """Return a chart whose title has room beside the signs that Superset puts there."""
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


def _filters(
    declared: Sequence[Filter], charts: Sequence[Chart], columns: _Columns, name: str, database: str
) -> list[dict[str, Any]]:
    """Describe the filters of a dashboard, the one for default publications before those that are declared."""
    described = [_declared(choice, charts, columns, name, database) for choice in declared]
    return [*_once(charts, columns, name, database), *described]


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
        "id": f"NATIVE_FILTER-{identity(database, 'filter', f'{name}/{column}')}",
        "type": "NATIVE_FILTER",
        "filterType": "filter_select",
        "name": title,
        "description": "",
        "targets": [{"column": {"name": column}, "datasetUuid": identity(database, "dataset", view)}],
        "adhoc_filters": [],
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


_LINE = 150
"""Letters of a line, about."""

_COUNTING = (
    f"*{ONCE}*: a dialogue that several of the publisher's releases publish counts by its default publication. To see "
    "one of the publisher's releases whole, "
    "clear this filter, and choose the publisher's release."
)


def text(description: str, found: Iterable[FilledHeadline], built: datetime | None, *, is_counted_once: bool) -> str:
    """Return the text of a dashboard; the numbers in it are those of the build."""
    sentences = [f"- {_sentence(one)}" for one in found]
    if sentences and built:
        sentences.append(f"\nSentences as of the build of {built:%d %B %Y}; the charts show every later build.")
    parts = [plain(description.strip(), lines=True), "\n".join(sentences), _COUNTING if is_counted_once else ""]
    return "\n\n".join(part for part in parts if part)


def _height(code: str) -> int:
    """Return the height of a text in units of 8 pixels."""
    return 5 + sum(3 * (1 + len(line) // _LINE) if line else 1 for line in code.splitlines())


def _sentence(found: FilledHeadline) -> str:
    return " ".join(["".join(_parts(found)), *_place(found)])


def _parts(found: FilledHeadline) -> Iterator[str]:
    for part, is_value in found.parts:
        yield f"**{plain(part)}**" if is_value else plain(part)


def _place(found: FilledHeadline) -> Iterator[str]:
    """Return where the sentence can be read: Superset does not know the address of the pages that show it."""
    if place := found.record_id or found.dialogue_id:
        turn = "" if found.turn_index is None else f", turn {found.turn_index}"
        yield plain(f"({place}{turn})")


_DRAWN = (ChartKind.BAR, ChartKind.LINE)
"""Kinds of charts with series."""


def colours(rows: Rows, charts: Iterable[Chart], metrics: Metrics, files: Files) -> dict[str, str]:
    """Return the colour (``#rrggbb``) of each series; where a label and another value share a name, the label's."""
    found: dict[str, str] = {}
    drawn = (chart for chart in charts if chart.kind in _DRAWN)
    for chart in sorted(drawn, key=lambda one: not one.scheme):
        of_view = metrics.get(chart.view, {})
        of_chart = palette(rows, chart, of_view, files)
        # Superset looks a series that is a metric up by the metric's name, though it shows the title.
        named = {name: metric(name, of_view).title for name in chart.metrics}
        of_chart |= {name: of_chart[title] for name, title in named.items() if title in of_chart}
        found = {**of_chart, **found}
    return found
