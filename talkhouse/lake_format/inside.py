"""Reaches what lies in a lake: one folder after the other is opened, and no link on the way is followed.

A lake may come from somebody else, and others may be able to write it. So no path in it is given to the system whole:
the folder that the user named may be a link, what is below it may not.
"""

import errno
import io
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from talkhouse.ingest.declared.record_files.parquet import open_parquet
from talkhouse.ingest.declared.record_files.parquet_pages import NamedFile
from talkhouse.ingest.files.limits import OF_TABLES
from talkhouse.system.files import has_no_links

if TYPE_CHECKING:
    from pyarrow.lib import RecordBatchReader

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""Opening a named pipe does not wait."""

_LONGEST = 256_000_000
"""Bytes that a document may have."""


class Inside(NamedTuple):
    """A folder in a lake, or the lake itself. Paths are relative to it, with slashes; all methods raise OSError."""

    lake: Path
    path: str = ""
    """The folder, relative to the lake."""

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.path.rpartition("/")[2]

    def below(self, path: str) -> "Inside":
        """Return a folder in it."""
        return Inside(self.lake, f"{self.path}/{path}".lstrip("/"))

    @contextmanager
    def reading(self, path: str) -> Iterator[io.BufferedReader]:
        """Open a file; OSError for a link, and for what is no file, such as a named pipe."""
        with self._parent(path) as (folder, name):
            handle = _open(name, _FILE, folder)
        with open(handle, "rb") as stream:  # noqa: PTH123 - a descriptor
            _check_regular(os.fstat(handle))
            yield stream

    def document(self, path: str) -> bytes:
        """Read a file whole; ValueError where it is too long."""
        with self.reading(path) as stream:
            content = stream.read(_LONGEST + 1)
        if len(content) > _LONGEST:
            raise ValueError(f"{path} is longer than {_LONGEST:,} bytes")
        return content

    @contextmanager
    def rows(self, path: str) -> Iterator["RecordBatchReader"]:
        """Open a file of Parquet as a stream of rows.

        What its pages unpack to is checked before they are, and nothing of it is code. Raises BadRecord, SourceError
        and what Arrow raises, too.
        """
        with self.reading(path) as stream:
            yield open_parquet(stream, NamedFile(path, os.fstat(stream.fileno()).st_size, OF_TABLES))

    @contextmanager
    def creating(self, path: str) -> Iterator[io.BufferedWriter]:
        """Make a new file in place of one that may be there, and the folders on the way to it."""
        with self._parent(path, make=True) as (folder, name):
            with suppress(FileNotFoundError):  # a query that needs more memory is run again
                os.unlink(name, dir_fd=folder)
            handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder)
        with open(handle, "wb") as stream:  # noqa: PTH123 - a descriptor
            yield stream

    def link(self, path: str, to: "Inside", target: str) -> None:
        """Link a file under a new name; copy it where the file system can't, or not this often."""
        try:
            with self._parent(path) as (here, name), to._parent(target, make=True) as (there, second):
                os.link(name, second, src_dir_fd=here, dst_dir_fd=there, follow_symlinks=False)
                _check_regular(os.stat(second, dir_fd=there, follow_symlinks=False))
        except OSError as error:
            if not has_no_links(error):
                raise
            with self.reading(path) as old, to.creating(target) as new:
                shutil.copyfileobj(old, new)

    def move(self, path: str, to: "Inside", target: str) -> None:
        """Rename a file, which replaces what is there, or a folder, which replaces nothing but an empty one."""
        with self._parent(path) as (here, name), to._parent(target) as (there, new):
            os.rename(name, new, src_dir_fd=here, dst_dir_fd=there)

    def exists(self, path: str) -> bool:
        """Whether something has this name, a link too."""
        with suppress(FileNotFoundError), self._parent(path) as (folder, name):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            return True
        return False

    def names(self) -> list[str]:
        """List what lies in the folder, sorted."""
        with _opened(self.lake, self.path) as folder:
            return sorted(os.listdir(folder))  # noqa: PTH208 - a descriptor

    def files(self) -> Iterator[str]:
        """Yield the paths of all that is no folder, in the folders of it too: links as they are."""
        with _opened(self.lake, self.path) as folder:
            for at, folders, names, here in os.fwalk(".", dir_fd=folder):
                for name in names + [folder_name for folder_name in folders if _is_link(folder_name, here)]:
                    yield os.path.normpath(f"{at}/{name}")

    def remove(self, path: str) -> None:
        """Remove a file, or a link."""
        with self._parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def remove_empty(self, path: str) -> None:
        """Remove a folder in which nothing is."""
        with self._parent(path) as (folder, name):
            os.rmdir(name, dir_fd=folder)

    def sync(self) -> None:
        """Force the folder with all that is in it to disk."""
        with _opened(self.lake, self.path) as folder:
            for _, _, names, here in os.fwalk(".", dir_fd=folder):
                for name in names:
                    _sync(os.open(name, _FILE, dir_fd=here))
                os.fsync(here)

    @contextmanager
    def _parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Open the folder that a path lies in, and yield it with the path's last name."""
        folder, _, name = f"{self.path}/{path}".lstrip("/").rpartition("/")
        _check_name(name)
        with _opened(self.lake, folder, make=make) as opened:
            yield opened, name


@contextmanager
def _opened(lake: Path, path: str, *, make: bool = False) -> Iterator[int]:
    """Open a folder of a lake, each on the way to it by the one before; ``make`` those that are not there."""
    opened = os.open(lake, _FOLDER)
    try:
        for name in path.split("/") if path else ():
            _check_name(name)
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=opened)
            below = _open(name, _FOLDER | os.O_NOFOLLOW, opened)
            os.close(opened)
            opened = below
        yield opened
    finally:
        os.close(opened)


def _open(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(name, folder):
            raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed", name) from error
        raise


def _check_name(name: str) -> None:
    if name in ("", ".", "..") or "\0" in name:
        raise OSError(errno.EINVAL, "the path leaves the folder", name)


def _check_regular(facts: os.stat_result) -> None:
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.EINVAL, "this is not a regular file")


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
