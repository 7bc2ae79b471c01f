"""Views that several charts and headlines query: computed once, and held in memory."""

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

import duckdb
import polars as pl

from talkhouse.charts.declarations import Metrics
from talkhouse.charts.declared import Chart, Dashboard
from talkhouse.charts.fields import Rows, frame
from talkhouse.charts.query import DEFAULT, OPTIONS, chart_sql, filter_sql, values_query
from talkhouse.queries.catalogue import BI
from talkhouse.schema.sql import literal, quoted

Connect = Callable[[], AbstractContextManager[duckdb.DuckDBPyConnection]]
"""Opens a connection to the warehouse, or returns an open one."""

_VIEW = re.compile(rf'\b{BI}\."?(\w+)"?')
_WORD = re.compile(r"\w+")
_STAR = re.compile(r"\*\s*(,|from\b|exclude\b|replace\b|rename\b)|(^|\()\s*from\b|columns\s*\(", re.IGNORECASE)
"""Matches a query for columns that it does not name."""

_MOST_ROWS = 3_000_000
"""Rows of a view that are held."""


class ViewCache:
    """Runs queries over views; those to hold are tables once they were asked."""

    def __init__(self, connect: Connect, name: str, selects: Mapping[str, str], most_rows: int = _MOST_ROWS) -> None:
        """``selects``: for each view to hold, the SELECT of its held rows; a view with more rows is not held.

        ``name`` is that of the database in memory: no other that is open has it.
        """
        self._connect, self._selects, self._most_rows = connect, selects, most_rows
        self._is_held: dict[str, bool] = {}
        self._holding = {view: threading.Lock() for view in selects}
        # Not temporary tables: one named schemes would be found for main.schemes in a query.
        self._database = quoted(name)
        with connect() as con:
            con.execute(f"attach ':memory:' as {self._database} (read_write)")

    def rows(self, sql: str) -> pl.DataFrame:
        """Run a query and return all of its rows."""
        asked = self.sql(sql)
        with self._connect() as con:
            return frame(con, asked)

    def sql(self, sql: str) -> str:
        """Return a query with the held tables in place of the views."""
        return _VIEW.sub(lambda match: f"{self._database}.{match[1]}" if self._holds(match[1]) else match[0], sql)

    def close(self) -> None:
        """Drop the tables."""
        with self._connect() as con:
            con.execute(f"detach {self._database}")

    def _holds(self, view: str) -> bool:
        if view not in self._selects:
            return False
        with self._holding[view]:
            if view not in self._is_held:
                self._is_held[view] = False
                self._is_held[view] = self._hold(view)
        return self._is_held[view]

    def _hold(self, view: str) -> bool:
        """Return whether a view could be held: false if it has too many rows, or can't be computed."""
        table = f"{self._database}.{quoted(view)}"
        with self._connect() as con:
            try:
                con.execute(f"create table {table} as {self._selects[view]} limit {self._most_rows + 1}")
            except duckdb.Error:  # A query of the view itself reports the error.
                return False
            ((count,),) = con.execute(f"select count(*) from {table}").fetchall()
            if count > self._most_rows:
                con.execute(f"drop table {table}")
        return bool(count <= self._most_rows)


def often_asked(
    dashboards: Iterable[Dashboard], metrics: Metrics, columns: Mapping[str, Sequence[str]], more: Iterable[str] = ()
) -> dict[str, str]:
    """Return the views that pages query more than once, each with the SELECT of the rows and columns needed.

    These are the columns that a chart, a filter or a sentence names or a choice acts on, and the rows that fit the
    condition of one of them. ``columns``: those of each view by its name; ``more``: other queries of pages.
    """
    asked: dict[str, list[tuple[str, str]]] = defaultdict(list)
    listed = list(dashboards)
    filters = [choice for dashboard in listed for choice in dashboard.filters]
    for choice in filters:
        asked[choice.view].append((filter_sql(choice, OPTIONS), choice.where))
    queries = [*more, _MISSING, *(headline.sql for dashboard in listed for headline in dashboard.headlines)]
    for chart in (chart for dashboard in listed for chart in dashboard.charts):
        asked[chart.view].append((chart_sql(chart, metrics.get(chart.view, {})), chart.where))
        if colours := values_query(chart, filters):
            queries.append(colours)
    for sql in queries:
        for view in {match[1] for match in _VIEW.finditer(sql)}:
            asked[view].append((sql, ""))
    chosen = {DEFAULT, *(choice.column for choice in filters)}
    # A macro looks like a view in a query, and has no columns.
    return {
        view: _select(view, of_view, chosen, columns[view])
        for view, of_view in asked.items()
        if view in columns and _overlap([where for _, where in of_view])
    }


def _overlap(conditions: Sequence[str]) -> bool:
    """Whether some of the conditions choose the same rows; an empty one chooses all."""
    return len(conditions) > 1 and ("" in conditions or len({*conditions}) < len(conditions))


def _select(view: str, queries: Iterable[tuple[str, str]], chosen: Iterable[str], columns: Iterable[str]) -> str:
    """Return the SELECT for the needs of queries, each with its condition on the rows, from a view."""
    words = {*chosen, *(word for sql, _ in queries for word in _WORD.findall(sql))}
    is_whole = any(_STAR.search(sql) for sql, _ in queries)
    selected = ", ".join(quoted(column) for column in columns if is_whole or column in words)
    conditions = {where for _, where in queries}
    where = "" if "" in conditions else " or ".join(f"({condition})" for condition in sorted(conditions))
    return f"select {selected} from {BI}.{quoted(view)}" + (f" where {where}" if where else "")


_MISSING = """
select detail from bi.findings
where rule = 'TH-08' and (starts_with({view}, corpus_id || '_') or {view} = corpus_id)
order by detail
"""


def missing_files(rows: Rows, chart: Chart) -> list[str]:
    """Return the build's messages on missing files of the corpus whose view a chart queries; empty: none is missing."""
    return rows(_MISSING.format(view=literal(chart.view)))["detail"].to_list()
