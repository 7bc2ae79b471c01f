"""Predictions as one table, with the columns that the task declares, in their types."""

from itertools import islice
from typing import NamedTuple

import duckdb

from talkhouse.schema.sql import quoted
from talkhouse.scores.refusals import BadPredictions, refuse
from talkhouse.scores.tasks import Task

_KEY_TYPES = {
    "release": "varchar",
    "split": "varchar",
    "example_index": "integer",
    "record_id": "varchar",
    "turn_index": "integer",
    "view_fingerprint": "varchar",
    "key": "varchar",
    "warning": "varchar",
}
"""Columns that any prediction may have; a layout names its own row in ``key`` and says in ``warning`` what is odd."""

_ALSO = {"scores": ("ranking", "position"), "labels": ("label",)}
"""Other ways to give a column: positions, best first; rows of position and score; one label."""


_SHOWN = 50
"""Columns that are named in a message."""


class Columns(NamedTuple):
    """The columns that the predictions have, by name, with their types."""

    types: dict[str, str]

    def has(self, name: str) -> bool:
        """Whether the predictions have this column, or another that says the same."""
        return any(one in self.types for one in (name, *_ALSO.get(name, ())))


def wanted_columns(task: Task) -> list[str]:
    """Return the names of all columns that are read of predictions."""
    names = [one.name for one in task.columns]
    also = [other for name in names for other in _ALSO.get(name, ())]
    return list(dict.fromkeys([*_KEY_TYPES, *names, *also, *(["score"] if "position" in also else [])]))


def columns_of_raw(con: duckdb.DuckDBPyConnection) -> Columns:
    """Return the columns of ``raw``."""
    return Columns({row[0]: row[1] for row in con.execute("describe raw").fetchall()})


def check_columns(task: Task, columns: Columns) -> None:
    """Raise BadPredictions where there is no key, or nothing that the task scores."""
    if not columns.types.keys() & {"example_index", "record_id"}:
        raise BadPredictions(
            "the predictions have no key",
            expected="a column 'example_index', or 'record_id' and 'turn_index'",
            found=_named(columns),
            next_step=f"start from an empty table: talkhouse score {task.name} --template FILE",
        )
    missing = [one.name for one in task.columns if not one.is_optional and not columns.has(one.name)]
    if missing or not any(columns.has(one.name) for one in task.columns):
        needed = ", ".join(_forms(one.name) for one in task.columns)
        raise BadPredictions(
            f"the predictions have no column '{(missing or [task.columns[0].name])[0]}'",
            expected=f"the columns {needed}",
            found=_named(columns),
            next_step="rename the columns, or name the layout with --format",
        )


def _named(columns: Columns) -> str:
    more = len(columns.types) - _SHOWN
    return f"the columns {', '.join(islice(columns.types, _SHOWN))}" + (f" and {more:,} more" if more > 0 else "")


def _forms(name: str) -> str:
    also = {"scores": "scores (or ranking, or rows of position and score)", "labels": "labels (or label)"}
    return also.get(name, name)


def named_splits(con: duckdb.DuckDBPyConnection) -> list[tuple[str | None, str | None]]:
    """Return the releases and splits that the rows of ``raw`` name; empty where it has neither column."""
    known = {row[0] for row in con.execute("describe raw").fetchall()}
    if not known & {"release", "split"}:
        return []
    parts = [f"{name}::varchar" if name in known else "null" for name in ("release", "split")]
    return con.execute(f"select distinct {', '.join(parts)} from raw").fetchall()


def create_given(con: duckdb.DuckDBPyConnection, task: Task, columns: Columns) -> None:
    """Create the table ``given``: the predictions with the types of the task, a row for each key."""
    if "position" in columns.types and not {"scores", "ranking"} & columns.types.keys():
        _join_positions(con, columns)
    wanted = {name: kind for name, kind in _KEY_TYPES.items() if name in columns.types}
    wanted |= {one.name: one.type for one in task.columns if one.name in columns.types}
    if "ranking" in columns.types:
        wanted["ranking"] = "integer[]"
    if "labels" not in columns.types and any(one.name == "labels" for one in task.columns):
        wanted["label"] = "varchar"
    selected = [f"{_cast(name, kind, columns.types[name])} as {quoted(name)}" for name, kind in wanted.items()]
    con.execute(f"create or replace temp table given as select {', '.join(selected)} from raw")
    for name, kind in wanted.items():
        if kind != "varchar" and columns.types[name] != kind:
            _refuse_casts(con, name, kind, columns.types[name])
    names = [one.name for one in task.columns]
    if "labels" in names and "labels" not in columns.types:
        con.execute("alter table given add column labels varchar[]")
        con.execute("update given set labels = [label]")
    for name, kind in {**_KEY_TYPES, "ranking": "integer[]", **{one.name: one.type for one in task.columns}}.items():
        con.execute(f"alter table given add column if not exists {quoted(name)} {kind}")


def _join_positions(con: duckdb.DuckDBPyConnection, columns: Columns) -> None:
    """Make lists of rows of position and score."""
    keys = [name for name in _KEY_TYPES if name in columns.types]
    names = ", ".join(quoted(name) for name in keys)
    con.execute(
        f"create or replace temp table joined as select {names}, "
        "list(try_cast(score as double) order by place) as scores, list(place order by place) as places "
        "from (select *, try_cast(position as integer) as place from raw) "
        f"group by {names}"
    )
    refuse(
        con,
        f"select concat_ws(' ', {names}) || ': positions ' || places::varchar from joined "
        "where places <> range(len(places))::integer[] or list_contains(places, null) or len(places) <> len(scores)",
        "lists whose positions are not 0, 1, 2 ... without a gap",
        next_step="give each candidate of each example one row",
    )
    con.execute("create or replace temp view raw as select * exclude (places) from joined")
    del columns.types["position"]
    columns.types["scores"] = "DOUBLE[]"


def _cast(name: str, kind: str, given: str) -> str:
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


def _refuse_casts(con: duckdb.DuckDBPyConnection, name: str, kind: str, given: str) -> None:
    """Refuse values that are not of their type; nothing is guessed from them."""
    column = quoted(name)
    if con.execute(f"select (select count({column}) from raw) = (select count({column}) from given)").fetchall()[0][0]:
        return
    what = {"integer": "whole numbers", "double": "numbers", "double[]": "lists of numbers"}.get(kind, "lists")
    # A layout names its rows in a column key.
    keys = con.execute("select 1 from (describe raw) where column_name = 'key'").fetchall()
    place = "key" if keys else "'row ' || row_number() over ()"
    refuse(
        con,
        f"select place || ': ' || given from (select {place} as place, {column}::varchar as given, "
        f"{column} is not null and {_cast(name, kind, given)} is null as is_bad from raw) where is_bad",
        f"values of '{name}' that are not {what}",
        next_step="write them as JSON has them, with a point and without units",
    )
