"""A folder that appears whole or not at all: filled beside its place, and renamed."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from schema.errors import OutputFailed, UsageError

_PART = ".talkhouse.part"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def filled(output: Path) -> Iterator[Path]:
    """Give a private folder whose content is in ``output`` at the end, or nowhere.

    A folder that is there must be empty, and stays the folder that it is. What a killed process left is cleared first.
    Raises UsageError where the folder can't be made, OutputFailed where there is no room.
    """
    with _told(output):
        target = output.resolve()
        _check(output, target)
        private = target / _PART if target.is_dir() else target.with_name(f".{target.name}{_PART}")
        with _locked(private, output):
            shutil.rmtree(private, ignore_errors=True)
            private.mkdir()
            try:
                yield private
                _place(private, target)
            finally:
                shutil.rmtree(private, ignore_errors=True)


def _check(output: Path, target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise UsageError("the output is a file", where=output, next_step="name a folder: --output DIR")
    if not target.exists() and not target.parent.is_dir():
        raise UsageError("there is no such folder", where=output.parent, next_step="make it, or name another --output")
    if target.is_dir() and any(not path.name.startswith(_PART) for path in target.iterdir()):
        # No option replaces it: that would delete whatever else is in a folder of somebody's.
        raise UsageError(
            "the folder is not empty",
            where=output,
            expected="a new folder, or an empty one",
            next_step="name another --output, or empty it yourself",
        )


def _place(private: Path, target: Path) -> None:
    """Rename the private folder; where the target is there, what is in it, and nothing if that fails halfway."""
    if not target.exists():
        private.rename(target)
        return
    placed: list[Path] = []
    try:
        for path in sorted(private.iterdir()):
            placed.append(path.rename(target / path.name))
    except BaseException:
        for path in placed:
            path.rename(private / path.name)
        raise


@contextmanager
def _locked(private: Path, output: Path) -> Iterator[None]:
    lock = FileLock(private.with_name(f"{private.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(
            "another process is writing to this folder", where=output, next_step="wait for it, or name another --output"
        ) from None
    try:
        yield
    finally:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


@contextmanager
def _told(output: Path) -> Iterator[None]:
    """Say in Talkhouse's words why a folder can't be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FULL:
            raise OutputFailed(
                "there is no room for the files; nothing was left behind",
                where=output,
                found=reason,
                next_step="make room, or name a folder on another disk",
            ) from error
        raise UsageError("the folder can't be written", where=output, found=reason) from error
