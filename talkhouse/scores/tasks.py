"""The tasks that can be scored, as the SQL files of their corpora declare them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import duckdb

from talkhouse.queries.catalogue import DEFAULT_ROOT, catalogue
from talkhouse.queries.heads import Doubt, LayoutQuery, MetricQuery, PrintedQuery, ScoreQuery
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import UsageError

_TYPES = {
    "label": "varchar",
    "labels": "varchar[]",
    "score": "double",
    "scores": "double[]",
    "text": "varchar",
}
"""Types of the columns that a prediction may have; ``prob_...`` is a number too."""


@dataclass(frozen=True)
class Column:
    """A column that predictions of a task have."""

    name: str
    is_optional: bool
    """Whether a prediction may be without it, as where a system says nothing."""

    @property
    def type(self) -> str:
        """Its type in SQL."""
        return "double" if self.name.startswith("prob_") else _TYPES[self.name]


@dataclass(frozen=True)
class Task:
    """A task with its own metrics."""

    query: ScoreQuery
    """What each example scores."""
    summaries: tuple[MetricQuery, ...]
    """The metrics over all of them."""
    layouts: tuple[LayoutQuery, ...]
    printed: PrintedQuery | None

    @property
    def name(self) -> str:
        """The name of the task's view."""
        return self.query.full_name

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a prediction beside its key."""
        names = self.query.predicts
        return tuple(Column(name.removesuffix("?"), name.endswith("?")) for name in names)

    @property
    def thresholds(self) -> list[float]:
        """The thresholds that are usual, first that of the publisher's script; none where the metrics know none."""
        return [*self.query.thresholds]

    @property
    def by(self) -> list[str]:
        """The columns by which the publisher scores, each value alone."""
        return [*self.query.by]

    @property
    def doubt(self) -> Doubt | None:
        """A metric, the value above which it is seldom true, and why."""
        return self.query.doubt

    @property
    def as_published(self) -> str | None:
        """What another variant of the task leaves as the files have it; None where there is no such variant."""
        return self.query.published

    @property
    def is_pooled(self) -> bool:
        """Whether its splits are scored together unless one is named, as its publisher does."""
        return self.query.pooled is not None

    @property
    def official(self) -> list[str] | None:
        """The metrics that are official for this task; None where they are as its metrics say."""
        return None if self.query.official is None else [*self.query.official]

    @property
    def remark(self) -> str | None:
        """What to know about the numbers, such as why none of them is official."""
        return self.query.remark

    def labels(self, con: duckdb.DuckDBPyConnection) -> list[str]:
        """Return the labels that a prediction may have; none where it has no labels."""
        if self.query.scheme:
            rows = con.execute("select label from main.labels where scheme = ? order by all", [self.query.scheme])
            return [label for (label,) in rows.fetchall()]
        return [*self.query.labels]


def task(name: str, roots: Iterable[Path] = (DEFAULT_ROOT,)) -> Task:
    """Find a task by the name of its view; UsageError lists those that can be scored."""
    found = catalogue(roots)
    queries = {query.full_name: query for query in found.scores}
    if name not in queries:
        raise UsageError(
            f"no metrics for '{name}'",
            expected=f"one of: {', '.join(closest(name, queries))}",
            next_step="name the view of one of these tasks",
        )
    query = queries[name]
    summaries = {summary.full_name: summary for summary in found.metrics}
    return Task(
        query,
        tuple(summaries[name] for name in query.metrics),
        tuple(one for one in found.layouts if one.schema == query.schema and query.name in one.tasks),
        next((one for one in found.printed if one.full_name == name), None),
    )
