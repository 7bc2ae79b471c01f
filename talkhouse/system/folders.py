"""Folders that only this user may enter, and links of paths that are written to: none is another user's."""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from errno import ELOOP
from pathlib import Path
from tempfile import gettempdir
from uuid import uuid4

from talkhouse.schema.errors import OutputFailed, UsageError
from talkhouse.system import ctrl_c
from talkhouse.system.files import FOR_EVER, Taken, locked

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
