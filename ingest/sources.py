"""The files of a corpus as readers see them: on disk or in archives, all the same."""

import mmap
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import PurePosixPath
from threading import Lock
from typing import IO, NoReturn

from talkhouse.ingest.files.archives import Archive, allow_any_order, open_member, points_outside, unpacked
from talkhouse.ingest.files.disk_files import DiskFile, check_spelling, readable
from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.schema.errors import SourceError

_BUFFERED = 4_000_000
"""Bytes that are read at once."""


class FileBuffer:
    """All bytes of a file, read once, so that nobody can change them; ``release`` frees what is no longer needed.

    ``view`` is of the bytes; ``SourceFile.hold`` leaves a byte order mark out of it.
    """

    def __init__(self, stream: IO[bytes], size: int, update: Callable[[memoryview], object]) -> None:
        """Read ``size`` bytes; ``update``, of a hash for instance, gets each piece while the next one is read.

        Raises EOFError where there are fewer.
        """
        self._memory = mmap.mmap(-1, max(size, 1))
        self.view = memoryview(self._memory)[:size]
        filled = 0
        with ThreadPoolExecutor(max_workers=1) as thread:
            while filled < size:
                count = stream.readinto(self.view[filled : filled + _BUFFERED])  # type: ignore[attr-defined]
                if not count:
                    raise EOFError(f"the file ends after {filled:,} of {size:,} bytes")
                updated = thread.submit(update, self.view[filled : filled + count])
                filled += count
            if size:
                updated.result()

    def release(self, end: int) -> None:
        """Free the memory before ``end``; what is read there from now on is zeros."""
        whole = end // mmap.PAGESIZE * mmap.PAGESIZE
        if whole and hasattr(mmap, "MADV_DONTNEED"):
            self._memory.madvise(mmap.MADV_DONTNEED, 0, whole)


JSON_LINES = (".jsonl", ".ndjson")
"""Endings of files with a JSON value a line, wherever such files are read, compared or guessed at."""

BOM = b"\xef\xbb\xbf"
BOM_NOTE = "starts with a byte order mark"
OUTSIDE = "not read: its name points outside of the archive"

_AHEAD = 3
"""Pieces that are read while one is worked on."""

_PIECE = 2_000_000
"""Bytes that are read at a time of a file that is larger than memory."""

_READING = Lock()
"""Two files of one .tar.gz share the position in it that is read."""


@dataclass(eq=False, slots=True)
class SourceFile:
    """A file as a reader sees it, on disk or in an archive; its bytes are read when they are asked for."""

    disk: DiskFile
    member: str | None
    """Path inside the archive; None: the file on disk itself."""
    size: int
    _archive: Archive | None = None
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

    @property
    def limits(self) -> Limits:
        """How much of the file is read."""
        return self.disk.limits

    def read(self) -> bytes:
        """Read the bytes but for a byte order mark (``has_bom``), and take their SHA-256.

        Memory: the bytes once. Raises SourceError where an archive is damaged, or the file is too large or unreadable.
        """
        self.limits.check("file", self.size, self.id)
        with self._opened() as stream:
            self.has_bom = stream.read(len(BOM)) == BOM
            if not self.has_bom:
                stream.seek(0)
            raw = _whole(stream, self.size - len(BOM) * self.has_bom)
        state = sha256(BOM if self.has_bom else b"")
        state.update(raw)
        self.sha256 = state.hexdigest()
        return raw

    def read_record(self) -> bytes:
        """Read the bytes as ``read`` does, of a file that is one record."""
        self.check_record(self.size)
        return self.read()

    def check_record(self, size: int, pointer: str = "") -> None:
        """Raise SourceError for a record that is too large to be one; ``pointer`` says where it is."""
        if size > self.limits.record:
            self.refuse_record(size, pointer)

    def refuse_record(self, size: int, pointer: str, found: str = "") -> NoReturn:
        """Raise SourceError for a record that is too large to be one."""
        raise self.limits.exceeded("record", size, f"{self.id}#{pointer}" if pointer else self.id, found)

    def hash(self) -> None:
        """Read the bytes only to take their SHA-256."""
        for _ in self.chunks():
            pass

    def hold(self) -> FileBuffer:
        """Read the bytes as ``read`` does, into memory that can be freed bit by bit; for very large files.

        Raises SourceError as ``read`` does.
        """
        self.limits.check("file", self.size, self.id)
        with self._opened() as stream:
            state = sha256()
            buffer = FileBuffer(stream, self.size, state.update)
            _check_end(stream, self.size)
        self.has_bom = buffer.view[: len(BOM)] == BOM
        if self.has_bom:
            buffer.view = buffer.view[len(BOM) :]
        self.sha256 = state.hexdigest()
        return buffer

    def chunks(self) -> Iterator[bytes]:
        """Read the bytes in pieces, without a byte order mark; for files that are larger than memory.

        The SHA-256 is known with the last piece. Raises SourceError as ``read`` does.
        """
        state = sha256()

        def more() -> bytes:
            with _READING:
                piece = stream.read(_PIECE)
            state.update(piece)
            return piece

        with self._opened() as stream:
            start = stream.read(len(BOM))
            state.update(start)
            self.has_bom = start == BOM
            if start and not self.has_bom:
                yield start
            count = len(start)
            for piece in iter(more, b"") if self.size <= _PIECE else _read_ahead(more):
                count += len(piece)
                yield piece
            if count != self.size:
                raise EOFError(f"{count:,} bytes were read of a file of {self.size:,}")
        self.sha256 = state.hexdigest()

    @contextmanager
    def peek(self) -> Iterator[IO[bytes]]:
        """Open the bytes for a look at some of them: nothing is hashed, and no limit holds."""
        with self._opened() as stream:
            yield stream

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        with readable(self.disk.location, self.disk.stat.size):
            if self.member is None:
                stream: IO[bytes] = self.disk.open()
            elif self._archive is None:
                raise RuntimeError("the archive is closed")
            else:
                stream = open_member(self._archive, self.member)
            with stream:
                yield stream


