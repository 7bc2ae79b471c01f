"""95 % intervals of metrics by the percentile bootstrap."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import quantiles
from typing import Any

from talkhouse.schema.sql import literal
from talkhouse.scores.metrics.metrics import Metric
from talkhouse.scores.statistics.resampling import RESAMPLES, SEED, Values, bootstrap, drawable
from talkhouse.scores.tasks.task import Task
from talkhouse.scores.tasks.workspace import Table, Workspace

LEVEL = 0.95
_PARTS = 40
"""The first and last fortieth are left out."""


def with_intervals(
    workspace: Workspace, task: Task, numbers: Sequence[Metric], sliced: str, scored: str
) -> list[Metric]:
    """Return metrics with the intervals of their values.

    ``sliced`` is the query that they are of, ``scored`` that of all examples.
    """
    rows = workspace.create("sliced", sliced)
    values = {part: _of_slice(workspace, task, rows, part, scored) for part in dict.fromkeys(m.slice for m in numbers)}
    ends = [interval(values[metric.slice].get(metric.name, [])) for metric in numbers]
    workspace.drop([rows])
    return [replace(metric, low=low, high=high) for metric, (low, high) in zip(numbers, ends, strict=True)]


def _of_slice(workspace: Workspace, task: Task, rows: Table, part: str | None, scored: str) -> Values:
    """Return the values of the resamples of a slice."""
    name = "null" if part is None else literal(part)
    query = f"select * exclude (slice) from {rows} where slice is not distinct from {name}"
    with drawable(workspace, task, [query], scored) as of:
        (values,) = bootstrap(workspace, of)
    return values


def described(dialogues: int) -> dict[str, Any]:
    """Say how intervals are made, for who reports them."""
    drawn = {"resamples": RESAMPLES, "seed": SEED, "unit": "dialogue", "units": dialogues}
    return {"level": LEVEL, "method": "percentile bootstrap", **drawn}


def interval(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return the ends of the middle 95 %, by linear interpolation; resamples without a value are left out."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None, None
    cuts = quantiles(known, n=_PARTS, method="inclusive")
    return cuts[0], cuts[-1]
