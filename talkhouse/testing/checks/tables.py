"""Rows of tables: told apart, and what they refer to is there."""

from typing import Any

from talkhouse.schema.tables import metadata, qualified
from talkhouse.testing.failure import require_none
from talkhouse.testing.subject import Subject


def rows_are_told_apart(subject: Subject) -> None:
    """No two rows of a table have the same grain."""
    for table in metadata.tables.values():
        grain = ", ".join(table.info["grain"])
        query = f"select {grain}, count(*) from {qualified(table)} group by all having count(*) > 1 order by all"
        rows = subject.sample.execute(query).fetchall()
        require_none(rows, f"rows of {qualified(table)} with one key", expected=f"one row of each {grain}")


def references_are_kept(subject: Subject) -> None:
    """What a row refers to is there."""
    for table in metadata.tables.values():
        for constraint in table.foreign_key_constraints:
            rows = subject.sample.execute(_lost(table, constraint)).fetchall()
            require_none(rows, f"{qualified(table)} refers to what is not there", expected=str(constraint.column_keys))


def _lost(table: Any, constraint: Any) -> str:
    pairs = [(element.parent.name, element.column) for element in constraint.elements]
    target = qualified(pairs[0][1].table)
    match = " and ".join(f"there.{column.name} = here.{name}" for name, column in pairs)
    present = " and ".join(f"here.{name} is not null" for name, _ in pairs)
    names = ", ".join(f"here.{name}" for name, _ in pairs)
    return (
        f"select {names} from {qualified(table)} as here "
        f"where {present} and not exists (from {target} as there where {match}) order by all"
    )
