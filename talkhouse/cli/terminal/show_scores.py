"""Scores and saved runs as the commands give them: as tables, side by side, and as data for --json."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.visible import visible

if TYPE_CHECKING:
    from talkhouse.scores.metrics import ScoreMetric
    from talkhouse.scores.saved.comparison import Comparison
    from talkhouse.scores.score import Scored


_OWN = ("is_mean", "is_main")
"""What a metric has for the program alone."""

_FEW = 30
"""Dialogues below which a bootstrap interval comes out too short."""


def _one(values: list[Any]) -> Any:
    """Return the only value, None where there is none, or all of them."""
    return values[0] if len(values) == 1 else values or None


def as_data(scored: "Scored", overlap: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the object that ``--json`` prints; ``overlap`` says by what examples are left out."""
    return {
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
        "metrics": [_metric_as_data(metric) for metric in scored.metrics],
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


def comparison_as_data(found: "Comparison") -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    first, second = found.runs
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
        **{name: first[name] for name in same},
        "first": first["run"],
        "second": second["run"],
        "interval": found.interval,
        "test": found.test,
        "metrics": [vars(one) for one in found.metrics],
    }


def show_comparison(found: "Comparison") -> None:
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
