"""The examples that are scored: the chosen releases and splits, the keys in them, and whether they are still so."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from talkhouse.export.filters import FilteredRelation, check_rows, condition_of, none_left, none_of, where_clause
from talkhouse.export.selection import Filters
from talkhouse.schema.errors import TalkhouseError, UsageError
from talkhouse.schema.sql import column_types, literal
from talkhouse.scores.task import ScoredTask
from talkhouse.scores.workspace import ScoringTable, ScoringWorkspace, head_errors
from talkhouse.warehouse.opened import Warehouse, opened
from talkhouse.warehouse.rows_hash import FINGERPRINT, Split, TaskHash, contents_of_task, joined, splits, task_hashes


@dataclass(frozen=True)
class Chosen:
    """What is scored: some publisher's releases and splits of a task, perhaps only a part of them."""

    splits: tuple[Split, ...]
    subsets: tuple[str, ...] = ()
    """The published folders that it is limited to; none: all."""
    where: str | None = None
    """The SQL expression that is true of what is scored."""
    where_fingerprint: str | None = None
    """With an expression: the fingerprint of the examples that are left by all of this."""

    @property
    def is_part(self) -> bool:
        """Whether the splits have examples in addition to those that are scored."""
        return bool(self.subsets) or self.where is not None

    @property
    def releases(self) -> list[str]:
        """The publisher's releases, where they have names."""
        return sorted({split.release for split in self.splits if split.release is not None})

    @property
    def split_names(self) -> list[str]:
        """The splits, by the publisher's names."""
        return sorted({split.split for split in self.splits})

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the splits, whether or not all of their examples are scored."""
        joined = 0
        for split in self.splits:
            joined ^= int(split.fingerprint, 16)
        return f"{joined:032x}"


def choose(
    con: duckdb.DuckDBPyConnection,
    task: ScoredTask,
    asked: Filters,
    named: Iterable[tuple[str | None, str | None]] = (),
) -> Chosen:
    """Find the splits that are meant, by the options or else by what the predictions name; UsageError says which exist.

    ``named``: the publisher's releases and splits that the rows of the predictions name, None if they name none.
    """
    known = splits(con, task.query.schema, task.query.name)
    if not known:
        raise UsageError(
            f"the warehouse has no examples of {task.name}",
            next_step="build it with that corpus: talkhouse build --data DIR",
        )
    split, release = asked.split, asked.release
    left = _of_split(con, task, known, split) if split is not None else known
    left = [published for published in left if release is None or published.release == release]
    if not left:
        raise _none(task, known, split, release)
    meant = set(named)
    if meant and split is None:
        left = [published for published in left if any(name in (None, published.split) for _, name in meant)]
    if meant and release is None:
        left = [published for published in left if any(name in (None, published.release) for name, _ in meant)]
    if not left:
        raise _none(task, known, *_first(meant))
    if (
        len(left) > 1
        and task.query.pooled is None
        and (not meant or any(None in pair for pair in _needed(left, meant)))
    ):
        raise UsageError(
            f"{task.name} has several splits or publisher's releases, and none is named",
            expected=_listed(left),
            next_step="name one with --split S and --release R, or have columns 'split' and 'release'",
        )
    return Chosen(tuple(left), asked.subsets, asked.where)


def choose_all(con: duckdb.DuckDBPyConnection, task: ScoredTask, asked: Filters) -> Chosen:
    """Find all of the publisher's releases and splits that the options leave, for a table whose rows name theirs."""
    known = splits(con, task.query.schema, task.query.name)
    return choose(con, task, asked, [(published.release, published.split) for published in known])


def _needed(left: Sequence[Split], meant: Iterable[tuple[str | None, str | None]]) -> Iterable[tuple[str | None, ...]]:
    """Return of each named pair what tells the splits apart."""
    releases, names = (
        len({published.release for published in left}) > 1,
        len({published.split for published in left}) > 1,
    )
    return [(release if releases else "", name if names else "") for release, name in meant]


def _first(meant: Iterable[tuple[str | None, str | None]]) -> tuple[str | None, str | None]:
    release, split = min(meant, key=str)
    return split, release


