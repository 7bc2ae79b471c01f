"""``talkhouse scores``: the runs that were saved."""

from itertools import groupby
from typing import Annotated

import typer

from talkhouse.cli.terminal import show_runs
from talkhouse.cli.terminal.console import output
from talkhouse.cli.terminal.options import AsJson, Db
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database
from talkhouse.visible import visible_json


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="Only runs of this task.", show_default=False)
    ] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Test how run B differs from run A.", show_default=False),
    ] = None,
    db: Db = None,
    as_data: AsJson = False,
) -> None:
    """List the runs that talkhouse score --save kept, those that can be compared side by side; or compare two.

    Runs can be compared where they are of the same examples: the same fingerprint, the same subsets, and
    the same ones that an expression of --where leaves. They are kept in scores.duckdb beside the warehouse, which
    builds do not touch.

    --compare gives the difference of each metric (B less A), its 95 % interval by the paired bootstrap, and the p-value
    of a paired randomisation test, both over dialogues.

    Examples:
        talkhouse scores delidata.probing_target

        talkhouse scores --compare baseline mine --json
    """
    if compare is not None:
        if name is not None:
            raise UsageError("two runs are of one task", found=f"the task {name} too", next_step="leave the task out")
        _compare(compare, db=db, as_data=as_data)
        return
    from talkhouse.scores.saved.runs import comparable, saved

    runs = saved(database(db), name)
    if as_data:
        print(visible_json(runs))
        return
    if not runs:
        output.print("No saved runs. Save one with: talkhouse score TASK PREDICTIONS --save RUN", soft_wrap=True)
    for _, same in groupby(runs, key=comparable):
        show_runs.show(list(same))


def _compare(names: tuple[str, str], *, db: Db, as_data: bool) -> None:
    from talkhouse.scores.saved.comparison import compare
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        found = compare(warehouse.con, database(db), names)
    if as_data:
        print(visible_json(show_runs.comparison_as_data(found)))
    else:
        show_runs.show_comparison(found)
