"""``talkhouse dashboard`` and ``report``: the corpora in the browser, or on one HTML page."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, escape, output
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database

if TYPE_CHECKING:
    from pyarrow import lib as pa


@options.command
@options.db
@options.named_folders
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), help="Serve at this port; otherwise from 8501 on.")
@options.flag("--no-browser", help="Don't open the pages in the browser.")
@options.flag("--no-token", help="Let every user of this machine read the pages.")
def dashboard_command(db: Path | None, port: int | None, no_browser: bool, no_token: bool) -> None:
    """Open the corpora in the browser: conversations with their labels, tasks, charts, findings, and SQL.

    The pages are served on this machine only, make no network requests, and never change the warehouse. After a build
    they show the new one. Every state of a page has a URL of its own. Ctrl-C stops the server.

    The printed URL contains a token, so other users of this machine cannot open the pages.

    Needs Streamlit and Altair: pip install 'talkhouse[dashboard]'

    Examples:
        talkhouse dashboard
        talkhouse dashboard --db talkhouse.duckdb --port 8600 --no-browser
    """
    require_dashboard()
    path = database(db)
    if not path.exists():
        click.echo(f"there is no warehouse at {path} yet: the pages show one as soon as it is built", err=True)
    _serve(path, port=port, has_token=not no_token, browser=not no_browser)


def _serve(
    path: Path, page: str = "", *, port: int | None = None, has_token: bool = True, browser: bool = True
) -> None:
    from talkhouse.dashboard import server

    taken = server.listen(port)
    token = server.new_token() if has_token else None
    click.echo(f"{server.address(taken.getsockname()[1], token, page)}   (Ctrl-C ends it)")
    server.serve(path, taken, token, page, browser=browser)


def open_errors(path: Path, rows: "pa.Table", names: Sequence[str]) -> None:
    """Serve the pages, and open that of the errors at the outcomes of systems of these names."""
    from talkhouse.dashboard import links, outcomes

    outcomes.give(rows, names, path.absolute())
    _serve(path, links.errors(of=outcomes.GIVEN))


def open_runs(path: Path, names: Sequence[str]) -> None:
    """Serve the pages, and open that of the errors at saved runs."""
    from talkhouse.dashboard import links

    _serve(path, links.errors(**dict(zip(("run", "beside"), names, strict=False))))


def require_dashboard() -> None:
    """Raise UsageError where what draws the charts is not installed."""
    if missing := [name for name in ("altair", "streamlit", "vl_convert") if find_spec(name) is None]:
        raise UsageError(
            f"{', '.join(missing)} is not installed",
            next_step="install what draws the pages: pip install 'talkhouse[dashboard]'",
        )


@options.command
@options.path("--output", "path", metavar="FILE.html", required=True, help="The page to write.")
@options.force
@options.db
@options.named_folders
def report_command(path: Path, force: bool, db: Path | None) -> None:
    """Write one HTML page about the warehouse, to read, to print, or to attach to a paper.

    It has the corpora with their charts, splits and gold labels, how well annotators agree, findings and checks, a
    dictionary of all tables and views with a diagram, licences, and what to cite. Everything is inside the file: it
    asks nothing of the network. Where talkhouse overlap has written its file beside the warehouse, it has the matrix of
    places too. Two reports on one build, and one overlap, are equal to the byte.

    Needs Altair: pip install 'talkhouse[dashboard]'

    Examples:
        talkhouse report --output corpora.html
        talkhouse report --db talkhouse.duckdb --output corpora.html --force
    """
    require_dashboard()
    from talkhouse.query.export import settings
    from talkhouse.report.write_report import write_report
    from talkhouse.warehouse.opened import opened

    with opened(database(db), settings=settings(path)) as warehouse, ProgressBar() as bar:
        bar.begin("reading the rows of the charts", unit="charts")
        report = write_report(warehouse.con, path, force=force, on_chart=bar.advance)
    output.print(
        f"Wrote a report on {report.corpora} corpora, with {report.charts} charts ({decimal(report.bytes)}),"
        f" to {escape(str(report.path))}",
        soft_wrap=True,
    )
