"""The files of a corpus: in folders, .zip and .tar.gz archives, read in memory and never extracted."""

import tarfile
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import file_digest, sha256
from itertools import pairwise
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import IO

from ingest.file_buffer import FileBuffer
from schema.errors import SourceError

ARCHIVES = (".zip", ".tar.gz", ".tgz")
BOM = b"\xef\xbb\xbf"
BOM_NOTE = "starts with a byte order mark"
OUTSIDE = "not read: its name points outside of the archive"

_AHEAD = 3
"""Pieces that are read while one is worked on."""

_PIECE = 2_000_000
"""Bytes that are read at a time of a file that is larger than memory."""

_READING = Lock()
"""Two files of one .tar.gz share the place in it that is read."""

# Names that are never data. The first reason that fits is the note; patterns are matched without case.
_SKIPPED = (
    (("__macosx", "._*", ".ds_store", "thumbs.db", "desktop.ini"), "made by an operating system or archiver"),
    (("__init__.py", "__pycache__"), "Python's, not data"),
    ((".git", ".gitignore", ".gitattributes", ".github"), "git's, not data"),
    (("readme*", "00readme*", "*.md", "changelog*", "citation*", "*.bib"), "notes"),
    (("license*", "licence*", "copying*", "notice*"), "a licence"),
)


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
    """A file on disk: its real place, and what identifies it in the warehouse."""

    location: Path
    stat: Stat

    @property
    def is_archive(self) -> bool:
        """Whether its name says that it is an archive that we open."""
        return self.location.name.lower().endswith(ARCHIVES)

    def content_size(self) -> int:
        """Give the bytes that there are to read: for an archive those of its members."""
        if not self.is_archive or skip_reason(self.stat.path):
            return self.stat.size
        with _readable(self):
            archive, members = _open_archive(self.location)
            archive.close()
        return sum(size for _, size in members)

    def sha256(self) -> str:
        """Hash the bytes on disk."""
        with self.location.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()


@dataclass(eq=False)
class SourceFile:
    """A file as a reader sees it, wherever it lies; its bytes are read when they are asked for."""

    disk: DiskFile
    member: str | None
    """Path inside the archive; None: the file on disk itself."""
    size: int
    _archive: "zipfile.ZipFile | tarfile.TarFile | None" = None
    sha256: str = ""
    has_bom: bool = False

    @property
    def id(self) -> str:
        """The key in ``meta.source_files``: path inside the data folder, '!' and the path inside an archive."""
        return self.disk.stat.path if self.member is None else f"{self.disk.stat.path}!{self.member}"

    @property
    def path(self) -> PurePosixPath:
        """The path that says what the file is, archives taken as folders without their ending."""
        return unpacked(self.disk.stat.path, self.member)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.name

    def read(self) -> bytes:
        """Give the bytes without a byte order mark (``has_bom`` tells of it); notes their SHA-256.

        Memory: the bytes once. Raises SourceError where an archive is damaged or the file can't be read.
        """
        with _readable(self.disk), self._open() as stream:
            self.has_bom = stream.read(len(BOM)) == BOM
            if not self.has_bom:
                stream.seek(0)
            raw = stream.read()
        state = sha256(BOM if self.has_bom else b"")
        state.update(raw)
        self.sha256 = state.hexdigest()
        return raw

    def hold(self) -> FileBuffer:
        """Give the bytes as ``read`` does, in memory that can be given back bit by bit; for files of great size.

        A byte order mark is noted, and is part of the bytes. Raises SourceError as ``read`` does.
        """
        with _readable(self.disk), self._open() as stream:
            state = sha256()
            held = FileBuffer(stream, self.size, state.update)
        self.has_bom = held.view[: len(BOM)] == BOM
        self.sha256 = state.hexdigest()
        return held

    def chunks(self) -> Iterator[bytes]:
        """Give the bytes in pieces, without a byte order mark; for files that are larger than memory.

        The SHA-256 is noted when the last piece is given. Raises SourceError as ``read`` does.
        """
        state = sha256()

        def more() -> bytes:
            with _READING:
                piece = stream.read(_PIECE)
            state.update(piece)
            return piece

        # Read and hashed in a thread of its own, which works without Python's lock.
        with _readable(self.disk), self._open() as stream, ThreadPoolExecutor(max_workers=1) as thread:
            start = stream.read(len(BOM))
            state.update(start)
            self.has_bom = start == BOM
            if start and not self.has_bom:
                yield start
            ahead = deque(thread.submit(more) for _ in range(_AHEAD))
            while piece := ahead.popleft().result():
                ahead.append(thread.submit(more))
                yield piece
        self.sha256 = state.hexdigest()

    def _open(self) -> IO[bytes]:
        if self.member is None:
            return self.disk.location.open("rb", buffering=0)  # a buffer would hold the bytes twice
        if isinstance(self._archive, zipfile.ZipFile):
            return self._archive.open(self.member)
        stream = self._archive.extractfile(self.member) if self._archive else None
        if stream is None:
            raise tarfile.TarError(f"no file {self.member}")
        return stream


