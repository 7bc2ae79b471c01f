"""The warehouses whose tables go into one lake: attached side by side, each corpus in one of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
from duckdb_engine import Dialect
from sqlalchemy import Table

from talkhouse import migrations
from talkhouse.lake_format.columns import Columns, check_columns, columns_of_all, mismatch
from talkhouse.queries.catalogue import Catalogue
from talkhouse.schema import warehouse
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import UsageError
from talkhouse.schema.guard import NO_SETTINGS, Settings, guard
from talkhouse.schema.sql import dicts, literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import SHARED, belongs
from talkhouse.warehouse.split_views import SplitView


@dataclass(frozen=True)
class Warehouses:
    """All of them, by one connection."""

    con: duckdb.DuckDBPyConnection
    all: tuple[Warehouse, ...]
    corpora: tuple[str, ...]
    """The corpora that go into the lake."""

    @property
    def catalogue(self) -> str:
        """SHA-256 over the SQL of the views, which all of them have alike."""
        return str(self.all[0].build["catalogue_hash"])

    @property
    def split_views(self) -> Mapping[str, SplitView]:
        """The views of one split that any of them has, by their full names."""
        return {name: view for one in self.all for name, view in one.split_views.items()}

    def rows(self, table: Table, corpus: str) -> str:
        """Return the query of the rows of a corpus in a table, or of those of none, in no order."""
        if corpus != SHARED:
            (owner,) = (one for one in self.all if corpus in one.corpus_ids)
            return f"{_select(owner, table)} where {belongs(table, corpus)}"
        selects = [f"{_select(one, table)} where {_belongs_to_none(table, one)}" for one in self.all]
        return selects[0] if len(selects) == 1 else _joined(table, selects)

    def path(self, corpus: str) -> Path:
        """Return the warehouse of a corpus, or the first."""
        return next((one.path for one in self.all if corpus in one.corpus_ids), self.all[0].path)


@contextmanager
def attached(paths: Sequence[Path], only: Sequence[str], settings: Settings = NO_SETTINGS) -> Iterator[Warehouses]:
    """Open warehouses side by side, for their corpora or ``only`` for some; ``settings`` are made before all others.

    Raises what ``open_warehouse`` raises; UsageError for a corpus that none of them has, or several.
    """
    with duckdb.connect() as con:
        databases = {f"warehouse_{index}": path for index, path in enumerate(paths)}
        for database, path in databases.items():
            _attach(con, path, database)
        guard(con, settings)
        # In whatever order they were named.
        opened = [_described(con, path, database) for database, path in databases.items()]
        found = tuple(sorted(opened, key=lambda one: one.corpus_ids))
        con.execute(f"use {found[0].database}")
        warehouses = Warehouses(con, found, _wanted(found, only))
        if len(found) > 1:
            _check_shared(warehouses)
        yield warehouses


def _attach(con: duckdb.DuckDBPyConnection, path: Path, database: str) -> None:
    warehouse.open_warehouse(path, migrations.head()).close()  # says what is wrong with it
    con.execute(f"attach {literal(str(path))} as {database} (read_only)")


def _described(con: duckdb.DuckDBPyConnection, path: Path, database: str) -> Warehouse:
    """Describe a warehouse; SchemaMismatch or NotAWarehouse where tables, builds or names are not Talkhouse's."""
    check_tables(con, database, path)
    return Warehouse(con, database)  # its corpora have names: they become those of folders


def _check_shared(warehouses: Warehouses) -> None:
    """Raise UsageError where warehouses have different rows of no corpus under one key."""
    for table in metadata.tables.values():
        grain = ", ".join(quoted(column) for column in table.info["grain"])
        rows = warehouses.rows(table, SHARED)
        twice = dicts(warehouses.con.execute(f"select {grain} from ({rows}) group by all having count(*) > 1 limit 1"))
        if twice:
            raise UsageError(
                f"the warehouses disagree on a row of {qualified(table)}",
                found=", ".join(f"{column} = {value}" for column, value in twice[0].items()),
                next_step="build them with one version of Talkhouse: talkhouse build",
            )


