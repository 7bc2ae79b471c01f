"""Compares two states: the schemas, the corpora, every table and every task, in numbers and in rows."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import duckdb

from talkhouse.diff.compare import Change, Comparison, Counts, Group, Sum, make_table_of_cells, sums
from talkhouse.diff.relations import (
    Field,
    Relation,
    Renumbered,
    compared_tables,
    identify,
    of_release,
    table_fields,
    table_relation,
    task_relation,
)
from talkhouse.diff.states import Side, Sides
from talkhouse.schema.errors import UsageError, closest, listed
from talkhouse.schema.sql import column_types, literal, quoted
from talkhouse.schema.tables import qualified
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import SHARED, corpora_of, corpus_of


class Wanted(NamedTuple):
    """The scope of a comparison; empty is everything."""

    corpora: tuple[str, ...] = ()
    task: str | None = None
    table: str | None = None
    limit: int = 100
    """Rows per change that are stored for a table or task."""


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
        """Whether results computed from a task still hold.

        ``same``: every example, in its place. ``renumbered``: all that were there say the same, and others may have
        come. ``changed``: some say something else, are gone, or belong to another split.
        """
        changes = self.counts.changes
        if any(changes[name] for name in ("removed", "changed", "moved", "moved_in", "moved_out")):
            return "changed"
        return "renumbered" if changes["renumbered"] or changes["added"] else "same"


_PAIRED = ("changed", "moved", "renumbered")


class CorpusChange(NamedTuple):
    """A corpus in both states; None: missing."""

    corpus: str
    status: str
    reader: tuple[int | None, int | None]
    sources: dict[str, int]
    """Files that were added, removed or changed, and their total number."""
    licence: tuple[str | None, str | None]


@dataclass
class Difference:
    """All differences between two states."""

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
        """Whether both states have the same rows of corpora; a build's data about itself does not count."""
        return all(table.is_still for table in (*self.tables, *self.tasks) if table.corpus != SHARED)


_IDENTIFYING = ("main.dialogues", "main.turns", "main.records")
"""Tables that identify dialogues and records: if they are equal, no id has changed."""


def difference(
    sides: Sides, wanted: Wanted = ALL, *, with_cells: bool = False, on_step: Callable[[str], None] = lambda _: None
) -> Difference:
    """Compare two states; ``with_cells``: every cell that differs is stored in a table.

    Raises UsageError for a corpus, table or task that neither has.
    """
    return _Work(sides, wanted, on_step, has_cells=with_cells).done()


