"""Filters of dashboards as Superset imports them: which values each offers, and which charts it acts on."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from talkhouse.charts.declared import Chart, Filter
from talkhouse.charts.query import DEFAULT
from talkhouse.schema.sql import quoted
from talkhouse.superset.charts import condition
from talkhouse.superset.names import identity

ROOT = "ROOT_ID"

ONCE = "Each turn once"
"""The title of the filter that leaves the default publication of each dialogue."""

Columns = Mapping[str, Collection[str]]
"""View -> its columns."""


def filters(
    declared: Sequence[Filter], charts: Sequence[Chart], columns: Columns, name: str, database: str
) -> list[dict[str, Any]]:
    """Describe the filters of a dashboard, the one for default publications before those that are declared."""
    described = [_declared(choice, charts, columns, name, database) for choice in declared]
    return [*_once(charts, columns, name, database), *described]


def counted_once(charts: Sequence[Chart], columns: Columns) -> list[Chart]:
    """Return the charts that count default publications alone: those that don't tell releases apart."""
    return [chart for chart in charts if DEFAULT in columns.get(chart.view, ()) and "release" not in chart.columns]


def _once(charts: Sequence[Chart], columns: Columns, name: str, database: str) -> list[dict[str, Any]]:
    inside = counted_once(charts, columns)
    if not inside:
        return []
    described = _describe(DEFAULT, ONCE, inside[0].view, _outside(charts, inside), name, database)
    chosen = {"filters": [{"col": DEFAULT, "op": "IN", "val": [True]}]}
    state = {"label": "true", "value": [True], "validateStatus": False}
    return [{**described, "defaultDataMask": {"extraFormData": chosen, "filterState": state, "ownState": {}}}]


def _declared(choice: Filter, charts: Sequence[Chart], columns: Columns, name: str, database: str) -> dict[str, Any]:
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
        "scope": {"rootPath": [ROOT], "excluded": outside},
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
