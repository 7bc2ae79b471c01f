"""The heads of the SQL files of scores and layouts, as typed records."""

from dataclasses import dataclass
from typing import Literal, get_args

from talkhouse.queries.catalogue import Query
from talkhouse.relations import closest
from talkhouse.schema.errors import CatalogueError

_TYPES = {
    "label": "varchar",
    "labels": "varchar[]",
    "score": "double",
    "scores": "double[]",
    "text": "varchar",
}
"""Types of the columns that a prediction may have; ``prob_...`` is a number too."""

Form = Literal["documents", "lines", "score_rows"]
"""What a layout reads, and the name of the table in its SQL: label files, lines of a text, rows of an array."""


@dataclass(frozen=True)
class Column:
    """A column that predictions of a task have."""

    name: str
    is_optional: bool
    """Whether a prediction may be without it, as where a system says nothing."""
    type: str
    """Its type in SQL."""


@dataclass(frozen=True)
class Doubt:
    """A value of a metric above which it is seldom true, and why."""

    metric: str
    above: float
    reason: str


@dataclass(frozen=True)
class ScoreHead:
    """What the head of a file of scores says."""

    columns: tuple[Column, ...]
    """``predicts``: the columns of a prediction beside its key."""
    metrics: tuple[str, ...]
    """The files of metrics."""
    oracle: str | None
    """The right prediction, as SQL over the task's view."""
    labels: tuple[str, ...]
    scheme: str | None
    """The scheme that declares the labels, where the head does not."""
    official: tuple[str, ...] | None
    """The metrics that are official for this task; None where they are as its metrics say."""
    remark: str | None
    """What to know about the numbers, such as why none of them is official."""
    counts: str | None
    """SQL over the task's view: how many candidates an example has."""
    thresholds: tuple[float, ...]
    """The thresholds that are usual, first that of the publisher's script; none where the metrics know none."""
    by: tuple[str, ...]
    """The columns by which the publisher scores, each value alone."""
    pooled: str | None
    """Why its splits are scored together unless one is named."""
    doubt: Doubt | None
    published: str | None
    """What another variant of the task leaves as the files have it; None where there is no such variant."""


@dataclass(frozen=True)
class LayoutHead:
    """What the head of a layout says."""

    reads: Form
    tasks: tuple[str, ...]


def score_head(query: Query) -> ScoreHead:
    """Read the head of a file of scores; CatalogueError for a value that can't be what the line says."""
    facts = query.facts
    official = query.list_of("official")
    return ScoreHead(
        columns=tuple(_column(query, name) for name in query.list_of("predicts")),
        metrics=tuple(query.list_of("metrics")),
        oracle=facts.get("oracle"),
        labels=tuple(query.list_of("labels")),
        scheme=facts.get("scheme"),
        official=tuple(official) if official else None,
        remark=facts.get("remark"),
        counts=facts.get("counts"),
        thresholds=tuple(_number(query, "thresholds", text) for text in query.list_of("thresholds")),
        by=tuple(query.list_of("by")),
        pooled=facts.get("pooled"),
        doubt=_doubt(query, facts["doubt"]) if "doubt" in facts else None,
        published=facts.get("published"),
    )


def layout_head(query: Query) -> LayoutHead:
    """Read the head of a layout; CatalogueError for a form that there is not."""
    form = query.facts["reads"]
    if form not in get_args(Form):
        raise _broken(query, "reads", form, f"one of: {', '.join(get_args(Form))}")
    return LayoutHead(form, tuple(query.list_of("tasks")))  # type: ignore[arg-type]


def _column(query: Query, text: str) -> Column:
    name = text.removesuffix("?")
    kind = "double" if name.startswith("prob_") else _TYPES.get(name)
    if kind is None:
        near = closest(name, [*_TYPES, "prob_..."])
        raise _broken(query, "predicts", name, f"one of: {', '.join(near)}")
    return Column(name, text.endswith("?"), kind)


def _doubt(query: Query, text: str) -> Doubt:
    condition, _, reason = text.partition(": ")
    metric, _, limit = condition.partition(" > ")
    if not metric or not reason:
        raise _broken(query, "doubt", text, "'METRIC > NUMBER: reason'")
    return Doubt(metric, _number(query, "doubt", limit), reason)


def _number(query: Query, key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise _broken(query, key, text, "a number") from error


def _broken(query: Query, key: str, found: str, expected: str) -> CatalogueError:
    return CatalogueError(
        f"the line '-- {key}:' can't be read",
        where=query.path,
        expected=expected,
        found=found,
        next_step="mend the line: docs/scores.md lists what it may say",
    )
