"""The tasks that can be scored, as the SQL files of their corpora declare them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import duckdb

from talkhouse.queries.catalogue import DEFAULT_ROOT, Query, catalogue
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import CatalogueError, UsageError

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

    query: Query
    """What each example scores."""
    summaries: tuple[Query, ...]
    """The metrics over all of them."""
    layouts: tuple[Query, ...]
    printed: Query | None

    @property
    def name(self) -> str:
        """The name of the task's view."""
        return self.query.full_name

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a prediction beside its key."""
        names = self.query.list_of("predicts")
        return tuple(Column(name.removesuffix("?"), name.endswith("?")) for name in names)

    @property
    def thresholds(self) -> list[float]:
        """The thresholds that are usual, first that of the publisher's script; none where the metrics know none."""
        return [float(one) for one in self.query.list_of("thresholds")]

    @property
    def by(self) -> list[str]:
        """The columns by which the publisher scores, each value alone."""
        return self.query.list_of("by")

    @property
    def doubt(self) -> tuple[str, float, str] | None:
        """A metric, the value above which it is seldom true, and why."""
        if "doubt" not in self.query.facts:
            return None
        condition, _, reason = self.query.facts["doubt"].partition(": ")
        metric, _, limit = condition.partition(" > ")
        return metric, float(limit), reason

    @property
    def as_published(self) -> str | None:
        """What another variant of the task leaves as the files have it; None where there is no such variant."""
        return self.query.facts.get("published")

    @property
    def is_pooled(self) -> bool:
        """Whether its splits are scored together unless one is named, as its publisher does."""
        return "pooled" in self.query.facts

    @property
    def official(self) -> list[str] | None:
        """The metrics that are official for this task; None where they are as its metrics say."""
        return self.query.list_of("official") or None

    @property
    def remark(self) -> str | None:
        """What to know about the numbers, such as why none of them is official."""
        return self.query.facts.get("remark")

    def labels(self, con: duckdb.DuckDBPyConnection) -> list[str]:
        """Return the labels that a prediction may have; none where it has no labels."""
        if "scheme" in self.query.facts:
            rows = con.execute(
                "select label from main.labels where scheme = ? order by all", [self.query.facts["scheme"]]
            )
            return [label for (label,) in rows.fetchall()]
        return self.query.list_of("labels")


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
    wanted = query.list_of("metrics")
    for one in wanted:
        if one not in summaries:
            raise CatalogueError("the SQL file is broken", where=query.path, found=f"no metrics '{one}'")
    return Task(
        query,
        tuple(summaries[one] for one in wanted),
        tuple(one for one in found.layouts if one.schema == query.schema and query.name in one.list_of("tasks")),
        next((one for one in found.printed if one.full_name == name), None),
    )
