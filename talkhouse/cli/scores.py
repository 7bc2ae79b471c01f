"""``talkhouse scores``: saved runs; and how scores are printed and written as JSON."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.dashboard import open_runs, require_dashboard
from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.schema.errors import UsageError, WarehouseMissing
from talkhouse.settings import database
from talkhouse.visible import visible, visible_json

if TYPE_CHECKING:
    from talkhouse.scores.comparison import RunComparison
    from talkhouse.scores.metrics import ScoreMetric
    from talkhouse.scores.score import Scored


@options.command
@click.argument("name", metavar="[TASK]", required=False, help="Only runs of this task.")
@click.option("--compare", metavar="A B", nargs=2, help="Test how run B differs from run A.")
@options.open_pages
@options.db
@options.as_json
def command(
    name: str | None, compare: tuple[str, str] | None, open_pages: bool, db: Path | None, as_json: bool
) -> None:
    """List the runs that talkhouse score --save kept, those that can be compared side by side; or compare two.

    Runs can be compared where they are of the same examples: the same fingerprint, the same subsets, and the same
    --where. They are kept in scores.duckdb beside the warehouse, which builds do not touch.

    Each run says whether its examples are what they were (examples_now): the same, renumbered (a model sees the same,
    under other ids or places), changed, gone, or unknown, of a run that an older Talkhouse saved. Runs whose examples
    differ are not side by side.

    --compare gives the difference of each metric (B less A), its 95 % interval by the paired bootstrap, and the p-value
    of a paired randomisation test, both over dialogues. With --open, the pages of talkhouse dashboard then show on
    which examples the two differ.

    Examples:
        talkhouse scores delidata.probing_target
        talkhouse scores --compare baseline mine --json
    """
    if compare is not None:
        if name is not None:
            raise UsageError("two runs are of one task", found=f"the task {name} too", next_step="leave the task out")
        if open_pages:
            require_dashboard()
        _compare(compare, db=db, as_json=as_json)
        if open_pages:
            sys.stdout.flush()
            open_runs(database(db), compare)
        return
    options.check_absent({"--open": open_pages}, "goes with --compare", "scores")
    from talkhouse.scores.saved_runs import comparable, saved

    runs = saved(database(db), name)
    marks = _marks(database(db), runs)
    if as_json:
        print(visible_json([{**_official(run["metrics"]), **run} for run in runs]))
        return
    if not runs:
        output.print("No saved runs. Save one with: talkhouse score TASK PREDICTIONS --save RUN", soft_wrap=True)
    for _, same in groupby(runs, key=comparable):
        show_runs(list(same), marks)


def _marks(path: Path, runs: list[dict[str, Any]]) -> dict[str, str]:
    """Add to each run what became of its examples, and return the sentences about those that are not the same."""
    from talkhouse.releases.checkout import release_of
    from talkhouse.releases.store import store_of
    from talkhouse.scores.examples_now import ExamplesNow, Now, examples_now
    from talkhouse.warehouse.opened import opened

    found: dict[str, Now] = {}
    if any(run["content_hash"] for run in runs):
        with suppress(WarehouseMissing), opened(path) as warehouse:
            found = examples_now(warehouse, runs, partial(release_of, store_of(db=path)))
    marks = {}
    for run in runs:
        now = found.get(run["run"], Now(ExamplesNow.UNKNOWN))
        run.update(examples_now=now.state.value, examples_changed=now.changed)
        how_many = "" if now.changed is None else f": {now.changed:,} of {now.of:,}"
        said = {
            ExamplesNow.RENUMBERED: "its examples are renumbered; predictions by record_id hold, by example_index not",
            ExamplesNow.CHANGED: f"its examples have changed since it was scored{how_many}",
            ExamplesNow.GONE: "its examples are no longer in the warehouse",
        }
        if now.state in said:
            marks[run["run"]] = said[now.state]
    return marks


def _compare(names: tuple[str, str], *, db: Path | None, as_json: bool) -> None:
    from talkhouse.scores.comparison import compare
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        found = compare(warehouse.con, database(db), names)
    if as_json:
        print(visible_json(comparison_as_data(found)))
    else:
        show_comparison(found)


_OWN = ("is_mean", "is_main")
"""What a metric has for the program alone."""

_FEW = 30
"""Dialogues below which a bootstrap interval comes out too short."""


def _one(values: list[Any]) -> Any:
    """Return the only value, None where there is none, or all of them."""
    return values[0] if len(values) == 1 else values or None


def _official(metrics: Sequence[Mapping[str, Any]], *names: str) -> dict[str, Any]:
    """Return what comes first in ``--json``: the official values of all examples, at the first threshold, by name."""
    official = [metric for metric in metrics if metric["official"] and metric.get("slice") is None]
    at = official[0]["threshold"] if official else None
    values = {metric["name"]: metric for metric in official if metric["threshold"] == at}
    shown = {key: {name: one[name] for name in names} if names else one["value"] for key, one in values.items()}
    return {"official": shown, "official_threshold": at}


def as_data(scored: "Scored", overlap: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the object that ``--json`` prints; ``overlap`` says by what examples are left out."""
    metrics = [_metric_as_data(metric) for metric in scored.metrics]
    return {
        **_official(metrics),
        "task": scored.task.name,
        "split": _one(scored.chosen.split_names),
        "release": _one(scored.chosen.releases),
        "subset": _one(list(scored.chosen.subsets)),
        "where": scored.chosen.where,
        "view_fingerprint": scored.chosen.fingerprint,
        "where_fingerprint": scored.chosen.where_fingerprint,
        "predictions": scored.files,
        "rows": scored.rows,
        "missing": scored.missing,
        "tied": scored.tied,
        "threshold": _one([threshold for threshold in scored.thresholds if threshold is not None]),
        "remark": scored.task.query.remark,
        "warnings": scored.warnings,
        "interval": scored.interval,
        "metrics": metrics,
        **({} if overlap is None else {"overlap": {**overlap, **_overlap_as_data(scored)}}),
    }


