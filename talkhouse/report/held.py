"""Views that several charts and sentences of the page ask: computed once, and held while it is made."""

import re
from collections import Counter
from collections.abc import Iterable

import duckdb
import polars as pl

from talkhouse.charts.declarations import Declared
from talkhouse.charts.rows import frame
from talkhouse.queries.catalogue import BI
from talkhouse.schema.sql import quoted

_MOST_ROWS = 100_000
"""Rows that are held of a view; a view of more is asked each time."""

_VIEW = re.compile(rf"\b{BI}\.(\w+)")

_KNOWN = f"select view_name from duckdb_views() where schema_name = '{BI}' and database_name = current_database()"


class Held:
    """Runs queries over views; those that are asked more than once are tables by then."""

    def __init__(self, con: duckdb.DuckDBPyConnection, declared: Iterable[Declared], views: Iterable[str]) -> None:
        """Take the dashboards whose charts and headlines will be asked, and the views that others ask once more."""
        self._con = con
        asked = Counter([*(view for file in declared for view in _views(file)), *views])
        # A macro looks like a view in a query, and can't be held.
        known = {name for (name,) in con.execute(_KNOWN).fetchall()}
        self._repeated = {view for view, times in asked.items() if times > 1} & known
        self._is_held: dict[str, bool] = {}
        # Not temporary tables: one named schemes would be found where a query says main.schemes. The database in memory
        # is named after the warehouse's, so that it never has the same name.
        ((warehouse,),) = con.execute("select current_database()").fetchall()
        self._database = quoted(f"{warehouse}_held")
        con.execute(f"attach ':memory:' as {self._database} (read_write)")

    def rows(self, sql: str) -> pl.DataFrame:
        """Run a query and return all of its rows."""
        return frame(self._con, self.sql(sql))

    def sql(self, sql: str) -> str:
        """Return a query with the tables that hold what it asks in place of the views."""
        return _VIEW.sub(lambda match: f"{self._database}.{match[1]}" if self._holds(match[1]) else match[0], sql)

    def close(self) -> None:
        """Drop the tables."""
        self._con.execute(f"detach {self._database}")

    def _holds(self, view: str) -> bool:
        if view not in self._is_held:
            self._is_held[view] = view in self._repeated and self._hold(view)
        return self._is_held[view]

    def _hold(self, view: str) -> bool:
        """Return whether a view could be held: false where it has too many rows."""
        source, table = f"{BI}.{quoted(view)}", f"{self._database}.{quoted(view)}"
        self._con.execute(f"create table {table} as select * from {source} limit {_MOST_ROWS + 1}")
        ((count,),) = self._con.execute(f"select count(*) from {table}").fetchall()
        if count > _MOST_ROWS:
            self._con.execute(f"drop table {table}")
        return bool(count <= _MOST_ROWS)


def _views(declared: Declared) -> Iterable[str]:
    """Yield the views that the charts and headlines of a dashboard ask, each as often as it is asked."""
    for chart in declared.dashboard.charts:
        yield chart.view
    for headline in declared.dashboard.headlines:
        yield from {match[1] for match in _VIEW.finditer(headline.sql)}
