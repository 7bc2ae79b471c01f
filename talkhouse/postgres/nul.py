"""Finds the character NUL in texts, which PostgreSQL can't store: told before anything is copied."""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from talkhouse.postgres.plan import Kind, Plan, Relation
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import quoted

_SHOWN = 10
"""Columns that are told, and rows of each."""

_ESCAPED = r"\u0000"
"""NUL as JSON spells it. PostgreSQL stores that, but a view may have made a NUL of it."""


class Found(NamedTuple):
    """A column that has texts with NUL."""

    column: str
    texts: int
    rows: list[str]
    """The keys of the first of them."""


def check_nul(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    """Raise UsageError that names the columns and rows where a NUL is."""
    columns = list(find_nul(con, plan))
    if not columns:
        return
    more = f"; {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
    told = "; ".join(
        f"{column.column} in {column.texts:,} rows: {', '.join(column.rows)}" for column in columns[:_SHOWN]
    )
    raise UsageError(
        "texts have the character NUL, which PostgreSQL can't store; nothing was copied",
        found=told + more,
        next_step="choose what stands in its place in the copy: --replace-nul TEXT",
    )


def find_nul(con: duckdb.DuckDBPyConnection, plan: Plan) -> Iterator[Found]:
    """Yield the columns with NUL; views are looked at only where a table has one, since theirs come from there."""
    tables = [relation for relation in plan.relations if relation.kind is Kind.TABLE]
    in_tables = [column for table in tables for column in _in_relation(con, table)]
    yield from in_tables
    if in_tables or any(_is_escaped(con, table) for table in tables):
        for view in [relation for relation in plan.relations if relation.kind is Kind.ROWS]:
            yield from _in_relation(con, view)


def _in_relation(con: duckdb.DuckDBPyConnection, relation: Relation) -> Iterator[Found]:
    names = [column.name for column in relation.columns if column.type.may_have_nul]
    if not names:
        return
    conditions = [f"contains({quoted(name)}::varchar, chr(0))" for name in names]
    counts = ", ".join(f"count(*) filter ({condition})" for condition in conditions)
    source = relation.selection.source
    ((*numbers,),) = con.execute(f"select {counts} from {source}").fetchall()
    for name, condition, number in zip(names, conditions, numbers, strict=True):
        if number:
            key = ", ".join(quoted(column) for column in relation.selection.order) or quoted(name)
            rows = con.execute(f"select {key} from {source} where {condition} order by all limit {_SHOWN}").fetchall()
            yield Found(f"{relation.name}.{name}", number, [" ".join(map(str, row)) for row in rows])


def _is_escaped(con: duckdb.DuckDBPyConnection, table: Relation) -> bool:
    """Tell whether a JSON column spells a NUL."""
    names = [column.name for column in table.columns if column.type.name == "json"]
    condition = " or ".join(f"contains({quoted(name)}::varchar, '{_ESCAPED}')" for name in names)
    if not names:
        return False
    rows = con.execute(f"select 1 from {table.selection.source} where {condition} limit 1")
    return bool(rows.fetchall())
