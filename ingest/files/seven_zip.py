"""Archives of 7-Zip: what they hold is known from their headers, and unpacked once to a temporary file without a name.

Files are packed in blocks of many, none of which can be read from its middle.
"""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import accumulate
from lzma import LZMAError
from pathlib import Path
from shutil import disk_usage
from struct import error as StructError  # noqa: N812
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any
from zlib import crc32

from talkhouse.ingest.files.limits import Limits
from talkhouse.schema.errors import SourceError

_PIECE = 32_000_000
"""Bytes that are unpacked at a time."""

_MEMORY = 1 << 30
"""Bytes of memory that unpacking may take; 7-Zip's own levels take a quarter of it at most."""

_ENTRY = 256
"""Bytes of an entry in the headers, more than most have: one allowed entry stands for so many."""

_COPY, _LZMA2, _LZMA, _BZIP2 = b"\x00", b"\x21", b"\x03\x01\x01", b"\x04\x02\x02"
_FILTERS = {b"\x03", *(b"\x03\x03" + end for end in (b"\1\3", b"\2\5", b"\4\1", b"\5\1", b"\7\1", b"\x08\5"))}
_METHODS = {_COPY, _LZMA2, _LZMA, _BZIP2, *_FILTERS}
"""Of the others that py7zr knows, a few bytes may unpack to any number at once; its PPMd ends the process."""
_ENCRYPTED = b"\x06\xf1\x07\x01"
_ENCODED = b"\x17"
"""What packed headers begin with."""


class BadSevenZip(ValueError):
    """The archive is damaged, or made in a way that is not read."""


class ReaderMissing(SourceError):
    """The package that reads .7z is not installed."""


