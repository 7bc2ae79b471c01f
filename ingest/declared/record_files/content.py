"""The content of a file in pieces: as it is, or unpacked where its name ends in .gz."""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.sources import BOM, SourceFile

GZ = ".gz"
_GZIP = b"\x1f\x8b"
_WITH_HEADER = 31
"""zlib's number for gzip: its header is read, and its checksum is compared."""
_FIXED_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""Without name and time, so that the same content gives the same bytes."""
_PIECE = 2_000_000


def is_packed(path: PurePosixPath) -> bool:
    """Whether a file's content is packed by gzip."""
    return path.suffix.lower() == GZ


def ending(path: PurePosixPath) -> str:
    """Return what says what the content is: the ending, in lower case and without .gz."""
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


class Content:
    """The content of a file, without a byte order mark; it may be read several times.

    A .gz is read to its end before it is believed: one that is damaged is refused before a record of it is loaded.
    """

    def __init__(self, file: SourceFile) -> None:
        """Raise BadRecord GF-14 for a damaged .gz, SourceError for one that unpacks to more than the limits allow."""
        self.file = file
        self.is_packed = is_packed(file.path)
        self.has_bom = False
        """Whether packed content begins with a byte order mark; one of a plain file is ``file.has_bom``."""
        self.size = file.size
        """Bytes of the content, a byte order mark included."""
        if self.is_packed:
            self.size = sum(map(len, _unpacked(file)))

    def pieces(self) -> Iterator[bytes]:
        """Yield the content in pieces of some megabytes; memory: a few of them."""
        yield from self._without_bom() if self.is_packed else self.file.chunks()

    def whole(self) -> memoryview:
        """Read all of the content; SourceError where that is more than a file that is held in memory may have."""
        self.file.limits.check("file", self.size, self.file.id)
        return memoryview(b"".join(self.pieces())) if self.is_packed else self.file.hold().view

    def layout(self) -> dict[str, object]:
        """What there is to say of the content to write it back, once it was read."""
        return {"bom": True} if self.has_bom else {}

    def _without_bom(self) -> Iterator[bytes]:
        begin = b""
        pieces = _unpacked(self.file)
        for piece in pieces:
            begin += piece
            if len(begin) >= len(BOM):
                break
        self.has_bom = begin.startswith(BOM)
        yield begin.removeprefix(BOM)
        yield from pieces


def _unpacked(file: SourceFile) -> Iterator[bytes]:
    """Unpack a file that may be several .gz in a row; BadRecord GF-14 where it is none, or not whole."""
    stream = zlib.decompressobj(_WITH_HEADER)
    unpacked = 0
    try:
        for chunk in _packed(file):
            rest = chunk
            while rest:
                if stream.eof:
                    rest = rest.lstrip(b"\0")  # padding, which gzip allows
                    if not rest:
                        break
                    stream = zlib.decompressobj(_WITH_HEADER)
                piece = stream.decompress(rest, _PIECE)
                rest = stream.unused_data if stream.eof else stream.unconsumed_tail
                unpacked += len(piece)
                check_amount(file, unpacked)
                yield piece
        while not stream.eof and (piece := stream.decompress(b"", _PIECE)):
            unpacked += len(piece)
            yield piece
    except zlib.error as error:
        raise BadRecord("GF-14", f"the .gz is damaged: {error}, after {unpacked:,} bytes of content") from error
    if not stream.eof:
        raise BadRecord("GF-14", f"the .gz is cut off: its end is missing, after {unpacked:,} bytes of content")


def _packed(file: SourceFile) -> Iterator[bytes]:
    """Read the bytes of a .gz; BadRecord GF-14 where they begin otherwise."""
    is_first = True
    for chunk in file.chunks():
        if is_first and (file.has_bom or not chunk.startswith(_GZIP[: len(chunk)])):
            raise BadRecord("GF-14", "not packed by gzip, as its name says: rename it without .gz")
        is_first = False
        yield chunk


def check_amount(file: SourceFile, unpacked: int) -> None:
    """Raise SourceError where a file unpacks to far more than files do."""
    limits, found = file.limits, f"{unpacked:,} bytes or more, of {file.size:,} that are packed"
    limits.check("archive", unpacked, file.id, found)
    if unpacked > limits.record:
        limits.check("ratio", -(-unpacked // file.size), file.id, found)


def packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pack content by gzip: the same content always gives the same bytes."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    checksum, size = 0, 0
    yield _FIXED_HEADER
    for piece in pieces:
        checksum, size = zlib.crc32(piece, checksum), size + len(piece)
        if part := deflate.compress(piece):
            yield part
    yield deflate.flush() + checksum.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")
