"""The views of ``bi`` as Superset imports them: datasets with descriptions, columns and metrics."""

from collections.abc import Mapping, Sequence
from typing import Any

from talkhouse.charts.declared import ROW_COUNT, ROWS, Metric
from talkhouse.charts.fields import NUMBERS, title
from talkhouse.charts.questions import is_of_one_dialogue
from talkhouse.queries.catalogue import BI
from talkhouse.superset.names import VERSION, identity


def dataset(
    view: str, comment: str, columns: Sequence[Mapping[str, Any]], metrics: Mapping[str, Metric], database: str
) -> dict[str, Any]:
    """Describe a view of ``bi``; ``comment`` is the view's own, ``database`` the name of the connection."""
    times = [column["name"] for column in columns if column["type"] == "TIMESTAMP"]
    titles = _titles([column["name"] for column in columns], metrics)
    return {
        "table_name": view,
        "main_dttm_col": times[0] if times else None,
        "description": comment,
        # The catalog is the file's name: without one, Superset takes that of the connection, whatever the file's name.
        "catalog": None,
        "schema": BI,
        "sql": None,
        "params": None,
        "filter_select_enabled": True,
        "uuid": identity(database, "dataset", view),
        "metrics": [_metric(name, one) for name, one in {ROW_COUNT: ROWS, **metrics}.items()],
        "columns": [_column(column, titles[column["name"]]) for column in columns],
        "version": VERSION,
        "database_uuid": identity(database, "database"),
    }


def _metric(name: str, metric: Metric) -> dict[str, Any]:
    return {
        "metric_name": name,
        "verbose_name": metric.title,
        "metric_type": None,
        "expression": metric.sql,
        "description": metric.description or None,
        "d3format": NUMBERS[metric.format].d3,
        "warning_text": None,
    }


def _titles(columns: Sequence[str], metrics: Mapping[str, Metric]) -> dict[str, str]:
    """Return what people call each column; Superset keeps one title for a column and a metric of the same name."""
    titles: dict[str, str] = {}
    for column in columns:
        wanted = metrics[column].title if column in metrics else title(column)
        titles[column] = wanted if wanted not in titles.values() else column.replace("_", " ").capitalize()
    return titles


def _column(column: Mapping[str, Any], shown: str) -> dict[str, Any]:
    return {
        "column_name": column["name"],
        "verbose_name": shown,
        "is_dttm": column["type"] == "TIMESTAMP",
        "is_active": True,
        "type": "DOUBLE PRECISION" if column["type"] == "DOUBLE" else column["type"],
        "groupby": not is_of_one_dialogue(column["name"]),
        "filterable": True,
        "expression": None,
        "description": column["meaning"],
        "python_date_format": None,
    }
