"""What Ctrl-C does outside of queries: end the process at once, raise KeyboardInterrupt now or soon, or nothing.

This module imports nothing that takes time, so that a command can call it first.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType

_came = Event()

_Handler = Callable[[int, FrameType | None], object] | int | None


@contextmanager
def ends_at_once() -> Iterator[None]:
    """End the process with one line at Ctrl-C: nothing has begun, or everything has ended."""
    with _handled_by(_end):
        yield


@contextmanager
def raises() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C, so that what has begun is ended cleanly.

    DuckDB makes a RuntimeError of it, and a module that is imported perhaps an ImportError: these are turned back.
    """
    _came.clear()
    try:
        with _handled_by(_raise):
            yield
    except Exception:
        if came():
            raise KeyboardInterrupt from None
        raise


def came() -> bool:
    """Whether Ctrl-C has raised KeyboardInterrupt: what is raised after that is its consequence."""
    return _came.is_set()


@contextmanager
def ignored() -> Iterator[None]:
    """Ignore Ctrl-C, where it comes too late."""
    with _handled_by(signal.SIG_IGN):
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C only when what is short and must not be cut in two is done."""
    seen: list[object] = []
    with _handled_by(lambda *_: seen.append(_)):
        yield
    if seen:
        _raise()


@contextmanager
def _handled_by(handler: _Handler) -> Iterator[None]:
    """Change what Ctrl-C does, except in another thread or where a shell has it ignored (``nohup``, ``&``)."""
    previous = signal.getsignal(signal.SIGINT)
    if previous is signal.SIG_IGN or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _raise(*_: object) -> None:
    _came.set()
    raise KeyboardInterrupt


def _end(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)
