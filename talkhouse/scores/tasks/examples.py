"""The examples that are scored: the releases and splits that were chosen, and the keys in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import duckdb

from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import literal
from talkhouse.scores.tasks.sql_files import head_errors
from talkhouse.scores.tasks.task import Task
from talkhouse.scores.tasks.workspace import Table, Workspace
from talkhouse.warehouse.fingerprint import Split, splits


@dataclass(frozen=True)
class Chosen:
    """What is scored: some releases and splits of a task, perhaps only some published folders of them."""

    splits: tuple[Split, ...]
    subsets: tuple[str, ...] = ()

    @property
    def releases(self) -> list[str]:
        """The releases, where they have names."""
        return sorted({split.release for split in self.splits if split.release is not None})

    @property
    def split_names(self) -> list[str]:
        """The splits, by the publisher's names."""
        return sorted({split.split for split in self.splits})

    @property
    def fingerprint(self) -> str:
        """The fingerprint of all that is chosen, before subsets."""
        joined = 0
        for split in self.splits:
            joined ^= int(split.fingerprint, 16)
        return f"{joined:032x}"


def choose(
    con: duckdb.DuckDBPyConnection,
    task: Task,
    *,
    split: str | None,
    release: str | None,
    subsets: Sequence[str] = (),
    named: Iterable[tuple[str | None, str | None]] = (),
) -> Chosen:
    """Find the splits that are meant, by the options or else by what the predictions name; UsageError says which exist.

    ``named``: the releases and splits that the rows of the predictions name, None where they name none.
    """
    known = splits(con, task.query.schema, task.query.name)
    if not known:
        raise UsageError(
            f"the warehouse has no examples of {task.name}",
            next_step="build it with that corpus: talkhouse build --data DIR",
        )
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
            f"{task.name} has several splits or releases, and none is named",
            expected=_listed(left),
            next_step="name one with --split S and --release R, or have columns 'split' and 'release'",
        )
    return Chosen(tuple(left), tuple(subsets))


def choose_all(
    con: duckdb.DuckDBPyConnection, task: Task, *, split: str | None, release: str | None, subsets: Sequence[str] = ()
) -> Chosen:
    """Find all releases and splits that the options leave, for a table whose rows name theirs."""
    known = splits(con, task.query.schema, task.query.name)
    named = [(published.release, published.split) for published in known]
    return choose(con, task, split=split, release=release, subsets=subsets, named=named)


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


def _none(task: Task, known: Sequence[Split], split: str | None, release: str | None) -> UsageError:
    names = {"split": split, "release": release}
    wanted = " and ".join(f"the {kind} '{name}'" for kind, name in names.items() if name)
    return UsageError(
        f"{task.name} has no examples of {wanted}", expected=_listed(known), next_step="name one of these"
    )


def _listed(known: Sequence[Split]) -> str:
    return "one of: " + ", ".join(
        f"split {published.split}" + (f" of release {published.release}" if published.release else "")
        for published in known
    )


def _of_split(con: duckdb.DuckDBPyConnection, task: Task, known: Sequence[Split], split: str) -> list[Split]:
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
    keys: Table
    """A row for each of them."""
    others: Table
    """Those of the same splits in other subsets than the chosen: they may be predicted too."""
    has_items: bool = False
    """Whether several may be of one turn, told apart by ``item_index``."""


def create_examples(workspace: Workspace, task: Task, chosen: Chosen) -> Examples:
    """Create the keys of the examples that were chosen; UsageError for subsets that have no examples."""
    of = " or ".join(
        f"(release is not distinct from {literal(split.release) if split.release is not None else 'null'} "
        f"and split = {literal(split.split)})"
        for split in chosen.splits
    )
    within = f"corpus_id = {literal(task.query.schema)} and task = {literal(task.query.name)} and ({of})"
    is_meant = "true"
    if chosen.subsets:
        _check_subsets(workspace.con, within, chosen.subsets)
        names = ", ".join(literal(name) for name in chosen.subsets)
        is_meant = f"record_id in (select record_id from main.records where subset in ({names}))"
    select = "select release, split, example_index, record_id, turn_index, item_index, dialogue_id from main.examples"
    keys = workspace.create("keys", f"{select} where {within} and {is_meant}")
    others = workspace.create("other_keys", f"{select} where {within} and not {is_meant}")
    query = f"select count(item_index) > 0 from main.examples where {within}"
    ((has_items,),) = workspace.con.execute(query).fetchall()
    return Examples(chosen, keys, others, bool(has_items))


def most_rows(con: duckdb.DuckDBPyConnection, task: Task, *, by_position: bool = False) -> int:
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


def _check_subsets(con: duckdb.DuckDBPyConnection, within: str, subsets: Sequence[str]) -> None:
    rows = con.execute(
        "select distinct subset from main.records where subset is not null "
        f"and record_id in (select record_id from main.examples where {within}) order by all"
    )
    known = [name for (name,) in rows.fetchall()]
    for name in subsets:
        if name not in known:
            raise UsageError(
                f"no examples of the subset '{name}'",
                expected=f"one of: {', '.join(known)}" if known else "no subset: these examples have none",
                next_step="name one of these, or leave --subset out",
            )
