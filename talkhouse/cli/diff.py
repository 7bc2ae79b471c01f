"""``talkhouse diff``: what differs between two states of a warehouse, row by row."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import errors, escape
from talkhouse.cli.terminal.progress import BuildProgress, ProgressBar
from talkhouse.escaping import visible, visible_json
from talkhouse.schema.errors import TalkhouseError, UsageError

_SHOWN, _IN_JSON = 20, 100
"""Rows to show of each change, for each table or task."""

_PAGE_ROWS = 2_000
"""Rows of a table or task that an HTML page has at most."""

_PAGES = (".html", ".htm")


@options.command
@click.argument("before", metavar="A", help="A warehouse file, the name or folder of a release, or a data folder.")
@click.argument("after", metavar="[B]", required=False, help="What to compare it with, of the same kinds.")
@options.corpora
@click.option("--task", metavar="NAME", help="Only this task, such as dbdc3.breakdown_detection.")
@click.option("--table", metavar="NAME", help="Only this table, such as main.turns.")
@click.option(
    "--between",
    nargs=2,
    metavar="OLD NEW",
    help="Compare two of the publisher's releases of one corpus (--corpus) in A, instead of A and B.",
)
@options.flag("--same-views", help="Make the examples of both with today's views: what differs is data.")
@click.option(
    "--limit",
    metavar="N",
    type=options.ROWS,
    help=f"Rows to show of each change, for each table or task. Default: {_SHOWN}, with --json {_IN_JSON}.",
)
@options.path("--store", metavar="DIR", help="The store of releases. Default: $TALKHOUSE_RELEASES, then releases here.")
@options.as_json
@options.path("--output", metavar="FILE", help="Write every changed cell (.parquet), or a page to read (.html).")
@options.force
@options.flag("--exit-zero", help="Exit with 0 even if something differs.")
def command(
    before: str,
    after: str | None,
    corpus: tuple[str, ...],
    task: str | None,
    table: str | None,
    between: tuple[str, str] | None,
    same_views: bool,
    limit: int | None,
    store: Path | None,
    as_json: bool,
    output: Path | None,
    force: bool,
    exit_zero: bool,
) -> None:
    """Show what differs between two states, row by row, and what that means for each task.

    A and B are warehouse files, names or folders of releases, or data folders, which are built in a private folder.
    Neither is changed. A state with an older schema is copied and migrated.

    A dialogue or record that has another id, because others were inserted before it, is recognised by its words: it is
    renumbered, not changed. Every other row is the same, changed, moved between splits, removed or added. Equal means
    identical: an empty text is not null, and a space counts. Each task gets a verdict: saved scores hold, its examples
    are renumbered, or so many of them changed. docs/diff.md explains it.

    Exit code 0: the same rows; 1: something differs; 2: wrong use, or a file that can't be read.

    Examples:
        talkhouse diff old.duckdb talkhouse.duckdb
        talkhouse diff 2026-11 talkhouse.duckdb --corpus dbdc3 --output changes.html
        talkhouse diff talkhouse.duckdb --corpus dbdc3 --between dbdc3 dbdc3_revised
        talkhouse diff old.duckdb corpora/ --task dbdc3.breakdown_detection --json
    """
    from talkhouse.cli.terminal import show_diff
    from talkhouse.diff.as_data import as_data
    from talkhouse.diff.difference import Wanted, difference
    from talkhouse.diff.states import found_state, opened_states

    with _exit_codes(before, after), ExitStack() as stack:
        _check_use(after, between, corpus, output)
        shown = (_IN_JSON if as_json else _SHOWN) if limit is None else limit
        is_page = output is not None and output.suffix.lower() in _PAGES
        wanted = Wanted(corpus, task, table, max(shown, _PAGE_ROWS) if is_page else shown)
        progress = stack.enter_context(BuildProgress("nothing was compared, and neither state was written"))
        bar = stack.enter_context(ProgressBar())
        states = [stack.enter_context(found_state(before, store, progress, _note))]
        states.append(states[0] if after is None else stack.enter_context(found_state(after, store, progress, _note)))
        if output is not None:
            from talkhouse.system.atomic_output import check_replaceable

            check_replaceable([output], {"what is compared": [state.path for state in states]}, force=force)
        sides = stack.enter_context(
            opened_states(states[0], states[1], between=between, same_views=same_views, on_step=bar.begin)
        )
        found = difference(sides, wanted, with_cells=output is not None and not is_page, on_step=bar.begin)
        bar.end()
        if output is not None and not is_page:
            from talkhouse.diff.compare import CELLS
            from talkhouse.export.export import write_rows

            write_rows(sides.con, f"from {CELLS}", output, force=True)
        if output is not None and is_page:
            from talkhouse.diff.page import write_page

            write_page(found, output, _PAGE_ROWS)
        if as_json:
            print(visible_json(as_data(found, shown)))
        else:
            show_diff.show(found, shown)
    if not found.is_equal and not exit_zero:
        sys.exit(1)


def _check_use(
    after: str | None, between: tuple[str, str] | None, corpora: tuple[str, ...], output: Path | None
) -> None:
    if between is None and after is None:
        raise UsageError(
            "one state is not enough", expected="A and B, or A with --between OLD NEW", next_step="name the other state"
        )
    if between is not None and (after is not None or len(corpora) != 1):
        raise UsageError(
            "--between compares two of the publisher's releases of one corpus in one warehouse",
            expected="A, --corpus ID once, and --between OLD NEW",
            next_step="leave B out, and name the corpus with --corpus",
        )
    if output is not None and output.suffix.lower() not in (".parquet", *_PAGES):
        raise UsageError(
            f"the name '{output.name}' does not show what to write",
            expected="a name that ends in .parquet or .html",
            next_step="name another --output",
        )
    if output is not None and output.suffix.lower() in _PAGES:
        from talkhouse.cli.dashboard import require_dashboard

        require_dashboard()


def _note(text: str) -> None:
    errors.print(f"[yellow]note:[/] {escape(visible(text))}")


@contextmanager
def _exit_codes(before: str, after: str | None) -> Iterator[None]:
    """End with 2 wherever two states can't be compared: 1 says that they differ."""
    import duckdb

    from talkhouse.schema import warehouse

    try:
        try:
            yield
        except duckdb.Error:
            with warehouse.explain_failures(Path(before if after is None else f"{before}, {after}")):
                raise
    except TalkhouseError as error:
        error.exit_code = 2
        raise
