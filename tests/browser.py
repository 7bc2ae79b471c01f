"""The pages of ``talkhouse dashboard`` in a real browser: serve them, open them, and watch what they do."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    WebSocket,
    expect,
    sync_playwright,
)

from tests.data_files import data_of

MINUTE = 60_000

OUTPUT = "output.txt"
"""What a server writes, in the folder that it was started in."""

_SERVER = """
import sys

def note(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        print(event, arguments, file=told, flush=True)

told = open(sys.argv.pop(1), "w")
sys.addaudithook(note)

from talkhouse.cli import main

main()
"""
"""The command, with whatever Python is asked to connect to written to a file."""

_COUNT_RUNS = """
window.runs = 0;
new MutationObserver(changes => changes.forEach(change => {
    if (change.target.dataset?.testScriptState === 'running') window.runs += 1;
})).observe(document, {subtree: true, attributes: true, attributeFilter: ['data-test-script-state']});
"""

_TURN_TO = data_of(__file__)["turn_to"]

_RUNS = "[performance.timeOrigin, window.runs]"
"""When the document was loaded, and how often the page's script has run since."""

_DRAWN = """([loaded, runs]) => window.runs > (loaded === performance.timeOrigin ? runs : 0)
    && document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'notRunning'
    && document.querySelector('[data-testid="stMain"] :is(h1, h2, h3)')
    && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"], [data-testid="stSpinner"]')
    && [...document.querySelectorAll('[data-testid="stVegaLiteChart"]')].every(one => one.querySelector('canvas, svg'))
"""
"""Holds when the script that makes the page has ended, and what it made is there."""

ERRORS = '[data-testid="stException"], [data-testid="stAlertContentError"]'


_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"]
"""No picture is seen: to emulate a graphics card costs as much as everything else."""

_SCRIPTS = "--js-flags=--no-opt --single-threaded"
"""A page lives for seconds: scripts that are compiled a second time, in threads of their own, never pay for that."""


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


@contextmanager
def launched() -> Iterator[Browser]:
    if not (path := chromium()):
        pytest.skip("Chromium is not installed: it would open the pages (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_ARGUMENTS, _SCRIPTS])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Served:
    """The pages, served by a process of their own."""

    url: str
    """As the command printed it: with the token."""
    process: "subprocess.Popen[bytes]"
    output: Path
    log: Path

    def stop(self) -> tuple[int, str]:
        """End the process as Ctrl-C does; gives its exit code and what it wrote."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60), self.output.read_text()

    def connections(self) -> list[str]:
        """Return the requests of the process to the network, except those to its own address."""
        return [line for line in self.log.read_text().splitlines() if "127.0.0.1" not in line]


@contextmanager
def served(
    warehouse: Path, folder: Path, *options: str, browser: str = "--no-browser", **environment: str
) -> Iterator[Served]:
    """Serve a warehouse until the end, from a folder; notes go there too. With "" the command opens the browser."""
    port, connections = free_port(), folder / "connections.txt"
    arguments = ["dashboard", "--port", port, "--db", warehouse, *([browser] if browser else []), *options]
    command = [sys.executable, "-c", _SERVER, connections, *arguments]
    # It may be killed, and then leaves what it keeps for a download.
    with started(command, port, folder, TMPDIR=str(folder), **environment) as process:
        output = folder / OUTPUT
        (url,) = (line.split()[0] for line in output.read_text().splitlines() if line.startswith(address(port)))
        yield Served(url, process, output, connections)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def address(port: int) -> str:
    return f"http://127.0.0.1:{port}"


@contextmanager
def started(
    command: Sequence[object], port: int, folder: Path, **environment: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a server of Streamlit's, wait until it answers, and kill it at the end; what it writes is in the folder."""
    arguments = [str(argument) for argument in command]
    with (
        (folder / OUTPUT).open("wb") as output,
        subprocess.Popen(
            arguments, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **environment}
        ) as process,
    ):
        try:
            while not _answers(port):
                if process.poll() is not None:
                    raise RuntimeError(f"the server has ended: {(folder / OUTPUT).read_text()}")
                time.sleep(0.02)
            yield process
        finally:
            process.kill()


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"{address(port)}/_stcore/health", timeout=60):  # noqa: S310 - ours
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@dataclass
class Visit:
    """A browser with nothing in it, and all that goes wrong in it."""

    url: str
    context: BrowserContext
    page: Page
    address: str
    """As the command printed it: with the token."""
    wrong: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> None:
        """Open a page by its address, and wait until it is drawn."""
        self.page.goto(f"{self.url}/{path.lstrip('/')}")
        self.drawn()

    def reach(self, path: str = "") -> None:
        """Go to an address, for a test that needs no page of its own: what is loaded is not loaded again."""
        is_loaded = urlsplit(self.page.url).path not in ("blank", "/")
        self.turn_to(path) if is_loaded else self.open(path)

    def turn_to(self, path: str) -> None:
        """Go to an address as the browser's Back does: nothing is loaded again, which takes half of a page's time."""
        address = f"{self.url}/{path.lstrip('/')}"
        self.drawn(self.page.wait_for_function(_TURN_TO, arg=address, timeout=2 * MINUTE).json_value())

    def act(self, action: Any) -> None:
        """Do something that makes the page anew, and wait until it is drawn."""
        before = self.page.evaluate(_RUNS)
        action()
        self.drawn(before)

    def press(self, button: Locator) -> None:
        """Press a button that makes the page anew; by a key, for what opens may move it meanwhile, and a click miss."""
        expect(button).to_be_visible()
        self.act(lambda: button.press("Enter"))

    def drawn(self, before: Sequence[float] = (0, 0)) -> None:
        """Wait until everything is drawn, after another run of the page's script than ``before``, as ``_RUNS`` says."""
        self.page.wait_for_function(_DRAWN, arg=list(before), timeout=2 * MINUTE)

    def links(self) -> list[str]:
        """Return the paths of all pages, as the navigation has them."""
        found = self.page.locator('[data-testid="stSidebarNavLink"]').all()
        return [urlsplit(link.get_attribute("href") or "").path for link in found]

    def follow(self, path: str) -> None:
        """Click on a page in the navigation."""
        links = self.page.locator('[data-testid="stSidebarNavLink"]')
        (place,) = (number for number, found in enumerate(self.links()) if found == path)
        before = self.page.evaluate(_RUNS)
        links.nth(place).click()
        # The page before may have run by itself meanwhile, to look for a new build.
        self.page.wait_for_url(lambda url: urlsplit(url).path == path, timeout=2 * MINUTE)
        self.drawn(before)

    def leave(self) -> list[str]:
        """Close all tabs but the first, and return the errors since the last time."""
        self.page, *others = self.context.pages
        for tab in others:
            tab.close()
        wrong, self.wrong = self.wrong, []
        return wrong

    def errors(self) -> list[str]:
        """Return the error messages on the page."""
        return self.page.locator(ERRORS).all_inner_texts()