def disk_files(root: Path, prefix: str) -> list[DiskFile]:
    """List every file under a folder (or the file itself), sorted by its path inside the data folder.

    ``prefix`` is the path of ``root`` inside the data folder. Raises SourceError where something is missing,
    empty or forbidden.
    """
    try:
        is_there = root.exists()
    except PermissionError as error:
        raise _forbidden(root) from error
    if not is_there:
        raise SourceError(
            "there is no such file or folder",
            where=root,
            next_step="check the path, as seen from this folder",
        )
    found = list(_walk(root)) if root.is_dir() else [root]
    if not found:
        raise SourceError(
            "the folder is empty",
            where=root,
            expected="the corpus's files as published (folders, .zip and .tar.gz are read as they are)",
            next_step="put the publisher's files there",
        )
    return sorted((_disk_file(path, root, prefix) for path in found), key=lambda file: file.stat.path)


def _walk(folder: Path) -> Iterator[Path]:
    """Walk a folder; a folder that can't be listed is an error, never silently empty."""
    try:
        for entry in sorted(folder.iterdir()):
            if entry.is_dir():
                yield from _walk(entry)
            else:
                yield entry
    except PermissionError as error:
        raise _forbidden(folder) from error


def _disk_file(path: Path, root: Path, prefix: str) -> DiskFile:
    inner = path.relative_to(root).as_posix()
    if not path.is_file():
        raise SourceError("neither a file nor a folder", where=path, next_step="take it away, or mend the link")
    info = path.stat()
    full = prefix if inner == "." else f"{prefix}/{inner}"
    _check_spelling(full, path)
    return DiskFile(path, Stat(full, info.st_size, info.st_mtime_ns, info.st_ino))


def skip_reason(path: str) -> str | None:
    """Say why a path is never data, judged by the names of its parts alone; None where it may be."""
    for part in path.lower().split("/"):
        for patterns, reason in _SKIPPED:
            if any(fnmatchcase(part, pattern) for pattern in patterns):
                return f"skipped by name: {reason}"
    return None


@dataclass(frozen=True)
class Skipped:
    """A file that is not data, and why."""

    file: SourceFile
    reason: str


