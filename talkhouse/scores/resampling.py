"""Metrics of resamples, each by its own formula over the rows that were drawn, and their 95 % intervals."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import quantiles
from typing import Any, NamedTuple

from talkhouse.schema.sql import literal
from talkhouse.schema.sql_files import sql_of
from talkhouse.scores.metrics import ScoreMetric, metrics
from talkhouse.scores.task import ScoredTask
from talkhouse.scores.workspace import Bound, ScoringTable, ScoringWorkspace

SEED = 20_171_101
RESAMPLES = 1_000

DIALOGUE = "coalesce('dialogue ' || dialogue_id, 'record ' || record_id)"
"""SQL: what the rows of what was scored are drawn by."""

_AT_ONCE = 2_000_000
"""Rows that are drawn before the metrics of their resamples are computed."""

Values = dict[str, list[float | None]]
"""By the name of a metric, its value in each resample."""


@dataclass(frozen=True)
class Drawable:
    """What examples score in one or two runs, ready to be drawn from."""

    runs: int
    dialogues: int
    resamples: int
    step: int
    """Resamples that are drawn at once."""
    scored: str
    """The query of all examples."""
    rows: ScoringTable
    """What was scored, with its ``part``: the rows of one dialogue in one run."""
    kinds: ScoringTable
    """The kind of each part; parts in which all means have the same values are of one kind."""
    sums: ScoringTable
    """Of each mean, numerators and denominators by the kind."""
    others: ScoredTask
    """The task with those of its metrics alone that are no means, and what stands in one file with them."""


@contextmanager
def drawable(
    workspace: ScoringWorkspace,
    task: ScoredTask,
    runs: Sequence[str],
    scored: str,
    *,
    resamples: int = RESAMPLES,
    at_once: int = _AT_ONCE,
) -> Iterator[Drawable]:
    """Yield what can be drawn from queries of what was scored, one for each run of the same examples.

    ``scored`` is the query of all examples, which these may be a slice of.
    """
    each = [f"select {run}::bigint as part, * from ({sql})" for run, sql in enumerate(runs)]
    dialogue = f"(dense_rank() over (order by {DIALOGUE}) - 1)"
    rows = workspace.create(
        "drawable",
        f"select * replace ({dialogue} * {len(runs)} + part as part) from ({' union all by name '.join(each)})",
    )
    ((count, parts),) = workspace.con.execute(f"select count(*), coalesce(max(part) + 1, 0) from {rows}").fetchall()
    kinds, sums = _create_sums(workspace, task, rows, scored)
    every = f"select null as slice, * from {rows}"
    summaries = [
        summary
        for summary in task.summaries
        if not all(
            metric.is_mean or metric.is_count
            for metric in metrics(workspace.con, replace(task, summaries=(summary,)), every, scored)
        )
    ]
    others = replace(task, summaries=tuple(summaries))
    step = max(1, at_once // max(1, count))
    yield Drawable(len(runs), parts // len(runs), resamples, step, scored, rows, kinds, sums, others)
    workspace.drop([rows, kinds, sums])


def _create_sums(
    workspace: ScoringWorkspace, task: ScoredTask, rows: ScoringTable, scored: str
) -> tuple[ScoringTable, ScoringTable]:
    """Create the kinds of parts, and of each mean the sums by the kind: 100,000 lists may have 51 ranks."""
    sliced = {"sliced": f"select part as slice, * exclude (part) from {rows}", "scored": scored}
    each = " union all ".join(
        f"select slice as part, unnest(results, recursive := true) from ({Bound(summary, 'metrics', sliced).sql})"
        for summary in task.summaries
    )
    of_part = workspace.create(
        "of_part",
        # A file may name a metric twice, such as recall at 1 and at a tenth of 10 candidates.
        "select distinct on (part, name) part, name, "
        "count is not null as is_share, coalesce(count, value * of, 0)::double as numerator, of::double as denominator "
        f"from ({each}) where is_mean",
    )
    kinds = workspace.create(
        "kinds",
        "select part, dense_rank() over (order by means) - 1 as kind from "
        f"(select part, list((name, numerator, denominator) order by name) as means from {of_part} group by part)",
    )
    sums = workspace.create("sums", sql_of(__file__, "mean_sums", of_part=of_part, kinds=kinds))
    workspace.drop([of_part])
    return kinds, sums


def bootstrap(workspace: ScoringWorkspace, of: Drawable) -> list[Values]:
    """Draw as many dialogues as there are, with replacement; return the values of each run over the same dialogues.

    There are none where all resamples would be the same: with one dialogue.
    """
    if of.dialogues < 2:
        return [{} for _ in range(of.runs)]
    return _values(workspace, of, replaced(of))


def shuffled(workspace: ScoringWorkspace, of: Drawable) -> list[Values]:
    """Swap each dialogue between two runs, or not, by the toss of a coin; return the values of both."""
    return _values(workspace, of, swapped())


def replaced(of: Drawable) -> str:
    """Return the SQL of the part that is drawn at a place of a resample, with replacement."""
    # Twice: one hash of several values is an exclusive or, which only renames the dialogues where there are 2 ** n.
    number = f"(hash(hash({SEED}, resample, place)) % {of.dialogues})::bigint"
    return f"{number} * {of.runs} + run"


def swapped() -> str:
    """Return the SQL of the part of two runs that is at a place of a resample, in the one run or the other."""
    coin = f"(hash(hash({SEED}, 'swap', resample, place)) % 2)::bigint"
    return f"place * 2 + (run + {coin}) % 2"


def draws(of: Drawable, part: str, first: int, last: int) -> str:
    """Return the query of what is drawn in some resamples: sample (of each run), part and place."""
    return (
        f"select resample * {of.runs} + run as sample, {part} as part, place "
        f"from range({first}, {last}) as r(resample) cross join range({of.dialogues}) as p(place) "
        f"cross join range({of.runs}) as t(run)"
    )


def _values(workspace: ScoringWorkspace, of: Drawable, part: str) -> list[Values]:
    """Return by run the values of all resamples; ``part`` is the SQL of what is drawn at a place of a resample."""
    values: list[Values] = [{} for _ in range(of.runs)]
    for first in range(0, of.resamples, of.step):
        last = min(of.resamples, first + of.step)
        drawn = workspace.create("drawn", draws(of, part, first, last))
        means = _means(workspace, of, drawn, first * of.runs, last * of.runs)
        for drawn_value in (*means, *_others(workspace, of, drawn)):
            of_run = values[drawn_value.sample % of.runs].setdefault(drawn_value.metric, [None] * of.resamples)
            of_run[drawn_value.sample // of.runs] = drawn_value.value
        workspace.drop([drawn])
    return values


class SampleValue(NamedTuple):
    """The value of a metric in one sample: a run's part of a resample."""

    metric: str
    sample: int
    value: float | None


