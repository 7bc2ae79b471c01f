"""Serves the pages on this machine alone: Streamlit, behind the guard."""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from secrets import token_urlsafe

import msgspec

from talkhouse.dashboard.streamlit_options import ADDRESS
from talkhouse.schema.errors import TalkhouseError, UsageError

FIRST_PORT = 8501
_PORTS = 20
"""How many ports are tried where none is asked for."""

APP = Path(__file__).with_name("app.py")

_WAITING = 128
"""Connections that wait until the server has started."""

_SECONDS = 30
"""Between two looks whether a page is still there: a long computation may keep the server from answering."""

_END = 5
"""Seconds that answers have to end when the server does."""


def listen(asked: int | None) -> socket.socket:
    """Take a port: the one asked for, or the first free one; raises UsageError.

    From here on nobody else can have it, so the address can be told.
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
    """Return what opens the pages: nobody can guess it, and it holds until the server ends."""
    return token_urlsafe(32)


def address(port: int, token: str | None) -> str:
    """Return the address to open."""
    from talkhouse.dashboard.guard import PARAMETER

    return f"http://{ADDRESS}:{port}" + (f"/?{PARAMETER}={token}" if token else "")


def serve(warehouse: Path, taken: socket.socket, token: str | None, *, browser: bool) -> None:
    """Serve the pages until Ctrl-C; ``token`` is None for pages that anybody on this machine may read."""
    from talkhouse.dashboard import streamlit_options

    os.environ["TALKHOUSE_DB"] = str(warehouse.absolute())
    port = int(taken.getsockname()[1])
    # Before anything of Streamlit's is set up.
    streamlit_options.impose(port)
    _make_shared()
    from talkhouse.dashboard.opening import opened

    # The server ends by itself and then sends itself the signal that it was ended by: let that be Ctrl-C's, with which
    # Python cleans up, also where it was another's.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with taken, suppress(KeyboardInterrupt), opened(address(port, token)) if browser else nullcontext():
        _run(taken, port, token)


def _make_shared() -> None:
    """Make what the threads of all pages share, while there is one thread.

    msgspec builds what it knows of a type when it is first used, and ends the process where two threads do so at once.
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

    from talkhouse.dashboard.guard import Guard
    from talkhouse.dashboard.policy import pages_policy

    config = uvicorn.Config(
        Guard(App(APP), port, token, pages_policy(port)),
        lifespan="on",
        workers=1,
        # Addresses have the token: nothing less than an error is logged.
        log_level="error",
        access_log=False,
        use_colors=False,
        # Nobody stands between who may tell of others.
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
