"""Stops what runs, after some seconds or at Ctrl-C: on a connection, or in a process of its own.

A command that continues in a process of its own can still say that it crashed or did not end: DuckDB can't interrupt
every function, and a query can make it use up its stack.
"""

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import duckdb

from talkhouse.schema.errors import QueryFailed

_GRACE = 3.0
"""Seconds in which a query that was asked to stop may end by itself."""

_TICK = 0.2
_INTERRUPTED = 130


def run_apart(seconds: float | None, clean_up: Callable[[], None]) -> Callable[[], None]:
    """Continue in a new process; this one waits for it, and ends as it does.

    Returns in the new process only, with what it calls when its clock of ``seconds`` starts. ``clean_up`` is called
    after it was killed or has crashed. Where processes can't be forked, everything stays in this one.
    Raises SystemExit with the exit code of the new process, QueryFailed where it was killed or has crashed.
    """
    if not hasattr(os, "fork"):
        return lambda: None
    parent_end, child_end = socket.socketpair()
    pid = os.fork()
    if pid:
        child_end.close()
        raise SystemExit(_Parent(pid, parent_end, seconds, clean_up).wait())
    parent_end.close()
    threading.Thread(target=_end_with, args=(child_end,), daemon=True).start()
    return lambda: child_end.sendall(b"\0")


def _end_with(line: socket.socket) -> None:
    """End this process when the one that waits for it has ended: nothing would stop it any more."""
    line.recv(1)
    os._exit(1)


class _Parent:
    """Waits for a process, passes Ctrl-C on to it, and kills it where it does not end in time."""

    def __init__(self, pid: int, line: socket.socket, seconds: float | None, clean_up: Callable[[], None]) -> None:
        self._pid, self._line, self._seconds, self._clean_up = pid, line, seconds, clean_up
        self._end: float | None = None
        self._is_interrupted = self._is_killed = False

    def wait(self) -> int:
        """Return the exit code of the process, or raise QueryFailed where it has none."""
        signal.signal(signal.SIGINT, self._pass_on)
        while self._is_running():
            if self._end is not None and time.monotonic() > self._end and not self._is_killed:
                self._is_killed = True
                os.kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            self._clean_up()
            return self._explain(-code)
        return code

    def _is_running(self) -> bool:
        if select.select([self._line], [], [], _TICK)[0]:
            with suppress(ConnectionResetError):
                if self._line.recv(1):
                    if self._seconds is not None:
                        self._end = time.monotonic() + self._seconds + _GRACE
                    return True
            return False
        return True

    def _pass_on(self, *_: object) -> None:
        self._is_interrupted = True
        self._end = time.monotonic() + _GRACE
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGINT)

    def _explain(self, number: int) -> int:
        if self._is_interrupted:
            os.write(2, b"interrupted\n")
            return _INTERRUPTED
        if self._is_killed:
            raise took_too_long(self._seconds or 0)
        raise QueryFailed(
            "the query made DuckDB crash",
            found=f"the process of the query was ended by {signal.Signals(number).name}",
            next_step="write the query in another way, with less nesting; or lower --memory-limit if memory ran out",
        )


_WAKE = b"\0"


class Stop:
    """Whether a query was asked to end, by the clock or by Ctrl-C; a result after that is not complete."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.timed_out = threading.Event()
        self.interrupted = threading.Event()
        self._is_raised = False

    def on_sigint(self, *_: object) -> None:
        """Raise KeyboardInterrupt, unless it is already on its way: a second would break off the clean end."""
        self.interrupted.set()
        if not self._is_raised:
            self._is_raised = True
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raise QueryFailed or KeyboardInterrupt where the query was asked to end."""
        if self.interrupted.is_set():
            self._is_raised = True
            raise KeyboardInterrupt
        if self.timed_out.is_set():
            raise took_too_long(self.seconds or 0)


def took_too_long(seconds: float) -> QueryFailed:
    """Return the error of a query that was stopped by the clock."""
    return QueryFailed(
        "the query took too long and was stopped",
        expected=f"an end within {seconds:g} s (--timeout)",
        next_step="raise --timeout, or read less: a where, fewer columns, --limit N",
    )


@contextmanager
def stoppable(con: duckdb.DuckDBPyConnection, seconds: float | None) -> Iterator[Stop]:
    """Stop the queries inside after some seconds, with QueryFailed, or at Ctrl-C, with KeyboardInterrupt."""
    stop, has_ended = Stop(seconds), threading.Event()
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    clock = threading.Thread(target=_watch, args=(con, stop, has_ended, receiver), daemon=True)
    # Python's own handler waits until DuckDB returns control, which may take hours: a thread must hear of it.
    previous = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    handler = signal.signal(signal.SIGINT, stop.on_sigint)
    clock.start()
    try:
        yield stop
    except Exception:
        # DuckDB raises several exceptions for an interrupted query, among them RuntimeError and, by Arrow, OSError.
        stop.check()
        raise
    finally:
        signal.set_wakeup_fd(previous)
        signal.signal(signal.SIGINT, handler)
        has_ended.set()
        sender.send(_WAKE)
        clock.join()
        receiver.close()
        sender.close()


def _watch(con: duckdb.DuckDBPyConnection, stop: Stop, has_ended: threading.Event, receiver: socket.socket) -> None:
    end = None if stop.seconds is None else time.monotonic() + stop.seconds
    while not has_ended.is_set():
        left = None if end is None else max(end - time.monotonic(), 0)
        if not select.select([receiver], [], [], left)[0]:
            stop.timed_out.set()
            break
        if signal.SIGINT in receiver.recv(64):
            stop.interrupted.set()
            break
    while not has_ended.is_set():
        try:
            con.interrupt()
        except duckdb.ConnectionException:
            break  # it was closed before the block ended
        # DuckDB forgets an interrupt that comes between two queries.
        has_ended.wait(0.1)
