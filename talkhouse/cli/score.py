"""``talkhouse score``: predictions in, the task's own published metrics out."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from talkhouse.cli.terminal import show_scores
from talkhouse.cli.terminal.console import errors, output
from talkhouse.cli.terminal.options import AsJson, Db, Force, InputLimit, Split
from talkhouse.ingest.files.limits import parse
from talkhouse.schema.errors import UsageError
from talkhouse.scores.options import Baseline, Layout, Otherwise
from talkhouse.settings import database
from talkhouse.visible import visible, visible_json

if TYPE_CHECKING:
    from talkhouse.scores.score import Scored


def command(
    name: Annotated[str, typer.Argument(metavar="TASK", help="A task's view, such as dbdc3.breakdown_detection.")],
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PREDICTIONS...", help="Files of predictions.", show_default=False)
    ] = None,
    split: Split = None,
    release: Annotated[
        str | None, typer.Option(metavar="R", help="The release, where there are several.", show_default=False)
    ] = None,
    subset: Annotated[
        list[str] | None,
        typer.Option(metavar="S", help="Only this published folder (may be repeated).", show_default=False),
    ] = None,
    layout: Annotated[Layout, typer.Option("--format", help="How the predictions come.")] = Layout.AUTO,
    threshold: Annotated[
        list[float] | None,
        typer.Option(metavar="T", help="Threshold of the gold label (dbdc3; may be repeated).", show_default=False),
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
    as_data: AsJson = False,
    as_printed: Annotated[
        bool, typer.Option("--as-printed", metavar="", help="Print what the publisher's script prints (dbdc3).")
    ] = False,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published", metavar="", help="Keep published labels that the publisher's program joins (delidata)."
        ),
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
    force: Force = False,
    input_limit: InputLimit = None,
    db: Db = None,
) -> None:
    """Score predictions by the task's own published metrics, as its publisher's program computes them.

    Predictions are tables (CSV, TSV, JSON Lines, Parquet, Arrow) with example_index, or record_id and turn_index, and
    what the task needs: docs/scores.md lists it, and --template writes an empty table. The challenges' own layouts are
    taken as they are: a folder or zip of label files (dbdc3), a world log (parlai), an array (mpchat, .npy), one score
    per line of the published file (mantis).

    Every example of the split must have one prediction. Ties of scores are never broken by a sort: the value is what a
    random order of the tied gives on average, with the best and the worst order beside it.

    Examples:
        talkhouse score dbdc3.breakdown_detection --baseline majority --release dbdc3 --split eval

        talkhouse score mpchat.next_response_prediction scores.npy --split test --json

        talkhouse score delidata.probing_target --template empty.csv
    """
    from talkhouse.scores.examples import check_output
    from talkhouse.scores.reader import MEMORY
    from talkhouse.scores.runs import check_run
    from talkhouse.scores.score import Request, printed, score
    from talkhouse.scores.tasks import task
    from talkhouse.system.memory import in_little_memory
    from talkhouse.warehouse.opened import opened

    wanted = task(name)
    if bool(paths) + (baseline is not None) + (template is not None) != 1:
        raise UsageError(
            "nothing to score" if not paths and baseline is None else "too much to score",
            expected="files of predictions, or --baseline, or --template",
            next_step="see: talkhouse score --help",
        )
    request = Request(
        paths or (),
        layout=layout,
        split=split,
        release=release,
        subsets=subset or (),
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
    with opened(database(db)) as warehouse:
        con = warehouse.con
        if template is not None:
            _write_template(con, wanted, request, template, force=force)
            return
        if examples is not None:
            check_output(con, examples, force=force)
        done = in_little_memory(con, MEMORY, lambda: score(con, wanted, request, threshold or ()))
        try:  # The numbers come first: they may have taken long, and nothing that fails afterwards takes them away.
            _show(done, printed(con, done) if as_printed else None, as_data=as_data)
        finally:
            if examples is not None:
                _write_examples(con, done, examples, force=force)
            if save is not None:
                _save(con, done, save, database(db))


def _show(done: "Scored", text: str | None, *, as_data: bool) -> None:
    for warning in done.warnings:
        errors.print(f"[yellow]warning:[/] {escape(warning)}", soft_wrap=True)
    if text is not None:
        sys.stdout.write(text)
    elif as_data:
        print(visible_json(show_scores.as_data(done)))
    else:
        show_scores.show(done)
    sys.stdout.flush()


def _write_template(con: Any, wanted: Any, request: Any, path: Path, *, force: bool) -> None:
    from talkhouse.scores.baselines import template
    from talkhouse.scores.examples import write_rows
    from talkhouse.scores.keys import choose_all, create_keys

    chosen = choose_all(con, wanted, split=request.split, release=request.release, subsets=request.subsets)
    create_keys(con, wanted, chosen)
    rows = write_rows(con, template(wanted, chosen), path, force=force)
    output.print(f"Wrote {rows:,} keys of {wanted.name} to {escape(str(path))}", soft_wrap=True)


def _write_examples(con: Any, done: "Scored", path: Path, *, force: bool) -> None:
    from talkhouse.scores.examples import examples_query, write_rows

    rows = write_rows(con, examples_query(con, done.task), path, force=force)
    typer.echo(f"wrote what {rows:,} examples score to {visible(str(path))}", err=True)


def _save(con: Any, done: "Scored", run: str, warehouse: Path) -> None:
    from talkhouse.scores.runs import save

    typer.echo(f"saved in {visible(str(save(con, done, run, warehouse)))}", err=True)
