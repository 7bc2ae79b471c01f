"""Where the pages are served, and what the command says where they can't be."""

import re
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from talkhouse.cli.dashboard import require_dashboard
from talkhouse.dashboard.guard import ADDRESS
from talkhouse.dashboard.server import FIRST_PORT, listen
from talkhouse.ingest.registry import corpora
from talkhouse.schema.errors import UsageError
from tests.browser import OUTPUT, free_port, started
from tests.commands import COMMAND

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
    with listen(port) as one:
        assert one.getsockname() == (ADDRESS, port)
        with pytest.raises(UsageError, match="can't be used"):
            listen(port)


def test_without_a_port_the_first_free_one_is_used() -> None:
    with listen(None) as one:
        assert FIRST_PORT <= one.getsockname()[1] < FIRST_PORT + 20


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
    """Say what goes wrong until a page is drawn to its end, as a browser asks for it; empty where nothing does."""
    asked = BackMsg(rerun_script=ClientState(page_script_hash=calc_hash(page) if page else ""))
    address = f"{ADDRESS}:{port}"
    with connect(
        f"ws://{address}/_stcore/stream", origin=Origin(f"http://{address}"), subprotocols=STREAMLIT, max_size=None
    ) as server:
        server.send(asked.SerializeToString())
        while True:
            told = ForwardMsg.FromString(server.recv(timeout=300))
            element = told.delta.new_element
            if element.HasField("exception") or element.alert.format == element.alert.ERROR:
                return f"{page}: {element}"
            if told.HasField("script_finished"):
                return "" if told.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY else f"{page}: {told}"
