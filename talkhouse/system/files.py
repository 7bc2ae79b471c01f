"""Single operations on files, locks between processes, and folders that only this user may enter."""

import errno
import json
import os
import re
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from errno import ELOOP
from hashlib import file_digest, sha256
from io import RawIOBase
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

from talkhouse.schema.errors import OutputFailed, UsageError, WarehouseLocked
from talkhouse.system import ctrl_c

if TYPE_CHECKING:
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


_MOST = 40
"""Links that are followed, as many as Linux follows."""


def target_of(output: Path) -> Path:
    """Follow links to where an output is to be; it need not be there yet.

    In a folder in which everybody may write, such as /tmp, a link counts only if it belongs to this user, or to the
    folder's owner: otherwise somebody else would choose which file is written or replaced. Linux has the same rule
    (fs.protected_symlinks), which does not hold for a path that is resolved before it is opened.

    Raises UsageError for such a link, OSError where a folder on the way can't be entered, or for a loop.
    """
    path = Path.cwd() / output
    target, parts, links = Path(path.anchor), list(path.parts[1:]), 0
    while parts:
        part = parts.pop(0)
        if part == "..":
            target = target.parent
        elif (target / part).is_symlink():
            links += 1
            if links > _MOST:
                raise OSError(ELOOP, os.strerror(ELOOP), str(output))
            _check_owner(target / part)
            linked = (target / part).readlink()
            target = Path(linked.anchor) if linked.is_absolute() else target
            parts = [*linked.parts[linked.is_absolute() :], *parts]
        else:
            target /= part
    return target


def _check_owner(link: Path) -> None:
    folder, owner = link.parent.stat(), link.lstat().st_uid
    if folder.st_mode & stat.S_IWOTH and owner not in (os.geteuid(), folder.st_uid):
        raise UsageError(
            "another user has put a link where this is to be written",
            where=link,
            found=f"a link to {link.readlink()}, in a folder in which everybody may write",
            next_step="name another path",
        )


@contextmanager
def new_folder(folder: Path, mode: int = 0o700) -> Iterator[None]:
    """Make a folder, which is deleted at the end; what a killed process left there is deleted first."""
    _delete(folder)
    try:  # Ctrl-C may come as soon as the folder is there
        folder.mkdir(mode=mode)
        yield
    finally:
        delete_folder(folder)


def delete_folder(folder: Path) -> None:
    """Delete a folder; Ctrl-C, perhaps the second one, does not leave half of it."""
    with ctrl_c.ignored():
        _delete(folder)


def _delete(folder: Path) -> None:
    """Delete a folder; what is none stays, for ``rmtree`` would wait for somebody to write to a named pipe."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)


_PREFIX = "talkhouse-"
_OURS = re.compile(rf"{_PREFIX}[0-9a-f]{{32}}\.lock")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder in the temporary folder (TMPDIR), and delete it at the end.

    Those that killed processes left there are deleted first. Raises OutputFailed where none can be made.
    """
    with ExitStack() as stack:
        try:
            parent = Path(gettempdir())
            _clear(parent)
            folder = parent / f"{_PREFIX}{uuid4().hex}"
            # Another process may have it for a moment, to see whether it is held.
            stack.enter_context(locked(Path(f"{folder}.lock"), lambda: FOR_EVER))
            stack.enter_context(new_folder(folder))
        except OSError as error:
            raise no_room(error) from error
        yield folder


def no_room(error: OSError) -> OutputFailed:
    """Return the error where nothing can be written to the temporary folder."""
    return OutputFailed(
        "the files could not be written to a temporary folder",
        where=error.filename,
        found=error.strerror or str(error),
        next_step="make room there, or name another folder for temporary files with TMPDIR=FOLDER",
    )


def _clear(parent: Path) -> None:
    """Delete this user's folders whose lock is free, known by their names: others may begin like them."""
    for path in parent.glob(f"{_PREFIX}*.lock"):
        with suppress(OSError, Taken):
            if _OURS.fullmatch(path.name) and path.lstat().st_uid == os.geteuid():
                with locked(path):
                    delete_folder(path.with_suffix(""))
