"""The examples that are scored: the releases and splits that were chosen, and the keys in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import duckdb

from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import identifier, literal
from talkhouse.scores.tasks import Task
from talkhouse.warehouse.fingerprint import Split, splits


@dataclass(frozen=True)
class Chosen:
    """What is scored: some releases and splits of a task, perhaps only some published folders of them."""

    splits: tuple[Split, ...]
    subsets: tuple[str, ...] = ()

    @property
    def releases(self) -> list[str]:
        """The releases, where they have names."""
        return sorted({one.release for one in self.splits if one.release is not None})

    @property
    def split_names(self) -> list[str]:
        """The splits, by the publisher's names."""
        return sorted({one.split for one in self.splits})

    @property
    def fingerprint(self) -> str:
        """The fingerprint of all that is chosen, before subsets."""
        joined = 0
        for one in self.splits:
            joined ^= int(one.fingerprint, 16)
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
    found = _of_split(con, task, known, split) if split is not None else known
    found = [one for one in found if release is None or one.release == release]
    if not found:
        raise _none(task, known, split, release)
    meant = set(named)
    if meant and split is None:
        found = [one for one in found if any(name in (None, one.split) for _, name in meant)]
    if meant and release is None:
        found = [one for one in found if any(name in (None, one.release) for name, _ in meant)]
    if not found:
        raise _none(task, known, *_first(meant))
    if len(found) > 1 and not task.is_pooled and (not meant or any(None in pair for pair in _needed(found, meant))):
        raise UsageError(
            f"{task.name} has several splits or releases, and none is named",
            expected=_listed(found),
            next_step="name one with --split S and --release R, or have columns 'split' and 'release'",
        )
    return Chosen(tuple(found), tuple(subsets))


def choose_all(
    con: duckdb.DuckDBPyConnection, task: Task, *, split: str | None, release: str | None, subsets: Sequence[str] = ()
) -> Chosen:
    """Find all releases and splits that the options leave, for a table whose rows name theirs."""
    known = splits(con, task.query.schema, task.query.name)
    named = [(one.release, one.split) for one in known]
    return choose(con, task, split=split, release=release, subsets=subsets, named=named)


def _needed(found: Sequence[Split], meant: Iterable[tuple[str | None, str | None]]) -> Iterable[tuple[str | None, ...]]:
    """Return of each named pair what tells the splits apart."""
    releases, names = len({one.release for one in found}) > 1, len({one.split for one in found}) > 1
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
        f"split {one.split}" + (f" of release {one.release}" if one.release else "") for one in known
    )


def _of_split(con: duckdb.DuckDBPyConnection, task: Task, known: Sequence[Split], split: str) -> list[Split]:
    """Return the splits of this name: the publisher's, or else a standard one (train, validation, test)."""
    if found := [one for one in known if one.split == split]:
        return found
    rows = con.execute(
        "select distinct examples.split from main.examples inner join main.records using (record_id) "
        "where examples.corpus_id = ? and task = ? and standard_split = ?",
        [task.query.schema, task.query.name, split],
    )
    names = {name for (name,) in rows.fetchall()}
    return [one for one in known if one.split in names]


def create_keys(con: duckdb.DuckDBPyConnection, task: Task, chosen: Chosen) -> None:
    """Create ``keys``, a row for each example that is to be scored, and ``gold``, the task's view.

    ``other_keys`` has those of the same splits in other subsets than the chosen: they may be predicted too.
    Raises UsageError for subsets that have no examples.
    """
    of = " or ".join(
        f"(release is not distinct from {literal(one.release) if one.release is not None else 'null'} "
        f"and split = {literal(one.split)})"
        for one in chosen.splits
    )
    within = f"corpus_id = {literal(task.query.schema)} and task = {literal(task.query.name)} and ({of})"
    is_meant = "true"
    if chosen.subsets:
        _check_subsets(con, within, chosen.subsets)
        names = ", ".join(literal(one) for one in chosen.subsets)
        is_meant = f"record_id in (select record_id from main.records where subset in ({names}))"
    for name, condition in (("keys", is_meant), ("other_keys", f"not {is_meant}")):
        con.execute(
            f"create or replace temp table {name} as select release, split, example_index, record_id, turn_index, "
            f"dialogue_id from main.examples where {within} and {condition}"
        )
    view = f"{identifier(task.query.schema)}.{identifier(task.query.name)}"
    con.execute(f"create or replace temp view gold as from {view}")


def most_rows(con: duckdb.DuckDBPyConnection, task: Task, *, by_position: bool = False) -> int:
    """Return far more rows than predictions of a task can have, all splits together: two for each, and a million.

    Where they are ``by_position``, each candidate has one.
    """
    of = f"main.examples where corpus_id = {literal(task.query.schema)} and task = {literal(task.query.name)}"
    query = f"select count(*) from {of}"
    if by_position and task.query.counts:
        view = f"{identifier(task.query.schema)}.{identifier(task.query.name)}"
        query = f"select coalesce(sum({task.query.counts}), 0) from {view}"
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
