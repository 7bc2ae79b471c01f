"""Checks SQL that did not come with the installed code: it is one SELECT of functions that compute, over a warehouse.

It is of a corpus from elsewhere, which may lie in a warehouse that somebody else made, or an expression of ``--where``.
DuckDB's parser makes a tree of it, and every kind of node is known, or it is refused: what a newer DuckDB adds is not
allowed as long as nobody has looked at it. docs/decisions/0007-sandbox.md says against what.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import duckdb

from talkhouse.queries.heads import is_name
from talkhouse.schema.contents import TABLES
from talkhouse.schema.errors import closest

LONGEST = 100_000
"""Characters of SQL; its tree is about a hundred times as long."""

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
"""Other nodes that a query may have: queries, what they read, and the order of their rows."""

_TABLE_FUNCTIONS = frozenset({"generate_series", "range", "unnest"})
_LONGEST_NAME = 100
"""Characters of a name that a message shows."""

_MORE_FUNCTIONS = frozenset({"unnest"})
"""Functions that DuckDB does not list."""

_REFUSED_FUNCTIONS = frozenset(
    {
        # They tell of the process, the session or the clock, though DuckDB calls them consistent or says nothing.
        *("ago", "current_localtime", "current_localtimestamp", "current_catalog", "current_role", "current_user"),
        *("get_block_size", "session_user", "user", "version"),
        *("cast_to_type", "json_serialize_plan", "make_type", "replace_type"),
    }
)
_OF_TYPES = frozenset({"from_json", "from_json_strict", "json_transform", "json_transform_strict"})
"""Functions with which a deeply nested type ends the process: it may not be computed, and is short."""

_LONGEST_TYPE = 1_000
"""Characters of such a type: a fifth of the brackets that DuckDB bears."""

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
"""

_MACRO = re.compile(
    r"\(\s*(?:[a-z]\w*(?:\s*,\s*[a-z]\w*)*)?\s*\)\s+as\s+(?P<is_table>table\s+)?(?P<body>.*)",
    re.DOTALL | re.IGNORECASE | re.ASCII,
)
"""What follows the name of a macro: names of parameters without defaults, and one body."""

_OF_DUCKDB = re.compile("(duckdb|pg|pragma|sqlite)_")
"""How the views begin in which DuckDB tells of itself: they are in every schema named main."""


class Refused(ValueError):
    """Something that SQL from elsewhere can't use: what it is, the names that come close, and its first byte."""

    def __init__(self, what: str, near: str | None = None, at: int = 0) -> None:
        """Keep what a message names."""
        super().__init__(what)
        self.what, self.near, self.at = what, near, at


@dataclass(frozen=True)
class Scope:
    """What SQL may name; names are in lower case, those of macros, tables and views with their schema."""

    functions: Callable[[], Collection[str]]
    is_table: Callable[[tuple[str, ...]], bool]
    """Whether the parts of a name are those of a table or view."""
    tables: Callable[[], Collection[str]] = frozenset
    """What to propose in place of a table or view that is none."""
    columns: Collection[str] | None = None
    """The columns that may be named, or None if any may."""
    more_parts: frozenset[str] = field(default=frozenset())
    """Kinds of nodes that this SQL may have besides."""


@cache
def functions() -> frozenset[str]:
    """Return DuckDB's functions whose value depends on their arguments alone: no file, setting, clock or chance."""
    with duckdb.cursor() as con:
        rows = con.execute(_FUNCTIONS).fetchall()
    return frozenset(name for (name,) in rows) - _REFUSED_FUNCTIONS | _MORE_FUNCTIONS


def scope_of_files(schemas: Collection[str], macros: Collection[str], allowed: Collection[str] | None) -> Scope:
    """Return the names that the files of a catalogue may use: those in these schemas, and macros.

    Without a schema, these are the tables, and names that are ``allowed``; with None, any name that no file has: what
    is scored has some of its own.
    """
    known, tables = {"main", "meta", "bi", *schemas}, {name.removeprefix("main.") for name in TABLES}

    def is_table(path: tuple[str, ...]) -> bool:
        *schema, name = path
        if _OF_DUCKDB.match(name):
            return False
        if schema:
            return len(schema) == 1 and schema[0] in known
        return name in tables or (is_name(name) if allowed is None else name in allowed)

    # Talkhouse sets the variables that scores read: thresholds.
    named = functions() | {*macros, *(("getvariable",) if allowed is None else ())}
    return Scope(lambda: named, is_table, more_parts=frozenset({"CTE_NODE", "RECURSIVE_CTE_NODE"}))


def parse(sql: str) -> dict[str, Any]:
    """Return the tree of SELECTs, as ``json_serialize_sql`` gives it; its ``error`` is true for anything else."""
    with duckdb.cursor() as con:  # in memory, and of this thread
        ((text,),) = con.execute("select system.main.json_serialize_sql(?)", [sql]).fetchall()
    tree: dict[str, Any] = json.loads(text)
    return tree


def write(tree: Mapping[str, Any]) -> str:
    """Return the SQL of a tree of SELECTs; duckdb.SerializationException for one nested deeper than DuckDB writes."""
    with duckdb.cursor() as con:
        ((text,),) = con.execute("select system.main.json_deserialize_sql(?::json)", [json.dumps(tree)]).fetchall()
    return str(text)


def check_select(sql: str, scope: Scope) -> None:
    """Raise Refused for SQL that is not one SELECT of what a scope has."""
    _check(_node(sql), scope)


