"""Archives, .zip, .tar.gz and .7z, told by their first bytes: their members are never written under their names."""

import gzip
import io
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from contextlib import suppress
from copy import copy
from functools import lru_cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, TypeAlias

from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.files.seven_zip import SevenZip
from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.schema.errors import SourceError

ARCHIVES = (".zip", ".tar.gz", ".tgz", ".7z")
"""Endings of archives: what is called so and is none is an error."""

Archive: TypeAlias = zipfile.ZipFile | tarfile.TarFile | SevenZip

START = 2_048
"""Bytes of a file that tell whether it is an archive, more than a packed header of a .tar.gz has."""

_STARTS = {b"PK\3\4": ".zip", b"PK\5\6": ".zip", b"PK\7\x08": ".zip", b"7z\xbc\xaf\x27\x1c": ".7z"}
_OTHERS = {b"Rar!": "a RAR archive", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "Zstandard"}

_ENTRY = 256
"""Bytes of an entry in the directory of a .zip, more than most have: one allowed entry stands for so many."""

_STEPS_BACK = 8
"""Steps back in a .tar.gz, each of which unpacks it from its begin again; with more it is unpacked to the disk."""

_PIECE = 2_000_000
"""Bytes that are unpacked to the disk at a time."""

_LONGEST_HEADER = 1_000_000
"""Bytes of a header of a .tar.gz, far more than a path takes."""

_DRIVE = re.compile(r"[A-Za-z]:/")


def is_archive(start: bytes, name: str) -> bool:
    """Whether a file is opened as an archive: its first bytes, ``START`` of them, are of one, or its name is."""
    return bool(_kind(start)) or name.lower().endswith(ARCHIVES)


def is_archive_at(path: Path) -> bool:
    """Whether the file at a path is opened as an archive; where it can't be read, its name says so."""
    start = b""
    with suppress(OSError), path.open("rb") as stream:
        start = stream.read(START)
    return is_archive(start, path.name)


def _kind(start: bytes) -> str | None:
    """Return the ending of the kind of archive that begins so; a .gz is one if it holds a tar."""
    if start.startswith(b"\x1f\x8b"):
        with suppress(zlib.error, tarfile.HeaderError):
            tarfile.TarInfo.frombuf(zlib.decompressobj(31).decompress(start, tarfile.BLOCKSIZE), "utf-8", "replace")
            return ".tar.gz"
    return next((kind for bytes_, kind in _STARTS.items() if start.startswith(bytes_)), None)


def open_archive(
    path: Path, name: str, limits: Limits, raw: io.FileIO | None = None
) -> tuple[Archive, list[tuple[str, int]]]:
    """Open an archive; ``name`` says what it should be, ``raw`` is the file at the path, where it is open already.

    Returns it, for the caller to close, and the name and size of each file in it.

    Raises SourceError where what it says about itself is beyond the limits, before anything is unpacked for that, and
    for a .tar.gz or .7z with a link; ReaderMissing without the package that reads a .7z.
    """
    raw = raw or io.FileIO(path)
    packed = os.fstat(raw.fileno()).st_size
    start = raw.read(START)
    raw.seek(0)
    if found := next((found for bytes_, found in _OTHERS.items() if start.startswith(bytes_)), None):
        raise zipfile.BadZipFile(f"by its first bytes it is {found}")
    kind = _kind(start) or name.lower()
    opened: Archive
    if kind.endswith(".7z"):
        opened = SevenZip(raw, path, limits)
    else:
        opened = _Zip(raw, limits) if kind.endswith(".zip") else _Tar(raw)
    try:
        return opened, _members(opened, path, packed, limits)
    except BaseException:
        opened.close()
        raise


def allow_any_order(archive: Archive) -> None:
    """Have the files of an archive read by their names at no more cost than one after the other as they stand in it."""
    if isinstance(archive, _Tar):
        starts = [info.offset_data for info in sorted(archive.getmembers(), key=lambda info: info.name)]
        if sum(start > other for start, other in pairwise(starts)) > _STEPS_BACK:
            archive.unpack()


def open_member(archive: Archive, member: str) -> IO[bytes]:
    """Open one file of an archive; of one that has more bytes than the archive says, one of these can be read too."""
    if isinstance(archive, SevenZip):
        return archive.open(member)
    if isinstance(archive, zipfile.ZipFile):
        info = copy(archive.getinfo(member))
        info.file_size += 1
        return archive.open(info)
    stream = archive.extractfile(member)
    if stream is None:
        raise tarfile.TarError(f"no file {member}")
    return stream


@lru_cache(maxsize=16)  # a reader asks several times for that of the file which it has in hand
def unpacked(path: str, member: str | None) -> PurePosixPath:
    """Return the path of a file on disk, or of a member as if its archive were a folder without the ending."""
    if member is None:
        return PurePosixPath(path)
    ending = next((ending for ending in ARCHIVES if path.lower().endswith(ending)), "")
    return PurePosixPath(path.removesuffix(path[len(path) - len(ending) :]), _with_slashes(member))


