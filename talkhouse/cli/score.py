"""``talkhouse score``: predictions in, the task's own published metrics out."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.dashboard import open_errors, require_dashboard
from talkhouse.cli.scores import show
from talkhouse.cli.terminal import completion, options
from talkhouse.cli.terminal.console import escape, output, warn
from talkhouse.escaping import visible, visible_json
from talkhouse.ingest.files.limits import parse
from talkhouse.overlap.request import DROPPED
from talkhouse.schema.errors import UsageError
from talkhouse.scores.options import AUTO, TABLE, Baseline, Otherwise, layout_names
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.scores.score import Scored
    from talkhouse.scores.task import ScoredTask, ScoreRequest
    from talkhouse.scores.workspace import ScoringWorkspace


@options.command
@click.argument("name", metavar="TASK", help="A task's view, such as dbdc3.breakdown_detection.")
@click.argument("paths", metavar="[PREDICTIONS...]", type=options.PATH, nargs=-1, help="Files of predictions.")
@options.split
@options.release
@options.subsets
@options.where
@click.option(
    "--format",
    "layout",
    metavar="LAYOUT",
    default=AUTO,
    shell_complete=completion.layouts,
    help=f"How the predictions come: {AUTO} (by the name of the file), {TABLE}, or a publisher's own layout: "
    f"{', '.join(layout_names())}.",
)
@click.option(
    "--threshold",
    metavar="T",
    type=float,
    multiple=True,
    help="Threshold of the gold label, where it has one (may be repeated).",
)
@click.option(
    "--missing",
    type=options.OneOf(Otherwise),
    default=Otherwise.STOP.value,
    help="Examples without a prediction: stop, or count them as wrong.",
)
@click.option(
    "--unknown",
    type=options.OneOf(Otherwise),
    default=Otherwise.STOP.value,
    help="Labels that the task does not have: stop, or count them as wrong.",
)
@click.option("--by", metavar="COLUMN", multiple=True, help="Also for each value of a column (may be repeated).")
@options.against
@options.flag("--interval", help="Also the 95 % bootstrap interval of each metric.")
@options.flag("--all", "everything", help="Print all numbers, not the official metrics alone.")
@options.as_json
@options.flag("--as-printed", help="Print what the publisher's script prints, if it does.")
@options.flag("--as-published", help="Keep published labels that the publisher's program merges.")
@options.path("--examples", metavar="FILE", help="Write the score of each example; the ending sets the format.")
@options.path("--beside", metavar="FILE", help="Predictions of another system, for --outcomes and --open.")
@options.path(
    "--outcomes", metavar="FILE", help="Write where one system or both are right; the ending sets the format."
)
@options.open_pages
@options.path("--template", metavar="FILE", help="Write an empty prediction table, and score nothing.")
@click.option("--baseline", type=options.OneOf(Baseline), help="Score predictions that need no file.")
@click.option("--save", metavar="RUN", help="Keep the numbers in scores.duckdb, under this name.")
@options.escape_formulas
@options.force
@options.input_limit
@options.db
@options.named_folders
def command(
    name: str,
    paths: tuple[Path, ...],
    split: str | None,
    release: str | None,
    subset: tuple[str, ...],
    where: str | None,
    layout: str,
    threshold: tuple[float, ...],
    missing: Otherwise,
    unknown: Otherwise,
    by: tuple[str, ...],
    against: tuple[str, ...],
    interval: bool,
    everything: bool,
    as_json: bool,
    as_printed: bool,
    as_published: bool,
    examples: Path | None,
    beside: Path | None,
    outcomes: Path | None,
    open_pages: bool,
    template: Path | None,
    baseline: Baseline | None,
    save: str | None,
    escape_formulas: bool,
    force: bool,
    input_limit: tuple[str, ...],
    db: Path | None,
) -> None:
    """Score predictions by the task's own published metrics, as its publisher's program computes them.

    Predictions are tables (CSV, TSV, JSON Lines, Parquet, Arrow) with example_index, or record_id and turn_index (and
    item_index where several examples are of one turn), and what the task needs: docs/scores.md lists it, and --template
    writes an empty table. Publishers' own layouts, which --format names, are read as they are: a folder or zip of
    label files, a world log, an array (.npy), one score per line.

    Every example of the split must have one prediction. Ties of scores are never broken by a sort: the value is what a
    random order of the tied gives on average, with the best and the worst order next to it.

    --against also reports the numbers without the examples that talkhouse overlap finds in your training data, and for
    these alone.

    --open starts the pages of talkhouse dashboard where the errors are browsed; --beside adds those of another system,
    and --outcomes writes the same rows: the gold answer, each system's answer and confidence, and which are right.

    The official metrics are printed; --all prints the others too. --json has all of them, and first, in "official", the
    official values by name.

    Examples:
        talkhouse score dbdc3.breakdown_detection --baseline majority --release dbdc3 --split eval
        talkhouse score mpchat.next_response_prediction scores.npy --split test --json
        talkhouse score delidata.probing_target --template empty.csv
        talkhouse score dbdc3.breakdown_detection a.csv --beside b.csv --release dbdc3 --split eval --open
    """
    from talkhouse.scores.comparison import score_as_data
    from talkhouse.scores.saved_runs import check_run
    from talkhouse.scores.saved_runs import save as save_run
    from talkhouse.scores.score import printed, score
    from talkhouse.scores.task import ScoreRequest, task
    from talkhouse.scores.workspace import ScoringWorkspace
    from talkhouse.system.memory import in_little_memory
    from talkhouse.user_files import MEMORY
    from talkhouse.warehouse.opened import opened

    if bool(paths) + (baseline is not None) + (template is not None) != 1:
        raise UsageError(
            "nothing to score" if not paths and baseline is None else "too much to score",
            expected="files of predictions, or --baseline, or --template",
            next_step="see: talkhouse score --help",
        )
    if examples is None and template is None and outcomes is None:
        options.check_absent(["--escape-formulas"], "goes with --examples, --outcomes or --template")
    if outcomes is None and not open_pages:
        options.check_absent(["--beside"], "goes with --outcomes or --open")
    if open_pages:
        require_dashboard()
    how = {"escape_formulas": escape_formulas, "force": force}
    request = ScoreRequest(
        paths,
        layout=layout,
        split=split,
        release=release,
        subsets=subset,
        where=where,
        missing=missing,
        unknown=unknown,
        by=by,
        as_printed=as_printed,
        as_published=as_published,
        baseline=baseline,
        interval=interval,
        keep=save is not None,
        limits=parse(input_limit),
    )
    if save is not None:
        check_run(save, database(db))
    overlap: dict[str, Any] | None = None
    attached: dict[str, Path] = {}
    if against and template is None:
        from talkhouse.overlap.compute import with_verdicts
        from talkhouse.overlap.overlap_file import SCHEMA
        from talkhouse.overlap.read import VERDICTS_IN_SQL, about

        judged = with_verdicts(database(db), against)
        attached, overlap = {SCHEMA: judged}, about(judged)
        request = replace(request, judged=VERDICTS_IN_SQL, dropped=DROPPED)
    rows: Any = None
    with (
        opened(database(db), beside=attached) as warehouse,
        ScoringWorkspace(warehouse.con) as workspace,
        ScoringWorkspace(warehouse.con) as another,
    ):
        con, wanted = warehouse.con, task(name, warehouse.catalogue)
        wanted.layout(layout)
        if template is not None:
            _write_template(workspace, wanted, request, template, how)
            return
        if written := [path for path in (examples, outcomes) if path is not None]:
            from talkhouse.export.export import check_output

            for path in written:
                check_output(con, path, force=force)
        scored = in_little_memory(con, MEMORY, lambda: score(workspace, wanted, request, threshold))
        try:  # The numbers come first: they may have taken long, and nothing that fails afterwards takes them away.
            warn(scored.warnings)
            if as_printed:
                sys.stdout.write(printed(workspace, scored))
            elif as_json:
                print(visible_json(score_as_data(scored, overlap)))
            else:
                show(scored, by=request.by, everything=everything)
            sys.stdout.flush()
        finally:
            if examples is not None:
                _write_examples(workspace, scored, examples, how)
            if save is not None:
                click.echo(f"saved in {visible(str(save_run(workspace, scored, save, database(db))))}", err=True)
            if outcomes is not None or open_pages:
                both = [scored]
                if beside is not None:
                    other = replace(request, paths=[beside], baseline=None, keep=False, interval=False)
                    both.append(in_little_memory(con, MEMORY, lambda: score(another, wanted, other, threshold)))
                rows = _outcomes(workspace, both, outcomes, how)
    if open_pages:
        names = [baseline or ", ".join(path.name for path in paths), *([] if beside is None else [beside.name])]
        open_errors(database(db), rows, names)


def _outcomes(
    workspace: "ScoringWorkspace", both: Sequence["Scored"], path: Path | None, how: Mapping[str, bool]
) -> Any:
    """Write where systems are right and wrong, where a file is named, and return the rows as Arrow has them."""
    from talkhouse.export.export import write_rows
    from talkhouse.scores.outcomes import create_outcomes, system_of

    query = f"from {create_outcomes(workspace, both[0].task, [system_of(workspace, scored) for scored in both])}"
    if path is not None:
        rows = write_rows(workspace.con, query, path, **how)
        click.echo(f"wrote where {rows:,} examples are right or wrong to {visible(str(path))}", err=True)
    return workspace.con.sql(query).to_arrow_table()


def _write_template(
    workspace: "ScoringWorkspace", wanted: "ScoredTask", request: "ScoreRequest", path: Path, how: Mapping[str, bool]
) -> None:
    from talkhouse.export.export import write_rows
    from talkhouse.scores.examples import choose_all, create_examples
    from talkhouse.scores.predictions import template

    con = workspace.con
    chosen = choose_all(con, wanted, request.filters)
    rows = write_rows(con, template(wanted, create_examples(workspace, wanted, chosen)), path, **how)
    output.print(f"Wrote {rows:,} keys of {wanted.name} to {escape(str(path))}")


def _write_examples(workspace: "ScoringWorkspace", scored: "Scored", path: Path, how: Mapping[str, bool]) -> None:
    from talkhouse.export.export import write_rows
    from talkhouse.scores.metrics import examples_query

    query = examples_query(workspace, scored.task, scored.turns[0].scored)
    rows = write_rows(workspace.con, query, path, **how)
    click.echo(f"wrote what {rows:,} examples score to {visible(str(path))}", err=True)
