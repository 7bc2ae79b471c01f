"""The views and tables of a warehouse: found by names that a user typed; which have the rows of one split."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import duckdb

from talkhouse.schema.errors import UsageError, closest, listed
from talkhouse.schema.sql import dicts, literal
from talkhouse.schema.sql_files import sql_of


def relations(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """List schema, name and comment of every view and table."""
    return dicts(con.execute(sql_of(__file__, "relations")))


def relation(con: duckdb.DuckDBPyConnection, name: str) -> dict[str, Any]:
    """Return schema, name and comment of a view or table (``main`` needs no prefix); UsageError names what exists."""
    schema, _, plain = name.rpartition(".")
    known = relations(con)
    named = [existing for existing in known if existing["name"] == plain and existing["schema"] == (schema or "main")]
    if not named:
        near = closest(name, (f"{existing['schema']}.{existing['name']}" for existing in known))
        raise UsageError(
            f"no view or table '{name}'",
            expected=f"one of: {listed(near)}",
            next_step="list the views with: talkhouse views",
        )
    return named[0]


def columns_of(con: duckdb.DuckDBPyConnection, schema: str, name: str) -> list[dict[str, Any]]:
    """List name, type and meaning of the columns of a view or table, in order."""
    return columns_of_each(con)[schema, name]


def columns_of_each(con: duckdb.DuckDBPyConnection) -> Mapping[tuple[str, str], list[dict[str, Any]]]:
    """List them of every view and table, by schema and name: DuckDB binds all views to tell the columns of one."""
    found = defaultdict[tuple[str, str], list[dict[str, Any]]](list)
    for column in dicts(con.execute(sql_of(__file__, "columns"))):
        found[column.pop("schema_name"), column.pop("table_name")].append(column)
    return found


def check_corpus(con: duckdb.DuckDBPyConnection, corpus_id: str) -> None:
    """Raise UsageError for a corpus that the warehouse does not hold, with those that it does."""
    rows = con.execute("select corpus_id from main.corpora order by all").fetchall()
    names = [name for (name,) in rows]
    if corpus_id not in names:
        raise UsageError(
            f"no corpus '{corpus_id}' in this warehouse",
            expected=f"one of: {', '.join(names)}",
            next_step="see what is in the warehouse with: talkhouse status",
        )


class SplitView(NamedTuple):
    """What a view of one split has the rows of."""

    task: str
    """The full name of the task's view."""
    split: str
    only_default: bool
    """Whether it has only the default publication of each dialogue, not every release."""

    @property
    def where(self) -> str:
        """The condition of its rows, as SQL."""
        return f"split = {literal(self.split)}{' and is_default' if self.only_default else ''}"


def common_splits(views: Iterable[SplitView]) -> Mapping[str, frozenset[str]]:
    """Return by corpus the splits that every task has a view of: all that it declares, and what occurs in all tasks."""
    by_task = defaultdict[str, set[str]](set)
    for view in views:
        by_task[view.task].add(view.split)
    common: dict[str, frozenset[str]] = {}
    for task, splits in by_task.items():
        corpus = task.partition(".")[0]
        common[corpus] = common.get(corpus, frozenset(splits)) & splits
    return common


def split_views(con: duckdb.DuckDBPyConnection, database: str) -> Mapping[str, SplitView]:
    """Return by its full name each view that is as a build makes that of a split: named so, and with that query.

    A user's own view next to a task, ``toy.mood_mine``, is none. ``database`` is the warehouse's name.
    """
    rows = con.execute(sql_of(__file__, "split_views"), {"database": database}).fetchall()
    return {view: SplitView(*rest) for view, *rest in rows}
