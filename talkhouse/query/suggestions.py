"""What exists instead of a name that a query got wrong: DuckDB's own message knows no schemas and no other tables."""

import re
from typing import NamedTuple

import duckdb

from talkhouse.schema.closest import closest, listed

_TABLE = re.compile(r'Table with name "?([^"\s]+)"? does not exist')
_COLUMN = re.compile(r'Referenced column "([^"]+)" not found|does not have a column named "([^"]+)"')

_RELATIONS = """
select distinct schema_name || '.' || table_name
from duckdb_columns()
where not internal and database_name = current_database()
"""
_COLUMNS = "select distinct column_name from duckdb_columns() where not internal"
_HOLDERS = f"{_RELATIONS} and column_name = ? order by all"


class Suggestion(NamedTuple):
    """What was expected instead, and what to type next."""

    expected: str | None
    next_step: str


def suggest(con: duckdb.DuckDBPyConnection, message: str) -> Suggestion:
    """Read DuckDB's message about a query and return what exists instead."""
    if table := _TABLE.search(message):
        return Suggestion(
            f"one of: {listed(_closest_relations(con, table[1]))}", "list the views with: talkhouse views"
        )
    if column := _COLUMN.search(message):
        return _for_column(con, column[1] or column[2])
    if "syntax error" in message:
        return Suggestion(None, "fix the query at the mark; text stands in single quotes, odd names in double quotes")
    return Suggestion(None, "list the views with: talkhouse views   and their columns with: talkhouse views NAME")


def _for_column(con: duckdb.DuckDBPyConnection, name: str) -> Suggestion:
    """Return where the column is, since many are in another table than one expects, or which names come close."""
    step = "see the columns of a table or view with: talkhouse views NAME"
    holders = [holder for (holder,) in con.execute(_HOLDERS, [name]).fetchall()]
    holders.sort(key=lambda holder: not holder.startswith("main."))
    if holders:
        return Suggestion(f"a column of the tables in the query; '{name}' is in: {listed(holders)}", step)
    known = [column for (column,) in con.execute(_COLUMNS).fetchall()]
    near = closest(name, known)
    return Suggestion(f"a column such as: {', '.join(near)}" if len(near) < len(known) else None, step)


def _closest_relations(con: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    return closest(name, (relation for (relation,) in con.execute(_RELATIONS).fetchall()))
