"""What an export takes from a view or table: which columns, which rows, in which order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from queries.catalogue import catalogue
from schema.errors import UsageError
from schema.sql import literal, quoted
from schema.tables import metadata, qualified
from talkhouse.relations import closest, columns_of, relation

_PUBLISHED = ("release", "split", "example_index")
"""The order of examples, for views of tasks that no catalogue of ours has."""


@dataclass(frozen=True)
class Selection:
    """Columns and rows of a view or table, in an order that is always the same."""

    schema: str
    name: str
    known: tuple[str, ...]
    """All columns that the view or table has."""
    columns: tuple[dict[str, Any], ...]
    """Name, type and meaning of those that are taken."""
    order: tuple[str, ...]
    """The columns by which the rows are sorted; none: all that are taken, from the first."""
    split: str | None = None
    split_column: str | None = None
    limit: int | None = None

    @property
    def full_name(self) -> str:
        """The name as one writes it in SQL."""
        return f"{self.schema}.{self.name}"

    def sql(self, columns: Sequence[str] = ()) -> str:
        """Write the query of the rows; ``columns`` instead of those that are taken."""
        taken = columns or [column["name"] for column in self.columns]
        where = f" where {self.split_column} = {literal(self.split)}" if self.split is not None else ""
        order = ", ".join(f"{quoted(column)} asc nulls last" for column in self.order) or "all"
        limit = "" if self.limit is None else f" limit {self.limit}"
        names = ", ".join(quoted(column) for column in taken)
        return f"select {names} from {quoted(self.schema)}.{quoted(self.name)}{where} order by {order}{limit}"


def select(
    con: duckdb.DuckDBPyConnection,
    name: str,
    *,
    split: str | None = None,
    columns: Sequence[str] | None = None,
    limit: int | None = None,
) -> Selection:
    """Find a view or table and what is wanted of it; UsageError says what there is instead."""
    found = relation(con, name)
    known = {column["name"]: column for column in columns_of(con, found["schema"], found["name"])}
    full_name = f"{found['schema']}.{found['name']}"
    _check_columns(full_name, known, columns)
    taken = tuple(known[column] for column in (known if columns is None else columns))
    order = tuple(column for column in _grain(full_name) if column in known)
    whole = Selection(found["schema"], found["name"], tuple(known), taken, order, limit=limit)
    if split is None:
        return whole
    column = _split_column(con, whole, split)
    return Selection(whole.schema, whole.name, whole.known, taken, order, split, column, limit)


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


def _grain(name: str) -> tuple[str, ...]:
    """Give the columns that together name one row; a view of one split has those of its view."""
    for table in metadata.sorted_tables:
        if qualified(table) == name:
            return tuple(table.info["grain"])
    grains = {view.full_name: view.grain for view in catalogue().views}
    of = [view for view in grains if name == view or name.startswith(f"{view}_")]
    return grains[max(of, key=len)] if of else _PUBLISHED


def _split_column(con: duckdb.DuckDBPyConnection, whole: Selection, split: str) -> str:
    """Give the column that has this split: the publisher's name for it, or else the standard one."""
    if "split" not in whole.known:
        with_split = con.execute(
            "select distinct schema_name || '.' || table_name from duckdb_columns() "
            "where column_name = 'split' and schema_name = ? order by all",
            [whole.schema],
        )
        names = ", ".join(name for (name,) in with_split.fetchall())
        raise UsageError(
            f"{whole.full_name} has no column 'split'",
            expected=f"a view with splits, such as: {names}" if names else None,
            next_step="leave --split out",
        )
    columns = [column for column in ("split", "standard_split") if column in whole.known]
    there = {column: _values(con, whole, column) for column in columns}
    for column, values in there.items():
        if split in values:
            return column
    own, standard = (", ".join(there.get(column, ())) for column in ("split", "standard_split"))
    also = f", or by a standard name: {standard}" if standard else ""
    raise UsageError(
        f"{whole.full_name} has no rows of the split '{split}'",
        expected=f"one of: {own}{also}" if own else "rows that name their split; it has none",
        next_step="name one of these, or leave --split out",
    )


def _values(con: duckdb.DuckDBPyConnection, whole: Selection, column: str) -> list[str]:
    rows = con.execute(
        f"select distinct {column} from {quoted(whole.schema)}.{quoted(whole.name)} "
        f"where {column} is not null order by all"
    )
    return [value for (value,) in rows.fetchall()]
