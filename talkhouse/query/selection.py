"""The columns and rows of a view or table that an export writes, and their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb

from talkhouse.schema.closest import closest
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import columns_of, relation

_PUBLISHED = ("release", "split", "example_index")
"""The order of examples, for task views that the catalogue does not have."""


@dataclass(frozen=True)
class Filters:
    """Which rows are wanted, as the options of commands say it; all of them hold."""

    split: str | None = None
    release: str | None = None
    subsets: tuple[str, ...] = ()
    where: str | None = None
    """An SQL expression over the columns of the view, as a user wrote it."""


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
    """Columns in place of which another value is written, each with an SQL expression of the columns."""

    @property
    def full_name(self) -> str:
        """The name as a user writes it."""
        return f"{self.schema}.{self.name}"

    @property
    def source(self) -> str:
        """The name in SQL, whatever it is."""
        return f"{quoted(self.schema)}.{quoted(self.name)}"

    def sql(self, columns: Sequence[str] = ()) -> str:
        """Return the query of the rows; with ``columns`` instead of those that are selected."""
        selected = columns or [column["name"] for column in self.columns]
        conditions = (
            [f"{quoted(self.split_column or 'split')} = {literal(self.split)}"] if self.split is not None else []
        )
        conditions += [f"({condition})" for condition in self.conditions]
        where = f" where {' and '.join(conditions)}" if conditions else ""
        order = ", ".join(f"{quoted(column)} asc nulls last" for column in self.order) or "all"
        limit = "" if self.limit is None else f" limit {self.limit}"
        names, rows = ", ".join(map(quoted, selected)), f"{self.source}{where}"
        if self.replaced:
            # Conditions are of the published values; the order is of those that are written, and tells nothing else.
            read = dict.fromkeys((*selected, *self.order))
            written = ", ".join(f"{self.replaced.get(column, quoted(column))} as {quoted(column)}" for column in read)
            rows = f"(select {written} from {rows})"
        return f"select {names} from {rows} order by {order}{limit}"


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
    known = {column["name"]: column for column in columns_of(con, described["schema"], described["name"])}
    full_name = f"{described['schema']}.{described['name']}"
    _check_columns(full_name, known, columns)
    selected = tuple(known[column] for column in (known if columns is None else columns))
    order = tuple(column for column in grain_of(warehouse, full_name) if column in known)
    selection = Selection(
        described["schema"], described["name"], tuple(known), selected, order, limit=limit, filters=filters
    )
    if filters.split is None:
        return selection
    return replace(selection, split=filters.split, split_column=_split_column(con, selection, filters.split))


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
    grains = {view.full_name: view.grain for view in warehouse.catalogue.views}
    if name not in grains and name in warehouse.split_views:
        name = warehouse.split_views[name].task
    return grains.get(name, _PUBLISHED)


def _split_column(con: duckdb.DuckDBPyConnection, selection: Selection, split: str) -> str:
    """Return the column that has this split: the publisher's name for it, or else the standard one."""
    if "split" not in selection.known:
        with_split = con.execute(
            "select distinct schema_name || '.' || table_name from duckdb_columns() "
            "where column_name = 'split' and schema_name = ? order by all",
            [selection.schema],
        )
        names = ", ".join(name for (name,) in with_split.fetchall())
        raise UsageError(
            f"{selection.full_name} has no column 'split'",
            expected=f"a view with splits, such as: {names}" if names else None,
            next_step="leave --split out",
        )
    columns = [column for column in ("split", "standard_split") if column in selection.known]
    values_of = {column: _values(con, selection, column) for column in columns}
    for column, values in values_of.items():
        if split in values:
            return column
    own, standard = (", ".join(values_of.get(column, ())) for column in ("split", "standard_split"))
    also = f", or by a standard name: {standard}" if standard else ""
    raise UsageError(
        f"{selection.full_name} has no rows of the split '{split}'",
        expected=f"one of: {own}{also}" if own else "rows that name their split; it has none",
        next_step="name one of these, or leave --split out",
    )


def _values(con: duckdb.DuckDBPyConnection, selection: Selection, column: str) -> list[str]:
    rows = con.execute(
        f"select distinct {column} from {quoted(selection.schema)}.{quoted(selection.name)} "
        f"where {column} is not null order by all"
    )
    return [value for (value,) in rows.fetchall()]
