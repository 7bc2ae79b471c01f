"""What an expression may be made of: the tree that DuckDB's parser makes of it, node by node.

Every kind of node is known, or the expression is refused: what a newer DuckDB adds is not allowed as long as nobody has
looked at it.
"""

from collections.abc import Collection
from functools import cached_property
from typing import Any

from talkhouse.query.filters import Relation
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import UsageError

_EXPRESSIONS = frozenset(
    {
        *("BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION"),
        *("LAMBDA", "OPERATOR", "STAR", "SUBQUERY", "TYPE", "WINDOW"),
    }
)
_PARTS = frozenset(
    {
        *("SELECT_NODE", "SET_OPERATION_NODE"),
        *("BASE_TABLE", "EMPTY", "EXPRESSION_LIST", "JOIN", "SUBQUERY", "TABLE_FUNCTION"),
        *("DISTINCT_MODIFIER", "LIMIT_MODIFIER", "ORDER_MODIFIER"),
        *("ASCENDING", "DESCENDING", "ORDER_DEFAULT"),
    }
)
"""Other nodes that a subquery may have: queries, what they read, and the order of their rows."""

_TABLE_FUNCTIONS = frozenset({"generate_series", "range", "unnest"})
_LONGEST = 100
"""Characters of a name that a message shows."""

_MORE_FUNCTIONS = frozenset({"unnest"})
"""Functions that DuckDB does not list."""

_REFUSED_FUNCTIONS = frozenset(
    {
        # They tell of the process, the session or the clock, though DuckDB calls them consistent or says nothing.
        *("ago", "current_localtime", "current_localtimestamp", "current_catalog", "current_role", "current_user"),
        *("get_block_size", "session_user", "user", "version"),
        # A deeply nested type, which may be computed, ends the process.
        *("from_json", "from_json_strict", "json_transform", "json_transform_strict"),
        *("cast_to_type", "json_serialize_plan", "make_type", "replace_type"),
    }
)
_SESSION = frozenset(
    {
        *("current_catalog", "current_date", "current_role", "current_schema", "current_time", "current_timestamp"),
        *("current_user", "localtime", "localtimestamp", "session_user", "user"),
    }
)
"""Words that are functions without brackets where no column has the name."""

_FUNCTIONS = """
select distinct lower(function_name)
from system.main.duckdb_functions()
where internal and schema_name = 'main' and function_type in ('scalar', 'aggregate', 'window', 'macro')
    and coalesce(stability, 'CONSISTENT') = 'CONSISTENT' and not starts_with(function_name, '__')
union all
select lower(if(schema_name = 'main', '', schema_name || '.') || function_name)
from system.main.duckdb_functions()
where not internal and database_name = system.main.current_database() and function_type = 'macro'
"""
_TABLES = """
select lower(schema_name), lower(table_name) from system.main.duckdb_tables()
where database_name = system.main.current_database() and not internal
union all
select lower(schema_name), lower(view_name) from system.main.duckdb_views()
where database_name = system.main.current_database() and not internal
"""


def check_tree(relation: Relation, tree: dict[str, Any]) -> None:
    """Raise UsageError for an expression that is made of anything else, or reads what it may not.

    ``tree`` is an expression as ``json_serialize_sql`` gives it; RecursionError where it is nested too deeply.
    """
    _Check(relation).walk(tree, frozenset())


class _Check:
    """Looks at each node of a tree."""

    def __init__(self, relation: Relation) -> None:
        self._relation = relation

    @cached_property
    def _functions(self) -> set[str]:
        rows = self._relation.con.execute(_FUNCTIONS).fetchall()
        return {name for (name,) in rows} - _REFUSED_FUNCTIONS | _MORE_FUNCTIONS

    @cached_property
    def _tables(self) -> set[tuple[str, ...]]:
        return {*self._relation.con.execute(_TABLES).fetchall()}

    def walk(self, node: Any, queries: frozenset[str]) -> None:
        """Check a node and all below it; ``queries``: the names that WITH has given to queries."""
        if isinstance(node, list):
            for child in node:
                self.walk(child, queries)
        if not isinstance(node, dict) or node.get("class") == "CONSTANT":
            return
        if "class" in node:
            self._check_expression(node)
        elif isinstance(node.get("type"), str):
            self._check_part(node, queries)
        if "cte_map" in node:
            queries |= {named["key"].lower() for named in node["cte_map"]["map"]}
        children = node["function"]["arguments"] if node.get("type") == "TABLE_FUNCTION" else [*node.values()]
        self.walk(children, queries)

    def _check_expression(self, node: dict[str, Any]) -> None:
        kind = node["class"]
        if kind not in _EXPRESSIONS:
            raise _refused(_words(kind))
        if kind in ("FUNCTION", "WINDOW"):
            name = ".".join(_path(node))
            if name not in self._functions:
                raise _refused(f"the function '{name[:_LONGEST]}'", _near(name, self._functions))
        if kind == "COLUMN_REF" and len(node["column_names"]) == 1:
            (name,) = node["column_names"]
            if name.lower() in _SESSION and name not in self._relation.known:
                raise _refused(f"the function '{name}'")

    def _check_part(self, node: dict[str, Any], queries: frozenset[str]) -> None:
        kind = node["type"]
        if kind not in _PARTS:
            raise _refused(_words(kind))
        if node.get("sample") or node.get("at_clause") or node.get("ref_type") == "POSITIONAL":
            raise _refused("a sample, a version or the positions of rows")
        if kind == "TABLE_FUNCTION" and (name := ".".join(_path(node["function"]))) not in _TABLE_FUNCTIONS:
            raise _refused(f"the function '{name[:_LONGEST]}'")
        if kind == "BASE_TABLE":
            path = _path(node)
            named = path if len(path) > 1 else ("main", *path)
            if named not in self._tables and not (len(path) == 1 and path[0] in queries):
                name = ".".join(path)
                near = _near(name, {".".join(table) for table in self._tables})
                raise _refused(f"'{name[:_LONGEST]}', which is no table or view of the warehouse", near)


def _path(node: dict[str, Any]) -> tuple[str, ...]:
    return tuple(part.lower() for part in node["qualified_name"]["path"])


def _words(kind: str) -> str:
    return f"'{kind.removesuffix('_NODE').removesuffix('_REF').lower().replace('_', ' ')}'"


def _near(name: str, known: Collection[str]) -> str | None:
    """Return the names that come close; None where none does."""
    near = closest(name, known)
    return ", ".join(near) if len(near) < len(known) else None


def _refused(what: str, near: str | None = None) -> UsageError:
    return UsageError(
        f"--where can't use {what}",
        expected=f"one of: {near}" if near else None,
        next_step="an expression may read the columns of the row and the tables and views of the warehouse, "
        "and nothing else: no file, setting, variable, clock or random number",
    )
