"""Draws negatives in several processes, in the order in which they are asked for.

The processes are started as programs of their own, in process groups of their own: nothing is forked beside threads,
no caller's main module is imported again, and Ctrl-C reaches only who started them.
"""

import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from talkhouse.ingest.corpora.mantis.make.ranking import worker
from talkhouse.ingest.corpora.mantis.make.ranking.sampler import Asked, Drawn, Request, WorkerEnded

_BATCH = 16
"""Requests in a line. The answers to two lines fit into a pipe, so that nobody waits for a reader who waits too."""

_AHEAD = 2
"""Lines that a process has at once: one to work at, and one that waits."""


class Workers:
    """The processes."""

    def __init__(self, processes: list["subprocess.Popen[bytes]"]) -> None:
        self._processes = processes

    def draw(self, asked: Iterable[tuple[Asked, Request]]) -> Iterator[tuple[Asked, Drawn]]:
        """Yield the negatives for each request, with what came beside it; WorkerEnded where a process ends too soon."""
        asked, turns = iter(asked), cycle(self._processes)
        waiting = deque[tuple["subprocess.Popen[bytes]", list[Asked]]]()
        while batch := list(islice(asked, _BATCH)):
            if len(waiting) == _AHEAD * len(self._processes):
                yield from _answers(*waiting.popleft())
            process = next(turns)
            _send(process, [request for _, request in batch])
            waiting.append((process, [beside for beside, _ in batch]))
        while waiting:
            yield from _answers(*waiting.popleft())


@contextmanager
def started(folder: Path, count: int, jobs: int) -> Iterator[Workers]:
    """Start processes that draw ``count`` negatives from the corpora in a folder; they end with the block."""
    command = [sys.executable, "-P", "-m", worker.__name__, str(folder), str(count)]
    processes = list["subprocess.Popen[bytes]"]()
    try:
        for _ in range(jobs):
            process = subprocess.Popen(  # noqa: S603 - our own program; no shell reads the arguments
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
            )
            processes.append(process)
        yield Workers(processes)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.communicate()


def _send(process: "subprocess.Popen[bytes]", requests: list[Request]) -> None:
    lines = cast("BinaryIO", process.stdin)
    try:
        lines.write(msgspec.json.encode(requests) + b"\n")
        lines.flush()
    except BrokenPipeError:
        raise WorkerEnded(process.wait()) from None


def _answers(process: "subprocess.Popen[bytes]", asked: list[Asked]) -> Iterator[tuple[Asked, Drawn]]:
    line = cast("BinaryIO", process.stdout).readline()
    if not line.endswith(b"\n"):
        raise WorkerEnded(process.wait())
    return zip(asked, msgspec.json.decode(line, type=list[Drawn]), strict=True)