def _none(task: ScoredTask, known: Sequence[Split], split: str | None, release: str | None) -> UsageError:
    names = {"split": split, "release": release}
    wanted = " and ".join(f"the {kind} '{name}'" for kind, name in names.items() if name)
    return UsageError(
        f"{task.name} has no examples of {wanted}", expected=_listed(known), next_step="name one of these"
    )


def _listed(known: Sequence[Split]) -> str:
    return "one of: " + ", ".join(
        f"split {published.split}" + (f" of publisher's release {published.release}" if published.release else "")
        for published in known
    )


def _of_split(con: duckdb.DuckDBPyConnection, task: ScoredTask, known: Sequence[Split], split: str) -> list[Split]:
    """Return the splits of this name: the publisher's, or else a standard one (train, validation, test)."""
    if left := [published for published in known if published.split == split]:
        return left
    rows = con.execute(
        "select distinct examples.split from main.examples inner join main.records using (record_id) "
        "where examples.corpus_id = ? and task = ? and standard_split = ?",
        [task.query.schema, task.query.name, split],
    )
    names = {name for (name,) in rows.fetchall()}
    return [published for published in known if published.split in names]


@dataclass(frozen=True)
class Examples:
    """The examples that are scored."""

    chosen: Chosen
    keys: ScoringTable
    """A row for each of them."""
    others: ScoringTable
    """Those of the same splits that are left out by subsets or an expression: they may be predicted too."""
    has_items: bool = False
    """Whether several may be of one turn, told apart by ``item_index``."""


def create_examples(workspace: ScoringWorkspace, task: ScoredTask, chosen: Chosen) -> Examples:
    """Create the keys of the examples that were chosen.

    UsageError for subsets that have no examples, an expression that can't be one, and where none is left.
    """
    of = [_condition(split, ("release", "split")) for split in chosen.splits]
    within = f"corpus_id = {literal(task.query.schema)} and task = {literal(task.query.name)} and ({' or '.join(of)})"
    is_meant = "true"
    if chosen.subsets:
        _check_subsets(workspace.con, task, within, chosen.subsets)
        names = ", ".join(literal(name) for name in chosen.subsets)
        is_meant = f"record_id in (select record_id from main.records where subset in ({names}))"
    if chosen.where is not None:
        is_meant += f" and {_is_matching(workspace, task, chosen, chosen.where)}"
    select = "select release, split, example_index, record_id, turn_index, item_index, dialogue_id from main.examples"
    keys = workspace.create("keys", f"{select} where {within} and {is_meant}")
    others = workspace.create("other_keys", f"{select} where {within} and not ({is_meant})")
    if chosen.where is not None:
        ((fingerprint,),) = workspace.con.execute(
            f"select {FINGERPRINT} from {keys} having count(*) > 0"
        ).fetchall() or [(None,)]
        if fingerprint is None:
            raise none_left(task.name, chosen.where)
        chosen = replace(chosen, where_fingerprint=str(fingerprint))
    query = f"select count(item_index) > 0 from main.examples where {within}"
    ((has_items,),) = workspace.con.execute(query).fetchall()
    return Examples(chosen, keys, others, bool(has_items))


def _condition(split: Split, columns: Iterable[str]) -> str:
    values = {"release": split.release, "split": split.split}
    parts = (
        f"{column} is not distinct from {'null' if values[column] is None else literal(str(values[column]))}"
        for column in columns
    )
    return f"({' and '.join(parts)})"


def _is_matching(workspace: ScoringWorkspace, task: ScoredTask, chosen: Chosen, expression: str) -> str:
    """Return the SQL that is true of ``main.examples`` where the expression is true of the row of the task's view."""
    names = [*column_types(workspace.con, task.view)]
    view = FilteredRelation(workspace.con, task.query.schema, task.query.name, names)
    known = [column for column in ("release", "split") if column in names]
    of_splits = " or ".join(_condition(split, known) for split in chosen.splits)
    conditions = [f"({of_splits})", f"({condition_of(view, expression)})"]
    check_rows(view, expression, conditions)
    key = [*known, "example_index"]
    matching = workspace.create("matching", f"select {', '.join(key)} from {view.source}{where_clause(conditions)}")
    is_same = " and ".join(f"matching.{column} is not distinct from examples.{column}" for column in key)
    return f"exists (select 1 from {matching} as matching where {is_same})"