def _wanted(found: Sequence[Warehouse], only: Sequence[str]) -> tuple[str, ...]:
    """Return the corpora that go into the lake."""
    counts = Counter(corpus for one in found for corpus in one.corpus_ids)
    if twice := sorted(corpus for corpus, count in counts.items() if count > 1):
        raise UsageError(
            f"the corpus {twice[0]} is in two of the warehouses",
            found=", ".join(str(one.path) for one in found if twice[0] in one.corpus_ids),
            next_step="name warehouses of different corpora",
        )
    for corpus in only:
        if corpus not in counts:
            raise UsageError(
                f"no corpus '{corpus}' to write",
                expected=f"one of: {', '.join(closest(corpus, counts))}",
                next_step="see what is in the warehouse with: talkhouse status",
            )
    return tuple(sorted(set(only) or counts))


def _select(one: Warehouse, table: Table) -> str:
    columns = ", ".join(quoted(column.name) for column in table.columns)
    return f"select {columns} from {one.database}.{qualified(table)}"


def _belongs_to_none(table: Table, one: Warehouse) -> str:
    return " and ".join(f"({belongs(table, corpus)}) is not true" for corpus in one.corpus_ids) or "true"


_NUMBERED = {"meta.loads": ("load_id", 1), "meta.findings": ("finding_index", 0)}
"""Tables whose rows each build numbers for itself: the column, and its first number."""


def _joined(table: Table, selects: Sequence[str]) -> str:
    """Return the query of the rows of no corpus in several warehouses: each of them once.

    Builds are numbered anew, in the order in which they began, and what a check has found and cost is added up.
    """
    union, name = " union ".join(f"({select})" for select in selects), qualified(table)
    if name == "meta.checks":
        # Sorted, since DuckDB adds numbers up in any order and the sum differs in a digit.
        return (
            "select check_name, severity, condition, sum(offending)::bigint as offending, "
            f"list_sum(list(milliseconds order by milliseconds)) as milliseconds from ({union}) group by all"
        )
    if name not in _NUMBERED:
        return union
    column, first = _NUMBERED[name]
    others = ", ".join(quoted(one.name) for one in table.columns if one.name != column)
    return (
        f"select * replace ((row_number() over (order by {others}) + {first - 1})::integer as {column}) "
        f"from (select distinct on ({others}) * from ({union}) order by {column})"
    )


_VIEWS = "select schema_name || '.' || view_name from duckdb_views() where database_name = ? and not internal"


def check_tables(con: duckdb.DuckDBPyConnection, database: str, path: Path) -> None:
    """Raise SchemaMismatch for a warehouse with a table less than are declared, or one with other columns.

    Tables that somebody has added are none of the lake's.
    """
    check_columns(declared_columns(con), columns_of_all(con, database), path)


def declared_columns(con: duckdb.DuckDBPyConnection) -> Columns:
    """Describe the tables as they are declared, with the types as DuckDB calls them."""
    dialect = Dialect()
    columns = [(qualified(table), column) for table in metadata.tables.values() for column in table.columns]
    # A text is declared with its compression, which is no part of the type.
    types = [str(column.type.compile(dialect)).partition(" USING ")[0] for _, column in columns]
    distinct = sorted({*types})
    query = f"select {', '.join(f'typeof(null::{type_})' for type_ in distinct)}"
    (names,) = con.execute(query).fetchall()
    called = dict(zip(distinct, names, strict=True))
    declared: dict[str, dict[str, str]] = {name: {} for name, _ in columns}
    for (name, column), type_ in zip(columns, types, strict=True):
        declared[name][column.name] = called[type_]
    return declared


def check_views(warehouse: Warehouse, catalogue: Catalogue) -> None:
    """Raise SchemaMismatch for a warehouse with a view more or less than the catalogue, with those of single splits."""
    there = {name for (name,) in warehouse.con.execute(_VIEWS, [warehouse.database]).fetchall()}
    written = {view.full_name for view in catalogue.views}
    if missing := sorted(written - there):
        raise mismatch("a view is missing", warehouse.path, missing[0], "")
    if others := sorted(there - written - warehouse.split_views.keys()):
        raise mismatch("there is a view that the catalogue does not have", warehouse.path, "", others[0])
