"""Links of the marks and rows of a chart: to a turn, or to the conversations or examples that they stand for."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs

import polars as pl

from talkhouse.charts.declarations import dashboards
from talkhouse.charts.declared import Chart, ChartKind
from talkhouse.charts.draw import STEPS
from talkhouse.charts.query import Choices, has_chart
from talkhouse.dashboard import links
from talkhouse.dashboard.examples import task_names
from talkhouse.dashboard.reading.selection import FACETS
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.queries.catalogue import BI

_PLACES = ("dialogue_id", "record_id")
"""Columns that identify the conversation of a row."""

_OTHERS = {"corpus_id": "corpus", "known_speaker_name": "speaker", "bot": "speaker"}
"""Facets of the page Read that are not named as the column is."""

_OF_TASKS = {"release": "task_release", "split": "task_split", "label": "task_label"}
"""Choices of the page Tasks, by columns."""

_OUTCOME = "outcome"

_READ = {facet.name for facet in FACETS}


def leads(opened: ServedWarehouse, chart: Chart, rows: pl.DataFrame, choices: Choices) -> list[str] | None:
    """Return the address that each row of a chart leads to, or None if there are no links.

    A chart that declares nothing leads to examples of its tasks, or to the conversations that its columns stand for.
    """
    if any(name in rows.columns for name in _PLACES):
        return [
            links.read(row.get("dialogue_id"), row.get("turn_index"), record_id=row.get("record_id"))
            for row in rows.iter_rows(named=True)
        ]
    page = chart.leads_to or _page(chart)
    if not page or chart.kind is ChartKind.TABLE:
        return None
    if page.partition("?")[0] == "tasks":
        tasks = {full.partition(".")[2]: full for full in task_names(opened)}
        return [_tasks(tasks, page, _columns(row, choices)) for row in rows[list(chart.columns)].iter_rows(named=True)]
    if page.partition("?")[0] != "read":
        return [page] * rows.height
    folders = (file.folder for file in dashboards(opened.query_files) if has_chart(file.dashboard.charts, chart))
    folder = next(folders, BI)
    fixed = _parameters(page) | ({} if folder == BI else {"corpus": [folder]})
    full_names = [full.partition(".") for full in task_names(opened)] if _OUTCOME in chart.columns else []
    tasks = {task: f"{corpus}.{task}" for corpus, _, task in full_names if [corpus] == fixed.get("corpus")}
    found = []
    for row, days in zip(rows[list(chart.columns)].iter_rows(named=True), _days(chart, rows), strict=True):
        facets: dict[str, Any] = {**fixed, **dict(_facets(chart, _columns(row, choices), tasks)), **days}
        found.append(links.read(**facets))
    return found


def _days(chart: Chart, rows: pl.DataFrame) -> list[dict[str, str]]:
    """Return the first and last day of what each row is of, if that is a day, a week, a month or a year."""
    if not chart.truncated_to or chart.x != "started_at":
        return [{}] * rows.height
    first = rows[chart.x]
    last = first.dt.offset_by(STEPS[chart.truncated_to]).dt.offset_by("-1d")
    days = pl.DataFrame({"since": first.dt.to_string("%Y-%m-%d"), "until": last.dt.to_string("%Y-%m-%d")})
    return days.to_dicts()


def _page(chart: Chart) -> str:
    if "task" in chart.columns:
        return "tasks"
    if chart.truncated_to and chart.x == "started_at":
        return "read"
    return "read" if any(_facet(chart, column) for column in chart.columns) else ""


def _columns(row: Mapping[str, Any], choices: Choices) -> dict[str, list[str]]:
    """Return the columns that define a row: its groups, which are narrower than the filters on the same columns."""
    return {**choices, **{name: [str(value)] for name, value in row.items() if value is not None}}


def _tasks(tasks: Mapping[str, str], page: str, columns: Mapping[str, list[str]]) -> str:
    chosen = {_OF_TASKS[name]: values[0] for name, values in columns.items() if name in _OF_TASKS and values}
    (task,) = columns.get("task") or _parameters(page).get("task") or [""]
    return links.tasks(tasks.get(task, task), **chosen)


def _parameters(page: str) -> dict[str, list[str]]:
    return parse_qs(page.partition("?")[2], keep_blank_values=True)


def _facets(
    chart: Chart, columns: Mapping[str, list[str]], tasks: Mapping[str, str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the facets that columns stand for; others are left out, and the list is then a longer one.

    ``tasks``: those of the corpus by their names, with their names in full.
    """
    for column, values in columns.items():
        facet = _facet(chart, column)
        if facet == "label":
            scheme = (columns.get("scheme") or [chart.scheme])[0]
            yield facet, [f"{scheme}={value}" for value in values]
        elif facet == _OUTCOME:
            # The answers of a task about the whole conversation are offered with its name.
            if column in tasks:
                yield facet, [f"{tasks[column]}={value}" for value in values]
        elif facet and values:
            yield facet, values


def _facet(chart: Chart, column: str) -> str | None:
    """Return the facet that a column stands for; a label needs its scheme."""
    if column == "label" or (chart.scheme and (column,) == chart.by):
        return "label" if chart.scheme or "scheme" in chart.columns else None
    facet = _OTHERS.get(column, column)
    return facet if facet in _READ else None