def most_rows(con: duckdb.DuckDBPyConnection, task: ScoredTask, *, by_position: bool = False) -> int:
    """Return far more rows than predictions of a task can have, all splits together: two for each, and a million.

    Where they are ``by_position``, each candidate has one.
    """
    of = f"main.examples where corpus_id = {literal(task.query.schema)} and task = {literal(task.query.name)}"
    query = f"select count(*) from {of}"
    if by_position and task.query.counts is not None:
        query = f"select coalesce(sum({task.query.counts}), 0) from {task.view}"
    with head_errors(task.query, "counts"):
        ((count,),) = con.execute(query).fetchall()
    return 2 * int(count) + 1_000_000


def _check_subsets(con: duckdb.DuckDBPyConnection, task: ScoredTask, within: str, subsets: Sequence[str]) -> None:
    rows = con.execute(
        "select distinct subset from main.records where subset is not null "
        f"and record_id in (select record_id from main.examples where {within}) order by all"
    )
    known = [name for (name,) in rows.fetchall()]
    for name in subsets:
        if name not in known:
            raise none_of(task.name, "subset", name, known, what="examples")


class ExamplesNow(StrEnum):
    """What became of the examples of a run."""

    SAME = "same"
    RENUMBERED = "renumbered"
    """A model sees the same, under other ids or places: predictions by record hold, by example_index they don't."""
    CHANGED = "changed"
    GONE = "gone"
    UNKNOWN = "unknown"
    """The run was saved before there were hashes, or the views of now can't be read."""


class Now(NamedTuple):
    """What became of the examples of a run, and how many of how many are others, where that can be counted."""

    state: ExamplesNow
    changed: int | None = None
    of: int | None = None


def examples_now(
    warehouse: Warehouse, runs: list[dict[str, Any]], state_of: Callable[[str, str], Path | None]
) -> dict[str, Now]:
    """Return by the name of each run what became of its examples.

    ``state_of``: the warehouse of a release of that name and content id, where it is at hand.
    """
    hashes: dict[str, list[TaskHash] | None] = {}
    found = {}
    for run in runs:
        name = run["task"]
        if run["content_hash"] is None:
            found[run["run"]] = Now(ExamplesNow.UNKNOWN)
            continue
        if name not in hashes:
            hashes[name] = _hashes(warehouse, name)
        found[run["run"]] = _now(warehouse, run, hashes[name], state_of)
    return found


def _hashes(warehouse: Warehouse, task: str) -> list[TaskHash] | None:
    try:
        return task_hashes(warehouse.con, warehouse.database, tasks=[task])
    except duckdb.Error:  # the view is another, or there is none
        return None


def _now(
    warehouse: Warehouse, run: dict[str, Any], tasks: list[TaskHash] | None, state_of: Callable[[str, str], Path | None]
) -> Now:
    if tasks is None:
        return Now(ExamplesNow.UNKNOWN)
    releases = {*run["releases"]} or {None}
    splits = [task for task in tasks if task.split in run["splits"] and task.release in releases]
    if not splits:
        return Now(ExamplesNow.GONE)
    if joined(split.content_hash for split in splits) == run["content_hash"]:
        is_same = joined(split.hash for split in splits) == run["rows_hash"]
        return Now(ExamplesNow.SAME if is_same else ExamplesNow.RENUMBERED)
    wanted = {(split.release, split.split) for split in splits}
    try:
        before = state_of(run["release"], run["content_id"]) if run["release"] and run["content_id"] else None
        if before is None:
            return Now(ExamplesNow.CHANGED)
        with opened(before) as other:
            there = Counter(contents_of_task(other.con, other.database, run["task"], wanted))
    except (TalkhouseError, duckdb.Error):
        return Now(ExamplesNow.CHANGED)
    here = Counter(contents_of_task(warehouse.con, warehouse.database, run["task"], wanted))
    return Now(ExamplesNow.CHANGED, (there - here).total(), there.total())