@contextmanager
def visit(browser: Browser, url: str, **options: Any) -> Iterator[Visit]:
    """Open a browser context that knows nothing but a token in the address; ``options`` are Playwright's."""
    window = {"viewport": {"width": 1400, "height": 1000}, "reduced_motion": "reduce"}
    context = browser.new_context(**{**window, **options})
    context.set_default_timeout(2 * MINUTE)  # however busy the machine is
    expect.set_options(timeout=2 * MINUTE)
    address, (url, _, token) = url, url.partition("/?")
    if token:
        context.request.get(address)
    context.add_init_script(_COUNT_RUNS)
    page = context.new_page()
    visited = Visit(url, context, page, address)

    def on_request(request: Request) -> None:
        if urlsplit(request.url).scheme not in ("data", "blob") and not request.url.startswith(f"{url}/"):
            visited.wrong.append(f"request {request.url}")

    def on_websocket(socket: WebSocket) -> None:
        if not socket.url.startswith(url.replace("http", "ws", 1)):
            visited.wrong.append(f"websocket {socket.url}")

    def on_console(message: ConsoleMessage) -> None:
        # Where a page is opened by its address, Streamlit first looks for the server below it.
        is_search = urlsplit(message.location["url"]).path.endswith(("/_stcore/health", "/_stcore/host-config"))
        if message.type == "error" and not is_search:
            visited.wrong.append(f"console {message.text}")

    context.on("request", on_request)
    page.on("websocket", on_websocket)
    page.on("console", on_console)
    page.on("pageerror", lambda error: visited.wrong.append(f"page {error}"))
    page.on("dialog", lambda dialog: visited.wrong.append(f"dialog {dialog.message}"))
    try:
        yield visited
    finally:
        context.close()
