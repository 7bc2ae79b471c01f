"""Slices of what was scored: by columns of the task's view, or of the record and the dialogue of an example."""

from collections.abc import Sequence
from typing import NamedTuple

import duckdb

from talkhouse.schema.closest import closest
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.tasks.task import Task
from talkhouse.scores.tasks.workspace import Table, Workspace
from talkhouse.warehouse.relations import columns_of

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


class Slices(NamedTuple):
    """What each example scores, and for each of them the values of some columns, as texts."""

    scored: Table
    values: Table

    def has_several(self, con: duckdb.DuckDBPyConnection, column: str) -> bool:
        """Tell whether the examples have more than one value in a column."""
        return bool(con.execute(f"select count(distinct {quoted(column)}) > 1 from {self.values}").fetchall()[0][0])

    def by_column(self, column: str) -> str:
        """Return the query of what was scored in slices ``column=value``; rows without a value are in none."""
        value = f"slices.{quoted(column)}"
        return (
            f"select {literal(column + '=')} || {value} as slice, scored.* from {self.scored} as scored "
            f"inner join {self.values} as slices on slices.place = scored.rowid where {value} is not null"
        )


WITHOUT_OVERLAP, ONLY_OVERLAP = "overlap=without", "overlap=only"
"""Slices of examples by whether they stand elsewhere too."""


def by_verdict(task: Task, scored: Table, judged: str, verdicts: Sequence[str]) -> str:
    """Return the query of what was scored in slices, of a table of verdicts; examples without one are in none."""
    among = ", ".join(map(literal, verdicts))
    return (
        f"select if(judged.verdict in ({among}), '{ONLY_OVERLAP}', '{WITHOUT_OVERLAP}') as slice, scored.* "
        f"from {scored} as scored inner join {judged} as judged "
        f"on judged.corpus_id = {literal(task.query.schema)} and judged.task = {literal(task.query.name)} "
        "and judged.release is not distinct from scored.release and judged.split is not distinct from scored.split "
        "and judged.example_index = scored.example_index"
    )


def create_slices(workspace: Workspace, task: Task, scored: Table, columns: Sequence[str]) -> Slices:
    """Find the values of columns for each example; UsageError for a column that there is not."""
    known = [column["name"] for column in columns_of(workspace.con, task.query.schema, task.query.name)]
    for column in columns:
        if column not in _NARROW and column not in known:
            raise UsageError(
                f"{task.name} has no column '{column}'",
                expected=f"one of: {', '.join(closest(column, {*known, *_NARROW}))}",
                next_step=f"list its columns with: talkhouse views {task.name}",
            )
    selected = [f"{_NARROW.get(column, f'gold.{quoted(column)}')}::varchar as {quoted(column)}" for column in columns]
    gold = (
        f"inner join {task.view} as gold "
        "on gold.example_index = scored.example_index and gold.split = scored.split "
        + ("and gold.release is not distinct from scored.release " if "release" in known else "")
        if any(column not in _NARROW for column in columns)
        else ""
    )
    values = workspace.create(
        "slices",
        f"select scored.rowid as place, {', '.join(selected)} from {scored} as scored "
        "inner join main.records on records.record_id = scored.record_id "
        f"left join main.dialogues on dialogues.dialogue_id = scored.dialogue_id {gold}",
    )
    return Slices(scored, values)
