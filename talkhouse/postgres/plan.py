"""What is published: the tables, the views as tables of their rows, the views of splits, and what is left out."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import duckdb

from schema.errors import UsageError
from schema.sql import quoted
from talkhouse.postgres.column_types import column_type
from talkhouse.postgres.row_text import Column
from talkhouse.query.selection import Selection, select
from talkhouse.relations import closest, relations

_OF_SPLIT = re.compile(r"SELECT \* FROM (?P<parent>\S+) WHERE \(split = (?P<split>'(?:[^']|'')*')\);$")
"""The SQL of a view of one split, as DuckDB writes it."""

_VIEWS = """
select schema_name || '.' || view_name, sql from duckdb_views() where database_name = current_database() and not internal
"""

_PREFIX = re.compile(r"(?!pg_)([a-z_][a-z0-9_]*)?")

LONGEST = 63
"""Bytes of a name in PostgreSQL; it cuts longer ones."""

SUFFIX = 6
"""Bytes that stay free at the end of a schema's name, for what it is called before and after it is published."""


class Kind(StrEnum):
    """How a relation is published."""

    TABLE = "table"
    ROWS = "rows of a view"
    SPLIT = "view of a split"


@dataclass(frozen=True)
class Options:
    """What is to be published, as the user asked for it."""

    prefix: str = ""
    """What stands before the name of each schema."""
    views: tuple[str, ...] = ()
    """Names of views, or of schemas; none: all."""
    without_views: bool = False
    max_rows: int = 5_000_000
    """Views with more rows are left out, unless they are named."""
    nul: str | None = None
    """What stands in texts in place of NUL, which PostgreSQL can't store."""


@dataclass(frozen=True)
class Relation:
    """A table or view that is published."""

    kind: Kind
    selection: Selection
    columns: tuple[Column, ...]
    comment: str | None
    rows: int
    parent: str | None = None
    """Of a view of a split: the view whose rows it has."""
    split: str | None = None
    """Of a view of a split: its split as SQL writes it."""
    obstacle: str | None = None
    """Why it can't be published."""

    @property
    def name(self) -> str:
        """The name in the warehouse: ``main.turns``."""
        return self.selection.full_name

    def there(self, schemas: Mapping[str, str]) -> str:
        """Write the name in PostgreSQL, where schemas have other names."""
        return f"{quoted(schemas[self.selection.schema])}.{quoted(self.selection.name)}"


@dataclass(frozen=True)
class LeftOut:
    """A view that is not published, and why."""

    name: str
    rows: int
    reason: str


@dataclass(frozen=True)
class Plan:
    """All that is published."""

    relations: tuple[Relation, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def schemas(self) -> list[str]:
        """The schemas that it needs, by their names in the warehouse."""
        return sorted({relation.selection.schema for relation in self.relations})


def make_plan(con: duckdb.DuckDBPyConnection, options: Options) -> Plan:
    """Find what is to be published; UsageError for views that do not exist, and for names that are too long."""
    sql = dict(con.execute(_VIEWS).fetchall())
    _check_wanted(options.views, list(sql))
    described = [_describe(con, one, sql.get(f"{one['schema']}.{one['name']}"), options) for one in relations(con)]
    wanted = [one for one in described if one.kind is Kind.TABLE or _is_wanted(one, options)]
    reasons = {one.name: reason for one in wanted if (reason := _reason_to_leave_out(one, options))}
    published = {one.name for one in wanted} - reasons.keys()
    for one in wanted:
        if one.parent in reasons and one.name not in options.views:
            reasons.setdefault(one.name, f"{one.parent} is left out")
    plan = Plan(
        tuple(
            # Where its view is not published, a split has its own rows.
            one if one.parent is None or one.parent in published else replace(one, kind=Kind.ROWS, parent=None)
            for one in sorted(wanted, key=lambda one: list(Kind).index(one.kind))
            if one.name not in reasons
        ),
        tuple(LeftOut(one.name, one.rows, reasons[one.name]) for one in wanted if one.name in reasons),
    )
    _check_names(plan, options.prefix)
    return plan


def _describe(con: duckdb.DuckDBPyConnection, found: dict[str, Any], sql: str | None, options: Options) -> Relation:
    selection = select(con, f"{found['schema']}.{found['name']}")
    ((rows,),) = con.execute(f"select count(*) from {selection.source}").fetchall()
    columns, obstacle = [], None
    for column in selection.columns:
        kind = column_type(column["type"], options.nul)
        if kind is None:
            obstacle = f"the type of its column {column['name']} has no counterpart: {column['type']}"
        else:
            columns.append(Column(column["name"], kind, column["meaning"]))
    of_split = _OF_SPLIT.search(sql or "")
    return Relation(
        Kind.TABLE if sql is None else Kind.SPLIT if of_split else Kind.ROWS,
        selection,
        tuple(columns),
        found["comment"],
        rows,
        parent=of_split["parent"].replace('"', "") if of_split else None,
        split=of_split["split"] if of_split else None,
        obstacle=obstacle,
    )


def _is_wanted(view: Relation, options: Options) -> bool:
    if options.without_views or not options.views:
        return not options.without_views
    return bool({view.name, view.selection.schema, view.parent} & set(options.views))


def _reason_to_leave_out(one: Relation, options: Options) -> str | None:
    if one.obstacle or one.kind is Kind.TABLE or one.rows <= options.max_rows:
        return one.obstacle
    is_named = {one.name, one.parent} & set(options.views)
    return None if is_named else f"it has more than {options.max_rows:,} rows (--max-rows)"


def _check_wanted(names: Iterable[str], views: list[str]) -> None:
    """Raise UsageError for a name that is neither a view nor a schema of views."""
    known = {*views, *(view.partition(".")[0] for view in views)}
    for name in names:
        if name not in known:
            raise UsageError(
                f"no view '{name}'",
                expected=f"one of: {', '.join(closest(name, known))}",
                next_step="list the views with: talkhouse views",
            )


def _check_names(plan: Plan, prefix: str) -> None:
    """Raise UsageError for names that PostgreSQL would cut, and for a prefix that needs quotes."""
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(
            f"'{prefix}' can't stand before the names of schemas",
            expected="lower case letters, digits and '_', and no 'pg_' at the beginning",
            next_step="name another --schema-prefix",
        )
    for schema in plan.schemas:
        _check_name("schema", f"{prefix}{schema}", LONGEST - SUFFIX)
    for one in plan.relations:
        _check_name("table or view", one.selection.name, LONGEST)
        for column in one.columns:
            _check_name(f"column of {one.name}", column.name, LONGEST)


def _check_name(what: str, name: str, longest: int) -> None:
    if len(name.encode()) > longest:
        raise UsageError(
            f"the name of the {what} is too long for PostgreSQL: {name}",
            expected=f"at most {longest} bytes",
            found=f"{len(name.encode())} bytes",
            next_step="rename it and build again, or shorten --schema-prefix where it is a schema",
        )
