"""Stops what runs on a connection: after some seconds, or at Ctrl-C."""

import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from talkhouse.schema.errors import QueryFailed

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
