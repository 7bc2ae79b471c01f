"""``talkhouse dashboard`` and ``report``: the corpora in the browser, or on one HTML page."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, escape, output
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.personal import PersonalData
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database, name_bookmarks

if TYPE_CHECKING:
    from pyarrow import lib as pa

_DIALOGUES = 200
"""Of each split that are on a site."""

_CHARTS = "reading the rows of the charts"


@options.command
@options.db
@options.named_folders
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), help="Serve at this port; otherwise from 8501 on.")
@options.flag("--no-browser", help="Don't open the pages in the browser.")
@options.flag("--no-token", help="Let every user of this machine read the pages.")
@options.path(
    "--bookmarks",
    metavar="FILE",
    help="The file of bookmarks. Default: $TALKHOUSE_BOOKMARKS, then bookmarks.toml next to the warehouse.",
)
def dashboard_command(
    db: Path | None, port: int | None, no_browser: bool, no_token: bool, bookmarks: Path | None
) -> None:
    """Open the corpora in the browser: conversations with their labels, tasks, charts, findings, and SQL.

    The pages are served on this machine only, make no network requests, and never change the warehouse. After a build
    they show the new one. Every state of a page has a URL of its own, and can be given a name: bookmarks are kept in
    a TOML file that you can edit and hand on. Ctrl-C stops the server.

    The printed URL contains a token, so other users of this machine cannot open the pages.

    Needs Streamlit and Altair: pip install 'talkhouse[dashboard]'

    Examples:
        talkhouse dashboard
        talkhouse dashboard --db talkhouse.duckdb --port 8600 --no-browser
    """
    require_dashboard()
    if bookmarks:
        name_bookmarks(bookmarks)
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
    _serve(path, links.errors(of=outcomes.COMMAND))


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
@options.path("--output", "path", metavar="FILE.html", help="The page to write.")
@options.path("--site", metavar="DIR", help="The folder to write as a site; a site written before is replaced.")
@click.option(
    "--dialogues",
    metavar="N",
    type=click.IntRange(0),
    help=f"With --site: how many dialogues of each split it shows.  [default: {_DIALOGUES}]",
)
@options.accept_terms
@options.personal
@options.force
@options.db
@options.named_folders
def report_command(
    path: Path | None,
    site: Path | None,
    dialogues: int | None,
    accept_terms: bool,
    personal: PersonalData,
    force: bool,
    db: Path | None,
) -> None:
    """Write one HTML page about the warehouse, to read, to print, or to attach to a paper; or a site to publish.

    The page has the corpora with their charts, splits and gold labels, how well annotators agree, findings and checks,
    a dictionary of all tables and views with a diagram, licences, and what to cite. The file is self-contained: it
    loads nothing from the network. Where talkhouse overlap has written its file next to the warehouse, it has the
    matrix of places too. Two reports on one build, and one overlap, are equal to the byte.

    With --site, DIR is a folder with the same on several pages, a page for each corpus, task and split, and dialogues
    with their labels to read and to search. It needs no server and no network: open DIR/index.html, or put the folder
    anywhere below a website. It shows up to N dialogues of each split, those whose ids have the lowest SHA-256; each
    page says how many of how many. If a licence requires more than attribution, the command stops with a message unless
    --accept-terms is given.

    --redact puts marks such as <email> in place of personal data in texts, which the page shows in its examples;
    without it, the command stops if texts of a corpus of your own have any, unless --keep-personal-data is given.

    Needs Altair: pip install 'talkhouse[dashboard]'

    Examples:
        talkhouse report --output corpora.html
        talkhouse report --db talkhouse.duckdb --output corpora.html --force
        talkhouse report --site corpora --dialogues 50
    """
    if (path is None) == (site is None):
        raise UsageError(
            "nothing to write" if path is None else "--output and --site are two things to write",
            expected="--output FILE.html for one page, or --site DIR for a site",
            next_step="see: talkhouse report --help",
        )
    require_dashboard()
    if path is not None:
        options.check_absent(["--dialogues", "--accept-terms"], "goes with --site")
        _write_page(path, database(db), personal, force=force)
    elif site is not None:
        options.check_absent(["--force"], "goes with --output")
        most = _DIALOGUES if dialogues is None else dialogues
        _write_site(site, database(db), most, personal, is_accepted=accept_terms)


def _write_page(path: Path, db: Path, personal: PersonalData, *, force: bool) -> None:
    from talkhouse.export.export import settings
    from talkhouse.personal.redact import opened_for
    from talkhouse.report.write_report import write_report

    with opened_for(db, personal, settings=settings(path)) as warehouse, ProgressBar() as bar:
        bar.begin(_CHARTS, unit="charts")
        report = write_report(warehouse.con, path, personal=personal, force=force, on_chart=bar.advance)
    output.print(
        f"Wrote a report on {report.corpora} corpora, with {report.charts} charts ({decimal(report.bytes)}),"
        f" to {escape(str(report.path))}"
    )


def _write_site(folder: Path, db: Path, most: int, personal: PersonalData, *, is_accepted: bool) -> None:
    from talkhouse.cli.export import show_licences
    from talkhouse.export.export import settings
    from talkhouse.personal.redact import opened_for
    from talkhouse.report.write_site import write_site

    with opened_for(db, personal, settings=settings(folder)) as warehouse, ProgressBar() as bar:
        bar.begin(_CHARTS, unit="charts")
        site = write_site(
            warehouse.con,
            folder,
            most=most,
            is_accepted=is_accepted,
            personal=personal,
            redacted=warehouse.redacted,
            on_chart=bar.advance,
            on_dialogues=lambda count: bar.begin("writing dialogues", records=count, unit="dialogues"),
            on_dialogue=bar.advance,
        )
    output.print(
        f"Wrote a site on {len(site.corpora)} corpora: {site.pages:,} pages with {site.dialogues:,} of"
        f" {site.all_dialogues:,} dialogues ({decimal(site.bytes)})"
    )
    output.print(f"  open {escape(str(folder / 'index.html'))}")
    show_licences(site.corpora, [part for corpus in site.corpora for part in corpus["parts"]])
