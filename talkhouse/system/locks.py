"""Locks between processes, each a file that is there as long as somebody holds it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from talkhouse.system import ctrl_c

FOR_EVER = -1.0
"""Seconds to wait for a lock."""


class Taken(Exception):
    """Another process holds the lock."""


@contextmanager
def locked(file: Path, on_taken: Callable[[], float] = lambda: 0) -> Iterator[None]:
    """Hold a lock, and remove its file at the end.

    Where another process holds it, ``on_taken`` is called once and returns how many seconds to wait. Raises Taken after
    that, OSError where the file can't be made.
    """
    lock = FileLock(file)
    try:
        _acquire(lock, on_taken)
        yield
    finally:
        if lock.is_locked:
            # Removed while it is held: a waiter that gets the lock of a removed file tries again.
            file.unlink(missing_ok=True)
            lock.release()


def _acquire(lock: FileLock, on_taken: Callable[[], float]) -> None:
    try:
        with ctrl_c.deferred():  # the file of a lock may be there before it is held
            lock.acquire(timeout=0)
    except Timeout:
        seconds = on_taken()
        try:
            lock.acquire(timeout=seconds)
        except Timeout:
            raise Taken from None
