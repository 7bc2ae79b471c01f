"""The files of a corpus on disk, archives closed: where they are, and what tells that they changed."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from itertools import islice
from pathlib import Path

from ingest.archives import is_archive, open_archive
from ingest.limits import DEFAULT, Limits
from ingest.skipped import skip_reason
from ingest.source_errors import check_spelling, forbidden, readable
from schema.errors import SourceError


@dataclass(frozen=True)
class Stat:
    """What tells cheaply whether a file on disk has changed."""

    path: str
    """Inside the data folder, with slashes."""
    size: int
    mtime_ns: int
    inode: int

    @property
    def modified_at(self) -> datetime:
        """The time of the last change, UTC."""
        return datetime.fromtimestamp(self.mtime_ns / 1e9, UTC).replace(tzinfo=None)


@dataclass(frozen=True)
class DiskFile:
    """A file on disk: its real path, and what identifies it in the warehouse."""

    location: Path
    stat: Stat
    limits: Limits = DEFAULT

    @property
    def is_archive(self) -> bool:
        """Whether it is to be opened as an archive."""
        return is_archive(self.stat.path)

    def content_size(self) -> int:
        """Count the bytes that there are to read: for an archive those of its members."""
        if not self.is_archive or skip_reason(self.stat.path):
            return self.stat.size
        with readable(self.location, self.stat.size):
            archive, members = open_archive(self.location, self.stat.path, self.limits)
            archive.close()
        return sum(size for _, size in members)

    def sha256(self) -> str:
        """Hash the bytes on disk."""
        with self.location.open("rb") as stream:
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


def disk_files(root: Path, prefix: str, limits: Limits = DEFAULT) -> list[DiskFile]:
    """List every file under a folder (or the file itself), sorted by its path inside the data folder.

    ``prefix`` is the path of ``root`` inside the data folder. Raises SourceError where something is missing,
    empty, forbidden or beyond the limits, and for a folder that holds itself.
    """
    try:
        is_there = root.exists()
    except PermissionError as error:
        raise forbidden(root) from error
    if not is_there:
        raise SourceError(
            "there is no such file or folder",
            where=root,
            next_step="check the path, as seen from this folder",
        )
    found = list(_files(root, limits)) if root.is_dir() else [root]
    if not found:
        raise SourceError(
            "the folder is empty",
            where=root,
            expected="the corpus's files as published (folders, .zip and .tar.gz are read as they are)",
            next_step="put the publisher's files there",
        )
    return sorted((_disk_file(path, root, prefix, limits) for path in found), key=lambda file: file.stat.path)


def _files(root: Path, limits: Limits) -> Iterator[Path]:
    """List the files of a folder; SourceError where it holds too much."""
    for count, entry in enumerate(_walk(root, limits.members), 1):
        limits.check("members", count, root, f"{count:,} or more")
        limits.check("path", len(os.fsencode(entry.relative_to(root))), root)
        if not entry.is_dir():
            yield entry


def _walk(root: Path, most: int) -> Iterator[Path]:
    """Yield what is in a folder, of each folder at most one more than ``most``.

    One that can't be listed is an error, never silently empty, and so is a loop.
    """
    open_folders: list[tuple[Path, tuple[tuple[int, int], ...]]] = [(root, ())]
    while open_folders:
        folder, above = open_folders.pop()
        try:
            info = folder.stat()
            if (info.st_dev, info.st_ino) in above:
                raise _loop(folder)
            for entry in sorted(map(Path, islice(os.scandir(folder), most + 1))):
                yield entry
                if entry.is_dir():
                    open_folders.append((entry, (*above, (info.st_dev, info.st_ino))))
        except PermissionError as error:
            raise forbidden(folder) from error


def _loop(folder: Path) -> SourceError:
    """Say that a folder is, by a link, one of those that it is in."""
    return SourceError(
        "a loop: this link leads to a folder that it is in",
        where=folder,
        found=f"a link to {folder.resolve()}",
        next_step="remove the link",
    )


def _disk_file(path: Path, root: Path, prefix: str, limits: Limits) -> DiskFile:
    inner = path.relative_to(root).as_posix()
    if not path.is_file():
        raise SourceError("neither a file nor a folder", where=path, next_step="remove it, or fix the link")
    full = prefix if inner == "." else f"{prefix}/{inner}"
    check_spelling(full, path)
    limits.check("path", len(full.encode()), path)
    return DiskFile(path, _stat(path, full), limits)


def _stat(path: Path, name: str) -> Stat:
    info = path.stat()
    return Stat(name, info.st_size, info.st_mtime_ns, info.st_ino)
