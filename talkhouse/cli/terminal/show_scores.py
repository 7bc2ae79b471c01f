"""Scores as the commands give them: as tables, and as data for ``--json``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.visible import visible

if TYPE_CHECKING:
    from talkhouse.scores.metrics.metrics import Metric
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


def _metric_as_data(metric: "Metric") -> dict[str, Any]:
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
    groups: dict[tuple[float | None, str | None], list[Metric]] = {}
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


def _is_asked(metric: "Metric", by: Sequence[str]) -> bool:
    return metric.slice is None or metric.slice.partition("=")[0] in (*by, "overlap")


def _print_table(numbers: "Sequence[Metric]", *, is_official: bool) -> None:
    """Print a row for each number, without columns in which no row has anything."""
    heads = ["metric", "value", "95 % interval", "of", "best", "worst", ""]
    rows = [_cells(metric) for metric in numbers]
    filled = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    shown = [place for place in filled if heads[place] or not is_official]
    cells = [[visible(row[place]) for place in shown] for row in rows]
    print_table([heads[place] for place in shown], cells, right=heads[1:-1])


def _cells(metric: "Metric") -> tuple[str, ...]:
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


def _more(scored: "Scored", shown: "Sequence[Metric]") -> list[str]:
    """Say what is not printed."""
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
    """Say how intervals were made, and where not to trust them."""
    if interval["units"] < 2:
        return "no intervals: all examples are of one dialogue"
    few = f"; fewer than {_FEW} give intervals that are too short" if interval["units"] < _FEW else ""
    return (
        f"intervals: {interval['method']}, {interval['resamples']:,} resamples of {interval['units']:,} dialogues, "
        f"seed {interval['seed']}{few}"
    )
