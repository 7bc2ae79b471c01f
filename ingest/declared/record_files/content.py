"""What all files of records share: content that may be packed, the records read from it and written back, and gaps."""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

import msgspec
import polars as pl
from msgspec import Raw, Struct

from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.sources import BOM, SourceFile

CAREFULLY = "TALKHOUSE_READ_CAREFULLY"
"""A variable of the environment: set, every record is read one by one, to the same rows."""

GZ = ".gz"
_GZIP = b"\x1f\x8b"
_WITH_HEADER = 31
"""zlib's number for gzip: its header is read, and its checksum is compared."""
_FIXED_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""Without name and time, so that the same content gives the same bytes."""
_UNPACKED = 2_000_000
_OVERLAP = 2_000


def is_packed(path: PurePosixPath) -> bool:
    """Whether a file's content is packed by gzip."""
    return path.suffix.lower() == GZ


def ending(path: PurePosixPath) -> str:
    """Return the ending that names the type of the content, in lower case and without .gz."""
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


class FileContent:
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

    def check_line(self, size: int, number: int) -> None:
        """Raise SourceError for a line that is longer than a record may be; more of it may follow."""
        if size > self.file.limits.record:
            self.file.refuse_record(size, f"/{number}", f"{size:,} bytes or more in one line")

    def glance(self) -> Iterator[bytes]:
        """Yield the content once more, for a look at it: each piece begins with the end of the one before."""
        end = b""
        for piece in self.pieces() if self.is_packed else self._unhashed():
            yield end + piece
            end = piece[-_OVERLAP:]

    def _unhashed(self) -> Iterator[bytes]:
        with self.file.peek() as stream:
            yield from iter(lambda: stream.read(_UNPACKED), b"")

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
                piece = stream.decompress(rest, _UNPACKED)
                rest = stream.unused_data if stream.eof else stream.unconsumed_tail
                unpacked += len(piece)
                check_amount(file, unpacked)
                yield piece
        while not stream.eof and (piece := stream.decompress(b"", _UNPACKED)):
            unpacked += len(piece)
            yield piece
    except zlib.error as error:
        raise BadRecord("GF-14", f"the .gz is damaged: {error}, after {unpacked:,} bytes of content") from error
    if not stream.eof:
        raise BadRecord("GF-14", f"the .gz is cut off: its end is missing, after {unpacked:,} bytes of content")


def _packed(file: SourceFile) -> Iterator[bytes]:
    is_first = True
    for chunk in file.chunks():
        if is_first and (file.has_bom or not chunk.startswith(_GZIP[: len(chunk)])):
            raise BadRecord("GF-14", "not packed by gzip, as its name says: rename it without .gz")
        is_first = False
        yield chunk


def check_amount(file: Any, unpacked: int) -> None:
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


class RawRecord(Struct, gc=False):
    """One record as JSON text: an item of a list, a line, a member of an object, or the file.

    A Parquet or CSV row is an object of its cells.
    """

    record_index: int
    """Among the file's records, from 0; blank lines are none."""
    pointer: str
    """``/3``: the item, or the line, from 0; ``/name``: the member; empty: the file."""
    raw: bytes
    key: str | None = None
    """The name of a member."""
    cells: Mapping[str, str] | None = None
    """Of CSV: cells that the dialect would write otherwise, by column, as the file has them, quotes included."""
    verbatim: bytes | None = None
    """Of CSV and text files: the row, line or text as the file has it, without its line end."""

    @property
    def quarantined(self) -> bytes:
        """What goes to the quarantine where the record is refused: its text as the file has it."""
        return self.raw if self.verbatim is None else self.verbatim


class BadRawRecord(Struct, gc=False):
    """A record that can't be read as JSON or as a row, verbatim."""

    record_index: int
    pointer: str
    raw: bytes
    problem: BadRecord


