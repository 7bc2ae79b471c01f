"""Single operations on files."""

import errno
import os
import shutil
from pathlib import Path

_NO_SECOND_NAME = (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV)
"""The file system has no hard links, no more of this file, or the folder is on another one."""


def sync(path: Path) -> None:
    """Force a file or folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def link_or_copy(path: Path, second: Path) -> None:
    """Give a file a second name; copy it where it can't have one. Raises OSError."""
    try:
        os.link(path, second)
    except OSError as error:
        if not has_no_links(error):
            raise
        shutil.copyfile(path, second)


def has_no_links(error: OSError) -> bool:
    """Tell whether a file can't have a second name in that place, where ``os.link`` has failed."""
    return error.errno in _NO_SECOND_NAME
