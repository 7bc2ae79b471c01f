"""``talkhouse dashboard``: the corpora in the browser."""

from importlib.util import find_spec
from pathlib import Path

import click

from talkhouse.cli.terminal import options
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database


@options.command
@options.db
@options.named_folders
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), help="Serve at this port; otherwise from 8501 on.")
@options.flag("--no-browser", help="Don't open the pages in the browser.")
@options.flag("--no-token", help="Let every user of this machine read the pages.")
def command(db: Path | None, port: int | None, no_browser: bool, no_token: bool) -> None:
    """Open the corpora in the browser: conversations with their labels, tasks, charts, findings, and SQL.

    The pages are served on this machine alone, ask nothing of the network, and read the warehouse without changing it.
    After a build they show the new one. Every state of a page is a URL. Ctrl-C ends the command.

    The address that is printed and opened has a token, without which nobody else on this machine can open the pages.

    Needs Streamlit and Altair: pip install 'talkhouse[dashboard]'

    Examples:
        talkhouse dashboard
        talkhouse dashboard --db talkhouse.duckdb --port 8600 --no-browser
    """
    require_dashboard()
    from talkhouse.dashboard import server

    path, taken = database(db), server.listen(port)
    if not path.exists():
        click.echo(f"there is no warehouse at {path} yet: the pages show one as soon as it is built", err=True)
    token = None if no_token else server.new_token()
    click.echo(f"{server.address(taken.getsockname()[1], token)}   (Ctrl-C ends it)")
    server.serve(path, taken, token, browser=not no_browser)


def require_dashboard() -> None:
    """Raise UsageError where what draws the charts is not installed."""
    if missing := [name for name in ("altair", "streamlit", "vl_convert") if find_spec(name) is None]:
        raise UsageError(
            f"{', '.join(missing)} is not installed",
            next_step="install what draws the pages: pip install 'talkhouse[dashboard]'",
        )
