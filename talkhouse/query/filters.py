"""The rows that a split, a release and subsets leave of a view or table, as SQL conditions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import duckdb

from talkhouse.schema.closest import closest, listed
from talkhouse.schema.errors import NothingLeft, UsageError
from talkhouse.schema.sql import literal, quoted


@dataclass(frozen=True)
class Relation:
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
        return f"{quoted(self.schema)}.{quoted(self.name)}"

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


def split_column(relation: Relation, split: str) -> str:
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


def chosen(relation: Relation, kind: str, wanted: Sequence[str], within: Sequence[str] = ()) -> str:
    """Return the condition that a row is of one of these releases or subsets, as ``kind`` says.

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
    """Return the error about a split, release or subset that has none of the rows, or of ``what``; and which have."""
    return NothingLeft(
        f"{name} has no {what} of the {kind} '{value}'",
        expected=f"one of: {listed(closest(value, known))}{also}"
        if known
        else f"{what} that name their {kind}; it has none",
        next_step=f"name one of these, or leave --{kind} out",
    )


def _no_column(relation: Relation, column: str, holders: Sequence[str]) -> UsageError:
    return NothingLeft(
        f"{relation.full_name} has no column '{column}'",
        expected=f"a view with {column}s, such as: {listed(holders)}" if holders else None,
        next_step=f"leave --{column} out",
    )
