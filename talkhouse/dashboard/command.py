"""A command of Talkhouse in a process of its own: the pages live, whatever it does; it ends when none waits for it.

Whatever is asked of the pages, and by however many, takes three quarters of the machine's memory at most: two commands
(``AT_ONCE``) 20 % each, the warehouse that the pages have open 30 %, a file beside it 5 %.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from talkhouse.schema.errors import QueryFailed

MOST_BYTES = 100_000_000
"""Of a file that a page may make: Streamlit has it in memory while it is downloaded."""

MEMORY = "20%"
"""Of the machine, for a command."""

AT_ONCE = 2
"""Commands that run at a time, whoever asked for them; others wait."""

# Without -P, Python would also take modules from the folder that the pages were started in.
_TALKHOUSE = [sys.executable, "-P", "-m", "talkhouse.cli"]
_TICK = 0.1

_line: list[object] = []
"""Who has asked for a command, in this order: the first ``AT_ONCE`` have theirs running."""


def run(
    arguments: Sequence[str],
    folder: Path,
    *,
    text: str = "",
    seconds: float,
    waiting: Callable[[float], object] = lambda _: None,
    queued: Callable[[int], object] = lambda _: None,
) -> None:
    """Run a command that writes into a folder; ``text`` is its standard input.

    ``waiting`` is called again and again with the seconds that have passed, and before that, while too many others
    run, ``queued`` with how many come first. Streamlit stops a page in there, by an exception: then, as after any
    other, the command is killed, and the next one begins.

    Raises QueryFailed with the command's own message, or where it takes longer or writes more than it may.
    """
    given, said = folder / "given", folder / "said"
    given.write_text(text, encoding="utf-8", newline="")
    with _turn(queued), given.open("rb") as standard_input, said.open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own program; no shell reads the arguments
            [*_TALKHOUSE, *arguments],
            stdin=standard_input,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
        try:
            _wait(process, folder, seconds, waiting)
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        raise QueryFailed(said.read_text(encoding="utf-8", errors="replace").strip().removeprefix("error: "))


@contextmanager
def _turn(queued: Callable[[int], object]) -> Iterator[None]:
    """Wait until fewer than ``AT_ONCE`` of those who came before have not ended."""
    place = object()
    _line.append(place)
    try:
        while (first := _line.index(place) + 1 - AT_ONCE) > 0:
            queued(first)
            time.sleep(_TICK)
        yield
    finally:
        _line.remove(place)


def _wait(process: "subprocess.Popen[bytes]", folder: Path, seconds: float, waiting: Callable[[float], object]) -> None:
    begin = time.monotonic()
    while process.poll() is None:
        passed = time.monotonic() - begin
        if passed > seconds:
            raise _too_much("it took too long and was stopped", f"an end within {seconds:g} s")
        if _size(folder) > MOST_BYTES:
            raise _too_much("the file is too large for a page", f"at most {MOST_BYTES // 1_000_000} MB")
        waiting(passed)
        time.sleep(_TICK)


def before(first: int) -> str:
    """Return how many commands come before one that waits."""
    return f"Waiting: {AT_ONCE} queries or files are being made at a time, and this one is number {first} of those next"


def _too_much(problem: str, expected: str) -> QueryFailed:
    return QueryFailed(
        problem, expected=expected, next_step="choose less, or use the command line, which has no such limit"
    )


def _size(folder: Path) -> int:
    """Return the bytes of all files in a folder, however deep, also of those that the command removes meanwhile."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size  # noqa: PTH116, PTH118 - os.walk gives texts
            except FileNotFoundError:
                continue
    return total
