"""Where the marks and rows of a chart lead: to a turn, or to the conversations or examples that they stand for."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs

import polars as pl

from talkhouse.charts.declared import Chart
from talkhouse.charts.query import Choices
from talkhouse.dashboard import links
from talkhouse.dashboard.reading.facets import FACETS

_PLACES = ("dialogue_id", "record_id")
"""Columns that say which conversation a row is of."""

_OTHERS = {"corpus_id": "corpus", "speaker_name": "speaker", "bot": "speaker", "majority_label": "majority"}
"""Facets of the page Read that are not named as the column is."""

_OF_TASKS = {"release": "task_release", "split": "task_split", "label": "task_label"}
"""Choices of the page Tasks, by columns."""

_READ = {facet.name for facet in FACETS}


def leads(chart: Chart, rows: pl.DataFrame, choices: Choices) -> list[str] | None:
    """Return the address that each row of a chart leads to; None where they lead nowhere."""
    if any(name in rows.columns for name in _PLACES):
        return [_turn(row) for row in rows.iter_rows(named=True)]
    if not chart.leads_to:
        return None
    return [_page(chart, row, choices) for row in rows.select(chart.columns).iter_rows(named=True)]


def _turn(row: Mapping[str, Any]) -> str:
    return links.read(row.get("dialogue_id"), row.get("turn_index"), record_id=row.get("record_id"))


def _page(chart: Chart, row: Mapping[str, Any], choices: Choices) -> str:
    page, _, parameters = chart.leads_to.partition("?")
    fixed = parse_qs(parameters, keep_blank_values=True)
    # What the mark itself stands for is narrower than what was chosen.
    columns = {**choices, **{name: [str(value)] for name, value in row.items() if value is not None}}
    if page == "tasks":
        chosen = {_OF_TASKS[name]: values[0] for name, values in columns.items() if name in _OF_TASKS and values}
        task = columns.get("task") or fixed.get("task") or [""]
        return links.tasks(task[0], **chosen)
    facets: dict[str, Any] = {**fixed, **dict(_facets(chart, columns))}
    return links.read(**facets) if page == "read" else chart.leads_to


def _facets(chart: Chart, columns: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the facets that columns stand for; others are left out, and the list is then a longer one."""
    for column, values in columns.items():
        facet = _OTHERS.get(column, column)
        if column in ("label", *(chart.by if chart.scheme else ())):
            schemes = columns.get("scheme") or [chart.scheme]
            if schemes[0]:
                yield "label", [f"{schemes[0]}={value}" for value in values]
        elif facet in _READ and values:
            yield facet, values
