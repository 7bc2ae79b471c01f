"""The columns and rows of a view or table that an export writes, and their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb

from talkhouse.export.filters import (
    FilteredRelation,
    check_rows,
    chosen,
    condition_of,
    equals,
    split_column,
    where_clause,
)
from talkhouse.schema.errors import UsageError, closest
from talkhouse.schema.sql import quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import relation

_PUBLISHED = ("release", "split", "example_index")
"""The order of examples, for task views that the catalogue does not have."""


@dataclass(frozen=True)
class LeftOut:
    """Rows that are left out for what is known of them elsewhere."""

    condition: str
    """SQL that is true of the rows that stay."""
    about: Mapping[str, Any]
    """What a manifest says of it."""


@dataclass(frozen=True)
class Filters:
    """Which rows are wanted, as the options of commands say it; all of them hold."""

    split: str | None = None
    release: str | None = None
    subsets: tuple[str, ...] = ()
    where: str | None = None
    """An SQL expression over the columns of the view, as a user wrote it."""
    left_out: LeftOut | None = None


NO_FILTERS = Filters()


@dataclass(frozen=True)
class Selection:
    """Columns and rows of a view or table, in an order that is always the same."""

    schema: str
    name: str
    known: tuple[str, ...]
    """All columns that the view or table has."""
    columns: tuple[dict[str, Any], ...]
    """Name, type and meaning of those that are selected."""
    order: tuple[str, ...]
    """The columns by which the rows are sorted; none: all that are selected, from the first."""
    split: str | None = None
    split_column: str | None = None
    limit: int | None = None
    filters: Filters = NO_FILTERS
    """As they were asked for."""
    conditions: tuple[str, ...] = ()
    """The same as SQL conditions of its columns, checked."""
    replaced: Mapping[str, str] = field(default_factory=dict)
    """Columns that are written with another value: for each, an SQL expression of the columns."""

    @property
    def full_name(self) -> str:
        """The name as a user writes it."""
        return f"{self.schema}.{self.name}"

    @property
    def source(self) -> str:
        """The name in SQL, whatever it is."""
        return quoted(self.schema, self.name)

    @property
    def where(self) -> str:
        """All conditions as the clause of a query."""
        return where_clause(self.all_conditions)

    @property
    def all_conditions(self) -> list[str]:
        """All conditions of the rows, the split's first."""
        of_split = [equals(self.split_column or "split", self.split)] if self.split is not None else []
        return [*of_split, *(f"({condition})" for condition in self.conditions)]

    def narrowed(self, condition: str) -> "Selection":
        """Return the rows of it for which a SQL condition of its columns is true, too."""
        return replace(self, conditions=(*self.conditions, condition))

    def sql(self, columns: Sequence[str] = ()) -> str:
        """Return the query of the rows; with ``columns`` instead of those that are selected."""
        selected = columns or [column["name"] for column in self.columns]
        names, rows = ", ".join(map(quoted, selected)), f"{self.source}{where_clause(self.all_conditions)}"
        if self.replaced:
            # Conditions are of the published values; the order is of those that are written, and tells nothing else.
            read = dict.fromkeys((*selected, *self._order))
            written = ", ".join(f"{self.replaced.get(column, quoted(column))} as {quoted(column)}" for column in read)
            rows = f"(select {written} from {rows})"
        order = ", ".join(f"{quoted(column)} asc nulls last" for column in self._order)
        return f"select {names} from {rows} order by {order}{self._limit}"

    def rows(self, columns: Sequence[str]) -> str:
        """Return the query of these columns of the same rows, as they are in the warehouse and in any order."""
        query = f"select {', '.join(map(quoted, columns))} from {self.source}{where_clause(self.all_conditions)}"
        if self.limit is None:
            return query
        # By what is written in place of a column, as there.
        order = ", ".join(f"{self.replaced.get(column, quoted(column))} asc nulls last" for column in self._order)
        return f"{query} order by {order}{self._limit}"

    @property
    def _order(self) -> Sequence[str]:
        return self.order or [column["name"] for column in self.columns]

    @property
    def _limit(self) -> str:
        return "" if self.limit is None else f" limit {self.limit}"


def select(
    warehouse: Warehouse,
    name: str,
    filters: Filters = NO_FILTERS,
    *,
    columns: Sequence[str] | None = None,
    limit: int | None = None,
) -> Selection:
    """Find a view or table and the rows and columns wanted of it; UsageError says what exists instead."""
    con, described = warehouse.con, relation(warehouse.con, name)
    known = {column["name"]: column for column in warehouse.columns[described["schema"], described["name"]]}
    full_name = f"{described['schema']}.{described['name']}"
    _check_columns(full_name, known, columns)
    selected = tuple(known[column] for column in (known if columns is None else columns))
    grain = grain_of(warehouse, full_name)
    # Without its last column a grain orders nothing: the rows of one split would come in any order.
    order = tuple(column for column in grain if column in known) if grain[-1] in known else ()
    selection = Selection(
        described["schema"], described["name"], tuple(known), selected, order, limit=limit, filters=filters
    )
    return _filtered(con, selection)


def _filtered(con: duckdb.DuckDBPyConnection, selection: Selection) -> Selection:
    """Return a selection of the rows that the filters leave: each filter may name what the ones before it have left."""
    filters = selection.filters
    of = FilteredRelation(con, selection.schema, selection.name, selection.known)
    if filters.split is not None:
        selection = replace(selection, split=filters.split, split_column=split_column(of, filters.split))
    for kind, wanted in (("release", [filters.release]), ("subset", filters.subsets)):
        names = [name for name in wanted if name is not None]
        if names:
            selection = selection.narrowed(chosen(of, kind, names, selection.all_conditions))
    if filters.where is not None:
        selection = selection.narrowed(condition_of(of, filters.where))
        check_rows(of, filters.where, selection.all_conditions)
    if filters.left_out is not None:
        selection = selection.narrowed(filters.left_out.condition)
    return selection


def _check_columns(name: str, known: Sequence[str] | dict[str, Any], wanted: Sequence[str] | None) -> None:
    for index, column in enumerate(wanted or ()):
        if column not in known:
            raise UsageError(
                f"{name} has no column '{column}'",
                expected=f"one of: {', '.join(closest(column, known))}",
                next_step=f"list its columns with: talkhouse views {name}",
            )
        if column in (wanted or ())[:index]:
            raise UsageError(f"the column '{column}' is named twice", next_step="name every column once")


def grain_of(warehouse: Warehouse, name: str) -> tuple[str, ...]:
    """Return the columns that together name one row; a view of one split has those of its view."""
    for table in metadata.sorted_tables:
        if qualified(table) == name:
            return tuple(table.info["grain"])
    view = warehouse.view_file(name)
    return view.grain if view else _PUBLISHED
