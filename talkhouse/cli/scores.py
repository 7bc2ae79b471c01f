"""``talkhouse scores``: the runs that were saved."""

from itertools import groupby
from typing import Annotated, Any

import typer
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from talkhouse.cli.terminal.console import Database, Json, Printer, output
from talkhouse.settings import database
from talkhouse.visible import visible, visible_json


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="Only runs of this task.", show_default=False)
    ] = None,
    db: Database = None,
    as_data: Json = False,
) -> None:
    """List the runs that talkhouse score --save kept, those that can be compared side by side.

    Runs can be compared where they are of the same examples: the same fingerprint and the same subsets. They are kept
    in scores.duckdb beside the warehouse, which builds do not touch.
    """
    from talkhouse.scores.runs import saved

    runs = saved(database(db), name)
    if as_data:
        print(visible_json(runs))
        return
    if not runs:
        output.print("No saved runs. Save one with: talkhouse score TASK PREDICTIONS --save RUN", soft_wrap=True)
    for _, same in groupby(runs, key=lambda run: (run["task"], run["view_fingerprint"], run["subsets"])):
        _show(list(same))


def _show(runs: list[dict[str, Any]]) -> None:
    """Print runs of the same examples: a column each."""
    first = runs[0]
    what = ", ".join((*first["releases"], *first["splits"], *first["subsets"]))
    output.print(f"[bold]{escape(first['task'])}[/] {escape(what)}: {first['examples']:,} examples", soft_wrap=True)
    numbers = {run["run"]: {_key(one): one["value"] for one in run["metrics"]} for run in runs}
    table = Table(box=box.SIMPLE, header_style="bold")
    table.add_column("metric")
    for run in numbers:
        table.add_column(Text(visible(run)), justify="right", overflow="fold")
    for key in dict.fromkeys(key for run in numbers.values() for key in run):
        values = [run.get(key) for run in numbers.values()]
        table.add_row(Text(visible(key)), *("" if value is None else f"{value:.6f}" for value in values))
    (output if output.is_terminal else Printer(width=10_000)).print(table)


def _key(one: dict[str, Any]) -> str:
    parts = [one["name"], one["slice"], None if one["threshold"] is None else f"threshold {one['threshold']:g}"]
    return ", ".join(part for part in parts if part)
