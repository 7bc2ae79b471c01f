"""Single operations on files, and locks between processes, each a file."""

import errno
import json
import os
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from talkhouse.schema.errors import UsageError, WarehouseLocked
from talkhouse.system import ctrl_c

if TYPE_CHECKING:  # commands that read need no lock
    from filelock import FileLock

_PIECE = 1_000_000
"""Bytes that are copied at a time."""

_SMALL = 64_000_000
"""Bytes; the limit of a record that is read."""

_NO_SECOND_NAME = (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV)
"""The file system has no hard links, no more of this file, or the folder is on another one."""


def sync(path: Path) -> None:
    """Force a file or folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_small(path: Path) -> bytes:
    """Read a file that a user names and that is small as Talkhouse writes it; OSError where it is larger than 64 MB."""
    with path.open("rb") as file:
        content = file.read(_SMALL + 1)
    if len(content) > _SMALL:
        raise OSError(errno.EFBIG, f"it has more than {_SMALL:,} bytes")
    return content


def open_named(path: Path, next_step: str) -> BinaryIO:
    """Open a file that the user has named; a named pipe or a device is opened without waiting, and refused.

    Raises UsageError, which says what to do next.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError) as error:
        raise UsageError(
            "there is no such file" if isinstance(error, FileNotFoundError) else "the file can't be opened",
            where=path,
            found=getattr(error, "strerror", None) or str(error),
            next_step=next_step,
        ) from error
    stream = os.fdopen(handle, "rb")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        stream.close()
        raise UsageError("neither a file nor a folder", where=path, next_step="write it to a file, and name that")
    return stream


def sha256_of(path: Path) -> str:
    """Hash a file: 64 hex digits."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def copy_hashed(
    stream: BinaryIO | RawIOBase, copy: Path, check: Callable[[int], None] = lambda _: None
) -> tuple[str, int]:
    """Copy a file that is open; return its SHA-256 and size. ``check`` gets the size so far, and may raise."""
    digest, size = sha256(), 0
    with copy.open("wb") as output:
        while piece := stream.read(_PIECE):
            size += len(piece)
            check(size)
            digest.update(piece)
            output.write(piece)
    return digest.hexdigest(), size


def link_or_copy(path: Path, second: Path) -> None:
    """Link a file under a second name, or copy it where that can't be. Raises OSError."""
    try:
        os.link(path, second)
    except OSError as error:
        if not has_no_links(error):
            raise
        shutil.copyfile(path, second)


def has_no_links(error: OSError) -> bool:
    """Whether a file can't have a second name in that place, where ``os.link`` has failed."""
    return error.errno in _NO_SECOND_NAME


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
    from filelock import FileLock

    lock = FileLock(file)
    try:
        _acquire(lock, on_taken)
        yield
    finally:
        if lock.is_locked:
            # Removed while it is held: a waiter that gets the lock of a removed file tries again.
            file.unlink(missing_ok=True)
            lock.release()


_THIS = os.O_NOFOLLOW | os.O_NONBLOCK
"""Not what a link leads to, and without waiting where there is a named pipe: in a folder that others share."""

_LONGEST = 1_000
"""Characters that are read of who holds a lock."""


@contextmanager
def locked_by_name(
    file: Path, where: Path, taken: str, *, wait: bool, on_wait: Callable[[str], None]
) -> Iterator[None]:
    """Hold a lock whose file says who holds it.

    Another process that holds it is waited for, and ``on_wait`` is called with who that is. Without ``wait``
    WarehouseLocked is raised about ``where``, in the words of ``taken``.
    """

    def on_taken() -> float:
        holder = _holder(file)
        if not wait:
            raise WarehouseLocked(
                taken,
                where=where,
                found=holder,
                next_step="wait for it, or run the command without --no-wait to queue behind it",
            )
        on_wait(holder)
        return FOR_EVER

    with locked(file, on_taken):
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": f"{datetime.now(UTC):%F %T} UTC"}
        with suppress(OSError), os.fdopen(os.open(file, os.O_WRONLY | os.O_TRUNC | _THIS), "w") as stream:
            json.dump(holder, stream)
        yield


def _holder(file: Path) -> str:
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):  # anybody may have written it
        with os.fdopen(os.open(file, os.O_RDONLY | _THIS)) as stream:
            holder = json.loads(stream.read(_LONGEST))
        return f"process {holder['pid']} on {holder['host']}, since {holder['since']}"
    return "a process that has just started"


def _acquire(lock: "FileLock", on_taken: Callable[[], float]) -> None:
    from filelock import Timeout

    try:
        with ctrl_c.deferred():  # the file of a lock may be there before it is held
            lock.acquire(timeout=0)
    except Timeout:
        seconds = on_taken()
        try:
            lock.acquire(timeout=seconds)
        except Timeout:
            raise Taken from None
