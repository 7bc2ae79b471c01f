"""What each example scores, and the metrics over it: the SQL of a task."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

import duckdb

from talkhouse.queries.heads import Query
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import literal
from talkhouse.scores.metrics import bleu
from talkhouse.scores.tasks.refusals import refuse
from talkhouse.scores.tasks.sql_files import Bound
from talkhouse.scores.tasks.task import Task
from talkhouse.scores.tasks.workspace import Table, Workspace
from talkhouse.warehouse.relations import columns_of

_EXAMPLE = ("release", "split", "example_index", "record_id", "dialogue_id")
"""Columns that the SQL of every task gives: of what scores, and of what it is drawn by."""


@dataclass(frozen=True)
class Metric:
    """A number, of all that was scored or of a slice."""

    name: str
    value: float | None
    official: bool
    """Whether it is what the publisher's own program gives."""
    slice: str | None
    """``column=value``; None for all."""
    best: float | None
    """The value if all ties were broken in favour of the prediction; None where nothing is tied."""
    worst: float | None
    count: int | None
    """Numerator of a share."""
    of: int | None
    """Denominator of a share; for a mean, how many examples have a value."""
    is_mean: bool
    """Whether it is a mean or a share: then numerators and denominators of parts add up."""
    threshold: float | None = None
    low: float | None = None
    """The ends of its interval; None where none was asked for, and for a count."""
    high: float | None = None
    is_main: bool = False
    """Whether it is one to be looked at first: official, or not only for ties or by what the user chose.

    Where no metric of the task is official, those that are for other tasks, or the first few of a file.
    """

    @property
    def is_count(self) -> bool:
        """Whether it is a number that stands beside the metrics."""
        return self.of is None and self.count is not None


NONE = ("none",)
"""What the head of a task says where no metric is official."""

_FIRST = 4
"""Metrics of a file that are shown where no metric is official."""

_RESULT = frozenset(field.name for field in fields(Metric)[:9]) - {"slice"}
"""What the SQL of a metric gives."""


def set_threshold(con: duckdb.DuckDBPyConnection, threshold: float | None) -> None:
    """Let the SQL of a task see this threshold of its gold label."""
    if threshold is not None:
        con.execute(f"set variable threshold = {threshold!r}::double")


def score_examples(workspace: Workspace, task: Task, predicted: Table) -> Table:
    """Create a table of what each example scores, from its prediction.

    Raises BadPredictions for predictions that can't be scored, CatalogueError where the SQL of the task is wrong.
    """
    relations = {"predicted": f"from {predicted}", "gold": _gold(workspace, task, predicted)}
    sql = Bound(task.query, "scores", relations)
    names = sql.check(workspace.con, *_EXAMPLE)
    with sql.errors(workspace.con):
        scored = workspace.create("scored", sql.sql)
    if "problem" in names:
        refuse(
            workspace.con,
            "select concat_ws(' ', release, split, 'example_index ' || example_index) || ': ' || problem "
            f"from {scored} where problem is not null order by release, split, example_index",
            "predictions can't be scored",
            next_step="give what the task declares: see docs/scores.md",
        )
    return bleu.with_bleu(workspace, scored) if "guess" in names else scored


def _gold(workspace: Workspace, task: Task, predicted: Table) -> str:
    """Return the query of the rows of a task's view from the first record that is scored to the last.

    A join with ``predicted`` says the same, but DuckDB would first gather the candidates of all splits: only a
    comparison with a constant reaches the tables below.
    """
    ((first, last),) = workspace.con.execute(f"select min(record_id), max(record_id) from {predicted}").fetchall()
    known = [column["name"] for column in columns_of(workspace.con, task.query.schema, task.query.name)]
    if first is None or "record_id" not in known:
        return f"from {task.view}"
    return f"from {task.view} where record_id between {literal(first)} and {literal(last)}"


def whole(scored: Table) -> str:
    """Return the query of all that was scored, as one slice."""
    return f"select null::varchar as slice, * from {scored}"


def metrics(con: duckdb.DuckDBPyConnection, task: Task, sliced: str, scored: str) -> list[Metric]:
    """Run the metrics of a task over a query of what examples score with a column ``slice``; null stands for all.

    ``scored`` is the query of all examples, which the slices or resamples are of.
    """
    by_name: dict[tuple[str | None, str], Metric] = {}
    relations = {"sliced": sliced, "scored": scored}
    for summary in task.summaries:
        for part, results in _results(con, summary, relations):
            for metric in _of_file(summary, task, part, results):
                by_name.setdefault((part, metric.name), metric)
    return list(by_name.values())


def _results(
    con: duckdb.DuckDBPyConnection, summary: Query, relations: Mapping[str, str]
) -> list[tuple[str | None, list[dict[str, object]]]]:
    """Run the SQL of a file of metrics: for each slice what it gives."""
    sql = Bound(summary, "metrics", relations)
    with sql.errors(con):
        return con.execute(f"select slice, results from ({sql.sql}) order by slice").fetchall()


def _of_file(summary: Query, task: Task, part: str | None, results: object) -> Iterator[Metric]:
    """Yield the metrics that a file gives of a slice; CatalogueError where it gives something else."""
    if not isinstance(results, list) or not all(isinstance(one, dict) and one.keys() == _RESULT for one in results):
        raise CatalogueError(
            "the SQL file gives what is no metric",
            where=summary.path,
            expected="a column 'results': a list of metrics.mean, share, over_ties, value and count_of",
            found=f"{results}"[:200],
            next_step="mend the file",
        )
    official = task.query.official
    has_official = any(result["official"] for result in results)
    for place, result in enumerate(results):
        is_possible = official is None or result["name"] in official
        is_main = is_possible and (result["official"] or result["best"] is not None)
        if official == NONE:
            is_main = result["official"] if has_official else place < _FIRST
        is_official = is_possible and result["official"]
        yield Metric(**result | {"slice": part, "official": is_official, "is_main": is_main})


def tied(workspace: Workspace, scored: Table) -> int:
    """Return how many examples have a candidate with the score of the right one."""
    if "tied" not in workspace.columns(scored):
        return 0
    return int(workspace.con.execute(f"select count_if(tied > 1) from {scored}").fetchall()[0][0])
