"""What pages show of a corpus: the values of its headlines, and those of metrics, as they are asked of the views."""

from typing import Any

import duckdb
import pytest

from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.schema.sql import dicts

Row = dict[str, Any]


def headlines(con: duckdb.DuckDBPyConnection, corpus_id: str) -> list[Row | None]:
    """Return the values of each headline of a corpus's page, or None if it is empty."""
    (declared,) = [file.dashboard for file in dashboards() if file.folder == corpus_id]
    rows = [dicts(con.execute(headline.sql)) for headline in declared.headlines]
    return [row[0] if row and None not in row[0].values() else None for row in rows]


def metric_rows(
    con: duckdb.DuckDBPyConnection, view: str, names: list[str], by: str, where: str = "true"
) -> dict[Any, tuple[Any, ...]]:
    wanted = ", ".join(metrics()[view][name].sql for name in names)
    rows = con.execute(f"select {by}, {wanted} from bi.{view} where {where} group by {by}").fetchall()
    return {key: tuple(values) for key, *values in rows}


def close(value: Any) -> Any:
    """Compare numbers to within what sums of fractions differ by, and anything else as it is."""
    if isinstance(value, dict):
        return {key: close(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(map(close, value))
    return value if value is None or isinstance(value, str) else pytest.approx(float(value), abs=1e-9)
