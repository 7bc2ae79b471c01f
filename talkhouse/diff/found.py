"""What was found to differ between two states, in numbers and in rows."""

from dataclasses import dataclass, field
from typing import NamedTuple

from talkhouse.diff.compare import Change, Counts
from talkhouse.diff.identity import Renumbered
from talkhouse.diff.states import Side
from talkhouse.warehouse.rows_hash import SHARED


class Wanted(NamedTuple):
    """What is compared; empty is everything."""

    corpora: tuple[str, ...] = ()
    task: str | None = None
    table: str | None = None
    limit: int = 100
    """Rows of each change that are kept of a table or task."""


ALL = Wanted()


@dataclass(frozen=True)
class Compared:
    """A table, or a task, in numbers: one for each of the publisher's releases and splits of a task."""

    name: str
    corpus: str
    counts: Counts

    @property
    def is_still(self) -> bool:
        """Whether no row differs."""
        return not any(self.counts.changes[name] for name in ("removed", "added", *_PAIRED, "moved_in", "moved_out"))

    @property
    def verdict(self) -> str:
        """Whether what was computed of a task holds.

        ``same``: every example, in its place. ``renumbered``: all that were there say the same, and others may have
        come. ``changed``: some say something else, are gone, or belong to another split.
        """
        changes = self.counts.changes
        if any(changes[name] for name in ("removed", "changed", "moved", "moved_in", "moved_out")):
            return "changed"
        return "renumbered" if changes["renumbered"] or changes["added"] else "same"


_PAIRED = ("changed", "moved", "renumbered")


class CorpusChange(NamedTuple):
    """A corpus in both states: what is None is not there."""

    corpus: str
    status: str
    reader: tuple[int | None, int | None]
    sources: dict[str, int]
    """Files that were added, removed or changed, and how many there are in all."""
    licence: tuple[str | None, str | None]


@dataclass
class Difference:
    """All that differs between two states."""

    sides: tuple[Side, Side]
    tables_added: list[str] = field(default_factory=list)
    tables_removed: list[str] = field(default_factory=list)
    columns: dict[str, dict[str, tuple[str | None, str | None]]] = field(default_factory=dict)
    views_changed: list[str] = field(default_factory=list)
    corpora: list[CorpusChange] = field(default_factory=list)
    renumbered: list[Renumbered] = field(default_factory=list)
    tables: list[Compared] = field(default_factory=list)
    tasks: list[Compared] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        """Whether both states have the same rows of corpora; what a build says of itself does not count."""
        return all(one.is_still for one in (*self.tables, *self.tasks) if one.corpus != SHARED)
