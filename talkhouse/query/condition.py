"""The expression of ``--where``: parsed, checked, and written again from what was checked.

It may read the columns of a row and the warehouse's own tables and views, and call functions whose value depends on
their arguments alone: no file, setting, variable, clock or random number, so that the same expression leaves the same
rows of a build. The connection is guarded, too; docs/decisions/0007-sandbox.md says against what.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import duckdb

from talkhouse.queries.foreign_sql import LONGEST, Refused, Scope, check_tree, functions, parse
from talkhouse.queries.sql_errors import OF_THE_SQL, said
from talkhouse.query.filters import Relation, where_clause
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import NothingLeft, QueryFailed, UsageError, check_unicode

_BEFORE = "select * from t where "
_GENERATED = "SELECT * FROM t WHERE "
"""The same, as DuckDB writes it."""

_SHOWN = 200
"""Characters of an expression that a message shows."""

_MACROS = """
select lower(if(schema_name = 'main', '', schema_name || '.') || function_name)
from system.main.duckdb_functions()
where not internal and database_name = system.main.current_database() and function_type = 'macro'
"""
_TABLES = """
select lower(schema_name || '.' || table_name) from system.main.duckdb_tables()
where database_name = system.main.current_database() and not internal
union all
select lower(schema_name || '.' || view_name) from system.main.duckdb_views()
where database_name = system.main.current_database() and not internal
"""

_COLUMN = re.compile(r'Referenced column "([^"]+)" not found|does not have a column named "([^"]+)"')


def condition_of(relation: Relation, expression: str) -> str:
    """Return an expression of the columns of a view or table as a SQL condition; UsageError where it can't be one."""
    check_unicode(expression, "the expression of --where")
    if len(expression) > LONGEST:
        raise UsageError(
            "the expression of --where is too long",
            expected=f"up to {LONGEST:,} characters",
            found=f"{len(expression):,}",
            next_step="put long lists of values into a table of your own, and join it with the export",
        )
    try:
        tree = _parsed(expression)
        check_tree(tree["statements"][0]["node"]["where_clause"], _scope(relation))
    except Refused as refused:
        raise UsageError(
            f"--where can't use {refused.what}",
            expected=f"one of: {refused.near}" if refused.near else None,
            next_step="an expression may read the columns of the row and the tables and views of the warehouse, "
            "and nothing else: no file, setting, variable, clock or random number",
        ) from None
    except RecursionError as error:
        raise UsageError(
            "the expression of --where is nested too deeply",
            found=_shown(expression),
            next_step="write it with fewer levels of brackets",
        ) from error
    condition = _written(relation.con, tree)
    _check_type(relation, expression, condition)
    return condition


def check_rows(relation: Relation, expression: str, conditions: Sequence[str]) -> None:
    """Raise UsageError where no row is left by all conditions, of which the last is the expression's.

    QueryFailed where the expression has no value for some row.
    """
    try:
        query = f"select count(*) from {relation.source}{where_clause(conditions)}"
        ((rows,),) = relation.con.execute(query).fetchall()
    except OF_THE_SQL as error:
        raise QueryFailed(
            f"the expression of --where can't be computed for every row of {relation.full_name}",
            expected="an expression that has a value, or null, for each of them",
            found=f"{_shown(expression)}: {said(error).found[:_SHOWN]}",
            next_step="try_cast(COLUMN as TYPE) is null where a text is no such value; try(EXPRESSION) where it fails",
        ) from error
    if not rows:
        raise none_left(relation.full_name, expression)


def none_left(name: str, expression: str) -> NothingLeft:
    """Return the error about an expression that leaves nothing of a view or table."""
    return NothingLeft(
        f"no row of {name} is left",
        expected="an expression of --where that is true of some rows that the other options leave",
        found=_shown(expression),
        next_step="see the values of its columns with: talkhouse sql",
    )


def _scope(relation: Relation) -> Scope:
    """Return what the expression may name: macros, tables and views of the warehouse that is open."""

    @cache
    def macros() -> frozenset[str]:
        return functions() | {name for (name,) in relation.con.execute(_MACROS).fetchall()}

    @cache
    def tables() -> frozenset[str]:
        return frozenset(name for (name,) in relation.con.execute(_TABLES).fetchall())

    def is_table(path: tuple[str, ...]) -> bool:
        return ".".join(path if len(path) > 1 else ("main", *path)) in tables()

    return Scope(macros, is_table, tables, relation.known)


def _parsed(expression: str) -> dict[str, Any]:
    """Return the tree of a query with the expression as its condition; UsageError where that is not all that it is."""
    tree, without = parse(_BEFORE + expression), parse(_BEFORE + "true")
    if not expression.strip():
        raise _none(expression, None)
    if tree["error"]:
        raise _none(expression, str(tree["error_message"]).partition("\n")[0])
    others = [{**statement["node"], "where_clause": None} for statement in tree["statements"]]
    wanted = {**without["statements"][0]["node"], "where_clause": None}
    if others != [wanted] or tree["statements"][0]["named_param_map"]:
        raise _none(expression, None)
    return tree


def _written(con: duckdb.DuckDBPyConnection, tree: dict[str, Any]) -> str:
    """Write the condition of a tree as SQL."""
    query = "select system.main.json_deserialize_sql(?::json)"
    ((text,),) = con.execute(query, [json.dumps(tree)]).fetchall()
    return str(text).removeprefix(_GENERATED)


def _none(expression: str, problem: str | None) -> UsageError:
    return UsageError(
        f"--where is no expression{f': {problem}' if problem else ''}",
        expected="one expression of the columns that is true or false, such as: label = 'X' and turn_index > 2",
        found=_shown(expression) if expression.strip() else "nothing",
        next_step="write what would follow WHERE in SQL, and nothing after it; text stands in single quotes",
    )


def _check_type(relation: Relation, expression: str, condition: str) -> None:
    """Raise UsageError where the expression is not of these columns, or is neither true nor false."""
    try:
        relation.con.execute(f"describe select 1 from {relation.source} where ({condition})")
        rows = relation.con.execute(f"describe select ({condition}) as value from {relation.source}").fetchall()
    except duckdb.Error as error:
        raise _not_of(relation, expression, error) from error
    kind = next((row[1] for row in rows if row[1] != "BOOLEAN"), None)
    if kind is not None:
        raise UsageError(
            "the expression of --where is neither true nor false",
            expected="a condition, such as: label = 'X'",
            found=f"{_shown(expression)}, of the type {kind[:_SHOWN]}",
            next_step="compare it with a value",
        )


def _not_of(relation: Relation, expression: str, error: duckdb.Error) -> UsageError:
    problem = said(error)
    named = _COLUMN.search(str(error))
    name = named[1] or named[2] if named else None
    near = ", ".join(closest(name, relation.known)) if name else None
    return UsageError(
        f"the expression of --where does not fit {relation.full_name}: {problem.found[:_SHOWN]}",
        expected=f"one of its columns: {near}" if near else problem.expected,
        found=_shown(expression),
        next_step=f"list its columns with: talkhouse views {relation.full_name}; text stands in single quotes",
    )


def _shown(expression: str) -> str:
    return expression if len(expression) <= _SHOWN else f"{expression[:_SHOWN]} ..."
