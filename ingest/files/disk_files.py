"""The files of a corpus on disk, archives closed: where they are, and how a change is noticed."""

import gzip
import io
import os
import stat as modes
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from errno import ELOOP, EMFILE
from hashlib import file_digest
from itertools import islice
from pathlib import Path

from talkhouse.ingest.files.archives import START, Archive, is_archive, is_archive_at, open_archive
from talkhouse.ingest.files.limits import DEFAULT, Boundary, Limits
from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.schema.errors import SourceError, chmod


@dataclass(frozen=True, slots=True)
class Stat:
    """What shows cheaply whether a file on disk has changed."""

    path: str
    """Inside the data folder, with slashes."""
    size: int
    mtime_ns: int
    inode: int

    @property
    def modified_at(self) -> datetime:
        """The time of the last change, UTC."""
        return datetime.fromtimestamp(self.mtime_ns / 1e9, UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A file on disk: where it is, and what identifies it in the warehouse."""

    location: Path
    """As the user sees it."""
    stat: Stat
    limits: Limits
    real: Path
    """Without links."""
    boundary: Boundary

    @property
    def is_archive(self) -> bool:
        """Whether it is to be opened as an archive; SourceError where it can't be read."""
        if skip_reason(self.stat.path):
            return False
        with readable(self.location, self.stat.size), self.open() as stream:
            return is_archive(stream.read(START), self.stat.path)

    def content_size(self) -> int:
        """Count the bytes that there are to read: for an archive those of its members."""
        if not self.is_archive:
            return self.stat.size
        archive, members = self.open_archive()
        archive.close()
        return sum(size for _, size in members)

    def open(self) -> io.FileIO:
        """Open the very file that was listed, without a buffer; SourceError where by now there is another."""
        try:
            stream = self.boundary.open(self.real)
        except OSError as error:
            if isinstance(error, NotADirectoryError) or error.errno == ELOOP:
                raise _changed(self, str(error)) from error
            raise
        info = os.fstat(stream.fileno())
        if not modes.S_ISREG(info.st_mode) or info.st_ino != self.stat.inode:
            stream.close()
            raise _changed(self, _described(_stat_of(info, self.stat.path)))
        return stream

    def here(self) -> "DiskFile":
        """Return it as it is listed on this machine, where its inode may be another; SourceError if it has changed."""
        try:
            now = _stat(self.location, self.stat.path)
        except OSError as error:
            raise _changed(self, str(error)) from error
        if (now.size, now.mtime_ns) != (self.stat.size, self.stat.mtime_ns):
            raise _changed(self, _described(now))
        return replace(self, stat=now)

    def open_archive(self) -> tuple[Archive, list[tuple[str, int]]]:
        """Open it as an archive: what the function of this name returns; SourceError for one that can't be read."""
        with readable(self.location, self.stat.size):
            return open_archive(self.location, self.stat.path, self.limits, self.open())

    def sha256(self) -> str:
        """Hash the bytes on disk."""
        with readable(self.location, self.stat.size), self.open() as stream:
            return file_digest(stream, "sha256").hexdigest()


def check_unchanged(files: Iterable[DiskFile]) -> None:
    """Raise SourceError where a file is no longer what it was when it was listed."""
    for file in files:
        try:
            now = _stat(file.location, file.stat.path)
        except OSError as error:
            raise _changed(file, str(error)) from error
        if now != file.stat:
            raise _changed(file, _described(now))


def _changed(file: DiskFile, found: str) -> SourceError:
    return SourceError(
        "the file changed while it was read",
        where=file.location,
        expected=_described(file.stat),
        found=found,
        next_step="wait until nothing writes to it any more, and start again",
    )


def _described(stat: Stat) -> str:
    return f"{stat.size:,} bytes, last changed at {stat.modified_at} UTC, inode {stat.inode}"


def disk_files(root: Path, prefix: str, limits: Limits = DEFAULT, boundary: Boundary | None = None) -> list[DiskFile]:
    """List every file under a folder (or the file itself), sorted by its path inside the data folder.

    ``prefix`` is the path of ``root`` inside the data folder. ``boundary``: which links are followed; left out, those
    that stay in ``root``, which may be a link itself. Raises SourceError where something is missing, empty, forbidden
    or beyond the limits, for a link that leads out, and for a folder that holds itself.
    """
    with listing(root):
        return _disk_files(root, prefix, limits, boundary or Boundary.around(root))


@contextmanager
def listing(path: Path) -> Iterator[None]:
    """Turn every way in which listing can fail into an error; one of them is that something goes away meanwhile."""
    try:
        yield
    except PermissionError as error:
        raise forbidden(path) from error
    except OSError as error:
        where = error.filename or path
        next_step = "check the path and the disk, and start again when nothing writes to the folder"
        raise SourceError("it can't be listed", where=where, found=error.strerror, next_step=next_step) from error


def _disk_files(root: Path, prefix: str, limits: Limits, boundary: Boundary) -> list[DiskFile]:
    boundary.real(root)
    if not root.exists():
        raise SourceError(
            "there is no such file or folder", where=root, next_step="check the path, as seen from this folder"
        )
    found = list(_files(root, limits, boundary)) if root.is_dir() else [root]
    if not found:
        raise SourceError(
            "the folder is empty",
            where=root,
            expected="the corpus's files as published (folders, .zip, .tar.gz and .7z are read as they are)",
            next_step="put the publisher's files there",
        )
    files = (_disk_file(path, root, prefix, limits, boundary) for path in found)
    return sorted(files, key=lambda file: file.stat.path)


def _files(root: Path, limits: Limits, boundary: Boundary) -> Iterator[Path]:
    """List the files of a folder; SourceError where it holds too much."""
    for count, entry in enumerate(_walk(root, boundary, limits.members), 1):
        limits.check("members", count, root, f"{count:,} or more")
        limits.check("path", len(os.fsencode(entry.relative_to(root))), root)
        if not entry.is_dir():
            yield entry


def _walk(root: Path, boundary: Boundary, most: int) -> Iterator[Path]:
    """Yield what is in a folder, of each folder at most one more than ``most``.

    One that can't be listed is an error, never silently empty, and so is a loop.
    """
    open_folders: list[tuple[Path, tuple[tuple[int, int], ...]]] = [(root, ())]
    while open_folders:
        folder, above = open_folders.pop()
        with listing(folder):
            info = folder.stat()
            if (info.st_dev, info.st_ino) in above:
                raise _loop(folder)
            with os.scandir(folder) as listed:
                entries = sorted(map(Path, islice(listed, most + 1)))
            for entry in entries:
                if entry.is_symlink():
                    boundary.real(entry)
                yield entry
                if entry.is_dir():
                    open_folders.append((entry, (*above, (info.st_dev, info.st_ino))))


def _loop(folder: Path) -> SourceError:
    """Return the error for a folder that is, by a link, one of those that it is in."""
    return SourceError(
        "a loop: this link leads to a folder that contains it",
        where=folder,
        found=f"a link to {folder.resolve()}",
        next_step="remove the link",
    )


def _disk_file(path: Path, root: Path, prefix: str, limits: Limits, boundary: Boundary) -> DiskFile:
    inner = path.relative_to(root).as_posix()
    if not path.is_file():
        raise SourceError("neither a file nor a folder", where=path, next_step="remove it, or fix the link")
    full = prefix if inner == "." else f"{prefix}/{inner}"
    check_spelling(full, path)
    limits.check("path", len(full.encode()), path)
    return DiskFile(path, _stat(path, full), limits, boundary.real(path), boundary)


def _stat(path: Path, name: str) -> Stat:
    return _stat_of(path.stat(), name)


def _stat_of(info: os.stat_result, name: str) -> Stat:
    return Stat(name, info.st_size, info.st_mtime_ns, info.st_ino)


_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    OverflowError,
    IndexError,
)
"""What the standard library raises for a damaged archive, depending on the bytes."""
_DISK = "copy the file from where it came from, and check the disk"


