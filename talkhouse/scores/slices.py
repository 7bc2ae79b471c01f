"""Slices of what was scored: by columns of the task's view, or of the record and the dialogue of an example."""

from collections.abc import Sequence

import duckdb

from talkhouse.relations import columns_of
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import identifier, literal, quoted
from talkhouse.scores.tasks import Task

_NARROW = {
    "split": "scored.split",
    "release": "scored.release",
    "record_id": "scored.record_id",
    "dialogue_id": "scored.dialogue_id",
    "subset": "records.subset",
    "standard_split": "records.standard_split",
    "language": "dialogues.language",
    "domain": "dialogues.domain",
}
"""Columns that need not be read from a view, which may have millions of long rows."""


def create_slices(con: duckdb.DuckDBPyConnection, task: Task, columns: Sequence[str]) -> None:
    """Create the table ``slices``: for each row of ``scored`` its number and the values of these columns, as texts.

    Raises UsageError for a column that there is not.
    """
    known = [column["name"] for column in columns_of(con, task.query.schema, task.query.name)]
    for column in columns:
        if column not in _NARROW and column not in known:
            raise UsageError(
                f"{task.name} has no column '{column}'",
                expected=f"one of: {', '.join(closest(column, {*known, *_NARROW}))}",
                next_step=f"list its columns with: talkhouse views {task.name}",
            )
    selected = [f"{_NARROW.get(column, f'gold.{quoted(column)}')}::varchar as {quoted(column)}" for column in columns]
    gold = (
        f"inner join {identifier(task.query.schema)}.{identifier(task.query.name)} as gold "
        "on gold.example_index = scored.example_index and gold.split = scored.split "
        + ("and gold.release is not distinct from scored.release " if "release" in known else "")
        if any(column not in _NARROW for column in columns)
        else ""
    )
    con.execute(
        f"create or replace temp table slices as select scored.rowid as place, {', '.join(selected)} from scored "
        "inner join main.records on records.record_id = scored.record_id "
        f"left join main.dialogues on dialogues.dialogue_id = scored.dialogue_id {gold}"
    )


def has_several(con: duckdb.DuckDBPyConnection, column: str) -> bool:
    """Tell whether the rows of ``slices`` have more than one value in a column."""
    return bool(con.execute(f"select count(distinct {quoted(column)}) > 1 from slices").fetchall()[0][0])


def by_column(column: str) -> str:
    """Return the query of ``scored`` in slices ``column=value``; rows without a value are in none."""
    value = f"slices.{quoted(column)}"
    return (
        f"select {literal(column + '=')} || {value} as slice, scored.* from scored "
        f"inner join slices on slices.place = scored.rowid where {value} is not null"
    )
