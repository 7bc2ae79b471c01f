"""Single operations on files."""

import errno
import os
import shutil
from pathlib import Path

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


def link_or_copy(path: Path, second: Path) -> None:
    """Give a file a second name; copy it where it can't have one. Raises OSError."""
    try:
        os.link(path, second)
    except OSError as error:
        if not has_no_links(error):
            raise
        shutil.copyfile(path, second)


def has_no_links(error: OSError) -> bool:
    """Whether a file can't have a second name in that place, where ``os.link`` has failed."""
    return error.errno in _NO_SECOND_NAME
