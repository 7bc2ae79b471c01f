"""The connection to the warehouse and the views of ``bi`` as Superset imports them."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from talkhouse.charts.declared import ROW_COUNT, ROWS, Metric
from talkhouse.charts.fields import NUMBERS, title
from talkhouse.charts.questions import is_of_one_dialogue
from talkhouse.queries.catalogue import BI
from talkhouse.superset.charts import VERSION, identity


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


_SANDBOX = {
    "read_only": True,
    # Without these two, a query in SQL Lab reads any file that the server's user can read.
    "config": {"enable_external_access": False, "lock_configuration": True},
}


def database_name(path: PurePosixPath) -> str:
    """Name the connection after the file: a bundle of a file of the same name updates it."""
    return "Talkhouse" if path.stem == "talkhouse" else f"Talkhouse {path.stem}"


def database(path: PurePosixPath) -> dict[str, Any]:
    """Describe the connection: read-only, and with no way from SQL to the server's files, network or settings."""
    name = database_name(path)
    return {
        "database_name": name,
        "sqlalchemy_uri": f"duckdb:///{path}",
        "cache_timeout": None,
        "expose_in_sqllab": True,
        "allow_run_async": False,
        "allow_ctas": False,
        "allow_cvas": False,
        "allow_dml": False,
        "allow_csv_upload": False,
        "extra": {"allows_virtual_table_explore": True, "engine_params": {"connect_args": _SANDBOX}},
        "uuid": identity(name, "database"),
        "version": VERSION,
    }
