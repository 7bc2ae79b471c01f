"""Predictions without a system: the right ones, the most frequent, all alike, or drawn; and an empty table to fill."""

import duckdb

from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import identifier, literal, quoted
from talkhouse.scores.keys import Chosen
from talkhouse.scores.options import Baseline
from talkhouse.scores.tasks import Column, Task

_SEED = 20_171_101


def create_baseline(con: duckdb.DuckDBPyConnection, task: Task, kind: Baseline) -> None:
    """Create ``raw`` with a prediction for each of ``keys``; UsageError where the task has none of a kind."""
    if kind is Baseline.MAJORITY and all(one.name in ("score", "scores") for one in task.columns):
        raise UsageError(f"candidates of {task.name} have no majority", next_step="take uniform, random or oracle")
    con.execute(f"create or replace temp table oracle as {_oracle(con, task)}")
    if kind is Baseline.ORACLE:
        con.execute("create or replace temp view raw as select * from oracle")
        return
    labels = task.labels(con)
    columns = ", ".join(f"{_predicted(one, kind, labels)} as {quoted(one.name)}" for one in task.columns)
    usual = ", ".join(f"mode({quoted(one.name)}) as {quoted(one.name)}" for one in task.columns)
    con.execute(
        "create or replace temp table drawn as select *, "
        "row_number() over (order by release, split, example_index) - 1 as place, "
        f"hash({_SEED}, release, split, example_index) as seed, count(*) over () as examples from oracle"
    )
    con.execute(
        f"create or replace temp table baseline as select one.release, one.split, one.example_index, {columns} "
        f"from drawn as one inner join drawn as other on other.place = one.seed % one.examples "
        f"cross join (select {usual} from oracle) as usual"
    )
    con.execute("create or replace temp view raw as select * from baseline")


def _oracle(con: duckdb.DuckDBPyConnection, task: Task) -> str:
    """Return the query of the right predictions, as the head of the task's file writes them from its view."""
    view = f"{identifier(task.query.schema)}.{identifier(task.query.name)}"
    has_release = "release" in {row[0] for row in con.execute(f"describe {view}").fetchall()}
    release = "release" if has_release else "null::varchar"
    return (
        f"select {release} as release, split, example_index, {task.query.oracle} from {view} as gold "
        "where exists (select 1 from keys where keys.example_index = gold.example_index and keys.split = gold.split "
        f"and keys.release is not distinct from {'gold.release' if has_release else 'null'})"
    )


def _predicted(column: Column, kind: Baseline, labels: list[str]) -> str:
    """Return the SQL of a predicted column, from the right one of this example, of another, and the usual one."""
    name = quoted(column.name)
    if column.name == "scores":
        value = "0.0" if kind is Baseline.UNIFORM else f"hash({_SEED}, one.seed, place)::double"
        return f"list_transform(range(len(one.scores)), lambda place: {value})"
    if column.name == "score":
        return "0.0" if kind is not Baseline.RANDOM else "one.seed::double"
    if kind is Baseline.MAJORITY:
        if column.name.startswith("prob_"):
            return f"(usual.label = {literal(_label_of(column, labels))})::integer::double"
        return f"usual.{name}"
    if kind is Baseline.UNIFORM and labels:
        names = f"[{', '.join(map(literal, labels))}]"
        if column.name.startswith("prob_"):
            return f"1.0::double / {len(labels)}"
        return names if column.name == "labels" else f"{names}[(one.seed % {len(labels)})::bigint + 1]"
    return f"other.{name}"


def _label_of(column: Column, labels: list[str]) -> str:
    return next(label for label in labels if f"prob_{label.lower()}" == column.name)


def template(task: Task, chosen: Chosen) -> str:
    """Return the query of an empty prediction table: the keys of the split, and columns to be filled."""
    columns = ", ".join(f"null::{one.type} as {quoted(one.name)}" for one in task.columns)
    return (
        f"select release, split, example_index, record_id, turn_index, {columns}, "
        f"{literal(chosen.fingerprint)} as view_fingerprint "
        "from keys order by release nulls first, split, example_index"
    )
