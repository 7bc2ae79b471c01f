"""Names that a user typed: found as they are, or rejected with those that come closest and what to type next."""

from typing import Any

import duckdb

from talkhouse.schema.errors import UsageError, closest, listed
from talkhouse.schema.sql import dicts

_RELATIONS = """
select schema_name as schema, view_name as name, comment
from duckdb_views() where not internal and database_name = current_database()
union all
select schema_name, table_name, comment from duckdb_tables() where database_name = current_database()
order by all
"""
_COLUMNS = """
select column_name as name, data_type as type, comment as meaning
from duckdb_columns()
where schema_name = ? and table_name = ? and database_name = current_database()
order by column_index
"""


def relations(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """List schema, name and comment of every view and table."""
    return dicts(con.execute(_RELATIONS))


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
    return dicts(con.execute(_COLUMNS, [schema, name]))


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
