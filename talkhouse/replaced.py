"""Files that appear whole or not at all: written beside their place and renamed."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from schema.errors import OutputFailed, UsageError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replaced(output: Path) -> Iterator[Path]:
    """Give a path beside a file that takes its place at the end, so that there is never half a file."""
    with told(output):
        target = _target(output)
        if target.exists() and not target.is_file():
            # /dev/null or a named pipe: nothing can take its place.
            yield target
            return
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            yield part
            swap(part, target)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def workspace(output: Path) -> Iterator[Path]:
    """Give a private folder beside a file for all that is made on the way to it; it is removed at the end.

    What a killed process left there is cleared first. UsageError where the output can't be a file, or where another
    process is writing it.
    """
    with told(output):
        target = _target(output)
        if target.exists() and not target.is_file():
            raise UsageError("the output is no file that can be replaced", where=output, next_step="name a file")
        folder = workspace_of(output)
        lock = FileLock(folder.with_name(f"{folder.name}.lock"))
        _acquire(lock, output)
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()


def workspace_of(output: Path) -> Path:
    """Name the folder of ``workspace``."""
    target = output.resolve()
    return target.with_name(f".{target.name}.part")


def swap(part: Path, target: Path) -> None:
    """Put a file that is whole into its place; it takes over the rights of the file that it replaces."""
    if target.exists():
        shutil.copymode(target, part)
    part.replace(target)


@contextmanager
def told(output: Path) -> Iterator[None]:
    """Say in Talkhouse's words why a file can't be written: OutputFailed for a full disk, UsageError otherwise."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FULL:
            raise OutputFailed(
                "there is no room for the file; what was there before is as it was",
                where=output,
                found=reason,
                next_step="make room, or name a file on another disk",
            ) from error
        raise UsageError("the file can't be written", where=output, found=reason) from error


def _target(output: Path) -> Path:
    """Follow links to where a file is to be; UsageError where that can't be."""
    target = output.resolve()
    if target.is_dir():
        raise UsageError("the output is a folder", where=output, next_step="name a file in it: --output FILE")
    if not target.parent.is_dir():
        raise UsageError("there is no such folder", where=output.parent, next_step="make it, or name another --output")
    return target


def _acquire(lock: FileLock, output: Path) -> None:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(
            "another process is writing this file", where=output, next_step="wait for it, or name another --output"
        ) from None
