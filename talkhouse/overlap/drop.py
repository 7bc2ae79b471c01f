"""Examples that stand in other places too: left out of an export, or scored apart."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from talkhouse.overlap.compute import overlap
from talkhouse.overlap.overlap_file import SCHEMA, kept_run, path_to_read
from talkhouse.overlap.request import DROPPED, OverlapRequest, Unit
from talkhouse.query.selection import Filters, LeftOut, select
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import literal, quoted
from talkhouse.warehouse.opened import Warehouse

VERDICTS_IN_SQL = f"{SCHEMA}.main.examples"
"""The table of verdicts of a file that is attached."""

_JUDGED = {Unit.TURN, Unit.CONTEXT, Unit.DIALOGUE}
"""Units by which examples are judged."""


def with_verdicts(warehouse: Path, against: Sequence[str], memory_limit: str | None = None) -> Path:
    """Write verdicts against these places into the file beside a warehouse, and return its path.

    What is there already is used, with its thresholds. Raises what ``overlap`` raises.
    """
    request = OverlapRequest(against, memory_limit=memory_limit)
    if run := kept_run(path_to_read(warehouse)):
        request = OverlapRequest(
            against,
            Fraction(repr(run["threshold"])),
            Fraction(repr(run["contains"])),
            tuple(run["compared"]) if {*run["compared"]} >= _JUDGED else tuple(Unit),
            memory_limit=memory_limit,
        )
    return overlap(warehouse, request)


def left_out(
    warehouse: Warehouse, name: str, filters: Filters, path: Path, verdicts: Sequence[str] = DROPPED
) -> LeftOut:
    """Return which rows of a task's view are left out, with what the manifest says of it.

    The file of verdicts is attached to the warehouse. Raises UsageError for a view that is no task's.
    """
    selection = select(warehouse, name, filters)
    view = warehouse.split_views.get(selection.full_name)
    task = view.task if view else selection.full_name
    if task not in {example.full_name for example in warehouse.catalogue.examples}:
        raise UsageError(
            f"{selection.full_name} is not a task, and only examples of tasks have verdicts",
            next_step="name a task's view, or one of its splits; see: talkhouse views",
        )
    corpus_id, _, task_name = task.partition(".")
    keys = [column for column in ("release", "split", "example_index") if column in selection.known]
    same = " and ".join(f"judged.{key} is not distinct from {quoted(selection.name, key)}" for key in keys)
    of_task = (
        f"from {VERDICTS_IN_SQL} as judged "
        f"where judged.corpus_id = {literal(corpus_id)} and judged.task = {literal(task_name)} and {same}"
    )
    among = ", ".join(map(literal, verdicts))
    counts = warehouse.con.execute(
        f"select verdict, count(*) from (select (select judged.verdict {of_task}) as verdict "
        f"from {selection.source}{selection.where}) where verdict in ({among}) group by verdict order by verdict"
    ).fetchall()
    return LeftOut(
        f"not exists (select 1 {of_task} and judged.verdict in ({among}))",
        {**about(path), "left_out": {verdict: dict(counts).get(verdict, 0) for verdict in verdicts}},
    )


def about(path: Path) -> dict[str, Any]:
    """Return by what the verdicts of a file are, for a manifest or for programs."""
    run = kept_run(path) or {}
    names = ("against", "threshold", "contains", "warehouse_fingerprint", "rows_sha256")
    return {name: run[name] for name in names}
