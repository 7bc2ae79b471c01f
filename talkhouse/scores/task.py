"""The tasks that can be scored, as the SQL files of their corpora declare them, and what a user asks to have scored."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from talkhouse.export.selection import Filters
from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.queries.catalogue import METRICS, Catalogue, catalogue
from talkhouse.queries.heads import LayoutQuery, MacroQuery, MetricQuery, PrintedQuery, ScoreQuery
from talkhouse.schema.errors import CatalogueError, UsageError, closest
from talkhouse.scores.options import AUTO, TABLE, Baseline

if TYPE_CHECKING:
    from pyarrow import lib as pa

_TYPES = {"label": "varchar", "labels": "varchar[]", "score": "double", "scores": "double[]", "text": "varchar"}
"""Types of the columns that a prediction may have; ``prob_...`` is a number too."""


class PredictionColumn(NamedTuple):
    """A column that predictions of a task have."""

    name: str
    is_optional: bool
    """Whether a prediction may be without it, as where a system says nothing."""
    type: str
    """Its type in SQL."""


@dataclass(frozen=True)
class ScoredTask:
    """A task with its own metrics."""

    query: ScoreQuery
    """What each example scores."""
    summaries: tuple[MetricQuery, ...]
    """The metrics over all of them."""
    layouts: tuple[LayoutQuery, ...]
    """The layouts of publishers that its predictions may have."""
    printed: PrintedQuery | None
    macros: tuple[MacroQuery, ...]
    """The macros that these may call."""

    @property
    def name(self) -> str:
        """The name of the task's view."""
        return self.query.full_name

    @property
    def view(self) -> str:
        """The name of the task's view as SQL writes it."""
        return self.query.name_in_sql

    @property
    def columns(self) -> tuple[PredictionColumn, ...]:
        """The columns of a prediction in addition to its key."""
        names = ((text.removesuffix("?"), text.endswith("?")) for text in self.query.predicts)
        return tuple(PredictionColumn(name, optional, _TYPES.get(name, "double")) for name, optional in names)

    def is_lower_better(self, metric: str) -> bool:
        """Whether less is better in a metric."""
        return metric.partition(" (")[0] in self.query.lower

    def layout(self, name: str) -> LayoutQuery | None:
        """Return the layout of this name, None for a table and where it is to be found; UsageError lists the names."""
        if name in (AUTO, TABLE):
            return None
        by_name = {layout.name: layout for layout in self.layouts}
        if name not in by_name:
            raise UsageError(
                f"{self.name} has no predictions in the layout '{name}'",
                expected=f"one of: {', '.join(closest(name, [AUTO, TABLE, *by_name]))}",
                next_step="name one of these with --format",
            )
        return by_name[name]

    def labels(self, con: duckdb.DuckDBPyConnection) -> list[str]:
        """Return the labels that a prediction may have; none where it has no labels."""
        scheme = self.query.scheme
        if scheme is None:
            return list(self.query.labels)
        rows = con.execute(
            "select label from main.labels where scheme = ? order by all", [self.query.scheme]
        ).fetchall()
        if not rows:
            schemes = [name for (name,) in con.execute("select distinct scheme from main.labels").fetchall()]
            raise CatalogueError(
                f"no labels of the scheme '{scheme}' are declared",
                where=self.query.path,
                expected=f"one of: {', '.join(closest(scheme, schemes))}",
                next_step="correct the line '-- scheme:', or declare the scheme in the corpus",
            )
        return [label for (label,) in rows]


def task(name: str, known: Catalogue | None = None) -> ScoredTask:
    """Find a task of a catalogue, or of Talkhouse's own, by its view's name; UsageError lists what can be scored."""
    files = catalogue() if known is None else known
    queries = {query.full_name: query for query in files.scores}
    if name not in queries:
        raise UsageError(
            f"no metrics for '{name}'",
            expected=f"one of: {', '.join(closest(name, queries))}",
            next_step="name the view of one of these tasks",
        )
    query = queries[name]
    summaries = {summary.full_name: summary for summary in files.metrics}
    return ScoredTask(
        query,
        tuple(summaries[wanted] for wanted in query.metrics),
        tuple(layout for layout in files.layouts if layout.schema == query.schema and query.name in layout.tasks),
        next((file for file in files.printed if file.full_name == name), None),
        tuple(macro for macro in files.macros if macro.schema in (METRICS, query.schema)),
    )


@dataclass(frozen=True)
class ScoreRequest:
    """What is to be scored, and how."""

    paths: Sequence[Path]
    layout: str = AUTO
    """``table``, the name of one of the task's layouts, or ``auto``: as the name of the file says."""
    split: str | None = None
    release: str | None = None
    subsets: Sequence[str] = ()
    where: str | None = None
    """An SQL expression of the columns of the task's view, true of what is to be scored."""
    missing: str = "stop"
    """``wrong``: an example without a prediction counts as wrong."""
    unknown: str = "stop"
    """``wrong``: an undeclared label counts as wrong."""
    by: Sequence[str] = ()
    as_printed: bool = False
    """Accept what the publisher's script accepts, and score at its threshold."""
    as_published: bool = False
    """Leave the labels as the files have them, where the publisher's program changes them."""
    baseline: Baseline | None = None
    """Predictions that need no file."""
    interval: bool = False
    """Also compute the 95 % interval of each metric."""
    judged: str | None = None
    """SQL name of a table of verdicts on examples: score also without some, and these alone."""
    dropped: Sequence[str] = ()
    """The verdicts of the examples that are left out, and scored alone."""
    keep: bool = False
    """The run is to be saved: it must be of the classes that other runs of the task have."""
    limits: Limits = DEFAULT
    """How much of a file is read."""
    table: "pa.Table | None" = None
    """Predictions that are at hand, in place of files."""

    @property
    def filters(self) -> Filters:
        """Which examples are asked for."""
        return Filters(self.split, self.release, tuple(self.subsets), self.where)