class SevenZip:
    """An archive of 7-Zip; its headers are only read where they are not far too long."""

    def __init__(self, raw: io.FileIO, path: Path, limits: Limits) -> None:
        """Read the headers. Raises ReaderMissing, BadSevenZip."""
        self._path, self._limits = path, limits
        self._packed = io.BufferedReader(raw)
        self._unpacked: IO[bytes] | None = None
        self._places: dict[str, list[int]] = {}
        """Where each file begins in the unpacked bytes, and its size."""
        try:
            with _damage(path):
                self._archive = self._checked()
        except BaseException:
            self._packed.close()
            raise
        self.members: list[Any] = list(getattr(self._archive, "files", ()))
        """What py7zr knows of each file and folder, in the order in which they are packed."""

    def _checked(self) -> Any:
        """Return the archive as py7zr opens it, once what it will do with the headers is known to be bounded."""
        py7zr, headers = import_module("py7zr"), import_module("py7zr.archiveinfo")
        begin = headers.SignatureHeader.retrieve(self._packed)
        end = self._packed.seek(0, os.SEEK_END)
        at, longest = 32 + begin.nextheaderofs, self._limits.members * _ENTRY
        if at + begin.nextheadersize > end:
            raise BadSevenZip(f"it is cut off: its directory is at byte {at:,}")
        sizes = [begin.nextheadersize]
        self._packed.seek(at)
        header = io.BytesIO(self._packed.read(min(longest, begin.nextheadersize)))
        if header.read(1) == _ENCODED:
            blocks = headers.HeaderStreamsInfo.retrieve(header).unpackinfo.folders
            self._check_methods(blocks)
            sizes += [max(block.unpacksizes) for block in blocks]
        if sum(sizes) > longest:
            raise BadSevenZip(f"its directory has {sum(sizes):,} bytes")
        headers.MAX_NUMFILES = 10 * self._limits.members  # 8 million of nothing take gigabytes
        self._packed.seek(0)
        archive = py7zr.SevenZipFile(self._packed)
        self._blocks: list[Any] = archive.header.main_streams.unpackinfo.folders if archive.header.main_streams else []
        self._check_methods(self._blocks)
        return archive

    def _check_methods(self, blocks: Any) -> None:
        for coder in (coder for block in blocks for coder in block.coders):
            method, properties = coder["method"], coder["properties"] or b""
            if method == _ENCRYPTED:
                raise BadSevenZip("it is encrypted")
            if method not in _METHODS or (coder["numinstreams"], coder["numoutstreams"]) != (1, 1):
                raise BadSevenZip(f"it is packed by a method that is not read here, {method.hex(' ').upper()}")
            if method == _LZMA2:
                memory = (2 | properties[0] & 1) << (properties[0] // 2 + 11)
            else:
                memory = int.from_bytes(properties[1:5], "little") if method == _LZMA else 0
            if memory > _MEMORY:
                raise BadSevenZip(f"to unpack it takes {memory:,} bytes of memory")

    def open(self, name: str) -> IO[bytes]:
        """Open one file; with the first of them, all are unpacked. Raises BadSevenZip, SourceError, OSError."""
        if self._unpacked is None:
            self._unpack()
        start, size = self._places[name]
        return io.BufferedReader(_Slice(self._unpacked, start, size))

    def close(self) -> None:
        """Close the files."""
        self._packed.close()
        if self._unpacked:
            self._unpacked.close()

    def _unpack(self) -> None:
        """Unpack all that the headers tell of, one block after the other, to a file without a name."""
        sizes = [int(member.uncompressed) for member in self.members]
        if min(sizes, default=0) < 0:
            raise BadSevenZip("a file in it has less than no bytes")
        free = disk_usage(gettempdir()).free
        if sum(sizes) > free:
            raise SourceError(
                "there is no room to unpack the archive",
                where=self._path,
                expected=f"{sum(sizes):,} bytes in the folder of temporary files, {gettempdir()}",
                found=f"{free:,} bytes",
                next_step="make room there, or name another folder for temporary files with TMPDIR=FOLDER",
            )
        starts = list(accumulate(sizes, initial=0))
        self._places = {member.filename: place for member, *place in zip(self.members, starts, sizes, strict=False)}
        self._unpacked = TemporaryFile()  # noqa: SIM115 - closed with the archive
        with _damage(self._path):
            for piece in self._pieces():
                self._unpacked.write(piece)
            self._unpacked.flush()
            for member, start, size in zip(self.members, starts, sizes, strict=False):
                stream, checksum = _Slice(self._unpacked, start, size), 0
                while piece := stream.read(_PIECE):
                    checksum = crc32(piece, checksum)
                if member.crc32 not in (None, checksum):
                    raise BadSevenZip(f"{member.filename} has another checksum than the archive says")

    def _pieces(self) -> Iterator[bytes]:
        """Unpack one block after the other; of each the bytes that its files have by the headers."""
        streams = self._archive.header.main_streams
        for number, block in enumerate(self._blocks):
            packed, left = streams.packinfo, sum(member.uncompressed for member in block.files or ())
            unpacker = block.get_decompressor(packed.packsizes[number])
            self._packed.seek(self._archive.afterheader + packed.packpos + packed.packpositions[number])
            while left:
                before = unpacker.consumed
                piece = unpacker.decompress(self._packed, min(left, _PIECE))
                if not piece and unpacker.consumed == before:
                    raise BadSevenZip(f"it ends {left:,} bytes before what its directory says")
                left -= len(piece)
                yield piece


class _Slice(io.RawIOBase):
    """Some bytes of a file, with a position of their own."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file, self._start, self._size, self._at = file, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._at = (0, self._at, self._size)[whence] + offset
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        most = max(0, self._size - self._at)
        count = os.preadv(self._file.fileno(), [memoryview(buffer)[:most]], self._start + self._at)
        self._at += count
        return count


_FAULTS = (LZMAError, StructError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError)
"""What py7zr raises for a damaged archive, besides errors of its own and those that ``readable`` knows."""


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn what py7zr raises into BadSevenZip; ReaderMissing where it is not installed."""
    try:
        exceptions = import_module("py7zr.exceptions")
    except ImportError:
        raise ReaderMissing(
            "reading .7z archives needs py7zr",
            where=path,
            next_step="type: pip install 'talkhouse[make]'; or unpack the archive, and put its files in its place",
        ) from None
    try:
        yield
    except (exceptions.ArchiveError, exceptions.PasswordRequired, *_FAULTS) as error:
        raise BadSevenZip(f"{type(error).__name__}: {error}") from error
