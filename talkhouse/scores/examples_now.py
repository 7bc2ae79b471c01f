"""Whether the examples of saved runs are still what they were when they were scored."""

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from talkhouse.schema.errors import TalkhouseError
from talkhouse.warehouse.opened import Warehouse, opened
from talkhouse.warehouse.rows_hash import TaskHash, contents_of_task, joined, task_hashes


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
    warehouse: Warehouse,
    run: dict[str, Any],
    tasks: list[TaskHash] | None,
    state_of: Callable[[str, str], Path | None],
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
