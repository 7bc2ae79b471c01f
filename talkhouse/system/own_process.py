"""The rest of a command in a process of its own: if that crashes or does not end, the command can still say so.

DuckDB can't interrupt every function, and a query can make it use up its stack.
"""

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from talkhouse.schema.errors import QueryFailed
from talkhouse.system.interrupt import took_too_long

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
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid:
        theirs.close()
        raise SystemExit(_Parent(pid, ours, seconds, clean_up).wait())
    ours.close()
    threading.Thread(target=_end_with, args=(theirs,), daemon=True).start()
    return lambda: theirs.sendall(b"\0")


def _end_with(line: socket.socket) -> None:
    """End this process when the one that waits for it has ended: nobody would stop it any more."""
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
                    self._start_clock()
                    return True
            return False
        return True

    def _start_clock(self) -> None:
        if self._seconds is not None:
            self._end = time.monotonic() + self._seconds + _GRACE

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
