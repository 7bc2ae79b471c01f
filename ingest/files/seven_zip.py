"""Archives of 7-Zip, by py7zr: what they hold is known from their headers, and unpacked block by block."""

import io
import os
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import accumulate
from lzma import LZMAError
from pathlib import Path
from shutil import disk_usage
from struct import error as StructError  # noqa: N812
from tempfile import TemporaryFile, gettempdir
from types import SimpleNamespace
from typing import IO, Any
from zlib import crc32

from talkhouse.ingest.files.limits import DEFAULT, Limits
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
"""Of the others that py7zr knows, a few bytes may unpack to any number at once; its PPMd fails at sound archives."""
_ENCRYPTED = b"\x06\xf1\x07\x01"
_ENCODED = b"\x17"
"""What packed headers begin with."""


class BadSevenZip(ValueError):
    """The archive is damaged, or made in a way that is not read."""


class ReaderMissing(SourceError):
    """The package that reads .7z is not installed."""


class SevenZip:
    """An archive of 7-Zip; its headers are only read where they are not far too long."""

    def __init__(self, raw: io.FileIO, path: Path, limits: Limits = DEFAULT) -> None:
        """Read the headers. Raises ReaderMissing, BadSevenZip, OSError."""
        self._path, self._packed = path, io.BufferedReader(raw)
        self._unpacked: IO[bytes] | None = None
        try:
            with _damage(path):
                self._archive = self._checked(limits.members)
                files = list(getattr(self._archive, "files", ()))
                starts = accumulate((file.uncompressed for file in files), initial=0)
                self._members = list(map(_member, files, starts))
        except BaseException:
            self._packed.close()
            raise

    def _checked(self, members: int) -> Any:
        """Return the archive as py7zr opens it, once what that will do with the headers is known to be bounded."""
        py7zr: Any = import_module("py7zr")
        headers: Any = import_module("py7zr.archiveinfo")
        begin = headers.SignatureHeader.retrieve(self._packed)
        start, sizes, most = 32 + begin.nextheaderofs, [begin.nextheadersize], members * _ENTRY
        if start + sizes[0] > self._packed.seek(0, os.SEEK_END):
            raise BadSevenZip(f"it is cut off: its directory is at byte {start:,}")
        self._packed.seek(start)
        header = io.BytesIO(self._packed.read(min(most, sizes[0])))
        if header.read(1) == _ENCODED:
            blocks = headers.HeaderStreamsInfo.retrieve(header).unpackinfo.folders
            _check_methods(blocks)
            sizes += [max(block.unpacksizes) for block in blocks]
        if sum(sizes) > most:
            raise BadSevenZip(f"its directory has {sum(sizes):,} bytes")
        headers.MAX_NUMFILES = 10 * members  # py7zr takes 200 bytes of memory for each, and would for 8 million
        self._packed.seek(0)
        archive = py7zr.SevenZipFile(self._packed)
        self._streams = archive.header.main_streams
        self._blocks = self._streams.unpackinfo.folders if self._streams else []
        _check_methods(self._blocks)
        return archive

    def infolist(self) -> list[tarfile.TarInfo]:
        """Return the facts about each file and folder, as of those in a .tar.gz."""
        return self._members

    def open(self, member: str) -> IO[bytes]:
        """Open one file; with the first of them, all are unpacked to a temporary file without a name.

        Raises BadSevenZip, OSError; SourceError where there is no room.
        """
        info = next(info for info in self._members if info.name == member)
        if self._unpacked is None:
            size, free = sum(info.size for info in self._members), disk_usage(gettempdir()).free
            if size > free:
                raise SourceError(
                    "there is no room to unpack the archive",
                    where=self._path,
                    expected=f"{size:,} bytes in the folder of temporary files, {gettempdir()}",
                    found=f"{free:,} bytes",
                    next_step="make room there, or name another folder for temporary files with TMPDIR=FOLDER",
                )
            unpacked = TemporaryFile()  # noqa: SIM115 - closed with the archive
            for _, piece in self.pieces():
                unpacked.write(piece)
            self._unpacked = unpacked
        return tarfile.ExFileObject(SimpleNamespace(fileobj=self._unpacked), info)  # type: ignore[arg-type]

    def pieces(self) -> Iterator[tuple[str, memoryview]]:
        """Unpack all files in the order in which they are packed; yield names and bytes. Raises BadSevenZip."""
        for number, block in enumerate(self._blocks):
            with _damage(self._path):
                yield from self._of_block(number, block)

    def _of_block(self, number: int, block: Any) -> Iterator[tuple[str, memoryview]]:
        packed, files = self._streams.packinfo, block.files or ()
        self._packed.seek(self._archive.afterheader + packed.packpos + packed.packpositions[number])
        unpacker, rest = block.get_decompressor(packed.packsizes[number], reset=True), memoryview(b"")
        left = sum(file.uncompressed for file in files)
        for file in files:
            missing, checksum = file.uncompressed, 0
            while missing:
                before = unpacker.consumed
                if not rest:
                    rest = memoryview(unpacker.decompress(self._packed, min(left, _PIECE)))
                    left -= len(rest)
                    if not rest and unpacker.consumed == before:
                        raise BadSevenZip(f"{file.filename} ends {missing:,} bytes early")
                piece, rest = rest[:missing], rest[missing:]
                missing, checksum = missing - len(piece), crc32(piece, checksum)
                yield file.filename, piece
            if file.crc32 not in (None, checksum):
                raise BadSevenZip(f"{file.filename} has another checksum than the archive says")

    def close(self) -> None:
        """Close the files."""
        self._packed.close()
        if self._unpacked:
            self._unpacked.close()


