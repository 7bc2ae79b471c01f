"""A private folder for files that nobody keeps."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from uuid import uuid4

from filelock import FileLock, Timeout

from talkhouse.schema.errors import OutputFailed
from talkhouse.system import ctrl_c
from talkhouse.system.atomic_output import remove_folder

_PREFIX = "talkhouse-"
_OURS = re.compile(rf"{_PREFIX}[0-9a-f]{{32}}\.lock")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder in the temporary folder (TMPDIR), and delete it at the end.

    Those that killed processes left there are deleted first. Raises OutputFailed where none can be made.
    """
    try:
        parent = Path(gettempdir())
        _clear(parent)
        folder = parent / f"{_PREFIX}{uuid4().hex}"
        lock = FileLock(f"{folder}.lock")
    except OSError as error:
        raise no_room(error) from error
    try:
        try:
            with ctrl_c.deferred():
                lock.acquire()
                folder.mkdir(mode=0o700)
        except OSError as error:
            raise no_room(error) from error
        yield folder
    finally:
        if lock.is_locked:
            _delete(folder, lock)


def no_room(error: OSError) -> OutputFailed:
    """Say that nothing can be written to the temporary folder."""
    return OutputFailed(
        "the files could not be written to a temporary folder",
        where=error.filename,
        found=error.strerror or str(error),
        next_step="make room there, or name another folder for temporary files with TMPDIR=FOLDER",
    )


def _clear(parent: Path) -> None:
    """Delete this user's folders whose lock nobody holds, known by their names: others may begin like them."""
    for path in parent.glob(f"{_PREFIX}*.lock"):
        with suppress(OSError, Timeout):
            if _OURS.fullmatch(path.name) and path.lstat().st_uid == os.geteuid():
                lock = FileLock(path)
                lock.acquire(timeout=0)
                _delete(path.with_suffix(""), lock)


def _delete(folder: Path, lock: FileLock) -> None:
    remove_folder(folder)
    # Removed while it is held: who waits for the lock of a removed file tries again.
    Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()