@contextmanager
def opened(files: Iterable[DiskFile]) -> Iterator[tuple[list[SourceFile], list[Skipped]]]:
    """Open the archives among the files; gives what readers see, in canonical order, and what they don't.

    The canonical order is that of the ids, code point by code point. Raises SourceError for a damaged archive.
    """
    archives: list[zipfile.ZipFile | tarfile.TarFile] = []
    seen: list[SourceFile] = []
    try:
        for disk in files:
            if not disk.is_archive or skip_reason(disk.stat.path):
                seen.append(SourceFile(disk, None, disk.stat.size))
                continue
            with _readable(disk):
                archive, members = _open_archive(disk.location)
            archives.append(archive)
            seen.extend(SourceFile(disk, name, size, archive) for name, size in members)
        for file in seen:
            _check_spelling(file.id, file.disk.location)
        seen.sort(key=lambda file: file.id)
        _check_names(seen)
        skipped = [Skipped(file, reason) for file in seen if (reason := _reason(file))]
        left_out = {id(item.file) for item in skipped}
        yield [file for file in seen if id(file) not in left_out], skipped
    finally:
        for archive in archives:
            archive.close()


def unpacked(path: str, member: str | None) -> PurePosixPath:
    """Give the path of a file on disk, or of a member as if its archive were a folder without the ending."""
    if member is None:
        return PurePosixPath(path)
    ending = next(ending for ending in ARCHIVES if path.lower().endswith(ending))
    return PurePosixPath(path[: -len(ending)], _inner(member))


def _inner(member: str) -> str:
    """Give the path of a member; archives that are made on Windows may have backslashes."""
    return member if "/" in member else member.replace("\\", "/")


def _check_spelling(path: str, disk: Path) -> None:
    """Refuse a name that is no UTF-8: it could not be stored, nor given back."""
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise SourceError(
            "a file's name is not UTF-8",
            where=str(disk).encode(errors="backslashreplace").decode(),
            found=path.encode(errors="backslashreplace").decode(),
            next_step="rename the file",
        ) from error


def _check_names(files: list[SourceFile]) -> None:
    """Refuse an archive with two files of one name: of these, only one could be read."""
    for one, other in pairwise(files):
        if one.id == other.id:
            raise SourceError(
                "the archive has two files of one name",
                where=one.disk.location,
                found=str(one.member),
                next_step="unpack it, keep both under different names, and take the archive away",
            )


def _reason(file: SourceFile) -> str | None:
    """Say why a file is not read: by name, or because it points outside of its archive."""
    parts = PurePosixPath(_inner(file.member or "")).parts
    if ".." in parts or "/" in parts:
        return OUTSIDE
    return skip_reason(str(file.path))


def _open_archive(path: Path) -> tuple[zipfile.ZipFile | tarfile.TarFile, list[tuple[str, int]]]:
    if path.name.lower().endswith(".zip"):
        archive = zipfile.ZipFile(path)
        return archive, [(info.filename, info.file_size) for info in archive.infolist() if not info.is_dir()]
    tar = tarfile.open(path)  # noqa: SIM115 - the caller closes it
    return tar, [(info.name, info.size) for info in tar.getmembers() if info.isfile()]


@contextmanager
def _readable(disk: DiskFile) -> Iterator[None]:
    """Turn every way in which a file can fail to be read into one clear error."""
    try:
        yield
    except PermissionError as error:
        raise _forbidden(disk.location) from error
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise SourceError(
            "the archive can't be read",
            where=disk.location,
            expected="a whole .zip or .tar.gz archive without a password",
            found=f"{disk.stat.size:,} bytes; {error}",
            next_step="download it again, or unpack it by hand to see what is wrong",
        ) from error
    except OSError as error:
        raise SourceError("the file can't be read", where=disk.location, found=str(error)) from error


def _forbidden(path: Path) -> SourceError:
    return SourceError(
        "permission denied",
        where=path,
        expected="a file or folder that you may read",
        next_step=f"allow it, for instance with: chmod u+rX '{path}'",
    )


def given_twice(one: SourceFile, other: SourceFile) -> SourceError:
    """Say that two files are the same part of a corpus, which a reader can't take both."""
    return SourceError(
        "one part of the corpus is given twice",
        where=other.disk.location,
        expected=f"one {other.name}",
        found=f"{one.id} and {other.id}",
        next_step="take one of the two away; an archive is read as it is and need not be unpacked",
    )
