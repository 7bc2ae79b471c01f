"""The rows that the numbers of a query are made of: what it reads, as its conditions leave it, before it is grouped."""

import json
from typing import Any

import duckdb

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
