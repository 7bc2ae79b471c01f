"""Folders that only this user may enter, and that are gone when what was made in them is done."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from talkhouse.system import ctrl_c


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
