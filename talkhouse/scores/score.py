"""Scores predictions: reads and checks them, joins them with the split, and runs the task's SQL."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from talkhouse.schema.errors import UsageError
from talkhouse.scores.metrics.metrics import (
    Metric,
    metrics,
    score_examples,
    set_threshold,
    tied,
    whole,
)
from talkhouse.scores.metrics.slices import ONLY_OVERLAP, WITHOUT_OVERLAP, by_verdict, create_slices
from talkhouse.scores.predictions.read import Predictions, read_predictions
from talkhouse.scores.statistics.intervals import described, with_intervals
from talkhouse.scores.statistics.resampling import DIALOGUE
from talkhouse.scores.tasks.examples import Chosen
from talkhouse.scores.tasks.refusals import of_files
from talkhouse.scores.tasks.request import Request
from talkhouse.scores.tasks.task import Task
from talkhouse.scores.tasks.workspace import Table, Workspace
from talkhouse.warehouse.opened import Warehouse


@dataclass(frozen=True)
class AtThreshold:
    """What was scored at a threshold of the gold label, or where there is none."""

    threshold: float | None
    predictions: Predictions
    scored: Table
    """What each example scores."""
    metrics: list[Metric]


@dataclass(frozen=True)
class Scored:
    """The metrics of predictions, and what they are of."""

    task: Task
    turns: tuple[AtThreshold, ...]
    """One for each threshold; a threshold changes the right label, and by it the predictions of a baseline."""
    rows: int
    tied: int
    warnings: list[str]
    interval: dict[str, Any] | None
    """How the intervals were made; None where none were asked for."""
    sizes: dict[str, int]
    """How many examples are without overlap, and how many have it, by the names of their slices; empty: not asked."""

    @property
    def chosen(self) -> Chosen:
        """The splits and subsets."""
        return self.turns[0].predictions.examples.chosen

    @property
    def files(self) -> list[dict[str, str]]:
        """Path and SHA-256 of each file; none of a baseline."""
        return self.turns[0].predictions.files

    @property
    def missing(self) -> int:
        """How many examples have no prediction."""
        return self.turns[0].predictions.missing

    @property
    def thresholds(self) -> list[float | None]:
        """The thresholds, None where the metrics know none."""
        return [turn.threshold for turn in self.turns]

    @property
    def metrics(self) -> list[Metric]:
        """The metrics at each threshold."""
        return [metric for turn in self.turns for metric in turn.metrics]


def score(workspace: Workspace, task: Task, request: Request, thresholds: Sequence[float] = ()) -> Scored:
    """Score predictions, at each threshold where the task has one; the tables of another run are dropped.

    Raises UsageError where the files can't be read or the names can't be, BadPredictions where rows can't be scored,
    CatalogueError where the SQL of the task is wrong.
    """
    workspace.clear()
    con = workspace.con
    Warehouse(con).check_views()
    if request.as_printed and request.interval:
        raise UsageError("the script prints no intervals", next_step="leave out --as-printed or --interval")
    _check_variant(task, request)
    con.execute(f"set variable as_published = {request.as_published}")
    limits = _thresholds(task, thresholds, request)
    with of_files(request.paths):
        set_threshold(con, limits[0])
        first = read_predictions(workspace, task, request)
        turns = [_at(workspace, task, request, limits[0], first)]
        for limit in limits[1:]:
            set_threshold(con, limit)
            # The right label, which the oracle predicts, depends on the threshold.
            predictions = read_predictions(workspace, task, request) if request.baseline else first
            turns.append(_at(workspace, task, request, limit, predictions))
    scored = turns[0].scored
    query = f"select count(*), count(distinct {DIALOGUE}) from {first.examples.keys}"
    ((rows, dialogues),) = con.execute(query).fetchall()
    how = described(dialogues) if request.interval else None
    warnings = [*first.warnings, *_warnings(task, request, turns)]
    sizes = _sizes(workspace, task, request, scored)
    return Scored(task, tuple(turns), rows, tied(workspace, scored), warnings, how, sizes)


def _at(
    workspace: Workspace, task: Task, request: Request, threshold: float | None, predictions: Predictions
) -> AtThreshold:
    """Score predictions at the threshold that is set: each slice, and then all of them."""
    scored = score_examples(workspace, task, predictions.table)
    numbers: list[Metric] = []
    for sliced in (*_slices(workspace, task, request, scored), whole(scored)):
        of_slices = metrics(workspace.con, task, sliced, f"from {scored}")
        numbers += (
            with_intervals(workspace, task, of_slices, sliced, f"from {scored}") if request.interval else of_slices
        )
    is_official = not predictions.missing and not request.as_published and request.where is None
    parts = (WITHOUT_OVERLAP, ONLY_OVERLAP)
    numbers = [
        replace(m, threshold=threshold, official=m.official and is_official and m.slice not in parts) for m in numbers
    ]
    return AtThreshold(threshold, predictions, scored, numbers)


def _slices(workspace: Workspace, task: Task, request: Request, scored: Table) -> list[str]:
    """Return queries of the slices that are wanted, and of those by which the publisher scores, if there are two."""
    overlapping = [] if request.judged is None else [by_verdict(task, scored, request.judged, request.dropped)]
    usual = [] if request.as_printed else [column for column in task.query.by if column not in request.by]
    if not usual and not request.by:
        return overlapping
    slices = create_slices(workspace, task, scored, [*usual, *request.by])
    several = [column for column in usual if slices.has_several(workspace.con, column)]
    return [*overlapping, *(slices.by_column(column) for column in (*several, *request.by))]


def _sizes(workspace: Workspace, task: Task, request: Request, scored: Table) -> dict[str, int]:
    if request.judged is None:
        return {}
    sliced = by_verdict(task, scored, request.judged, request.dropped)
    counts = dict(workspace.con.execute(f"select slice, count(*) from ({sliced}) group by slice").fetchall())
    return {name: counts.get(name, 0) for name in (WITHOUT_OVERLAP, ONLY_OVERLAP)}


def _check_variant(task: Task, request: Request) -> None:
    """Refuse labels as published where they are that anyway, and where the run is to be compared with others."""
    if not request.as_published:
        return
    if task.query.published is None:
        raise UsageError(f"{task.name} is scored as published anyway", next_step="leave --as-published out")
    if request.keep:
        raise UsageError(
            "saved runs are compared with others of the task, and these are other classes",
            next_step="leave out --as-published or --save",
        )


def _warnings(task: Task, request: Request, turns: Sequence[AtThreshold]) -> list[str]:
    """Return what to say of the variant, of an expression, and of numbers that are too good."""
    variant = f"as published: {task.query.published}; no number is official"
    warnings = [variant] if request.as_published else []
    if request.where is not None:
        warnings.append(f"only examples of which --where is true: {request.where}; no number is official")
    doubt = task.query.doubt
    if doubt is None or request.baseline:
        return warnings
    wholes = [metric for turn in turns for metric in turn.metrics if metric.slice is None]
    values = [metric.value for metric in wholes if metric.name == doubt.metric and metric.value is not None]
    doubts = [f"{doubt.metric} is {value:.6f}, and above {doubt.limit:g} {doubt.reason}" for value in values]
    return warnings + [text for text, value in zip(doubts, values, strict=True) if value > doubt.limit]


def _thresholds(task: Task, asked: Sequence[float], request: Request) -> list[float | None]:
    """Return the thresholds to score at, at least one: those that were asked for, or the task's; None where none is."""
    usual = task.query.thresholds
    if not usual:
        if asked:
            raise UsageError(f"{task.name} has no threshold", next_step="leave --threshold out")
        return [None]
    for threshold in asked:
        if not 0 <= threshold <= 1:
            raise UsageError(
                "a threshold is a share of annotators",
                expected="a number from 0 to 1",
                found=f"{threshold}",
                next_step="the challenge's script has 0.0 by default; its documented runs use 0.5",
            )
    return list(dict.fromkeys(asked)) or list(usual[:1] if request.as_printed else usual)
