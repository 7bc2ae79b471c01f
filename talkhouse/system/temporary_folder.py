"""A private folder for files that nobody keeps."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from uuid import uuid4

from talkhouse.schema.errors import OutputFailed
from talkhouse.system.locks import FOR_EVER, Taken, locked
from talkhouse.system.private_folders import delete_folder, new_folder

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
        with suppress(OSError, Taken):
            if _OURS.fullmatch(path.name) and path.lstat().st_uid == os.geteuid():
                with locked(path):
                    delete_folder(path.with_suffix(""))
