"""Predictions as one table, with the columns that the task declares, in their types."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice

from talkhouse.schema.sql import quoted
from talkhouse.scores.tasks.refusals import BadPredictions, refuse
from talkhouse.scores.tasks.task import Task
from talkhouse.scores.tasks.workspace import Table, Workspace

_KEY_TYPES = {
    "release": "varchar",
    "split": "varchar",
    "example_index": "integer",
    "record_id": "varchar",
    "turn_index": "integer",
    "item_index": "integer",
    "view_fingerprint": "varchar",
    "key": "varchar",
    "warning": "varchar",
}
"""Columns that any prediction may have; a layout names its own row in ``key`` and says in ``warning`` what is odd."""

KEYS = frozenset({"example_index", "record_id"})
"""Of these columns predictions have one, or both."""

_ALSO = {"scores": ("ranking", "position"), "labels": ("label",)}
"""Other ways to give a column: positions, best first; rows of position and score; one label."""


_SHOWN = 50
"""Columns that are named in a message."""


@dataclass(frozen=True)
class Raw:
    """Predictions as they are given."""

    table: Table
    types: Mapping[str, str]
    """Their columns, by name, with DuckDB's types."""


def raw(workspace: Workspace, table: Table) -> Raw:
    """Take a table for predictions."""
    return Raw(table, workspace.columns(table))


def wanted_columns(task: Task) -> list[str]:
    """Return the names of all columns that are read of predictions."""
    names = [column.name for column in task.columns]
    also = [other for name in names for other in _ALSO.get(name, ())]
    return list(dict.fromkeys([*_KEY_TYPES, *names, *also, *(["score"] if "position" in also else [])]))


def check_columns(task: Task, names: Collection[str]) -> None:
    """Raise BadPredictions where there is no key among columns of these names, or nothing that the task scores."""
    if KEYS.isdisjoint(names):
        raise BadPredictions(
            "the predictions have no key",
            expected="a column 'example_index', or 'record_id', 'turn_index' and, below the turn, 'item_index'",
            found=_named(names),
            next_step=f"start from an empty table: talkhouse score {task.name} --template FILE",
        )
    there = [column for column in task.columns if any(name in names for name in (column.name, *_also(column.name)))]
    missing = [column.name for column in task.columns if not column.is_optional and column not in there]
    if missing or not there:
        needed = ", ".join(_forms(column.name) for column in task.columns)
        raise BadPredictions(
            f"the predictions have no column '{(missing or [task.columns[0].name])[0]}'",
            expected=f"the columns {needed}",
            found=_named(names),
            next_step="rename the columns, or name the layout with --format",
        )


def _also(name: str) -> tuple[str, ...]:
    return _ALSO.get(name, ())


def _named(names: Collection[str]) -> str:
    more = len(names) - _SHOWN
    return f"the columns {', '.join(islice(names, _SHOWN))}" + (f" and {more:,} more" if more > 0 else "")


def _forms(name: str) -> str:
    also = {"scores": "scores (or ranking, or rows of position and score)", "labels": "labels (or label)"}
    return also.get(name, name)


def named_splits(workspace: Workspace, predictions: Raw) -> list[tuple[str | None, str | None]]:
    """Return the releases and splits that the rows of predictions name; empty where they have neither column."""
    if not predictions.types.keys() & {"release", "split"}:
        return []
    parts = [f"{name}::varchar" if name in predictions.types else "null" for name in ("release", "split")]
    return workspace.con.execute(f"select distinct {', '.join(parts)} from {predictions.table}").fetchall()


def with_types(workspace: Workspace, task: Task, predictions: Raw) -> Table:
    """Create a table of predictions with all columns that any may have, in their types, a row for each key.

    Raises BadPredictions for values that are not of their type.
    """
    if "position" in predictions.types and not {"scores", "ranking"} & predictions.types.keys():
        predictions = _join_positions(workspace, predictions)
    kinds = {**_KEY_TYPES, "ranking": "integer[]", **{column.name: column.type for column in task.columns}}
    is_single = "labels" in kinds and "labels" not in predictions.types
    kinds |= {"label": "varchar"} if is_single else {}
    given = {name: kind for name, kind in kinds.items() if name in predictions.types}
    selected = {name: f"null::{kind}" for name, kind in kinds.items()}
    selected |= {name: _cast(name, kind, predictions.types[name]) for name, kind in given.items()}
    if is_single:
        selected["labels"] = f"[{selected['label']}]"
    columns = ", ".join(f"{expression} as {quoted(name)}" for name, expression in selected.items())
    typed = workspace.create("typed", f"select {columns} from {predictions.table}")
    for name, kind in given.items():
        if kind != "varchar" and predictions.types[name] != kind:
            _refuse_casts(workspace, predictions, typed, name, kind)
    return typed


def _join_positions(workspace: Workspace, predictions: Raw) -> Raw:
    """Make lists of rows of position and score."""
    names = ", ".join(quoted(name) for name in _KEY_TYPES if name in predictions.types)
    joined = workspace.create(
        "joined",
        f"select {names}, "
        "list(try_cast(score as double) order by place) as scores, list(place order by place) as places "
        f"from (select *, try_cast(position as integer) as place from {predictions.table}) "
        f"group by {names}",
    )
    refuse(
        workspace.con,
        f"select concat_ws(' ', {names}) || ': positions ' || places::varchar from {joined} "
        "where places <> range(len(places))::integer[] or list_contains(places, null) or len(places) <> len(scores)",
        "lists whose positions are not 0, 1, 2 ... without a gap",
        next_step="give each candidate of each example one row",
    )
    return raw(workspace, joined)


def _cast(name: str, kind: str, given: str) -> str:
    """Return the SQL of a column as another type than it is given in; null where it has no such value."""
    column = quoted(name)
    if given == kind.upper():
        return column
    if kind == "integer" and given == "VARCHAR":
        return f"case when regexp_full_match({column}, '[+-]?[0-9]+') then try_cast({column} as integer) end"
    if kind == "integer" and given in ("DOUBLE", "FLOAT"):
        return f"case when {column} = floor({column}) then try_cast({column} as integer) end"
    if kind.endswith("[]") and given == "VARCHAR":
        return f"try_cast(try_cast({column} as json) as {kind})"
    return f"try_cast({column} as {kind})"


def _refuse_casts(workspace: Workspace, predictions: Raw, typed: Table, name: str, kind: str) -> None:
    """Refuse values that are not of their type; nothing is guessed from them."""
    column = quoted(name)
    counts = f"(select count({column}) from {predictions.table}) = (select count({column}) from {typed})"
    if workspace.con.execute(f"select {counts}").fetchall()[0][0]:
        return
    what = {"integer": "whole numbers", "double": "numbers", "double[]": "lists of numbers"}.get(kind, "lists")
    # A layout names its rows in a column key.
    place = "key" if "key" in predictions.types else "'row ' || row_number() over ()"
    is_bad = f"{column} is not null and {_cast(name, kind, predictions.types[name])} is null"
    refuse(
        workspace.con,
        f"select place || ': ' || given from (select {place} as place, {column}::varchar as given, "
        f"{is_bad} as is_bad from {predictions.table}) where is_bad",
        f"values of '{name}' that are not {what}",
        next_step="write them as JSON has them, with a point and without units",
    )