def _check_methods(blocks: Iterable[Any]) -> None:
    for coder in (coder for block in blocks for coder in block.coders):
        method, properties = coder["method"], coder["properties"] or b""
        if method == _ENCRYPTED:
            raise BadSevenZip("it is encrypted")
        if method not in _METHODS or (coder["numinstreams"], coder["numoutstreams"]) != (1, 1):
            raise BadSevenZip(f"it is packed by a method that is not read here, {method.hex(' ').upper()}")
        memory = int.from_bytes(properties[1:5], "little") if method == _LZMA else 0
        if method == _LZMA2:
            memory = (2 | properties[0] & 1) << (properties[0] // 2 + 11)
        if memory > _MEMORY:
            raise BadSevenZip(f"to unpack it takes {memory:,} bytes of memory")


def _member(file: Any, start: int) -> tarfile.TarInfo:
    """Return the facts about a file or folder; the target of a link is not known before it is unpacked."""
    info = tarfile.TarInfo(file.filename)
    info.size, info.offset_data = file.uncompressed, start
    if info.size < 0:
        raise BadSevenZip(f"{info.name} has {info.size:,} bytes")
    if file.is_symlink or file.is_junction:
        info.type, info.linkname = tarfile.SYMTYPE, "elsewhere"
    elif file.is_directory:
        info.type = tarfile.DIRTYPE
    return info


_FAULTS = (LZMAError, StructError, ArithmeticError, AssertionError, AttributeError, EOFError)
_OTHER_FAULTS = (LookupError, TypeError, ValueError)
"""What py7zr raises for a damaged archive, besides errors of its own."""


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn what py7zr raises into BadSevenZip; ReaderMissing where it is not installed."""
    try:
        exceptions = import_module("py7zr.exceptions")
    except ImportError:
        raise ReaderMissing(
            "reading .7z archives needs py7zr",
            where=path,
            next_step="type: pip install 'talkhouse[make]'; or unpack the archive and name the folder",
        ) from None
    try:
        yield
    except BadSevenZip:
        raise
    except (exceptions.ArchiveError, exceptions.PasswordRequired, *_FAULTS, *_OTHER_FAULTS) as error:
        raise BadSevenZip(f"{type(error).__name__}: {error}") from error