def _metric_as_data(metric: "ScoreMetric") -> dict[str, Any]:
    return {key: value for key, value in vars(metric).items() if key not in _OWN}


def _overlap_as_data(scored: "Scored") -> dict[str, Any]:
    """Return the metrics of all examples, of those without overlap, and of those with it, with their numbers."""
    parts = {
        "all": (None, scored.rows),
        **{name.partition("=")[2]: (name, size) for name, size in scored.sizes.items()},
    }
    return {
        part: {
            "examples": size,
            "metrics": [_metric_as_data(metric) for metric in scored.metrics if metric.slice == name],
        }
        for part, (name, size) in parts.items()
    }


def show(scored: "Scored", *, by: Sequence[str] = (), everything: bool = False) -> None:
    """Print the official metrics of all examples and of slices by these columns, or everything; and what to know."""
    shown = [metric for metric in scored.metrics if everything or (metric.is_main and _is_asked(metric, by))]
    chosen = scored.chosen
    condition = [] if chosen.where is None else [f"where {chosen.where}"]
    what = " ".join(visible(text) for text in (*chosen.releases, *chosen.split_names, *chosen.subsets, *condition))
    is_official = all(metric.official for metric in shown)
    output.print(
        f"[bold]{escape(scored.task.name)}[/] {escape(what)}: {scored.rows:,} examples"
        + (", official metrics" if is_official else ""),
        soft_wrap=True,
    )
    groups: dict[tuple[float | None, str | None], list[ScoreMetric]] = {}
    for metric in shown:
        groups.setdefault((metric.threshold, metric.slice), []).append(metric)
    for (threshold, part), numbers in groups.items():
        limit = "" if threshold is None else f"threshold {threshold:g}"
        size = f"{part}: {scored.sizes[part]:,} examples" if part in scored.sizes else part or ""
        title = ", ".join(text for text in (limit, size) if text)
        if title:
            output.print(f"\n{escape(visible(title))}", soft_wrap=True)
        _print_table(numbers, is_official=is_official)
    for remark in (*_remarks(scored), *_more(scored, shown)):
        output.print(escape(remark), soft_wrap=True)


def _is_asked(metric: "ScoreMetric", by: Sequence[str]) -> bool:
    return metric.slice is None or metric.slice.partition("=")[0] in (*by, "overlap")


def _print_table(numbers: "Sequence[ScoreMetric]", *, is_official: bool) -> None:
    """Print a row for each number, without columns in which no row has anything."""
    heads = ["metric", "value", "95 % interval", "of", "best", "worst", ""]
    rows = [_cells(metric) for metric in numbers]
    filled = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    shown = [place for place in filled if heads[place] or not is_official]
    cells = [[visible(row[place]) for place in shown] for row in rows]
    print_table([heads[place] for place in shown], cells, right=heads[1:-1])


def _cells(metric: "ScoreMetric") -> tuple[str, ...]:
    of = "" if metric.of is None else f"{metric.of:,}" if metric.count is None else f"{metric.count:,}/{metric.of:,}"
    value = f"{metric.count:,}" if metric.is_count else number(metric.value)
    ends = between(metric.low, metric.high)
    official = "official" if metric.official else ""
    return metric.name, value, ends, of, number(metric.best), number(metric.worst), official


def between(low: float | None, high: float | None) -> str:
    """Write an interval, or nothing where there is none."""
    return "" if low is None else f"{number(low)} to {number(high)}"


def number(value: float | None) -> str:
    """Write a value, or nothing where there is none."""
    return "" if value is None else f"{value:.6f}"


