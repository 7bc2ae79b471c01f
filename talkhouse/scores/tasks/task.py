"""The tasks that can be scored, as the SQL files of their corpora declare them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from talkhouse.queries.catalogue import DEFAULT_ROOT, Query, catalogue
from talkhouse.relations import closest
from talkhouse.schema.errors import CatalogueError, UsageError
from talkhouse.schema.sql import identifier
from talkhouse.scores.tasks.heads import Column, LayoutHead, ScoreHead, layout_head, score_head
from talkhouse.scores.tasks.options import AUTO, TABLE


@dataclass(frozen=True)
class Layout:
    """A publisher's own layout of predictions."""

    query: Query
    head: LayoutHead

    @property
    def name(self) -> str:
        """The name that ``--format`` takes."""
        return self.query.name


@dataclass(frozen=True)
class Task:
    """A task with its own metrics."""

    query: Query
    """What each example scores."""
    head: ScoreHead
    summaries: tuple[Query, ...]
    """The metrics over all of them."""
    layouts: tuple[Layout, ...]
    printed: Query | None

    @property
    def name(self) -> str:
        """The name of the task's view."""
        return self.query.full_name

    @property
    def view(self) -> str:
        """The name of the task's view as SQL writes it."""
        return f"{identifier(self.query.schema)}.{identifier(self.query.name)}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a prediction beside its key."""
        return self.head.columns

    def layout(self, name: str) -> Layout | None:
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
        if self.head.scheme is None:
            return list(self.head.labels)
        rows = con.execute("select label from main.labels where scheme = ? order by all", [self.head.scheme]).fetchall()
        if not rows:
            raise CatalogueError(
                f"no labels of the scheme '{self.head.scheme}' are declared",
                where=self.query.path,
                expected=f"one of: {', '.join(closest(self.head.scheme, _schemes(con)))}",
                next_step="mend the line '-- scheme:', or declare the scheme in the corpus",
            )
        return [label for (label,) in rows]


def _schemes(con: duckdb.DuckDBPyConnection) -> list[str]:
    return [name for (name,) in con.execute("select distinct scheme from main.labels").fetchall()]


def task(name: str, roots: Iterable[Path] = (DEFAULT_ROOT,)) -> Task:
    """Find a task by the name of its view; UsageError lists those that can be scored."""
    files = catalogue(roots)
    queries = {query.full_name: query for query in files.scores}
    if name not in queries:
        raise UsageError(
            f"no metrics for '{name}'",
            expected=f"one of: {', '.join(closest(name, queries))}",
            next_step="name the view of one of these tasks",
        )
    query = queries[name]
    head = score_head(query)
    summaries = {summary.full_name: summary for summary in files.metrics}
    for wanted in head.metrics:
        if wanted not in summaries:
            raise CatalogueError(
                f"there is no file of metrics '{wanted}'",
                where=query.path,
                expected=f"one of: {', '.join(closest(wanted, summaries))}",
                next_step="mend the line '-- metrics:'",
            )
    layouts = [Layout(file, layout_head(file)) for file in files.layouts if file.schema == query.schema]
    return Task(
        query,
        head,
        tuple(summaries[wanted] for wanted in head.metrics),
        tuple(layout for layout in layouts if query.name in layout.head.tasks),
        next((file for file in files.printed if file.full_name == name), None),
    )


def check_catalogue(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse a warehouse whose macros are not those of this Talkhouse: its numbers could be others."""
    rows = con.execute("select catalogue_hash from meta.loads order by load_id desc limit 1").fetchall()
    if rows and rows[0][0] != catalogue().hash:
        raise UsageError(
            "the views and macros in this warehouse are of another Talkhouse, and scores need this one's",
            next_step="bring it up to date with: talkhouse build (files that did not change are not read again)",
        )
