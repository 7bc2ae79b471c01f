"""Which corpora the rows of a selection are from, and the rows that the numbers of a query are made of."""

import json
from collections.abc import Collection
from typing import Any

import duckdb

from talkhouse.query.selection import Selection
from talkhouse.schema.sql import literal, quoted
from talkhouse.warehouse.opened import Warehouse

_KEYS = ("corpus_id", "record_id", "dialogue_id", "scheme", "persona_id", "text_id", "speaker_id")
"""Columns that name the corpus of a row, the surest first; all but the first are keys that begin with its id."""
_BEHIND_THE_ID = {"record_id": "/", "scheme": "."}
"""What stands behind the id of the corpus in a key; a colon in all others."""


def corpora_of(warehouse: Warehouse, selection: Selection) -> list[dict[str, Any]]:
    """Return the corpora whose rows are selected; all in the warehouse where no column names them."""
    own = [corpus for corpus in warehouse.corpora if corpus["corpus_id"] == selection.schema]
    key = key_of(selection.known)
    if own or key is None:
        return own or warehouse.corpora
    rows = selection.rows([key])
    named = warehouse.con.execute(f"select distinct {owner(key)} from ({rows})").fetchall()
    return [corpus for corpus in warehouse.corpora if (corpus["corpus_id"],) in named]


def key_of(columns: Collection[str]) -> str | None:
    """Return the one of the columns that names the corpus of each row, or None."""
    return next((column for column in _KEYS if column in columns), None)


def owner(key: str) -> str:
    """Return the SQL expression of the corpus that a key names."""
    return f"regexp_extract({quoted(key)}, {literal('^[a-z][a-z0-9_]*')})"


def is_of(key: str, corpus_id: str) -> str:
    """Return the SQL condition, short enough to be typed, by which a key names a corpus."""
    if key == "corpus_id":
        return f"{key} = {literal(corpus_id)}"
    return f"starts_with({key}, {literal(corpus_id + _BEHIND_THE_ID.get(key, ':'))})"


_AS_TREE = "select json_serialize_sql($sql::varchar)"
_AS_SQL = "select json_deserialize_sql($tree::json)"
_ALL_COLUMNS = "select *"


def rows_behind(con: duckdb.DuckDBPyConnection, sql: str) -> str | None:
    """Return a query of the rows behind another one; None for what is no single SELECT from somewhere."""
    tree = _tree(con, sql)
    statements = tree.get("statements") or []
    if len(statements) != 1 or statements[0]["node"]["type"] != "SELECT_NODE":
        return None
    node = statements[0]["node"]
    if node["from_table"]["type"] == "EMPTY":
        return None
    # What is selected, and all that follows WHERE, are those of a query that has nothing else.
    whole = _tree(con, _ALL_COLUMNS + " from main.corpora")["statements"][0]["node"]
    kept = {key: node[key] for key in ("cte_map", "from_table", "where_clause", "sample")}
    statements[0]["node"] = {**whole, **kept}
    ((rows,),) = con.execute(_AS_SQL, {"tree": json.dumps(tree)}).fetchall()
    return str(rows)


def _tree(con: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any]:
    ((tree,),) = con.execute(_AS_TREE, {"sql": sql}).fetchall()
    found: dict[str, Any] = json.loads(tree)
    return found
