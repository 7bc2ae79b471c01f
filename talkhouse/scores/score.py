"""Scores predictions: reads and checks them, joins them with the split, and runs the task's SQL."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
from pyarrow import lib as pa

from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.queries.heads import LayoutQuery, PrintedQuery
from talkhouse.schema.errors import UsageError
from talkhouse.scores.baselines import create_baseline
from talkhouse.scores.checks import check_fingerprint, check_values
from talkhouse.scores.given import Given, readable, take
from talkhouse.scores.intervals import described, with_intervals
from talkhouse.scores.keys import Chosen, choose, create_keys, most_rows
from talkhouse.scores.layouts import lay_out, pour_layout
from talkhouse.scores.matching import match
from talkhouse.scores.metrics import ALL, Metric, metrics, score_at, set_threshold, tied
from talkhouse.scores.options import Baseline
from talkhouse.scores.predictions import (
    Columns,
    check_columns,
    columns_of_raw,
    create_given,
    named_splits,
    wanted_columns,
)
from talkhouse.scores.reader import Reader, reading
from talkhouse.scores.refusals import of_files
from talkhouse.scores.resampling import DIALOGUE
from talkhouse.scores.saved_examples import keep_examples
from talkhouse.scores.slices import by_column, create_slices, has_several
from talkhouse.scores.tables import TABLES, columns_of_tables, is_world_log, pour_tables
from talkhouse.scores.tasks import Task
from talkhouse.system.temporary_folder import temporary_folder
from talkhouse.warehouse.opened import Warehouse


@dataclass(frozen=True)
class Request:
    """What is to be scored, and how."""

    paths: Sequence[Path]
    layout: str = "auto"
    split: str | None = None
    release: str | None = None
    subsets: Sequence[str] = ()
    missing: str = "stop"
    """``wrong``: an example without a prediction counts as wrong."""
    unknown: str = "stop"
    """``wrong``: a label that nobody declared counts as wrong."""
    by: Sequence[str] = ()
    as_printed: bool = False
    """Take what the publisher's script takes, and score at its threshold."""
    as_published: bool = False
    """Leave the labels as the files have them, where the publisher's program changes them."""
    baseline: Baseline | None = None
    """Predictions that need no file."""
    interval: bool = False
    """Also compute the 95 % interval of each metric."""
    keep: bool = False
    """Keep what each example scores, so that the run can be saved."""
    limits: Limits = DEFAULT
    """How much of a file is read."""


@dataclass(frozen=True)
class Scored:
    """The metrics of predictions, and what they are of."""

    task: Task
    chosen: Chosen
    files: list[dict[str, str]]
    rows: int
    missing: int
    tied: int
    thresholds: list[float | None]
    metrics: list[Metric]
    warnings: list[str]
    interval: dict[str, Any] | None
    """How the intervals were made; None where none were asked for."""


def prepare(
    con: duckdb.DuckDBPyConnection, wanted: Task, request: Request
) -> tuple[Chosen, list[Given], int, list[str]]:
    """Create ``keys`` and ``predicted`` from the predictions.

    Return what was chosen, the files, how many predictions miss, and warnings.
    """
    chosen, given = _read(con, wanted, request)
    columns = columns_of_raw(con)
    check_columns(wanted, columns)
    with readable(given):
        create_given(con, wanted, columns)
    check_fingerprint(con, {chosen.fingerprint, *(one.fingerprint for one in chosen.splits)})
    warnings = check_values(con, wanted, unknown=request.unknown, as_printed=request.as_printed)
    missing = "stop" if request.as_printed else request.missing
    lost = match(con, wanted, columns, missing=missing, as_printed=request.as_printed)
    return chosen, given, lost, warnings