def _read_ahead(more: Callable[[], bytes]) -> Iterator[bytes]:
    """Read and hash pieces in a thread of its own, which works without Python's lock."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        ahead = deque(thread.submit(more) for _ in range(_AHEAD))
        while piece := ahead.popleft().result():
            ahead.append(thread.submit(more))
            yield piece


def _whole(stream: IO[bytes], size: int) -> bytes:
    """Read so many bytes, and no more of a member that has more than it says; EOFError where there are fewer."""
    pieces, left = list[bytes](), size
    while left and (piece := stream.read(left)):
        pieces.append(piece)
        left -= len(piece)
    if left:
        raise EOFError(f"the file ends after {size - left:,} of {size:,} bytes")
    _check_end(stream, size)
    return b"".join(pieces)


def _check_end(stream: IO[bytes], size: int) -> None:
    """Raise EOFError for a file that has more bytes than its size."""
    if stream.read(1):
        raise EOFError(f"the file goes on after {size:,} bytes")


@dataclass(frozen=True)
class Skipped:
    """A file that is not data, and why."""

    file: SourceFile
    reason: str


@contextmanager
def opened(files: Iterable[DiskFile]) -> Iterator[tuple[list[SourceFile], list[Skipped]]]:
    """Open the archives among the files: what readers see, in canonical order, and what is skipped.

    The canonical order is that of the ids, code point by code point. Raises SourceError for a damaged archive.
    """
    archives: list[Archive] = []
    seen: list[SourceFile] = []
    try:
        for disk in files:
            if not disk.is_archive:
                seen.append(SourceFile(disk, None, disk.stat.size))
                continue
            archive, members = disk.open_archive()
            archives.append(archive)
            with readable(disk.location, disk.stat.size):
                allow_any_order(archive)
            seen.extend(SourceFile(disk, name, size, archive) for name, size in members)
        for file in seen:
            check_spelling(file.id, file.disk.location)
            file.limits.check("path", len(file.id.encode()), file.disk.location)
        seen.sort(key=lambda file: file.id)
        _check_names(seen)
        reasons = (OUTSIDE if points_outside(file.member or "") else skip_reason(str(file.path)) for file in seen)
        skipped = [Skipped(file, reason) for file, reason in zip(seen, reasons, strict=True) if reason]
        left_out = {id(item.file) for item in skipped}
        yield [file for file in seen if id(file) not in left_out], skipped
    finally:
        for archive in archives:
            archive.close()


def _check_names(files: list[SourceFile]) -> None:
    """Refuse an archive with two files of one name: of these, only one could be read."""
    for file, next_file in pairwise(files):
        if file.id == next_file.id:
            raise SourceError(
                "the archive has two files with the same name",
                where=file.disk.location,
                found=str(file.member),
                next_step="unpack it, keep both under different names, and remove the archive",
            )


def duplicate_part(first: SourceFile, other: SourceFile) -> SourceError:
    """Return the error where two files are the same part of a corpus, of which a reader can take only one."""
    return SourceError(
        "one part of the corpus is present twice",
        where=other.disk.location,
        expected=f"one {other.name}",
        found=f"{first.id} and {other.id}",
        next_step="remove one of the two; an archive is read as it is and need not be unpacked",
    )
