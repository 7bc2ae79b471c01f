"""Where the pages are served, and what the command says where they can't be."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from talkhouse.cli.dashboard import require_dashboard
from talkhouse.dashboard.guard import ADDRESS
from talkhouse.dashboard.server import FIRST_PORT, listen
from talkhouse.ingest.registry import corpora
from talkhouse.schema.errors import UsageError
from tests.browser import OUTPUT, free_port, started, visit
from tests.commands import COMMAND
from tests.test_docs import blocks

STREAMLIT = [Subprotocol("streamlit")]


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.socket() as listening:
        listening.bind((ADDRESS, 0))
        listening.listen()
        yield listening.getsockname()[1]


def test_a_port_that_is_taken_is_refused(taken: int) -> None:
    with pytest.raises(UsageError, match=rf"port {taken} of 127\.0\.0\.1 can't be used[\s\S]*--port N"):
        listen(taken)


def test_a_port_that_is_free_is_taken_at_once() -> None:
    port = free_port()
    with listen(port) as listener:
        assert listener.getsockname() == (ADDRESS, port)
        with pytest.raises(UsageError, match="can't be used"):
            listen(port)


def test_without_a_port_the_first_free_one_is_used() -> None:
    with listen(None) as listener:
        assert FIRST_PORT <= listener.getsockname()[1] < FIRST_PORT + 20


@pytest.mark.parametrize("end", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_the_command_serves_until_it_is_ended(sample: Path, tmp_path: Path, end: signal.Signals) -> None:
    port = free_port()
    arguments = ["dashboard", "--db", sample, "--port", port, "--no-browser"]
    with started([*COMMAND, *arguments], port, tmp_path) as command:
        command.send_signal(end)
        assert command.wait(timeout=120) == 0
    (line,) = (tmp_path / OUTPUT).read_text().splitlines()
    assert re.fullmatch(rf"http://{ADDRESS}:{port}/\?token=[\w-]{{43}}   \(Ctrl-C ends it\)", line)


def test_without_what_draws_the_pages_the_command_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "streamlit", None)
    with pytest.raises(UsageError, match=r"streamlit is not installed[\s\S]*pip install 'talkhouse\[dashboard\]'"):
        require_dashboard()


IN_TURNS = [sys.executable, "-c", "import sys; sys.setswitchinterval(1e-6); from talkhouse.cli import main; main()"]
"""The command, whose threads take turns as often as Python lets them."""


@pytest.mark.parametrize(
    "start", [pytest.param(start, marks=pytest.mark.long if start else pytest.mark.slow) for start in range(10)]
)
def test_pages_that_open_together_right_after_the_start_are_drawn(sample: Path, tmp_path: Path, start: int) -> None:  # noqa: ARG001
    port = free_port()
    options = ["dashboard", "--db", sample, "--port", port, "--no-browser", "--no-token"]
    pages = ["", "read", "tasks", "quality", "ask", "overview", *sorted(corpora())[:2]]
    with started([*IN_TURNS, *options], port, tmp_path) as server, ThreadPoolExecutor(len(pages)) as visitors:
        assert {*visitors.map(partial(wrong, port), pages)} == {""}
        assert server.poll() is None


def wrong(port: int, page: str) -> str:
    """Return the error until a page is drawn to its end, as a browser asks for it, or an empty text."""
    with tab(port) as server:
        for message in answers(server, page_script_hash=calc_hash(page) if page else ""):
            element = message.delta.new_element
            if element.HasField("exception") or element.alert.format == element.alert.ERROR:
                return f"{page}: {element}"
        return "" if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY else f"{page}: {message}"


@contextmanager
def tab(port: int) -> Iterator[ClientConnection]:
    """Connect to the pages as a browser does."""
    address = f"{ADDRESS}:{port}"
    origin = Origin(f"http://{address}")
    with connect(f"ws://{address}/_stcore/stream", origin=origin, subprotocols=STREAMLIT, max_size=None) as server:
        yield server


def answers(server: ClientConnection, **asked: Any) -> Iterator[ForwardMsg]:
    """Ask for a run, and yield what the server sends until it has ended, and no other run follows at once."""
    server.send(BackMsg(rerun_script=ClientState(**asked)).SerializeToString())
    finished = None
    while finished in (None, ForwardMsg.FINISHED_EARLY_FOR_RERUN):
        message = ForwardMsg.FromString(server.recv(timeout=300))
        finished = message.script_finished if message.HasField("script_finished") else None
        yield message


@pytest.mark.slow
def test_behind_the_proxy_of_the_page_the_pages_work_and_other_sites_are_refused(
    sample: Path, tmp_path: Path, browser: Browser
) -> None:
    if (nginx := shutil.which("nginx")) is None:
        pytest.skip("nginx is not installed (Debian: apt-get install nginx-light)")
    (tmp_path / "w").mkdir()
    shutil.copyfile(sample, tmp_path / "w" / "w.duckdb")
    port, outside = free_port(), free_port()
    site = f"https://localhost:{outside}"
    (written,) = blocks((DOCS / "operating.md").read_text(encoding="utf-8"), "nginx")
    for name, here in {
        "127.0.0.1:8501": f"127.0.0.1:{port}",
        "https://talks.example.org": site,
        "listen 443": f"listen 127.0.0.1:{outside}",
        "talks.example.org": "localhost",
        "/etc/nginx/": f"{tmp_path}/",
    }.items():
        assert name in written
        written = written.replace(name, here)
    files = "".join(f"{name}_temp_path {tmp_path}/{name}; " for name in ("client_body", *_UPSTREAMS))
    (tmp_path / "nginx.conf").write_text(
        f"user root; daemon off; pid {tmp_path}/pid; error_log {tmp_path}/errors; events {{}}\n"
        f"http {{ access_log off; {files}\n{written}}}"
    )
    (tmp_path / "talks.users").write_text("ada:{PLAIN}secret\n")
    key = ["-keyout", tmp_path / "talks.key", "-out", tmp_path / "talks.pem", "-subj", "/CN=localhost"]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *key], check=True, capture_output=True)
    options = {"ignore_https_errors": True, "http_credentials": {"username": "ada", "password": "secret"}}
    server = [*COMMAND, "dashboard", "--db", tmp_path / "w" / "w.duckdb", "--port", port, "--no-browser", "--no-token"]
    with started(server, port, tmp_path), subprocess.Popen([nginx, "-c", tmp_path / "nginx.conf"]) as proxy:
        try:
            while not (tmp_path / "pid").exists():
                assert proxy.poll() is None, (tmp_path / "errors").read_text()
                time.sleep(0.02)
            with visit(browser, site, **options) as visitor:
                visitor.open("read")
                assert (visitor.errors(), visitor.leave()) == ([], [])
                ask = visitor.context.request
                assert ask.get(site, headers={"Origin": "https://other.example"}).status == 403
                assert ask.get(site, headers={"Origin": site}).status == 200
            anybody = browser.new_context(ignore_https_errors=True)
            assert anybody.request.get(site).status == 401
            anybody.close()
        finally:
            proxy.terminate()


_UPSTREAMS = ("proxy", "fastcgi", "uwsgi", "scgi")
DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.slow
def test_what_the_pages_of_a_release_write_lies_next_to_the_local_warehouse(tmp_path: Path) -> None:
    program = (
        "from talkhouse import settings; from talkhouse.dashboard import server; from pathlib import Path; "
        "from platformdirs import user_cache_path; from talkhouse.notes.notes_file import path_for; "
        "server._run = lambda *_: print(path_for(settings.database()), settings.bookmarks()); "
        "server.serve(user_cache_path('talkhouse') / 'r.duckdb', server.listen(None), None, browser=False)"
    )
    environment = {"TALKHOUSE_DB": "w.duckdb", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.stdout.split() == [str(tmp_path / "notes.duckdb"), str(tmp_path / "bookmarks.toml")], done.stderr
