"""The views of a warehouse with their row counts, and the columns of one with their meanings."""

from typing import Any

import duckdb

from talkhouse.schema.sql import dicts, identifier
from talkhouse.warehouse.relations import columns_of, relation

_VIEWS = """
select schema_name as schema, view_name as name, comment
from duckdb_views()
where not internal and database_name = current_database()
order by all
"""


def views(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """List every view: schema, name, what a row is, and the number of rows."""
    described = dicts(con.execute(_VIEWS))
    for view in described:
        name = f"{identifier(view['schema'])}.{identifier(view['name'])}"
        view["rows"] = con.execute(f"select count(*) from {name}").fetchall()[0][0]
    return described


def view(con: duckdb.DuckDBPyConnection, name: str) -> dict[str, Any]:
    """Return one view or table with its columns; UsageError lists similar names."""
    described = relation(con, name)
    full_name = f"{identifier(described['schema'])}.{identifier(described['name'])}"
    rows = con.execute(f"select count(*) from {full_name}").fetchall()[0][0]
    return {**described, "rows": rows, "columns": columns_of(con, described["schema"], described["name"])}
