"""Serves the pages on this machine alone, by Streamlit."""

import os
import socket
from pathlib import Path

from schema.errors import UsageError

ADDRESS = "127.0.0.1"
FIRST_PORT = 8501
_PORTS = 20
"""How many ports are tried where none is asked for."""

APP = Path(__file__).with_name("app.py")

_OPTIONS = [
    ("server.address", ADDRESS),
    # A page elsewhere can't reach this server under another name that leads to it (DNS rebinding).
    ("server.allowedHosts", ADDRESS),
    ("server.allowedHosts", "localhost"),
    ("server.fileWatcherType", "none"),
    ("server.showEmailPrompt", "false"),
    ("server.enableStaticServing", "false"),
    ("browser.serverAddress", ADDRESS),
    ("browser.gatherUsageStats", "false"),
    ("client.toolbarMode", "minimal"),
    ("global.developmentMode", "false"),
    # Otherwise the texts that say what a constant is for would be drawn.
    ("runner.magicEnabled", "false"),
    ("theme.metricValueFontSize", "1.6rem"),
    ("theme.paddingTop", "2rem"),
    ("logger.level", "error"),
    ("theme.light.primaryColor", "#1f6feb"),
    ("theme.dark.primaryColor", "#58a6ff"),
    ("theme.baseRadius", "small"),
    ("theme.showWidgetBorder", "true"),
]
"""Nothing is asked of the network, and nobody else is let in."""


def free_port(asked: int | None) -> int:
    """Return a port that nobody listens on: the one asked for, or the first free one; raises UsageError."""
    for port in [asked] if asked is not None else range(FIRST_PORT, FIRST_PORT + _PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((ADDRESS, port))
            except (OSError, OverflowError) as error:
                found = error
            else:
                return port
    tried = f"port {asked}" if asked is not None else f"ports {FIRST_PORT} to {FIRST_PORT + _PORTS - 1}"
    raise UsageError(
        f"the pages can't be served: {tried} of {ADDRESS} can't be used",
        found=str(found),
        next_step="choose another: talkhouse dashboard --port N   (is one running already? open it in the browser)",
    )


def serve(warehouse: Path, port: int, *, browser: bool) -> None:
    """Serve the pages until Ctrl-C."""
    from streamlit.web import cli

    os.environ["TALKHOUSE_DB"] = str(warehouse.absolute())
    options = [*_OPTIONS, ("server.port", str(port)), ("server.headless", "false" if browser else "true")]
    cli.main(["run", str(APP), *(f"--{name}={value}" for name, value in options)], standalone_mode=False)
