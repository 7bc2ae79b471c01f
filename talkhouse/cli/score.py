"""``talkhouse score``: predictions in, the task's own published metrics out."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from talkhouse.cli.terminal import completion, show_scores
from talkhouse.cli.terminal.console import output, warn
from talkhouse.cli.terminal.options import (
    AsJson,
    CorpusFolders,
    Db,
    EscapeFormulas,
    Force,
    InputLimit,
    Release,
    Split,
    Subsets,
    Where,
    check_absent,
)
from talkhouse.ingest.files.limits import parse
from talkhouse.schema.errors import UsageError
from talkhouse.scores.tasks.options import AUTO, TABLE, Baseline, Otherwise, layout_names
from talkhouse.settings import database
from talkhouse.visible import visible, visible_json

if TYPE_CHECKING:
    from talkhouse.scores.score import Scored
    from talkhouse.scores.tasks.request import Request
    from talkhouse.scores.tasks.task import Task
    from talkhouse.scores.tasks.workspace import Workspace


def command(
    name: Annotated[str, typer.Argument(metavar="TASK", help="A task's view, such as dbdc3.breakdown_detection.")],
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PREDICTIONS...", help="Files of predictions.", show_default=False)
    ] = None,
    split: Split = None,
    release: Release = None,
    subset: Subsets = None,
    where: Where = None,
    layout: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="LAYOUT",
            help=f"How the predictions come: {AUTO} (by the name of the file), {TABLE}, or a publisher's own layout: "
            f"{', '.join(layout_names())}.",
            autocompletion=completion.layouts,
        ),
    ] = AUTO,
    threshold: Annotated[
        list[float] | None,
        typer.Option(
            metavar="T",
            help="Threshold of the gold label, where it has one (may be repeated).",
            show_default=False,
        ),
    ] = None,
    missing: Annotated[
        Otherwise, typer.Option(help="Examples without a prediction: stop, or count them as wrong.")
    ] = Otherwise.STOP,
    unknown: Annotated[
        Otherwise, typer.Option(help="Labels that the task does not have: stop, or count them as wrong.")
    ] = Otherwise.STOP,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Also for each value of a column (may be repeated).", show_default=False),
    ] = None,
    interval: Annotated[
        bool, typer.Option("--interval", metavar="", help="Also the 95 % bootstrap interval of each metric.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", metavar="", help="Print all numbers, not the official metrics alone.")
    ] = False,
    as_data: AsJson = False,
    as_printed: Annotated[
        bool,
        typer.Option("--as-printed", metavar="", help="Print what the publisher's script prints, if it does."),
    ] = False,
    as_published: Annotated[
        bool,
        typer.Option("--as-published", metavar="", help="Keep published labels that the publisher's program joins."),
    ] = False,
    examples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write what each example scores; the ending sets the format.", show_default=False
        ),
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an empty prediction table, and score nothing.", show_default=False),
    ] = None,
    baseline: Annotated[
        Baseline | None, typer.Option(help="Score predictions that need no file.", show_default=False)
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Keep the numbers in scores.duckdb, under this name.", show_default=False),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    force: Force = False,
    input_limit: InputLimit = None,
    db: Db = None,
    _: CorpusFolders = None,
) -> None:
    """Score predictions by the task's own published metrics, as its publisher's program computes them.

    Predictions are tables (CSV, TSV, JSON Lines, Parquet, Arrow) with example_index, or record_id and turn_index (and
    item_index where several examples are of one turn), and what the task needs: docs/scores.md lists it, and --template
    writes an empty table. Publishers' own layouts, which --format names, are taken as they are: a folder or zip of
    label files, a world log, an array (.npy), one score per line.

    Every example of the split must have one prediction. Ties of scores are never broken by a sort: the value is what a
    random order of the tied gives on average, with the best and the worst order beside it.

    The official metrics are printed; --all prints the others too, and --json has all of them.

    Examples:
        talkhouse score dbdc3.breakdown_detection --baseline majority --release dbdc3 --split eval

        talkhouse score mpchat.next_response_prediction scores.npy --split test --json

        talkhouse score delidata.probing_target --template empty.csv
    """
    from talkhouse.scores.predictions.reader import MEMORY
    from talkhouse.scores.printed import printed
    from talkhouse.scores.saved.runs import check_run
    from talkhouse.scores.score import score
    from talkhouse.scores.tasks.request import Request
    from talkhouse.scores.tasks.task import task
    from talkhouse.scores.tasks.workspace import Workspace
    from talkhouse.system.memory import in_little_memory
    from talkhouse.warehouse.opened import opened

    if bool(paths) + (baseline is not None) + (template is not None) != 1:
        raise UsageError(
            "nothing to score" if not paths and baseline is None else "too much to score",
            expected="files of predictions, or --baseline, or --template",
            next_step="see: talkhouse score --help",
        )
    if examples is None and template is None:
        check_absent({"--escape-formulas": escape_formulas}, "goes with --examples or --template", "score")
    how = {"escape_formulas": escape_formulas, "force": force}
    request = Request(
        paths or (),
        layout=layout,
        split=split,
        release=release,
        subsets=subset or (),
        where=where,
        missing=missing,
        unknown=unknown,
        by=by or (),
        as_printed=as_printed,
        as_published=as_published,
        baseline=baseline,
        interval=interval,
        keep=save is not None,
        limits=parse(input_limit or ()),
    )
    if save is not None:
        check_run(save, database(db))
    with opened(database(db)) as warehouse, Workspace(warehouse.con) as workspace:
        con, wanted = warehouse.con, task(name, warehouse.catalogue)
        wanted.layout(layout)
        if template is not None:
            _write_template(workspace, wanted, request, template, how)
            return
        if examples is not None:
            from talkhouse.scores.metrics.each_example import check_output

            check_output(con, examples, **how)
        scored = in_little_memory(con, MEMORY, lambda: score(workspace, wanted, request, threshold or ()))
        try:  # The numbers come first: they may have taken long, and nothing that fails afterwards takes them away.
            warn(scored.warnings)
            if as_printed:
                sys.stdout.write(printed(workspace, scored))
            elif as_data:
                print(visible_json(show_scores.as_data(scored)))
            else:
                show_scores.show(scored, by=request.by, everything=everything)
            sys.stdout.flush()
        finally:
            if examples is not None:
                _write_examples(workspace, scored, examples, how)
            if save is not None:
                _save(workspace, scored, save, database(db))


def _write_template(
    workspace: "Workspace", wanted: "Task", request: "Request", path: Path, how: Mapping[str, bool]
) -> None:
    from talkhouse.scores.metrics.each_example import write_rows
    from talkhouse.scores.predictions.baselines import template
    from talkhouse.scores.tasks.examples import choose_all, create_examples

    con = workspace.con
    asked = {"split": request.split, "release": request.release, "where": request.where}
    chosen = choose_all(con, wanted, **asked, subsets=request.subsets)
    rows = write_rows(con, template(wanted, create_examples(workspace, wanted, chosen)), path, **how)
    output.print(f"Wrote {rows:,} keys of {wanted.name} to {escape(str(path))}", soft_wrap=True)


def _write_examples(workspace: "Workspace", scored: "Scored", path: Path, how: Mapping[str, bool]) -> None:
    from talkhouse.scores.metrics.each_example import examples_query, write_rows

    query = examples_query(workspace, scored.task, scored.turns[0].scored)
    rows = write_rows(workspace.con, query, path, **how)
    typer.echo(f"wrote what {rows:,} examples score to {visible(str(path))}", err=True)


def _save(workspace: "Workspace", scored: "Scored", run: str, warehouse: Path) -> None:
    from talkhouse.scores.saved.runs import save

    typer.echo(f"saved in {visible(str(save(workspace, scored, run, warehouse)))}", err=True)
