"""Who works on tasks for a process that takes the results in its own order; and processes of this machine that do."""

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from heapq import heappop, heappush
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any, Protocol, Self, TypeAlias

from talkhouse.schema.errors import BuildFailed

Advance: TypeAlias = Callable[[int, int], None]
"""Called as a task goes on: records and bytes since the last call."""

_RETRIES = 2
"""Times that a task is repeated whose process has died."""

_TOLD = 2_000_000
"""Bytes after which a process tells how far it is."""


class Task(Protocol):
    """Something to do in another process; it is pickled, and its text says what it is about."""

    def __call__(self, advance: Advance) -> Any:
        """Return the result, which is pickled too, or raise an exception."""


class Workers(Protocol):
    """A pool of workers, which do several tasks at a time."""

    count: int
    """How many tasks are worked on at a time."""
    folder: Path
    """Where tasks may write, which is there as long as the workers are."""

    def working(self, advance: Advance) -> AbstractContextManager[None]:
        """Number the tasks from 0, and call ``advance`` as they go on."""

    def submit(self, number: int, task: Task) -> None:
        """Have a task done."""

    def result(self, number: int) -> Any:
        """Return the result of a task, once it is there, or raise what it raised; what was killed is repeated."""


@dataclass
class _Worker:
    process: BaseProcess
    line: Connection
    number: int | None = None
    """Of the task that it has."""


class Processes:
    """Processes, which start when there is something to do for them; use it in a ``with``.

    A task that is repeated since its process died does not count twice as progress.
    """

    def __init__(self, count: int, folder: Path) -> None:
        """``folder``: where tasks may write, which is there as long as the processes are."""
        self.count, self.folder = count, folder
        self._workers: list[_Worker] = []
        self._clear()

    def _clear(self, advance: Advance = lambda *_: None) -> None:
        self._advance = advance
        self._tasks: dict[int, Task] = {}
        self._waiting: list[int] = []
        self._deaths: dict[int, int] = {}
        self._reported: dict[int, tuple[int, int]] = {}
        self._done: dict[int, Any] = {}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes at once, whatever they do."""
        for worker in self._workers:
            worker.process.kill()
        while self._workers:
            worker = self._workers.pop()
            worker.process.join()
            worker.line.close()

    @contextmanager
    def working(self, advance: Advance) -> Iterator[None]:
        """Number the tasks from 0, and call ``advance`` as they go on; where that fails, the processes end."""
        self._clear(advance)
        try:
            yield
        except BaseException:
            self.__exit__()
            raise

    def submit(self, number: int, task: Task) -> None:
        """Have a task done, behind those of lower numbers."""
        self._tasks[number] = task
        heappush(self._waiting, number)
        self._hand_out()

    def result(self, number: int) -> Any:
        """Return the result of a task, once it is there, or raise what it raised.

        Raises BuildFailed where its process died again and again.
        """
        while number not in self._done:
            lines = {worker.line: worker for worker in self._workers if worker.number is not None}
            for line in wait(lines):
                self._listen(lines[line])  # type: ignore[index]
            self._hand_out()
        result = self._done.pop(number)
        if isinstance(result, Exception):
            raise result
        return result

    def _hand_out(self) -> None:
        while self._waiting:
            idle = next((worker for worker in self._workers if worker.number is None), None)
            if idle is None and len(self._workers) >= self.count:
                return
            worker = idle or self._start()
            worker.number = heappop(self._waiting)
            with suppress(OSError):  # it has died: that is noticed when somebody listens
                worker.line.send(self._tasks[worker.number])

    def _start(self) -> _Worker:
        context = get_context("spawn")
        parent, child = context.Pipe()
        process = context.Process(target=_work, args=(child,), daemon=True)
        # Ctrl-C goes to all processes of a terminal: this one alone decides what it means.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            child.close()
        self._workers.append(_Worker(process, parent))
        return self._workers[-1]

    def _listen(self, worker: _Worker) -> None:
        number = worker.number
        if number is None:
            return
        try:
            is_result, message = worker.line.recv()
        except (EOFError, OSError):
            self._bury(worker, number)
            return
        if is_result:
            self._done[number], worker.number = message, None
            return
        records, size = self._reported.get(number, (0, 0))
        if message > (records, size):
            self._reported[number] = message
            self._advance(message[0] - records, message[1] - size)

    def _bury(self, worker: _Worker, number: int) -> None:
        worker.process.join()
        worker.line.close()
        self._workers.remove(worker)
        self._deaths[number] = self._deaths.get(number, 0) + 1
        if self._deaths[number] <= _RETRIES:
            heappush(self._waiting, number)
            return
        code = worker.process.exitcode or 0
        self._done[number] = BuildFailed(
            "the process that read this file ended before it was done; nothing of its corpus was published",
            where=self._tasks[number],
            found=f"{signal.Signals(-code).name if code < 0 else f'exit code {code}'}, {self._deaths[number]} times",
            next_step="if something kills processes that take much memory, read with fewer: --jobs 1",
        )


def _work(line: Connection) -> None:
    """Do one task after the other until the process that gives them is gone."""
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            task: Task = line.recv()
            result = _result(task, line)
            line.send((True, result))


def _result(task: Task, line: Connection) -> Any:
    records = size = reported = 0

    def advance(more: int, larger: int) -> None:
        nonlocal records, size, reported
        records, size = records + more, size + larger
        if size - reported >= _TOLD:
            reported = size
            line.send((False, (records, size)))

    result = outcome(task, advance)
    if not isinstance(result, Exception):
        line.send((False, (records, size)))
    return result


def outcome(task: Task, advance: Advance) -> Any:
    """Return the result of a task, or the exception that it raised, to be raised again in another process."""
    try:
        return task(advance)
    except Exception as error:  # noqa: BLE001 - whatever it is
        return _sendable(error)


def _sendable(error: Exception) -> Exception:
    """Return an exception, or one that says as much where it can't be sent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - what was just written
    except Exception:  # noqa: BLE001 - whatever its class does
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
