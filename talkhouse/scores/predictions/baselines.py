"""Predictions without a system: the right ones, the most frequent, all alike, or drawn; and an empty table to fill."""

from talkhouse.schema.errors import CatalogueError, UsageError
from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.tasks.examples import Examples
from talkhouse.scores.tasks.options import Baseline
from talkhouse.scores.tasks.scoring_workspace import ScoringWorkspace, Table, head_errors
from talkhouse.scores.tasks.task import PredictionColumn, ScoredTask

_SEED = 20_171_101

_KEY = "release, split, example_index"


def create_baseline(workspace: ScoringWorkspace, task: ScoredTask, examples: Examples, kind: Baseline) -> Table:
    """Create a prediction for each of the examples; UsageError where the task has none of a kind."""
    if kind is Baseline.MAJORITY and all(column.name in ("score", "scores") for column in task.columns):
        raise UsageError(f"candidates of {task.name} have no majority", next_step="take uniform, random or oracle")
    oracle = _create_oracle(workspace, task, examples)
    if kind is Baseline.ORACLE:
        return oracle
    labels = task.labels(workspace.con)
    columns = ", ".join(f"{_predicted(column, kind, labels)} as {quoted(column.name)}" for column in task.columns)
    usual = ", ".join(f"mode({quoted(column.name)}) as {quoted(column.name)}" for column in task.columns)
    seeded = workspace.create(
        "seeded",
        f"select *, row_number() over (order by {_KEY}) - 1 as place, "
        f"hash({_SEED}, release, split, example_index) as seed, count(*) over () as examples from {oracle}",
    )
    return workspace.create(
        "baseline",
        f"select own.release, own.split, own.example_index, {columns} "
        f"from {seeded} as own inner join {seeded} as other on other.place = own.seed % own.examples "
        f"cross join (select {usual} from {oracle}) as usual",
    )


def _create_oracle(workspace: ScoringWorkspace, task: ScoredTask, examples: Examples) -> Table:
    """Create the right predictions, as the head of the task's file writes them from its view."""
    if task.query.oracle is None:
        raise CatalogueError(
            "the head of the SQL file does not say what the right prediction is",
            where=task.query.path,
            expected="a line '-- oracle: ...'",
            next_step="add it: docs/scores.md says how, and baselines need it",
        )
    with head_errors(task.query, "oracle"):
        columns = workspace.con.execute(f"describe {task.view}").fetchall()
        has_release = "release" in {column[0] for column in columns}
        release = "release" if has_release else "null::varchar"
        oracle = workspace.create(
            "oracle",
            f"select {release} as release, split, example_index, {task.query.oracle} from {task.view} as gold where "
            f"exists (select 1 from {examples.keys} as keys "
            "where keys.example_index = gold.example_index and keys.split = gold.split "
            f"and keys.release is not distinct from {'gold.release' if has_release else 'null'})",
        )
    there = workspace.columns(oracle)
    for column in task.columns:
        if column.name not in there:
            raise CatalogueError(
                f"the line '-- oracle:' gives no column '{column.name}'",
                where=task.query.path,
                expected=f"the columns {', '.join(column.name for column in task.columns)}",
                found=f"the columns {', '.join(there)}",
                next_step="mend the line",
            )
    return oracle


def _predicted(column: PredictionColumn, kind: Baseline, labels: list[str]) -> str:
    """Return the SQL of a predicted column, from the right one of this example, of another, and the usual one."""
    name = quoted(column.name)
    if column.name == "scores":
        value = "0.0" if kind is Baseline.UNIFORM else f"hash({_SEED}, own.seed, place)::double"
        return f"list_transform(range(len(own.scores)), lambda place: {value})"
    if column.name == "score":
        return "0.0" if kind is not Baseline.RANDOM else "own.seed::double"
    if kind is Baseline.MAJORITY:
        if column.name.startswith("prob_"):
            return f"(usual.label = {literal(_label_of(column, labels))})::integer::double"
        return f"usual.{name}"
    if kind is Baseline.UNIFORM and labels:
        names = f"[{', '.join(map(literal, labels))}]"
        if column.name.startswith("prob_"):
            return f"1.0::double / {len(labels)}"
        return names if column.name == "labels" else f"{names}[(own.seed % {len(labels)})::bigint + 1]"
    return f"other.{name}"


def _label_of(column: PredictionColumn, labels: list[str]) -> str:
    return next(label for label in labels if f"prob_{label.lower()}" == column.name)


def template(task: ScoredTask, examples: Examples) -> str:
    """Return the query of an empty prediction table: the keys of the split, and columns to be filled."""
    columns = ", ".join(f"null::{column.type} as {quoted(column.name)}" for column in task.columns)
    item = "item_index, " if examples.has_items else ""
    return (
        f"select release, split, example_index, record_id, turn_index, {item}{columns}, "
        f"{literal(examples.chosen.fingerprint)} as view_fingerprint "
        f"from {examples.keys} order by release nulls first, split, example_index"
    )