class _Work:
    """A running comparison."""

    def __init__(self, sides: Sides, wanted: Wanted, on_step: Callable[[str], None], *, has_cells: bool) -> None:
        self._sides, self._wanted, self._on_step, self._has_cells = sides, wanted, on_step, has_cells
        self._found = Difference((sides.before, sides.after))
        there = [corpora_of(sides.con, side.database) for side in sides]
        self._known = sorted({*there[0], *there[1]})
        for corpus in wanted.corpora:
            if corpus not in self._known:
                raise _unknown("corpus", corpus, self._known)
        self._corpora = list(wanted.corpora) or self._known
        for side in sides:
            if side.of_release is not None:
                self._check_release(side, side.of_release)

    def _check_release(self, side: Side, release: str) -> None:
        """Raise UsageError for a publisher's release without records of the corpus."""
        corpus = self._corpora[0]
        rows = self._sides.con.execute(
            f"select distinct release from {side.sql}.main.records where corpus_id = ? and release is not null",
            [corpus],
        ).fetchall()
        known = sorted(name for (name,) in rows)
        if release not in known:
            raise UsageError(
                f"the corpus '{corpus}' has no record of the publisher's release '{release}'",
                expected=f"one of: {listed(closest(release, known)) or 'none, as it has no releases'}",
                next_step="name two of them: --between OLD NEW",
            )

    @property
    def _is_between(self) -> bool:
        return self._sides.before.of_release is not None

    def done(self) -> Difference:
        found, wanted = self._found, self._wanted
        if self._has_cells:
            make_table_of_cells(self._sides.con)
        tasks = self._tasks()
        self._check(tasks)
        self._schema(tasks)
        self._on_step("comparing the tables")
        summed = self._sums()
        differing = [rows for rows in summed if rows.before != rows.after and rows.corpus != SHARED]
        changed = {rows.corpus for rows in differing}
        moving = sorted({rows.corpus for rows in differing if rows.table in _IDENTIFYING})
        if moving or self._is_between:
            self._on_step("finding dialogues and records again")
        found.renumbered = identify(self._sides, self._corpora if self._is_between else moving)
        every = " union ".join(f'select corpus from "?{kind}"' for kind in ("dialogue", "record", "speaker"))
        renamed = {corpus for (corpus,) in self._sides.con.execute(every).fetchall()}
        for table in compared_tables(of_a_release=self._is_between):
            name = qualified(table)
            if wanted.task is not None or wanted.table not in (None, name):
                continue
            for rows in (rows for rows in summed if rows.table == name):
                # Two records that swap places have equal rows, which are about something else.
                still = rows.before == rows.after and not self._is_between and rows.corpus not in renamed
                relation = table_relation(table, rows.corpus, self._sides, self._conditions(table, rows.corpus))
                self._compare(relation, found.tables, (rows.before.rows, rows.after.rows) if still else None)
        if wanted.table is None:
            for task in tasks:
                self._compare_task(task, changed)
        found.corpora = list(self._described(changed))
        return found

    def _check(self, tasks: Collection[str]) -> None:
        names = [qualified(table) for table in compared_tables()]
        if self._wanted.table is not None and self._wanted.table not in names:
            raise _unknown("table", self._wanted.table, names)
        if self._wanted.task is not None and self._wanted.task not in tasks:
            raise _unknown("task", self._wanted.task, tasks)

    def _tasks(self) -> list[str]:
        """List the tasks of the wanted corpora that either side has: those with examples, and a view."""
        found = set()
        for side in self._sides:
            rows = self._sides.con.execute(f"select distinct corpus_id, task from {side.sql}.main.examples").fetchall()
            found |= {f"{corpus}.{task}" for corpus, task in rows if corpus in self._corpora}
        return sorted(task for task in found if any(task in side.views for side in self._sides))

    def _schema(self, tasks: Collection[str]) -> None:
        """Find the tables, columns and views that differ."""
        before, after = self._sides
        found = self._found
        found.tables_added = sorted(after.shape.keys() - before.shape.keys())
        found.tables_removed = sorted(before.shape.keys() - after.shape.keys())
        shapes = [(name, before.shape[name], after.shape[name]) for name in before.shape.keys() & after.shape.keys()]
        if before.views != after.views:
            shapes += [(task, self._columns(before, task), self._columns(after, task)) for task in tasks]
        for name, old, new in sorted(shapes):
            other = {
                column: (old.get(column), new.get(column))
                for column in sorted(old.keys() | new.keys())
                if old.get(column) != new.get(column) and old and new
            }
            if other:
                found.columns[name] = other
        names = before.views.keys() | after.views.keys()
        found.views_changed = sorted(name for name in names if before.views.get(name) != after.views.get(name))

    def _columns(self, side: Side, task: str) -> dict[str, str]:
        """Return the columns of a task's view with their types; none if a side has no such view."""
        if task not in side.views:
            return {}
        with _own(self._sides.con, side):
            return column_types(self._sides.con, _view(task))

    def _conditions(self, table: Any, corpus: str) -> tuple[str, str]:
        """Write the conditions on the rows of a table that are compared, for either side."""
        of_corpus = f"{corpus_of(table, self._known)} = {literal(corpus)}"
        before, after = (f"{of_corpus} and {of_release(side, table.name, corpus)}" for side in self._sides)
        return before, after

    def _sums(self) -> list["_SummedRows"]:
        """Count and hash the rows of every table by corpus, on both sides; tables without rows are left out."""
        found = []
        for table in compared_tables(of_a_release=self._is_between):
            name, both = qualified(table), []
            for side in self._sides:
                source = f"{side.sql}.{name}"
                if self._is_between:
                    source += f" where {self._conditions(table, self._corpora[0])[side is self._sides.after]}"
                both.append(sums(self._sides.con, source, table_fields(table), corpus_of(table, self._known)))
            wanted = {*self._corpora, *(() if self._wanted.corpora else (SHARED,))}
            found += [
                _SummedRows(name, corpus, both[0].get(corpus, Sum()), both[1].get(corpus, Sum()))
                for corpus in sorted((both[0].keys() | both[1].keys()) & wanted)
            ]
        return found

    def _compare(self, relation: Relation, into: list[Compared], still: tuple[int, int] | None = None) -> None:
        """Compare the rows of a relation, unless they are known to be unchanged."""
        if still is not None:
            counts = [Counts(None, None, *still, _NONE, {}, [])]
        else:
            self._on_step(f"comparing {relation.name} of {relation.corpus}")
            comparison = Comparison(self._sides, relation)
            counts = comparison.counts()
            self._found.changes += comparison.changes(self._wanted.limit)
            if self._has_cells:
                comparison.keep_cells()
        into += [Compared(relation.name, relation.corpus, count) for count in counts]

    def _compare_task(self, task: str, changed: Collection[str]) -> None:
        """Compare the rows that both sides' own views of a task make."""
        if self._wanted.task not in (None, task):
            return
        corpus = task.partition(".")[0]
        if not self._is_between and corpus not in changed and self._have_same_sql(corpus, changed):
            for group, rows in self._examples(task).items():
                self._found.tasks.append(Compared(task, corpus, Counts(*group, rows, rows, _NONE, {}, [])))
            return
        columns = [self._columns(side, task) for side in self._sides]
        names = list(dict.fromkeys((*columns[1], *columns[0])))
        fields = tuple(Field(name, (columns[0].get(name), columns[1].get(name))) for name in names)
        self._on_step(f"making the examples of {task}")
        sources = [self._make_examples(side, task, number) for number, side in enumerate(self._sides)]
        label = self._label(task)
        self._compare(task_relation(task, fields, (sources[0], sources[1]), label), self._found.tasks)

    def _make_examples(self, side: Side, task: str, number: int) -> str:
        """Make the examples of a task by a side's own view, and return the name of their table."""
        name = quoted(f"?examples {number}")
        if task not in side.views:
            other = self._sides.after if number == 0 else self._sides.before
            with _own(self._sides.con, other):
                self._sides.con.execute(f"create or replace temp table {name} as from {_view(task)} limit 0")
            return name
        where = ""
        if side.of_release is not None:
            of_corpus = of_release(side, "annotations", task.partition(".")[0])  # by record, as every task's view has
            where = f" where {of_corpus}"
        with _own(self._sides.con, side):
            self._sides.con.execute(f"create or replace temp table {name} as from {_view(task)}{where}")
        return name

    def _label(self, task: str) -> str | None:
        """Return the column of a task's gold label."""
        for side in reversed(tuple(self._sides)):
            if (file := Warehouse(self._sides.con, side.database).view_file(task)) is not None and file.label_column:
                return file.label_column
        names = {*self._columns(self._sides.after, task), *self._columns(self._sides.before, task)}
        return next((name for name in ("label", "labels") if name in names), None)

    def _have_same_sql(self, corpus: str, changed: Collection[str]) -> bool:
        """Whether both sides make the examples of a corpus alike: by the same SQL, from rows that did not change.

        Views of a corpus read no other's. One that names a corpus that has changed may, and so may one that follows
        dialogues to those that they were made from.
        """
        rest = {*self._known} - {corpus}
        views = [
            {name: sql for name, sql in side.views.items() if name.partition(".")[0] not in rest}
            for side in self._sides
        ]
        own = [sql for name, sql in views[0].items() if name.partition(".")[0] == corpus]
        elsewhere = (*changed, "derived_from")
        return views[0] == views[1] and not any(name in sql for name in elsewhere for sql in own)

    def _examples(self, task: str) -> dict[Group, int]:
        """Count the examples of a task by the publisher's release and split."""
        corpus, _, name = task.partition(".")
        rows = self._sides.con.execute(
            f"select release, split, count(*) from {self._sides.after.sql}.main.examples "
            "where corpus_id = ? and task = ? group by all order by all nulls first",
            [corpus, name],
        )
        return {(release, split): count for release, split, count in rows.fetchall()}

    def _described(self, changed: Collection[str]) -> Iterator[CorpusChange]:
        """Yield the changes of each corpus."""
        con = self._sides.con
        facts = []
        for side in self._sides:
            rows = con.execute(f"select corpus_id, reader_version, licence from {side.sql}.main.corpora").fetchall()
            facts.append({corpus: (reader, licence) for corpus, reader, licence in rows})
        differing = {table.corpus for table in (*self._found.tables, *self._found.tasks) if not table.is_still} | {
            *changed
        }
        for corpus in self._corpora:
            old, new = (of_side.get(corpus) for of_side in facts)
            status = "changed" if corpus in differing else "unchanged"
            status = "added" if old is None else "removed" if new is None else status
            old, new = old or (None, None), new or (None, None)
            yield CorpusChange(corpus, status, (old[0], new[0]), self._sources(corpus), (old[1], new[1]))

    def _sources(self, corpus: str) -> dict[str, int]:
        """Count the files of a corpus that were added, removed or changed."""
        before, after = (
            f"(select source_file_id, sha256 from {side.sql}.meta.source_files where corpus_id = {literal(corpus)})"
            for side in self._sides
        )
        row = self._sides.con.execute(
            "select count(*) filter (where before.sha256 is null), count(*) filter (where after.sha256 is null), "
            "count(*) filter (where before.sha256 <> after.sha256), count(*) "
            f"from {before} as before full join {after} as after using (source_file_id)"
        ).fetchone()
        return dict(zip(("added", "removed", "changed", "all"), row or (0, 0, 0, 0), strict=True))


class _SummedRows(NamedTuple):
    """The rows of a table that belong to a corpus, on both sides."""

    table: str
    corpus: str
    before: Sum
    after: Sum


_NONE = Counter[str]()


def _unknown(kind: str, name: str, known: Collection[str]) -> UsageError:
    return UsageError(
        f"neither state has a {kind} '{name}'",
        expected=f"one of: {listed(closest(name, known)) or 'none is there'}",
        next_step="leave the option out to compare all",
    )


def _view(task: str) -> str:
    return quoted(*task.split(".", 1))


@contextmanager
def _own(con: duckdb.DuckDBPyConnection, side: Side) -> Iterator[None]:
    """Make a side the current database: its views read what they name in it."""
    con.execute(f"use {side.sql}")
    yield