def _read(con: duckdb.DuckDBPyConnection, wanted: Task, request: Request) -> tuple[Chosen, list[Given]]:
    """Create ``raw``, the predictions as they are, and ``keys``, the examples that they are for."""
    if request.baseline:
        chosen = _choose(con, wanted, request)
        create_baseline(con, wanted, request.baseline)
        return chosen, []
    with temporary_folder() as folder:
        given = take(request.paths, folder, request.limits)
        layout = _layout(wanted, request, given)
        with reading(con, folder, request.limits) as reader:
            if layout is None:
                _pour(reader, wanted, given)
            else:
                pour_layout(reader, given[0], layout, most_rows(con, wanted))
    chosen = _choose(con, wanted, request, named_splits(con) if layout is None else ())
    if layout is not None:
        lay_out(con, given[0], layout, most_rows(con, wanted))
    return chosen, given


def _pour(reader: Reader, wanted: Task, given: Sequence[Given]) -> None:
    """Create ``raw`` of tables; BadPredictions where these can't be predictions of the task."""
    names = wanted_columns(wanted)
    columns = Columns(dict.fromkeys(columns_of_tables(reader, given, names), ""))
    check_columns(wanted, columns)
    pour_tables(reader, given, names, most_rows(reader.into, wanted, by_position="position" in columns.types))


def _choose(
    con: duckdb.DuckDBPyConnection,
    wanted: Task,
    request: Request,
    named: Sequence[tuple[str | None, str | None]] = (),
) -> Chosen:
    chosen = choose(con, wanted, split=request.split, release=request.release, subsets=request.subsets, named=named)
    create_keys(con, wanted, chosen)
    return chosen


def _layout(wanted: Task, request: Request, given: Sequence[Given]) -> LayoutQuery | None:
    """Return the layout in which the predictions come, None for tables; by the name of the file unless it is named."""
    name = request.layout
    if name == "table":
        return None
    path = given[0].path
    if name == "auto":
        if path.suffix.lower() in TABLES and not (given[0].is_folder or is_world_log(given[0], request.limits)):
            return None
        form = (
            "documents"
            if given[0].is_folder or path.suffix == ".zip"
            else "score_rows"
            if path.suffix == ".npy"
            else "lines"
        )
        found = [one for one in wanted.layouts if one.reads == form]
    else:
        found = [one for one in wanted.layouts if one.name == name]
    if not found:
        known = ", ".join(["table", *(one.name for one in wanted.layouts)])
        raise UsageError(
            f"{wanted.name} has no predictions in the layout of {path.name if name == 'auto' else name}",
            expected=f"one of: {known}",
            next_step="name the layout with --format, or give a table: " + ", ".join(TABLES),
        )
    if len(given) > 1:
        raise UsageError("this layout is one file or folder", found=f"{len(request.paths)}", next_step="name one")
    return found[0]


def score(con: duckdb.DuckDBPyConnection, wanted: Task, request: Request, thresholds: Sequence[float] = ()) -> Scored:
    """Score predictions, at each threshold where the task has one; ``scored`` is what the first of them left.

    Raises UsageError where the files can't be read or the names can't be, BadPredictions where rows can't be scored.
    """
    Warehouse(con).check_views()
    if request.as_printed and request.interval:
        raise UsageError("the script prints no intervals", next_step="leave out --as-printed or --interval")
    variant = _set_variant(con, wanted, request)
    limits = _thresholds(wanted, thresholds, request)
    found: list[Metric] = []
    for limit in reversed(limits):
        set_threshold(con, limit)
        with of_files(request.paths):
            if request.baseline or not found:  # The right label, which the oracle predicts, depends on the threshold.
                chosen, given, lost, warnings = prepare(con, wanted, request)
            score_at(con, wanted, limit)
        if request.keep:
            keep_examples(con, limit, is_first=not found)
        is_official = not lost and not request.as_published
        numbers = _numbers(con, wanted, request)
        found = [replace(one, threshold=limit, official=one.official and is_official) for one in numbers] + found
    warnings += variant + ([] if request.baseline else _doubts(wanted, found))
    ((rows, dialogues),) = con.execute(f"select count(*), count(distinct {DIALOGUE}) from keys").fetchall()
    how = described(dialogues) if request.interval else None
    files = [{"path": str(one.path), "sha256": one.sha256} for one in given]
    return Scored(wanted, chosen, files, rows, lost, tied(con), limits, found, warnings, how)