class RecordFile(ABC):
    """A file on its way in: iterate it once, or take its texts and check them one by one."""

    def __iter__(self) -> Iterator[RawRecord | BadRawRecord]:
        """Yield the records in order, each checked."""
        return map(self.check, self.texts())

    @abstractmethod
    def check(self, record: RawRecord) -> RawRecord | BadRawRecord:
        """Check one of ``texts``; BadRecord where the first says that the file is not what its ending says."""

    @abstractmethod
    def texts(self) -> Iterator[RawRecord]:
        """Yield the records in order, unchecked; BadRecord where the file as a whole is not what it has to be.

        Memory: a piece of the file, not the file, but for a JSON list or object. A record that is larger than the
        limit raises SourceError (``SourceFile.refuse_record``).
        """

    def glance(self, names: frozenset[str]) -> Iterator[bytes]:  # noqa: ARG002  texts have no members
        """Yield pieces of JSON for a look before the file is read: members of these names, whole if they are short.

        Others may be there too. Nothing is checked, so that there may be anything else as well.
        """
        return iter(())

    @property
    @abstractmethod
    def envelope(self) -> dict[str, Any]:
        """The facts about the file other than its records, once they were read; empty if there are none.

        It is merged into ``meta.source_files.extra``.
        """


class WrittenRecord(Struct, gc=False):
    """One record on its way back: the JSON text of what was read, or a quarantined one verbatim."""

    pointer: str
    raw: bytes
    cells: Mapping[str, str] | None = None
    is_verbatim: bool = False


@dataclass(frozen=True)
class RowTable:
    """Some rows of a CSV file as columns of texts, ``x0``, ``x1`` ..."""

    cells: pl.DataFrame
    lines: pl.Series
    """The line of the file, from 0, on which each row begins."""
    as_written: Mapping[int, Mapping[str, str]]
    """Row -> cells that the dialect would write otherwise, by column, as the file has them."""
    texts: pl.Series
    """The rows as the file has them, without their line ends."""
    dialogues: pl.Series | None = None
    """The number of the dialogue of each row, where lines of the file say that one begins."""


@dataclass(frozen=True)
class WrittenRow:
    """One row on its way back."""

    cells: Iterable[str]
    """In the order of the file's columns."""
    as_written: Mapping[str, str] = field(default_factory=dict)
    verbatim: bytes | None = None
    """The row itself, of a record in quarantine; it has no cells then."""


Envelope = Mapping[str, Raw]
"""``meta.source_files.extra`` as ``decode.literals`` reads it."""


LINE_END = "\n"


class Gaps:
    """Gaps on their way in: one before each record, and one behind the last. Equal ones in a row are kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._runs: list[int] = []
        """The number of a gap, and how many of it there are, in turns."""
        self._last: str | None = None

    def add(self, gap: str, count: int = 1) -> None:
        """Add a gap, or several that are the same."""
        if gap == self._last:
            self._runs[-1] += count
        elif count:
            self._runs += (self._numbers.setdefault(gap, len(self._numbers)), count)
            self._last = gap

    def layout(self) -> dict[str, Any]:
        """Return them as JSON; empty where each record is a line that ends in a line feed, and nothing stands before.

        ``gaps`` are texts and runs: the number of a text and how often it stands there.
        """
        count = sum(self._runs[1::2])
        ordinary = ["", LINE_END] if count > 1 else []
        if list(self._numbers) == ordinary and self._runs == [0, 1, 1, count - 1]:
            return {}
        return {"gaps": {"texts": list(self._numbers), "runs": self._runs}}


def gaps_of(layout: Mapping[str, Raw]) -> Iterator[bytes]:
    """Yield the gaps on their way back: the first, and then as many as there are, and ordinary ones without end."""
    raw = layout.get("gaps")
    if raw is None:
        yield b""
    else:
        gaps = msgspec.json.decode(raw)
        texts = [text.encode() for text in gaps["texts"]]
        runs = iter(gaps["runs"])
        for number, count in zip(runs, runs, strict=True):
            for _ in range(count):
                yield texts[number]
    while True:
        yield LINE_END.encode()


class SeparatedRecords(RecordFile):
    """A file of text on its way in: its content, and the gaps between its records."""

    def __init__(self, content: FileContent) -> None:
        self._content = content
        self._gaps = Gaps()

    @property
    def envelope(self) -> dict[str, Any]:
        """Blank lines and line ends that are not the ordinary ones."""
        layout = self._content.layout() | self._gaps.layout()
        return {"layout": layout} if layout else {}


_PIECE = 1_000_000


def with_gaps(layout: Mapping[str, Raw], records: Iterable[bytes]) -> Iterator[bytes]:
    """Write records with what stands between them; yield pieces of about a megabyte."""
    gaps = gaps_of(layout)
    first = next(gaps)
    return in_pieces(chain([first], chain.from_iterable(zip(records, gaps, strict=False))))


def in_pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Join parts to pieces of about a megabyte."""
    waiting, size = list[bytes](), 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size > _PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)
