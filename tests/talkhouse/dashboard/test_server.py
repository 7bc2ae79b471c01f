"""Where the pages are served, and what the command says where they can't be."""

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from schema.errors import UsageError
from talkhouse.cli.dashboard import require_dashboard
from talkhouse.dashboard.server import ADDRESS, FIRST_PORT, free_port
from tests.commands import COMMAND


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.socket() as listening:
        listening.bind((ADDRESS, 0))
        listening.listen()
        yield listening.getsockname()[1]


def test_a_port_that_is_taken_is_refused(taken: int) -> None:
    with pytest.raises(UsageError, match=rf"port {taken} of 127\.0\.0\.1 can't be used[\s\S]*--port N"):
        free_port(taken)


def test_a_port_that_is_free_is_used() -> None:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = probe.getsockname()[1]
    assert free_port(port) == port


def test_without_a_port_the_first_free_one_is_used() -> None:
    assert FIRST_PORT <= free_port(None) < FIRST_PORT + 20


def test_the_command_serves_until_ctrl_c(sample: Path) -> None:
    port = free_port(None)
    arguments = ["dashboard", "--db", str(sample), "--port", str(port), "--no-browser"]
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        try:
            wait_until_served(command, f"http://{ADDRESS}:{port}/_stcore/health")
            command.send_signal(signal.SIGINT)
            shown, complaints = command.communicate(timeout=120)
        finally:
            command.kill()
    assert f"http://{ADDRESS}:{port}" in shown
    assert (command.returncode, complaints) == (0, "")


def wait_until_served(command: "subprocess.Popen[str]", url: str) -> None:
    """Wait until the address answers; fail where the command ends before."""
    end = time.monotonic() + 300
    while command.poll() is None and time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(url) as answer:  # noqa: S310 - an address of this machine
            assert answer.read() == b"ok"
            return
        time.sleep(0.1)
    pytest.fail("the pages are not served")


def test_without_what_draws_the_pages_the_command_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "streamlit", None)
    with pytest.raises(UsageError, match=r"streamlit is not installed[\s\S]*pip install 'talkhouse\[dashboard\]'"):
        require_dashboard()
