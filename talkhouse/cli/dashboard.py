"""``talkhouse dashboard``: the corpora in the browser."""

from importlib.util import find_spec
from typing import Annotated

import typer

from talkhouse.cli.terminal.options import CorpusFolders, Db
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database


def command(
    db: Db = None,
    _: CorpusFolders = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=65535, help="Serve at this port; otherwise from 8501 on.", show_default=False
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", metavar="", help="Don't open the pages in the browser.")
    ] = False,
    no_token: Annotated[
        bool,
        typer.Option("--no-token", metavar="", help="Let every user of this machine read the pages."),
    ] = False,
) -> None:
    r"""Look at the corpora in the browser: conversations with their labels, tasks, charts, findings, and SQL.

    The pages are served on this machine alone, ask nothing of the network, and read the warehouse without changing it.
    After a build they show the new one. Every state of a page is a URL. Ctrl-C ends the command.

    The address that is printed and opened has a token, without which nobody else on this machine gets the pages.

    Needs Streamlit and Altair: pip install 'talkhouse\[dashboard]'

    Examples:
        talkhouse dashboard

        talkhouse dashboard --db talkhouse.duckdb --port 8600 --no-browser
    """
    require_dashboard()
    from talkhouse.dashboard import server

    path, taken = database(db), server.listen(port)
    if not path.exists():
        typer.echo(f"there is no warehouse at {path} yet: the pages show one as soon as it is built", err=True)
    token = None if no_token else server.new_token()
    typer.echo(f"{server.address(taken.getsockname()[1], token)}   (Ctrl-C ends it)")
    server.serve(path, taken, token, browser=not no_browser)


def require_dashboard() -> None:
    """Raise UsageError where what draws the charts is not installed."""
    if missing := [name for name in ("altair", "streamlit", "vl_convert") if find_spec(name) is None]:
        raise UsageError(
            f"{', '.join(missing)} is not installed",
            next_step="install what draws the pages: pip install 'talkhouse[dashboard]'",
        )
