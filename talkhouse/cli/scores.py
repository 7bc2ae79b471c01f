"""``talkhouse scores``: saved runs; and how scores are printed and written as JSON."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from heapq import nlargest
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.dashboard import open_runs, require_dashboard
from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.escaping import visible, visible_json
from talkhouse.schema.errors import UsageError, WarehouseMissing
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.scores.comparison import RunComparison
    from talkhouse.scores.metrics import ScoreMetric
    from talkhouse.scores.score import Scored


_SHOWN = 20
"""Runs that are printed unless --limit says how many."""


@options.command
@click.argument("name", metavar="[TASK]", required=False, help="Only runs of this task.")
@click.option(
    "--limit",
    metavar="N",
    type=options.ROWS,
    help=f"Show the N newest runs, and say how many more there are. Default: {_SHOWN}, with --json all.",
)
@options.flag("--all", "everything", help="Show all metrics, also of slices, not the official ones alone.")
@click.option("--compare", metavar="A B", nargs=2, help="Test how run B differs from run A.")
@options.open_pages
@options.db
@options.as_json
def command(
    name: str | None,
    limit: int | None,
    everything: bool,
    compare: tuple[str, str] | None,
    open_pages: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """List the runs that talkhouse score --save kept, with comparable ones side by side; or compare two.

    Runs can be compared if they are of the same examples: the same fingerprint, the same subsets, and the same
    --where. They are kept in scores.duckdb next to the warehouse, which builds do not touch.

    It prints the official metrics of all examples, or all metrics if none is official; with --all also the others, and
    those of slices.

    For each run, examples_now says what has become of its examples: the same, renumbered (a model sees the same, under
    other ids or places), changed, gone, or unknown (saved by an older Talkhouse). Runs whose examples differ are not
    listed side by side.

    --compare gives the difference of each metric (B less A), its 95 % interval by the paired bootstrap, and the p-value
    of a paired randomisation test, both over dialogues. With --open, the pages of talkhouse dashboard then show on
    which examples the two differ.

    Examples:
        talkhouse scores delidata.probing_target --limit 5
        talkhouse scores --compare baseline mine --json
    """
    if compare is not None:
        options.check_absent(["--limit", "--all"], "is for a list of runs")
        if name is not None:
            raise UsageError("two runs are of one task", found=f"the task {name} too", next_step="leave the task out")
        if open_pages:
            require_dashboard()
        from talkhouse.scores.comparison import compare as compared
        from talkhouse.scores.comparison import comparison_as_data
        from talkhouse.warehouse.opened import opened

        with opened(database(db)) as warehouse:
            found_difference = compared(warehouse.con, database(db), compare)
        if as_json:
            print(visible_json(comparison_as_data(found_difference)))
        else:
            show_comparison(found_difference)
        if open_pages:
            sys.stdout.flush()
            open_runs(database(db), compare)
        return
    options.check_absent(["--open"], "goes with --compare")
    from talkhouse.scores.comparison import official_values
    from talkhouse.scores.saved_runs import comparable, saved

    found = saved(database(db), name)
    most = limit if limit is not None else len(found) if as_json else _SHOWN
    newest = {run["run"] for run in nlargest(most, found, key=itemgetter("saved_at"))}
    runs = [run for run in found if run["run"] in newest]
    marks = _marks(database(db), runs)
    if as_json:
        print(visible_json([{**official_values(run["metrics"]), **run} for run in runs]))
        return
    if not found:
        output.print("No saved runs. Save one with: talkhouse score TASK PREDICTIONS --save RUN")
    for _, same in groupby(runs, key=comparable):
        show_runs(list(same), marks, everything=everything)
    if more := len(found) - len(runs):
        output.print(f"{more:,} older runs are not shown: --limit {len(found)} or --json")


def _marks(path: Path, runs: list[dict[str, Any]]) -> dict[str, str]:
    """Add to each run what became of its examples, and return the sentences about those that are not the same."""
    from talkhouse.releases.checkout import release_of
    from talkhouse.releases.store import store_of
    from talkhouse.scores.examples import ExamplesNow, Now, examples_now
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
        texts = {
            ExamplesNow.RENUMBERED: "its examples are renumbered; predictions by record_id hold, by example_index not",
            ExamplesNow.CHANGED: f"its examples have changed since it was scored{how_many}",
            ExamplesNow.GONE: "its examples are no longer in the warehouse",
        }
        if now.state in texts:
            marks[run["run"]] = texts[now.state]
    return marks


_FEW = 30
"""Dialogues below which a bootstrap interval comes out too short."""


def show(scored: "Scored", *, by: Sequence[str] = (), everything: bool = False) -> None:
    """Print the official metrics of all examples and of slices by these columns, or everything; and what to know."""
    shown = [metric for metric in scored.metrics if everything or (metric.is_main and _is_asked(metric, by))]
    chosen = scored.chosen
    condition = [] if chosen.where is None else [f"where {chosen.where}"]
    what = " ".join(visible(text) for text in (*chosen.releases, *chosen.split_names, *chosen.subsets, *condition))
    is_official = all(metric.official for metric in shown)
    output.print(
        f"[bold]{escape(scored.task.name)}[/] {escape(what)}: {scored.rows:,} examples"
        + (", official metrics" if is_official else "")
    )
    groups: dict[tuple[float | None, str | None], list[ScoreMetric]] = {}
    for metric in shown:
        groups.setdefault((metric.threshold, metric.slice), []).append(metric)
    for (threshold, part), numbers in groups.items():
        limit = "" if threshold is None else f"threshold {threshold:g}"
        size = f"{part}: {scored.sizes[part]:,} examples" if part in scored.sizes else part or ""
        title = ", ".join(text for text in (limit, size) if text)
        if title:
            output.print(f"\n{escape(visible(title))}")
        _print_table(numbers, is_official=is_official)
    for remark in (*_remarks(scored), *_more(scored, shown)):
        output.print(escape(remark))


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
    """Return the remark on rows that are not printed."""
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
    """Return the remarks on how intervals were computed, and which not to trust."""
    if interval["units"] < 2:
        return "no intervals: all examples are of one dialogue"
    few = f"; fewer than {_FEW} give intervals that are too short" if interval["units"] < _FEW else ""
    return (
        f"intervals: {interval['method']}, {interval['resamples']:,} resamples of {interval['units']:,} dialogues, "
        f"seed {interval['seed']}{few}"
    )


def show_runs(runs: list[dict[str, Any]], marks: Mapping[str, str], *, everything: bool) -> None:
    """Print runs of the same examples, a column each, with official metrics or all; and what ``marks`` says of some."""
    _print_head(runs[0])
    numbers = {run["run"]: {_run_key(metric): metric["value"] for metric in run["metrics"]} for run in runs}
    known = dict.fromkeys(key for run in numbers.values() for key in run)
    whole = [metric for run in runs for metric in run["metrics"] if metric["slice"] is None]
    official = {_run_key(metric) for metric in whole if metric["official"]} or {_run_key(metric) for metric in whole}
    names = [name for name in known if everything or name in official]
    rows = [[name, *(number(run.get(name)) for run in numbers.values())] for name in names]
    _print_runs(["metric", *numbers], rows)
    for run in runs:
        if mark := marks.get(run["run"]):
            output.print(f"[yellow]{escape(visible(run['run']))}[/]: {escape(mark)}")
    if hidden := len(known) - len(names):
        output.print(f"with --all: {hidden:,} more metrics")


def show_comparison(found: "RunComparison") -> None:
    """Print how the second of two runs differs from the first."""
    from talkhouse.scores.comparison import SIGNIFICANT

    first, second = found.runs
    limits = {metric.threshold for metric in found.metrics}
    _print_head(first, *(f"threshold {limit:g}" for limit in limits if limit is not None and len(limits) == 1))
    heads = ["metric", first["run"], second["run"], "difference", "95 % interval", "p-value", "better", ""]
    rows = [
        [
            _run_key(vars(metric) | {"slice": None} | ({"threshold": None} if len(limits) == 1 else {})),
            *(number(value) for value in (metric.first, metric.second, metric.difference)),
            *(between(metric.low, metric.high), "" if metric.p_value is None else f"{metric.p_value:.4f}"),
            "" if metric.better is None else found.runs[metric.better]["run"],
            "official" if metric.official else "",
        ]
        for metric in found.metrics
    ]
    _print_runs(heads, rows)
    output.print(escape(drawn(found.interval)))
    output.print(
        escape(
            f"p-values: {found.test['method']}, {found.test['resamples']:,} resamples, two-sided, "
            f"each for one metric alone: among many, some are small by chance; better: p below {SIGNIFICANT}"
        )
    )


def _print_head(run: dict[str, Any], *more: str) -> None:
    part = [] if run["where_expression"] is None else [f"where {run['where_expression']}"]
    what = ", ".join((*run["releases"], *run["splits"], *run["subsets"], *part, *more))
    output.print(f"[bold]{escape(run['task'])}[/] {escape(visible(what))}: {run['examples']:,} examples")


def _print_runs(heads: list[str], rows: list[list[str]]) -> None:
    shown = [[visible(cell) for cell in row] for row in [heads, *rows]]
    print_table(shown[0], shown[1:], right=[head for head in shown[0][1:] if head])


def _run_key(row: dict[str, Any]) -> str:
    parts = [row["name"], row["slice"], None if row["threshold"] is None else f"threshold {row['threshold']:g}"]
    return ", ".join(part for part in parts if part)