def _means(
    workspace: ScoringWorkspace, of: Drawable, drawn: ScoringTable, first: int, last: int
) -> Iterator[SampleValue]:
    """Return the means of the samples that are drawn."""
    rows = workspace.con.execute(
        sql_of(__file__, "resampled_means", drawn=drawn, kinds=of.kinds, first=first, last=last, sums=of.sums)
    ).fetchall()
    return map(SampleValue._make, rows)


def _others(workspace: ScoringWorkspace, of: Drawable, drawn: ScoringTable) -> Iterator[SampleValue]:
    """Yield the metrics that are no means. A dialogue that is drawn twice is two, each named by its place."""
    if not of.others.summaries:
        return
    rows = (
        "select sample as slice, drawable.* exclude (part) "
        "replace (case when dialogue_id is not null then place end as dialogue_id) "
        f"from {drawn} as drawn inner join {of.rows} as drawable using (part)"
    )
    # Slices are numbers here, which are grouped much faster than texts.
    for metric in metrics(workspace.con, of.others, rows, of.scored):
        if not metric.is_mean and not metric.is_count:
            yield SampleValue(metric.name, int(metric.slice or 0), metric.value)


_LEVEL = 0.95
_PARTS = 40
"""The first and last fortieth are left out."""


def with_intervals(
    workspace: ScoringWorkspace, task: ScoredTask, numbers: Sequence[ScoreMetric], sliced: str, scored: str
) -> list[ScoreMetric]:
    """Return metrics with the intervals of their values.

    ``sliced`` is the query that they are of, ``scored`` that of all examples.
    """
    rows = workspace.create("sliced", sliced)
    values = {part: _of_slice(workspace, task, rows, part, scored) for part in dict.fromkeys(m.slice for m in numbers)}
    ends = [interval(values[metric.slice].get(metric.name, [])) for metric in numbers]
    workspace.drop([rows])
    return [replace(metric, low=low, high=high) for metric, (low, high) in zip(numbers, ends, strict=True)]


def _of_slice(
    workspace: ScoringWorkspace, task: ScoredTask, rows: ScoringTable, part: str | None, scored: str
) -> Values:
    """Return the values of the resamples of a slice."""
    name = "null" if part is None else literal(part)
    query = f"select * exclude (slice) from {rows} where slice is not distinct from {name}"
    with drawable(workspace, task, [query], scored) as of:
        (values,) = bootstrap(workspace, of)
    return values


def described(dialogues: int) -> dict[str, Any]:
    """Return the settings of intervals, for reports."""
    drawn = {"resamples": RESAMPLES, "seed": SEED, "unit": "dialogue", "units": dialogues}
    return {"level": _LEVEL, "method": "percentile bootstrap", **drawn}


def interval(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return the ends of the middle 95 %, by linear interpolation; resamples without a value are left out."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None, None
    cuts = quantiles(known, n=_PARTS, method="inclusive")
    return cuts[0], cuts[-1]
