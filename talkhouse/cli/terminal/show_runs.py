"""Saved runs side by side, and how two of them differ."""

from typing import TYPE_CHECKING, Any

from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.cli.terminal.show_scores import between, drawn, number
from talkhouse.visible import visible

if TYPE_CHECKING:
    from talkhouse.scores.saved.comparison import Comparison


def show(runs: list[dict[str, Any]]) -> None:
    """Print runs of the same examples: a column each."""
    _print_head(runs[0])
    numbers = {run["run"]: {_key(one): one["value"] for one in run["metrics"]} for run in runs}
    names = dict.fromkeys(key for run in numbers.values() for key in run)
    rows = [[name, *(number(run.get(name)) for run in numbers.values())] for name in names]
    _print_table(["metric", *numbers], rows)


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
            _key(vars(one) | {"slice": None} | ({"threshold": None} if len(limits) == 1 else {})),
            *(number(value) for value in (one.first, one.second, one.difference)),
            *(between(one.low, one.high), "" if one.p_value is None else f"{one.p_value:.4f}"),
            "official" if one.official else "",
        ]
        for one in found.metrics
    ]
    _print_table(heads, rows)
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


def _print_table(heads: list[str], rows: list[list[str]]) -> None:
    shown = [[visible(cell) for cell in row] for row in [heads, *rows]]
    print_table(shown[0], shown[1:], right=[head for head in shown[0][1:] if head])


def _key(one: dict[str, Any]) -> str:
    parts = [one["name"], one["slice"], None if one["threshold"] is None else f"threshold {one['threshold']:g}"]
    return ", ".join(part for part in parts if part)
