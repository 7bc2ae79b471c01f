"""Scores as the commands give them: as tables, and as data for ``--json``."""

from typing import TYPE_CHECKING, Any

from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from talkhouse.cli.terminal.console import Printer, output
from talkhouse.visible import visible

if TYPE_CHECKING:
    from talkhouse.scores.metrics import Metric
    from talkhouse.scores.score import Scored

_FEW = 30
"""Dialogues below which a bootstrap interval comes out too short."""


def _one(values: list[Any]) -> Any:
    """Return the only value, None where there is none, or all of them."""
    return values[0] if len(values) == 1 else values or None


def as_data(done: "Scored") -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    return {
        "task": done.task.name,
        "split": _one(done.chosen.split_names),
        "release": _one(done.chosen.releases),
        "subset": _one(list(done.chosen.subsets)),
        "view_fingerprint": done.chosen.fingerprint,
        "predictions": done.files,
        "rows": done.rows,
        "missing": done.missing,
        "tied": done.tied,
        "threshold": _one([one for one in done.thresholds if one is not None]),
        "remark": done.task.remark,
        "warnings": done.warnings,
        "interval": done.interval,
        "metrics": [{key: value for key, value in vars(one).items() if key != "is_mean"} for one in done.metrics],
    }


def show(done: "Scored") -> None:
    """Print the metrics, a table for each threshold and slice, and what to know about them."""
    what = " ".join(visible(one) for one in (*done.chosen.releases, *done.chosen.split_names, *done.chosen.subsets))
    output.print(f"[bold]{escape(done.task.name)}[/] {escape(what)}: {done.rows:,} examples", soft_wrap=True)
    heads = ["metric", "value", *(["95 % interval"] if done.interval else []), "of", "best", "worst", ""]
    groups: dict[tuple[float | None, str | None], list[Metric]] = {}
    for one in done.metrics:
        groups.setdefault((one.threshold, one.slice), []).append(one)
    for (limit, part), numbers in groups.items():
        title = ", ".join(text for text in (f"threshold {limit:g}" if limit is not None else "", part or "") if text)
        if title:
            output.print(f"\n{escape(visible(title))}", soft_wrap=True)
        table = Table(box=box.SIMPLE, header_style="bold")
        for head in heads:
            table.add_column(head, justify="left" if head in ("metric", "") else "right", overflow="fold")
        for one in numbers:
            table.add_row(*(Text(visible(cell)) for cell in _cells(one, has_interval=done.interval is not None)))
        (output if output.is_terminal else Printer(width=10_000)).print(table)
    for remark in _remarks(done):
        output.print(escape(remark), soft_wrap=True)


def _cells(one: "Metric", *, has_interval: bool) -> tuple[str, ...]:
    of = "" if one.of is None else f"{one.count:,}/{one.of:,}" if one.count is not None else f"{one.of:,}"
    value = f"{one.count:,}" if one.is_count else number(one.value)
    interval = (between(one.low, one.high),) if has_interval else ()
    return one.name, value, *interval, of, number(one.best), number(one.worst), "official" if one.official else ""


def between(low: float | None, high: float | None) -> str:
    """Write an interval, or nothing where there is none."""
    return "" if low is None else f"{number(low)} to {number(high)}"


def number(value: float | None) -> str:
    """Write a value, or nothing where there is none."""
    return "" if value is None else f"{value:.6f}"


def _remarks(done: "Scored") -> list[str]:
    remarks = [done.task.remark] if done.task.remark else []
    if done.missing:
        remarks.append(f"{done.missing:,} examples without a prediction count as wrong, so no number is official")
    if done.tied:
        remarks.append(f"ties at the right candidate in {done.tied:,} of the lists: values are means, not official")
    if done.interval:
        remarks.append(drawn(done.interval))
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