@contextmanager
def readable(path: Path, size: int) -> Iterator[None]:
    """Turn every way in which reading a file of ``size`` bytes can fail into one clear error."""
    try:
        yield
    except PermissionError as error:
        raise forbidden(path) from error
    except _DAMAGED as error:
        if not is_archive_at(path):
            raise SourceError(
                "the file changed while it was read",
                where=path,
                found=str(error),
                next_step="build again when nothing writes to it",
            ) from error
        raise SourceError(
            "the archive can't be read",
            where=path,
            expected="a whole .zip, .tar.gz or .7z archive without a password",
            found=f"{size:,} bytes; {error}",
            next_step="download it again, or unpack it by hand and put its files in its place",
        ) from error
    except OSError as error:
        next_step = "allow more open files (ulimit -n 4096), or unpack archives" if error.errno == EMFILE else _DISK
        raise SourceError("the file can't be read", where=path, found=str(error), next_step=next_step) from error


def forbidden(path: Path) -> SourceError:
    """Return the error for a file or folder that may not be read."""
    return SourceError(
        "permission denied",
        where=path,
        expected="a file or folder that you may read, in folders that you may enter",
        next_step=f"allow it, for instance with: {chmod(path, 'rX')}",
    )


def check_spelling(path: str, disk: Path) -> None:
    """Raise SourceError for a name that is not UTF-8, or has a NUL: it could not be stored, or not be written back."""
    if "\0" in path:
        raise SourceError(
            "a file's name in the archive has a NUL character",
            where=disk,
            found=ascii(path),
            next_step="rename the file",
        )
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise SourceError(
            "a file's name is not UTF-8",
            where=str(disk).encode(errors="backslashreplace").decode(),
            found=path.encode(errors="backslashreplace").decode(),
            next_step="rename the file",
        ) from error