def _numbers(con: duckdb.DuckDBPyConnection, wanted: Task, request: Request) -> list[Metric]:
    """Run the metrics over each slice and then over all of ``scored``."""
    numbers: list[Metric] = []
    for sliced in (*_slices(con, wanted, request), ALL):
        some = metrics(con, wanted, sliced)
        numbers += with_intervals(con, wanted, some, sliced) if request.interval else some
    return numbers


def _slices(con: duckdb.DuckDBPyConnection, wanted: Task, request: Request) -> list[str]:
    """Return queries of the slices that are wanted, and of those by which the publisher scores, if there are two."""
    usual = [] if request.as_printed else [column for column in wanted.by if column not in request.by]
    if not usual and not request.by:
        return []
    create_slices(con, wanted, [*usual, *request.by])
    return [by_column(one) for one in (*(one for one in usual if has_several(con, one)), *request.by)]


def _set_variant(con: duckdb.DuckDBPyConnection, wanted: Task, request: Request) -> list[str]:
    """Tell the task's SQL whether labels stay as published; return what to say of that."""
    con.execute(f"set variable as_published = {request.as_published}")
    if not request.as_published:
        return []
    if wanted.as_published is None:
        raise UsageError(f"{wanted.name} is scored as published anyway", next_step="leave --as-published out")
    if request.keep:
        raise UsageError(
            "saved runs are compared with others of the task, and these are other classes",
            next_step="leave out --as-published or --save",
        )
    return [f"as published: {wanted.as_published}; no number is official"]


def _doubts(wanted: Task, found: Sequence[Metric]) -> list[str]:
    """Return what to say of numbers that are too good."""
    if wanted.doubt is None:
        return []
    name, limit, reason = wanted.doubt
    values = [one.value for one in found if one.name == name and one.slice is None and one.value is not None]
    return [f"{name} is {value:.6f}, and above {limit:g} {reason}" for value in values if value > limit]


def _thresholds(wanted: Task, given: Sequence[float], request: Request) -> list[float | None]:
    if not wanted.thresholds:
        if given:
            raise UsageError(f"{wanted.name} has no threshold", next_step="leave --threshold out")
        return [None]
    for one in given:
        if not 0 <= one <= 1:
            raise UsageError(
                "a threshold is a share of annotators",
                expected="a number from 0 to 1",
                found=f"{one}",
                next_step="the challenge's script has 0.0 by default; its documented runs use 0.5",
            )
    return list(dict.fromkeys(given)) or list(wanted.thresholds[:1] if request.as_printed else wanted.thresholds)


def printed(con: duckdb.DuckDBPyConnection, done: Scored) -> str:
    """Return what the publisher's script prints for all that was scored, at one threshold after the other."""
    if done.task.printed is None:
        raise UsageError(f"{done.task.name} has no script whose output is known", next_step="leave --as-printed out")
    return "".join(_printed_at(con, done, done.task.printed, limit) for limit in done.thresholds)


def _printed_at(con: duckdb.DuckDBPyConnection, done: Scored, lines: PrintedQuery, threshold: float | None) -> str:
    numbers = [one for one in done.metrics if one.slice is None and one.threshold == threshold]
    table = pa.table(
        {
            "name": pa.array([one.name for one in numbers], pa.string()),
            "value": pa.array([one.value for one in numbers], pa.float64()),
            "count": pa.array([one.count for one in numbers], pa.int64()),
            "of": pa.array([one.of for one in numbers], pa.int64()),
        }
    )
    con.register("results", table)
    return "".join(f"{line}\n" for (line,) in con.execute(lines.sql).fetchall())
