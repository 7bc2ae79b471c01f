"""Processes that draw negatives: what happens when they are killed, or who started them is."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from talkhouse.ingest.corpora.mantis.make import sampler
from talkhouse.ingest.corpora.mantis.make.sampler import WorkerEnded
from tests.corpora.mantis.negatives import Silent, invent, write


def workers(parent: int | None = None) -> list[psutil.Process]:
    """Return the processes that draw for a process, by default for this one."""
    return [child for child in psutil.Process(parent).children() if sampler.__name__ in child.cmdline()]


class Interrupting(Silent):
    """Does something as soon as the first negatives have been drawn."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act, self._is_drawing = act, False

    def begin(self, step: str, **_: object) -> None:
        """Notice that negatives are drawn now."""
        self._is_drawing = step.startswith("drawing")

    def advance(self, _: int) -> None:
        """Act once."""
        if self._is_drawing:
            self._is_drawing = False
            self._act()


def interrupted(folder: Path, act: Callable[[], object]) -> None:
    write(folder, invent(1, dialogues=300), negatives=(10,), jobs=2, progress=Interrupting(act))


def test_a_killed_process_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WorkerEnded, match=r"^a process that draws negatives ended by signal 9$"):
        interrupted(tmp_path, lambda: [child.kill() for child in workers()])
    assert not workers()
    assert not [path.name for path in tmp_path.iterdir() if path.is_dir()]


PROGRAM = """
import sys
from pathlib import Path
from tests.corpora.mantis.test_negatives_processes import interrupted

def wait():
    print("drawing", flush=True)
    sys.stdin.read()

try:
    interrupted(Path(sys.argv[1]), wait)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_processes_end_silently_with_their_parent(number: signal.Signals, code: int, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "drawing\n"
    children = workers(process.pid)
    assert len(children) == 2
    os.killpg(process.pid, number)  # as a terminal does for Ctrl-C
    _, errors = process.communicate()  # the children write their errors there too
    assert (process.returncode, errors) == (code, "")
    assert number == signal.SIGKILL or not [path for path in tmp_path.iterdir() if path.is_dir()]
    assert not psutil.wait_procs(children, timeout=60)[1]
