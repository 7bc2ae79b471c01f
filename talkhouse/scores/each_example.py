"""One row per example with its own value of each metric, for error analysis; and an empty table of predictions."""

from collections.abc import Sequence

from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.metrics import metrics, whole
from talkhouse.scores.tasks.scoring_workspace import Bound, ScoringWorkspace, Table
from talkhouse.scores.tasks.task import ScoredTask
from talkhouse.warehouse.relations import columns_of

_OWN = ("release", "split", "example_index", "record_id", "turn_index")


def examples_query(workspace: ScoringWorkspace, task: ScoredTask, scored: Table) -> str:
    """Return the query of what each example scores, with its keys and the columns of the task's view."""
    names = [metric.name for metric in metrics(workspace.con, task, whole(scored), f"from {scored}")]
    each = workspace.create("each_example", _each(task, scored, names))
    known = [column["name"] for column in columns_of(workspace.con, task.query.schema, task.query.name)]
    same = ["example_index", "split", *(["release"] if "release" in known else [])]
    on = " and ".join(f"gold.{name} is not distinct from scored.{name}" for name in same)
    gold = ", ".join(f"gold.{quoted(name)}" for name in known if name not in _OWN)
    return (
        f"select scored.release, scored.split, scored.example_index, scored.record_id, each.* exclude (slice), {gold} "
        f"from {scored} as scored inner join {each} as each on each.slice = scored.rowid::varchar "
        f"inner join {task.view} as gold on {on} "
        "order by scored.release nulls first, scored.split, scored.example_index"
    )


def _each(task: ScoredTask, scored: Table, names: Sequence[str]) -> str:
    """Return the query of a row per example with a column per metric."""
    sliced = {"sliced": f"select rowid::varchar as slice, * from {scored}", "scored": f"from {scored}"}
    parts = " union all ".join(
        f"select slice, unnest(results, recursive := true) from ({Bound(summary, 'metrics', sliced).sql})"
        for summary in task.summaries
    )
    columns = ", ".join(f"max(value) filter (where name = {literal(name)}) as {quoted(name)}" for name in names)
    return f"select slice, {columns} from ({parts}) group by slice"