def points_outside(member: str) -> bool:
    """Whether the name of a member would lead out of the folder that its archive stands for."""
    path = _with_slashes(member)
    return ".." in PurePosixPath(path).parts or path.startswith("/") or bool(_DRIVE.match(path))


def _with_slashes(member: str) -> str:
    """Return the path of a member; archives that are made on Windows may have backslashes."""
    return member if "/" in member else member.replace("\\", "/")


class _Zip(zipfile.ZipFile):
    """A .zip whose directory is only read where it is not far too long."""

    _file: "_ZipFile | None" = None

    def __init__(self, raw: io.FileIO, limits: Limits) -> None:
        self._file = _ZipFile(raw)
        self._file.longest = limits.members * _ENTRY
        try:
            super().__init__(self._file)
        except BaseException:
            self._file.close()
            raise
        self._file.longest = None
        for info in self.infolist():
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                # Of the others, a few bytes may unpack to any number at once.
                raise zipfile.BadZipFile(f"{info.filename} is compressed in another way than deflate")

    def close(self) -> None:
        """Close the file too; Python also closes what it could not open."""
        super().close()
        if self._file is not None:
            self._file.close()


class _ZipFile(io.BufferedReader):
    """The bytes of a .zip; ``longest``: how many may be read at once, None for any number."""

    longest: int | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        """Read bytes; BadZipFile for more of them than allowed."""
        if self.longest is not None and size is not None and size > self.longest:
            raise zipfile.BadZipFile(f"its directory has {size:,} bytes")
        return super().read(size)


class _Tar(tarfile.TarFile):
    """A .tar.gz whose headers are only read where they are not far too long."""

    def __init__(self, raw: io.FileIO) -> None:
        self._stream = _TarStream(raw)
        self._unpacked: IO[bytes] | None = None
        try:
            super().__init__(fileobj=self._stream)
        except BaseException:
            self._stream.close()
            raise

    def extractfile(self, member: str | tarfile.TarInfo) -> IO[bytes] | None:
        """Open a file, of which any number of bytes may be read at once; all headers are known by now."""
        self._stream.longest = None
        return super().extractfile(member)

    def unpack(self) -> None:
        """Unpack what the headers tell of, to a temporary file without a name, which is then read."""
        self._stream.longest = None
        self._unpacked = TemporaryFile()  # noqa: SIM115 - closed with the archive
        self._stream.seek(0)
        left = self.offset
        while left and (piece := self._stream.read(min(left, _PIECE))):
            self._unpacked.write(piece)
            left -= len(piece)
        self.fileobj = self._unpacked

    def close(self) -> None:
        """Close the files too."""
        super().close()
        self._stream.close()
        if self._unpacked:
            self._unpacked.close()


class _TarStream(gzip.GzipFile):
    """The unpacked bytes of a .tar.gz; ``longest``: how many may be read at once, None for any number."""

    longest: int | None = _LONGEST_HEADER

    def __init__(self, raw: io.FileIO) -> None:
        self._packed = io.BufferedReader(raw)
        super().__init__(fileobj=self._packed)

    def read(self, size: int | None = -1) -> bytes:
        """Read bytes; TarError for more of them than allowed."""
        if self.longest is not None and size is not None and size > self.longest:
            raise tarfile.TarError(f"a header has {size:,} bytes")
        return super().read(size)

    def close(self) -> None:
        """Close the file too."""
        super().close()
        self._packed.close()


def _members(archive: Archive, path: Path, packed: int, limits: Limits) -> list[tuple[str, int]]:
    """List the files of an archive; SourceError as soon as there are too many, or too many bytes, by their headers."""
    files: list[tuple[str, int]] = []
    total = 0
    infos: Iterable[zipfile.ZipInfo | tarfile.TarInfo] = (
        archive if isinstance(archive, tarfile.TarFile) else archive.infolist()
    )
    for count, info in enumerate(infos, 1):
        if isinstance(info, zipfile.ZipInfo):
            name, size, is_file = info.filename, info.file_size, not info.is_dir()
        else:
            name, size, is_file = info.name, info.size, info.isfile()
        total += size
        limits.check("members", count, path, f"{count:,} or more")
        limits.check("path", len(name), path, f"{len(name):,} characters: {name[:40]!r} ...")
        declared = f"{total:,} bytes, as its first {count:,} headers say, in an archive of {packed:,} bytes"
        limits.check("archive", total, path, declared)
        if total > limits.record:
            limits.check("ratio", -(-total // max(1, packed)), path, declared)
        if isinstance(info, tarfile.TarInfo):
            _check_link(info, path)
        if is_file:
            files.append((name, size))
    return files


def _check_link(info: tarfile.TarInfo, path: Path) -> None:
    """Raise SourceError for a link: to pass it over would lose a file."""
    if (info.issym() or info.islnk()) and not skip_reason(info.name):
        raise SourceError(
            "the archive has a link",
            where=path,
            expected="files and folders",
            found=f"{info.name}, a link to {info.linkname}",
            next_step="unpack it, and read the folder: links that stay inside it are followed",
        )
