"""Serves the pages on this machine alone: Streamlit, behind the guard."""

import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from html import escape
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from secrets import token_urlsafe

import msgspec

from talkhouse.dashboard import links
from talkhouse.dashboard.guard import ADDRESS, NAMES, PARAMETER, Guard, impose
from talkhouse.html_pages import source
from talkhouse.schema.errors import TalkhouseError, UsageError
from talkhouse.settings import serve_database
from talkhouse.system.files import temporary_folder
from talkhouse.warehouse.sidecar import of_here

_PAGE = """<!DOCTYPE html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={address}">
<title>Talkhouse</title>
<p><a href="{address}">Talkhouse</a></p>
"""


@contextmanager
def opened(address: str) -> Iterator[None]:
    """Open an address in the browser; the file is there until the end, for a browser that is slow."""
    from streamlit import cli_util

    # Both the folder and the file are for this user alone.
    with temporary_folder() as folder:
        page = folder / "open.html"
        page.touch(mode=0o600)
        page.write_text(_PAGE.format(address=escape(address)), encoding="utf-8")
        cli_util.open_browser(page.as_uri())
        yield


_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def pages_policy(port: int) -> str:
    """Return the policy for the pages that Streamlit draws; its own inline scripts are allowed by their hashes.

    So is Talkhouse's, which scrolls to a turn.
    Styles may be inline: Streamlit sets them so. A browser that does not take websockets for a part of 'self' finds
    them named.
    """
    from streamlit import file_util

    page = Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")
    scripts = " ".join(source(script) for script in (*_INLINE.findall(page), links.SCRIPT))
    sockets = " ".join(f"ws://{name}:{port}" for name in NAMES)
    return (
        "default-src 'none'; "
        f"script-src 'self' {scripts}; "
        "style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; "
        "font-src 'self' data:; "
        f"connect-src 'self' {sockets}; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )


FIRST_PORT = 8501
_PORTS = 20
"""The number of ports that are tried if none is requested."""

APP = Path(__file__).with_name("app.py")

_WAITING = 128
"""Connections that wait until the server has started."""

_SECONDS = 30
"""Between two checks that a page is still open: a long computation may keep the server from answering."""

_END = 5
"""Seconds that answers have to end when the server does."""


def listen(asked: int | None) -> socket.socket:
    """Bind a port: the one asked for, or the first free one; raises UsageError.

    From here on no other process can have it, so the address can be printed.
    """
    for port in [asked] if asked is not None else range(FIRST_PORT, FIRST_PORT + _PORTS):
        taken = socket.socket()
        if os.name != "nt":  # There, others could listen as well.
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((ADDRESS, port))
            taken.listen(_WAITING)
        except (OSError, OverflowError) as error:
            taken.close()
            found = error
        else:
            return taken
    tried = f"port {asked}" if asked is not None else f"ports {FIRST_PORT} to {FIRST_PORT + _PORTS - 1}"
    raise UsageError(
        f"the pages can't be served: {tried} of {ADDRESS} can't be used",
        found=str(found),
        next_step="choose another: talkhouse dashboard --port N   (is one running already? open it in the browser)",
    )


def new_token() -> str:
    """Return an unguessable token for the pages, which is valid until the server ends."""
    return token_urlsafe(32)


def address(port: int, token: str | None, page: str = "") -> str:
    """Return the address to open; ``page`` is one as ``links`` has them."""
    query = f"{'&' if '?' in page else '?'}{PARAMETER}={token}" if token else ""
    return f"http://{ADDRESS}:{port}" + (f"/{page}{query}" if page or query else "")


def serve(warehouse: Path, taken: socket.socket, token: str | None, page: str = "", *, browser: bool) -> None:
    """Serve the pages until Ctrl-C; ``token`` is None for pages that every user of this machine may read."""
    serve_database(warehouse, of_here(warehouse))
    # Not by the environment, which the commands that make files inherit.
    links.token = token
    port = int(taken.getsockname()[1])
    # Before anything of Streamlit's is set up.
    impose(port)
    _make_shared()
    # The server ends by itself and then sends itself the signal that it was ended by: let that be Ctrl-C's, with which
    # Python cleans up, also if it was another's.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with taken, suppress(KeyboardInterrupt), opened(address(port, token, page)) if browser else nullcontext():
        _run(taken, port, token)


def _make_shared() -> None:
    """Make what the threads of all pages share, while there is one thread.

    msgspec builds what it knows of a type when it is first used, and ends the process if two threads do so at once.
    Narwhals, by which Altair reads frames, looks whether Pandas is imported, and takes half of it for the whole.
    """
    import_module("pandas")
    from talkhouse.charts.declarations import dashboards, metrics
    from talkhouse.dashboard import content
    from talkhouse.queries.catalogue import catalogue

    for module in iter_modules(content.__path__, f"{content.__name__}."):
        import_module(module.name)
    # Named tuples are among what the heads of SQL files are read to.
    catalogue(), dashboards(), metrics()
    for kind in _below(msgspec.Struct):
        msgspec.json.Decoder(kind)


def _below(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for other in kind.__subclasses__():
        yield other
        yield from _below(other)


def _run(taken: socket.socket, port: int, token: str | None) -> None:
    import uvicorn
    from streamlit.starlette import App

    config = uvicorn.Config(
        Guard(App(APP), port, token, pages_policy(port)),
        lifespan="on",
        workers=1,
        # Addresses have the token: nothing less than an error is logged.
        log_level="error",
        access_log=False,
        use_colors=False,
        # No proxy stands in between that could name other clients.
        proxy_headers=False,
        server_header=False,
        ws_ping_interval=_SECONDS,
        ws_ping_timeout=_SECONDS,
        timeout_graceful_shutdown=_END,
    )
    server = uvicorn.Server(config)
    server.run(sockets=[taken])
    if not server.started:
        raise TalkhouseError(
            "the pages are not served: Streamlit did not start", next_step="read above what it could not do"
        )