def check_expressions(sql: str, scope: Scope) -> None:
    """Raise Refused for what is no expression of what a scope has, or several with commas between them."""
    before = "select "
    node, plain = _node(before + sql), _node(before + "1")
    if {**node, "select_list": []} != {**plain, "select_list": []}:
        raise Refused("more than expressions")
    try:
        _check(node["select_list"], scope)
    except Refused as refused:
        refused.at -= len(before)
        raise


def check_condition(sql: str, scope: Scope) -> None:
    """Raise Refused for what is no condition of what a scope has."""
    node, plain = _node(f"select * from t where {sql}"), _node("select * from t where true")
    if {**node, "where_clause": None} != {**plain, "where_clause": None}:
        raise Refused("more than a condition")
    _check(node["where_clause"], scope)


def check_macro(sql: str, scope: Scope) -> None:
    """Raise Refused for what follows the name of a macro and is no expression or query of what a scope has."""
    statements = duckdb.extract_statements(f"create macro m{sql}") if len(sql) <= LONGEST else []
    match = _MACRO.fullmatch(sql)
    if len(statements) != 1 or match is None:
        raise Refused("more than one macro: names of parameters, AS, and an expression or TABLE and a query")
    try:
        (check_select if match["is_table"] else check_expressions)(match["body"], scope)
    except Refused as refused:
        refused.at += len(sql[: match.start("body")].encode())
        raise


def check_tree(tree: Any, scope: Scope) -> None:
    """Raise Refused for a tree that is made of anything else; RecursionError where it is nested too deeply."""
    _walk(tree, scope, frozenset())


def _node(sql: str) -> dict[str, Any]:
    """Return the tree of the one SELECT that SQL is."""
    if len(sql) > LONGEST:
        raise Refused(f"more than {LONGEST:,} characters")
    try:
        tree = parse(sql)
    except RecursionError:
        raise Refused("too many levels of brackets") from None
    if tree["error"]:
        raise Refused(f"no SELECT: {tree['error_message']}", at=int(tree.get("position") or 0))
    statements = tree["statements"]
    if len(statements) != 1 or statements[0]["named_param_map"]:
        raise Refused("more than one SELECT without parameters")
    node: dict[str, Any] = statements[0]["node"]
    return node


def _check(tree: Any, scope: Scope) -> None:
    try:
        check_tree(tree, scope)
    except RecursionError:
        raise Refused("too many levels of brackets") from None


def _walk(node: Any, scope: Scope, queries: frozenset[str]) -> None:
    """Check a node and all below it; ``queries``: the names that WITH has given to queries."""
    if isinstance(node, list):
        for child in node:
            _walk(child, scope, queries)
    if not isinstance(node, dict) or node.get("class") == "CONSTANT":
        return
    if "class" in node:
        _check_expression(node, scope)
    elif isinstance(node.get("type"), str):
        _check_part(node, scope, queries)
    if "cte_map" in node:
        queries |= {named["key"].lower() for named in node["cte_map"]["map"]}
    children = node["function"]["arguments"] if node.get("type") == "TABLE_FUNCTION" else [*node.values()]
    _walk(children, scope, queries)


def _check_expression(node: dict[str, Any], scope: Scope) -> None:
    kind = node["class"]
    if kind not in _EXPRESSIONS:
        raise Refused(_words(kind))
    if kind in ("FUNCTION", "WINDOW"):
        name = ".".join(_path(node))
        if name not in (known := scope.functions()):
            raise Refused(f"the function '{name[:_LONGEST_NAME]}'", _near(name, known), at=node["query_location"])
        if name in _OF_TYPES and not _has_short_type(node):
            what = f"the function '{name}' with a type that is computed, or of more than {_LONGEST_TYPE:,} characters"
            raise Refused(what, at=node["query_location"])
    if kind == "COLUMN_REF" and scope.columns is not None and len(node["column_names"]) == 1:
        (name,) = node["column_names"]
        if name.lower() in _SESSION and name not in scope.columns:
            raise Refused(f"the function '{name}'")


def _has_short_type(call: dict[str, Any]) -> bool:
    """Whether the second argument of a call is a short text."""
    arguments = [argument["expression"].get("literal", {}) for argument in call["arguments"][1:]]
    return len(arguments) == 1 and arguments[0].get("kind") == "STRING" and len(arguments[0]["text"]) <= _LONGEST_TYPE


def _check_part(node: dict[str, Any], scope: Scope, queries: frozenset[str]) -> None:
    kind = node["type"]
    if kind not in _PARTS | scope.more_parts:
        raise Refused(_words(kind))
    if node.get("sample") or node.get("at_clause") or node.get("ref_type") == "POSITIONAL":
        raise Refused("a sample, a version or the positions of rows")
    if kind == "TABLE_FUNCTION":
        name = ".".join(_path(node["function"]))
        if name not in _TABLE_FUNCTIONS and not ("." in name and name in scope.functions()):
            raise Refused(f"the function '{name[:_LONGEST_NAME]}'", at=node["query_location"])
    if kind == "BASE_TABLE":
        path = _path(node)
        if not scope.is_table(path) and not (len(path) == 1 and path[0] in queries):
            name = ".".join(path)
            what = f"'{name[:_LONGEST_NAME]}', which is no table or view of the warehouse"
            raise Refused(what, _near(name, scope.tables()), at=node["query_location"])


def _path(node: dict[str, Any]) -> tuple[str, ...]:
    return tuple(part.lower() for part in node["qualified_name"]["path"])


def _words(kind: str) -> str:
    return f"'{kind.removesuffix('_NODE').removesuffix('_REF').lower().replace('_', ' ')}'"


def _near(name: str, known: Collection[str]) -> str | None:
    """Return the names that come close, or None if none does."""
    near = closest(name, known)
    return ", ".join(near) if len(near) < len(known) else None
