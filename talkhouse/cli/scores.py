"""``talkhouse scores``: the runs that were saved."""

from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import output
from talkhouse.cli.terminal.show_scores import comparison_as_data, show_comparison, show_runs
from talkhouse.schema.errors import UsageError, WarehouseMissing
from talkhouse.settings import database
from talkhouse.visible import visible_json


@options.command
@click.argument("name", metavar="[TASK]", required=False, help="Only runs of this task.")
@click.option("--compare", metavar="A B", nargs=2, help="Test how run B differs from run A.")
@options.db
@options.as_json
def command(name: str | None, compare: tuple[str, str] | None, db: Path | None, as_json: bool) -> None:
    """List the runs that talkhouse score --save kept, those that can be compared side by side; or compare two.

    Runs can be compared where they are of the same examples: the same fingerprint, the same subsets, and the same
    --where. They are kept in scores.duckdb beside the warehouse, which builds do not touch.

    Each run says whether its examples are what they were (examples_now): the same, renumbered (a model sees the same,
    under other ids or places), changed, gone, or unknown, of a run that an older Talkhouse saved. Runs whose examples
    differ are not side by side.

    --compare gives the difference of each metric (B less A), its 95 % interval by the paired bootstrap, and the p-value
    of a paired randomisation test, both over dialogues.

    Examples:
        talkhouse scores delidata.probing_target
        talkhouse scores --compare baseline mine --json
    """
    if compare is not None:
        if name is not None:
            raise UsageError("two runs are of one task", found=f"the task {name} too", next_step="leave the task out")
        _compare(compare, db=db, as_json=as_json)
        return
    from talkhouse.scores.saved.runs import comparable, saved

    runs = saved(database(db), name)
    marks = _marks(database(db), runs)
    if as_json:
        print(visible_json(runs))
        return
    if not runs:
        output.print("No saved runs. Save one with: talkhouse score TASK PREDICTIONS --save RUN", soft_wrap=True)
    for _, same in groupby(runs, key=comparable):
        show_runs(list(same), marks)


def _marks(path: Path, runs: list[dict[str, Any]]) -> dict[str, str]:
    """Add to each run what became of its examples, and return the sentences about those that are not the same."""
    from talkhouse.releases.checkout import release_of
    from talkhouse.releases.store import store_of
    from talkhouse.scores.saved.examples_now import ExamplesNow, Now, examples_now
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
    from talkhouse.scores.saved.comparison import compare
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        found = compare(warehouse.con, database(db), names)
    if as_json:
        print(visible_json(comparison_as_data(found)))
    else:
        show_comparison(found)
