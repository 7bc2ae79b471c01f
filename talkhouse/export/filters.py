"""The rows that a split, a publisher's release and subsets leave of a view or table, as SQL conditions."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb

from talkhouse.queries.foreign_sql import LONGEST, Refused, Scope, check_tree, functions, parse, write
from talkhouse.queries.sql_errors import OF_THE_SQL, read_error
from talkhouse.schema.errors import NothingLeft, QueryFailed, UsageError, check_unicode, closest, listed
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.sql_files import sql_of


@dataclass(frozen=True)
class FilteredRelation:
    """A view or table on a connection, with all its columns."""

    con: duckdb.DuckDBPyConnection
    schema: str
    name: str
    known: Collection[str]

    @property
    def full_name(self) -> str:
        """The name as a user writes it."""
        return f"{self.schema}.{self.name}"

    @property
    def source(self) -> str:
        """The name in SQL, whatever it is."""
        return quoted(self.schema, self.name)

    def values(self, column: str, within: Sequence[str] = ()) -> list[str]:
        """Return the values of a column among the rows for which all conditions are true."""
        of = f"from {self.source}{where_clause(within)}"
        if column not in self.known:
            of = f"from main.records where record_id in (select record_id {of})"
        rows = self.con.execute(f"select distinct {quoted(column)} as found {of} order by all").fetchall()
        return [str(value) for (value,) in rows if value is not None]

    def holders(self, *columns: str) -> list[str]:
        """Return the views and tables of the same schema that have one of these columns."""
        names = ", ".join(map(literal, columns))
        rows = self.con.execute(
            "select distinct schema_name || '.' || table_name from system.main.duckdb_columns() where schema_name = ? "
            f"and column_name in ({names}) and database_name = system.main.current_database() order by all",
            [self.schema],
        )
        return [name for (name,) in rows.fetchall()]


def where_clause(conditions: Sequence[str]) -> str:
    """Return the clause of SQL that leaves the rows for which all conditions are true."""
    return f" where {' and '.join(conditions)}" if conditions else ""


def equals(column: str, value: str) -> str:
    """Return the condition that a column has a value."""
    return f"{quoted(column)} = {literal(value)}"


def split_column(relation: FilteredRelation, split: str) -> str:
    """Return the column that has this split: the publisher's name for it, or else the standard one."""
    if "split" not in relation.known:
        raise _no_column(relation, "split", relation.holders("split"))
    columns = [column for column in ("split", "standard_split") if column in relation.known]
    values_of = {column: relation.values(column) for column in columns}
    for column, values in values_of.items():
        if split in values:
            return column
    standard = ", ".join(values_of.get("standard_split", ()))
    also = f", or by a standard name: {standard}" if standard else ""
    raise none_of(relation.full_name, "split", split, values_of["split"], also=also)


def chosen(relation: FilteredRelation, kind: str, wanted: Sequence[str], within: Sequence[str] = ()) -> str:
    """Return the condition that a row is of one of these publisher's releases or subsets, as ``kind`` says.

    By the column of that name, or else by the row's record. Raises UsageError where one of them has no row for which
    all conditions of ``within`` are true, and where rows name neither.
    """
    if kind not in relation.known and "record_id" not in relation.known:
        raise _no_column(relation, kind, relation.holders(kind, "record_id"))
    known = relation.values(kind, within)
    for value in wanted:
        if value not in known:
            raise none_of(relation.full_name, kind, value, known)
    condition = f"{quoted(kind)} in ({', '.join(map(literal, wanted))})"
    if kind in relation.known:
        return condition
    return f"record_id in (select record_id from main.records where {condition})"


def none_of(
    name: str, kind: str, value: str, known: Sequence[str], *, what: str = "rows", also: str = ""
) -> UsageError:
    """Return the error about a split, release or subset that has no rows, or none of ``what``; and which have."""
    return NothingLeft(
        f"{name} has no {what} of the {kind} '{value}'",
        expected=f"one of: {listed(closest(value, known))}{also}"
        if known
        else f"{what} that name their {kind}; it has none",
        next_step=f"name one of these, or leave --{kind} out",
    )


def _no_column(relation: FilteredRelation, column: str, holders: Sequence[str]) -> UsageError:
    return NothingLeft(
        f"{relation.full_name} has no column '{column}'",
        expected=f"a view with {column}s, such as: {listed(holders)}" if holders else None,
        next_step=f"leave --{column} out",
    )


_BEFORE = "select * from t where "
_GENERATED = "SELECT * FROM t WHERE "
"""The same, as DuckDB writes it."""

_SHOWN = 200
"""Characters of an expression that a message shows."""

_COLUMN = re.compile(r'Referenced column "([^"]+)" not found|does not have a column named "([^"]+)"')


def condition_of(relation: FilteredRelation, expression: str) -> str:
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
        condition = write(tree).removeprefix(_GENERATED)
    except Refused as refused:
        raise UsageError(
            f"--where can't use {refused.what}",
            expected=f"one of: {refused.near}" if refused.near else None,
            next_step="an expression may read the columns of the row and the tables and views of the warehouse, "
            "and nothing else: no file, setting, variable, clock or random number",
        ) from None
    except (RecursionError, duckdb.SerializationException) as error:
        raise UsageError(
            "the expression of --where is nested too deeply",
            found=_shown(expression),
            next_step="write it with fewer levels of brackets",
        ) from error
    _check_type(relation, expression, condition)
    return condition


def check_rows(relation: FilteredRelation, expression: str, conditions: Sequence[str]) -> None:
    """Raise UsageError if all conditions together, the expression's last, leave no row.

    QueryFailed where the expression has no value for some row.
    """
    try:
        query = f"select count(*) from {relation.source}{where_clause(conditions)}"
        ((rows,),) = relation.con.execute(query).fetchall()
    except OF_THE_SQL as error:
        raise QueryFailed(
            f"the expression of --where can't be computed for every row of {relation.full_name}",
            expected="an expression that has a value, or null, for each of them",
            found=f"{_shown(expression)}: {read_error(error).found[:_SHOWN]}",
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


def _scope(relation: FilteredRelation) -> Scope:
    """Return the names that the expression may use: macros, tables and views of the warehouse that is open."""

    @cache
    def macros() -> frozenset[str]:
        return functions() | {name for (name,) in relation.con.execute(sql_of(__file__, "macros")).fetchall()}

    @cache
    def tables() -> frozenset[str]:
        return frozenset(name for (name,) in relation.con.execute(sql_of(__file__, "tables_and_views")).fetchall())

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


def _none(expression: str, problem: str | None) -> UsageError:
    return UsageError(
        f"--where is not an expression{f': {problem}' if problem else ''}",
        expected="one expression of the columns that is true or false, such as: label = 'X' and turn_index > 2",
        found=_shown(expression) if expression.strip() else "nothing",
        next_step="write what would follow WHERE in SQL, and nothing after it; text stands in single quotes",
    )


def _check_type(relation: FilteredRelation, expression: str, condition: str) -> None:
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


def _not_of(relation: FilteredRelation, expression: str, error: duckdb.Error) -> UsageError:
    problem = read_error(error)
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