def _more(scored: "Scored", shown: "Sequence[ScoreMetric]") -> list[str]:
    """Return what is not printed."""
    names = {metric.name for metric in scored.metrics} - {metric.name for metric in shown}
    columns = dict.fromkeys(metric.slice.partition("=")[0] for metric in scored.metrics if metric.slice is not None)
    hidden = columns.keys() - {metric.slice.partition("=")[0] for metric in shown if metric.slice is not None}
    parts = [f"{len(names)} more metrics and counts"] if names else []
    parts += [f"the numbers by {column}" for column in columns if column in hidden]
    return [f"with --all: {', and '.join(parts)}"] if parts else []


def _remarks(scored: "Scored") -> list[str]:
    remarks = [scored.task.query.remark] if scored.task.query.remark else []
    if scored.missing:
        remarks.append(f"{scored.missing:,} examples without a prediction count as wrong, so no number is official")
    if scored.tied:
        remarks.append(f"ties at the right candidate in {scored.tied:,} of the lists: values are means, not official")
    if scored.interval:
        remarks.append(drawn(scored.interval))
    return remarks


def drawn(interval: dict[str, Any]) -> str:
    """Return how intervals were made, and where not to trust them."""
    if interval["units"] < 2:
        return "no intervals: all examples are of one dialogue"
    few = f"; fewer than {_FEW} give intervals that are too short" if interval["units"] < _FEW else ""
    return (
        f"intervals: {interval['method']}, {interval['resamples']:,} resamples of {interval['units']:,} dialogues, "
        f"seed {interval['seed']}{few}"
    )


def show_runs(runs: list[dict[str, Any]], marks: Mapping[str, str]) -> None:
    """Print runs of the same examples: a column each; and below what ``marks`` says of some of them."""
    _print_head(runs[0])
    numbers = {run["run"]: {_run_key(one): one["value"] for one in run["metrics"]} for run in runs}
    names = dict.fromkeys(key for run in numbers.values() for key in run)
    rows = [[name, *(number(run.get(name)) for run in numbers.values())] for name in names]
    _print_runs(["metric", *numbers], rows)
    for run in runs:
        if mark := marks.get(run["run"]):
            output.print(f"[yellow]{escape(visible(run['run']))}[/]: {escape(mark)}", soft_wrap=True)


def comparison_as_data(found: "RunComparison") -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    first, second = found.runs
    metrics = [vars(one) for one in found.metrics]
    same = (
        "task",
        "releases",
        "splits",
        "subsets",
        "view_fingerprint",
        "where_expression",
        "where_fingerprint",
        "examples",
    )
    return {
        **_official(metrics, "first", "second", "difference", "low", "high", "p_value"),
        **{name: first[name] for name in same},
        "first": first["run"],
        "second": second["run"],
        "interval": found.interval,
        "test": found.test,
        "metrics": metrics,
    }


def show_comparison(found: "RunComparison") -> None:
    """Print how the second of two runs differs from the first."""
    first, second = found.runs
    limits = {one.threshold for one in found.metrics}
    _print_head(first, *(f"threshold {one:g}" for one in limits if one is not None and len(limits) == 1))
    heads = ["metric", first["run"], second["run"], "difference", "95 % interval", "p-value", ""]
    rows = [
        [
            _run_key(vars(one) | {"slice": None} | ({"threshold": None} if len(limits) == 1 else {})),
            *(number(value) for value in (one.first, one.second, one.difference)),
            *(between(one.low, one.high), "" if one.p_value is None else f"{one.p_value:.4f}"),
            "official" if one.official else "",
        ]
        for one in found.metrics
    ]
    _print_runs(heads, rows)
    output.print(escape(drawn(found.interval)), soft_wrap=True)
    output.print(
        escape(
            f"p-values: {found.test['method']}, {found.test['resamples']:,} resamples, two-sided, "
            "each for one metric alone: among many, some are small by chance"
        ),
        soft_wrap=True,
    )


def _print_head(run: dict[str, Any], *more: str) -> None:
    part = [] if run["where_expression"] is None else [f"where {run['where_expression']}"]
    what = ", ".join((*run["releases"], *run["splits"], *run["subsets"], *part, *more))
    output.print(
        f"[bold]{escape(run['task'])}[/] {escape(visible(what))}: {run['examples']:,} examples", soft_wrap=True
    )


def _print_runs(heads: list[str], rows: list[list[str]]) -> None:
    shown = [[visible(cell) for cell in row] for row in [heads, *rows]]
    print_table(shown[0], shown[1:], right=[head for head in shown[0][1:] if head])


def _run_key(one: dict[str, Any]) -> str:
    parts = [one["name"], one["slice"], None if one["threshold"] is None else f"threshold {one['threshold']:g}"]
    return ", ".join(part for part in parts if part)
