"""Names that a user typed: found as they are, or refused with those that come closest and what to type next."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import duckdb

from schema.errors import UsageError
from schema.fetch import dicts

_RELATIONS = """
select schema_name as schema, view_name as name, comment
from duckdb_views() where not internal and database_name = current_database()
union all
select schema_name, table_name, comment from duckdb_tables() where database_name = current_database()
order by all
"""
_SHOWN = 8


def closest(name: str, known: Iterable[str]) -> list[str]:
    """Give the names that come closest to one that is not there, the nearest first; all of them where none does."""
    names = sorted(known)
    plain = {one: one.rpartition(".")[2] for one in names}
    wanted = name.rpartition(".")[2]
    near = get_close_matches(name, names, n=_SHOWN, cutoff=0.6)
    near += [one for one in names if plain[one] == wanted or (wanted and wanted in plain[one])]
    near += [one for one in names if plain[one] in get_close_matches(wanted, plain.values(), n=_SHOWN, cutoff=0.7)]
    return list(dict.fromkeys(near))[:_SHOWN] or names


def relation(con: duckdb.DuckDBPyConnection, name: str) -> dict[str, Any]:
    """Give schema, name and comment of a view or table (``main`` needs no prefix); UsageError names what there is."""
    schema, _, plain = name.rpartition(".")
    known = dicts(con.execute(_RELATIONS))
    found = [one for one in known if one["name"] == plain and one["schema"] == (schema or "main")]
    if not found:
        near = closest(name, (f"{one['schema']}.{one['name']}" for one in known))
        raise UsageError(
            f"no view or table '{name}'",
            expected=f"one of: {', '.join(near)}",
            next_step="list the views with: talkhouse views",
        )
    return found[0]


def check_corpus(con: duckdb.DuckDBPyConnection, corpus_id: str) -> None:
    """Refuse a corpus that the warehouse does not hold; UsageError names those that it does."""
    rows = con.execute("select corpus_id from main.corpora order by all").fetchall()
    names = [name for (name,) in rows]
    if corpus_id not in names:
        raise UsageError(
            f"no corpus '{corpus_id}' in this warehouse",
            expected=f"one of: {', '.join(names)}",
            next_step="say what is in the warehouse with: talkhouse status",
        )
