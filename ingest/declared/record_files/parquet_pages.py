"""What a Parquet file unpacks to: told by the headers of its pages, before any of them is unpacked.

The footer says it too, and may lie: pyarrow takes the memory that the header of a page asks for.
"""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO, Any, NamedTuple, TypeAlias

from pyarrow import lib as pa

from talkhouse.ingest.declared.record_files.content import check_amount
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.sources import SourceFile

Wanted: TypeAlias = Mapping[int, "Wanted | None"]
"""Fields of a struct that are kept, by number: of structs, and of lists of them, with the fields that are kept there.

All else is passed over without taking memory.
"""

_DEEPEST = 20
"""Structs inside of structs; those of Parquet have 8 at most."""
_MOST_ITEMS = 1_000_000
"""Of a list, as in pyarrow."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _BYTES, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_NUMBERS = (4, 5, 6)


class Struct(dict[int, Any]):
    """The fields of a struct that were wanted; one that is missing or of another type counts as empty."""

    __slots__ = ()

    def number(self, field: int) -> int:
        """Return a whole number; 0 where there is none."""
        value = self.get(field)
        return value if isinstance(value, int) else 0

    def text(self, field: int) -> str:
        """Return a text, what is not UTF-8 in it replaced."""
        value = self.get(field)
        return value.decode(errors="replace") if isinstance(value, bytes) else ""

    def struct(self, field: int) -> "Struct":
        """Return a struct inside of this one."""
        value = self.get(field)
        return value if isinstance(value, Struct) else Struct()

    def structs(self, field: int) -> "list[Struct]":
        """Return a list of structs."""
        value = self.get(field)
        return value if isinstance(value, list) else []


def struct_at(raw: bytes, at: int, wanted: Wanted, levels: int = _DEEPEST) -> tuple[Struct, int]:
    """Return the struct that begins there, and where it ends.

    Raises IndexError where the bytes end before it does, ValueError for what is no struct.
    """
    fields, last = Struct(), 0
    while head := raw[at]:
        at += 1
        if head >> 4:
            last += head >> 4
        else:
            number, at = varint(raw, at)
            last = signed(number)
        kind = head & 15
        if last not in wanted:
            at = _behind(raw, at, kind, levels)
        elif kind in _NUMBERS:
            number, at = varint(raw, at)
            fields[last] = signed(number)
        elif kind in (_TRUE, _FALSE):
            fields[last] = kind == _TRUE
        elif kind == _BYTES:
            end = _behind(raw, at, kind, levels)
            _, begin = varint(raw, at)
            fields[last], at = raw[begin:end], end
        elif kind == _STRUCT and levels and (inside := wanted[last]):
            fields[last], at = struct_at(raw, at, inside, levels - 1)
        elif kind == _LIST and levels and (inside := wanted[last]):
            fields[last], at = _structs(raw, at, inside, levels - 1)
        else:
            at = _behind(raw, at, kind, levels)
    return fields, at + 1


def _structs(raw: bytes, at: int, wanted: Wanted, levels: int) -> tuple[list[Struct], int]:
    kind, count, at = _list_head(raw, at)
    if kind != _STRUCT and count:
        raise ValueError(f"a list of the type {kind}")
    structs = []
    for _ in range(count):
        struct, at = struct_at(raw, at, wanted, levels)
        structs.append(struct)
    return structs, at


def _behind(raw: bytes, at: int, kind: int, levels: int) -> int:
    """Return the end of a value; each takes a byte at least, but for a truth value that is a field."""
    if kind in (_TRUE, _FALSE):
        return at
    if kind in _NUMBERS:
        return varint(raw, at)[1]
    if kind in (_BYTE, _DOUBLE, _BYTES):
        length, at = (1, at) if kind == _BYTE else (8, at) if kind == _DOUBLE else varint(raw, at)
        if at + length > len(raw):
            raise IndexError("cut off")
        return at + length
    if not levels:
        raise ValueError("nested too deep")
    if kind == _STRUCT:
        return struct_at(raw, at, {}, levels - 1)[1]
    if kind in (_LIST, _SET):
        kind, count, at = _list_head(raw, at)
        kinds = [kind]
    elif kind == _MAP:
        count, at = varint(raw, at)
        kinds, at = ([raw[at] >> 4, raw[at] & 15], at + 1) if count else ([], at)
    else:
        raise ValueError(f"a value of the type {kind}")
    for _ in range(_few(raw, at, count)):
        for kind in kinds:
            # Among others, a truth value takes a byte.
            at = _behind(raw, at, _BYTE if kind in (_TRUE, _FALSE) else kind, levels - 1)
    return at


class _ListHead(NamedTuple):
    """The type of a list's items, how many there are, and where the first begins."""

    kind: int
    length: int
    start: int


def _list_head(raw: bytes, at: int) -> _ListHead:
    """Read the head of a list."""
    head, at = raw[at], at + 1
    count = head >> 4
    if count == 15:
        count, at = varint(raw, at)
    return _ListHead(head & 15, _few(raw, at, count), at)


def _few(raw: bytes, at: int, count: int) -> int:
    if count > _MOST_ITEMS:
        raise ValueError(f"a list of {count:,} items")
    if count > len(raw) - at:
        raise IndexError("cut off")
    return count


def varint(raw: bytes, at: int) -> tuple[int, int]:
    """Read a number of any length, and tell where it ends."""
    number = shift = 0
    while True:
        byte = raw[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def signed(number: int) -> int:
    """Return the number, perhaps below zero, that is written as this one."""
    return (number >> 1) ^ -(number & 1)


ENCODING = 7
"""DELTA_BYTE_ARRAY in parquet.thrift."""

_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4"}
"""Those of parquet.thrift that pyarrow unpacks by itself."""
_LARGEST_BLOCK = 65_536
"""Values in a block; writers have 128."""


def prefix_bytes(page: bytes, codec: int, size: int, levels: int, most: int) -> int:
    """Return the bytes that texts of a page have in common with those before, at least if they are > ``most``.

    ``size``: its bytes when it is unpacked; ``levels``: how many lists of levels it begins with, each behind its
    length. Raises ValueError or IndexError for a page that can't be read.
    """
    raw = page
    if codec:
        try:
            raw = pa.decompress(page, decompressed_size=size, codec=_CODECS[codec], asbytes=True)
        except (KeyError, pa.ArrowException, OSError) as error:
            raise ValueError(str(error)) from error
    at = 0
    for _ in range(levels):
        at += 4 + int.from_bytes(raw[at : at + 4], "little")
    return _sum(raw, at, most)


def _sum(raw: bytes, at: int, most: int) -> int:
    """Add up numbers of which each is the one before, the least difference of its block, and some bits."""
    in_block, at = varint(raw, at)
    parts, at = varint(raw, at)
    left, at = varint(raw, at)
    number, at = varint(raw, at)
    if not 0 < parts <= in_block <= _LARGEST_BLOCK:
        raise ValueError(f"{in_block:,} values in a block of {parts:,} parts")
    total = value = signed(number)
    left, in_part = left - 1, in_block // parts
    while left > 0 and total <= most:
        number, at = varint(raw, at)
        least, widths = signed(number), raw[at : at + parts]
        if len(widths) < parts:
            raise IndexError("cut off")
        at += parts
        for width in widths:
            count = min(in_part, left)
            size = in_part * width // 8
            bits = int.from_bytes(raw[at : at + size], "little") if count > 0 else 0
            at += size if count > 0 else 0
            for place in range(count):
                value += least + (bits >> place * width & (1 << width) - 1)
                total += value
            left -= count
    return total


_MAGIC = b"PAR1"
_TAIL = 8
"""Bytes behind the footer: its length, and the magic number."""
_HEADER, _LONGEST_HEADER = 256, 16_000_000
"""Bytes of a page's header that are read at first, and at most, as by pyarrow."""
ROWS_AT_ONCE = 20
"""Rows that are read at a time before it is known how large they are."""
_PADDING = 100
"""Bytes of pages that some writers did not count."""
_BYTE_ARRAY, _FIXED = 6, 7
NUMBER = 8
"""Bytes of a number in memory, also of one that takes a bit in the file, or none."""
_REPEATED, _DICTIONARY_PAGE = 2, 2

_ELEMENT: Wanted = dict.fromkeys((1, 2, 3, 4, 5))
_CHUNK: Wanted = {3: dict.fromkeys((4, 5, 7, 9, 11))}
_FOOTER: Wanted = {2: _ELEMENT, 4: {1: _CHUNK, 3: None}}
_PAGE: Wanted = {**dict.fromkeys((1, 2, 3)), 5: {1: None, 2: None}, 7: {1: None}, 8: dict.fromkeys((1, 4, 5, 6, 7))}
"""The fields of Parquet's own structs that are read, by their numbers in parquet.thrift."""


class ParquetColumn(NamedTuple):
    """A column of the file: a leaf of its schema."""

    path: str
    kind: int
    width: int
    """Bytes that each value takes in memory at least."""
    is_repeated: bool
    """Whether a row may have any number of values."""
    is_optional: bool
    """Whether a value may be missing."""


class _Chunk(NamedTuple):
    start: int
    size: int
    values: int
    codec: int


class _ParquetPage(NamedTuple):
    kind: int
    size: int
    values: int
    header: Struct
    start: int
    packed: int


@dataclass
class Pages:
    """What the pages of one column in a group of rows unpack to."""

    column: ParquetColumn
    size: int = 0
    """Bytes, when each page is unpacked and each number stands by itself."""
    dictionary: int = 0
    """Bytes of the dictionary, each text of which may be there many times."""
    values: int = 0


@dataclass
class Footer:
    """A file's footer, as far as it says where the pages are."""

    columns: list[ParquetColumn]
    rows: list[int] = field(default_factory=list)
    """Of each group."""
    chunks: list[list[_Chunk]] = field(default_factory=list)
    """Of each group, in the order of the columns."""


class NamedFile(NamedTuple):
    """What the limits of a file need of one that is no ``SourceFile``."""

    id: str
    size: int
    limits: Limits


def check_pages(stream: IO[bytes], file: NamedFile) -> "ParquetPages":
    """Check what all pages of an open file unpack to, before another reader does; raises what ``ParquetPages`` does."""
    pages = ParquetPages(stream, file)
    for group in range(len(pages.footer.rows)):
        pages.of_group(group)
    stream.seek(0)
    return pages


class ParquetPages:
    """The pages of an open file. What one group of rows unpacks to is added up when it is asked for."""

    def __init__(self, stream: IO[bytes], file: SourceFile | NamedFile) -> None:
        """Read the footer; BadRecord GF-14 for a file that has none, SourceError for one that is far too large."""
        self._stream, self._file = stream, file
        self._size = stream.seek(0, io.SEEK_END)
        self.footer = self._footer()
        self._known: dict[int, list[Pages]] = {}
        self._total = 0

    def of_group(self, group: int) -> list[Pages]:
        """Return the unpacked sizes of a group of rows, in the order of the columns.

        Raises SourceError where a page has a value that is larger than a record may be, or where this group and those
        before unpack to more than the limits allow.
        """
        if group not in self._known:
            chunks = zip(self.footer.columns, self.footer.chunks[group], strict=True)
            self._known[group] = [self._pages(column, chunk) for column, chunk in chunks]
        return self._known[group]

    def _footer(self) -> Footer:
        self._stream.seek(0)
        begin = self._stream.read(len(_MAGIC))
        self._stream.seek(max(self._size - _TAIL, 0))
        tail = self._stream.read(_TAIL)
        if begin != _MAGIC or tail[4:] != _MAGIC:
            raise BadRecord("GF-14", "not Parquet, as its name says, or cut off: it does not begin and end with PAR1")
        length = int.from_bytes(tail[:4], "little")
        if length + _TAIL > self._size:
            raise BadRecord("GF-14", "damaged Parquet: its footer is cut off")
        # pyarrow takes about 15 times as much memory for it.
        self._file.limits.check("record", length, self._file.id, f"{length:,} bytes of its footer")
        self._stream.seek(self._size - _TAIL - length)
        raw = self._stream.read(length)
        try:
            footer = _read_footer(raw)
        except (IndexError, ValueError) as error:
            raise BadRecord("GF-14", f"damaged Parquet: its footer can't be read: {error}") from error
        if sum(chunk.size for chunks in footer.chunks for chunk in chunks) > self._size - _TAIL - length:
            # They overlap, so that a few bytes would be read any number of times.
            raise BadRecord("GF-14", "damaged Parquet: its columns have more bytes than the file")
        return footer

    def _pages(self, column: ParquetColumn, chunk: _Chunk) -> Pages:
        """Add up what the headers of a chunk's pages say; what can't be read of them pyarrow will name."""
        pages, limits, where = Pages(column, values=chunk.values), self._file.limits, self._file.id
        seen = 0
        for page in self._headers(chunk):
            kind, size, values, *_ = page
            pages.size += size
            check_amount(self._file, self._total + pages.size)
            what = f"{size:,} bytes of a page of the column {column.path!r:.60}"
            limits.check("file", size, where, what)
            if column.kind in (_BYTE_ARRAY, _FIXED):
                limits.check("record", size // max(1, values), where, f"{what}, which has {values:,} values")
            # Texts that begin alike are written once, and may take far more than the page.
            encoding = page.header.struct(5).number(2) or page.header.struct(8).number(4)
            times = values if column.is_repeated else ROWS_AT_ONCE
            if encoding == ENCODING and column.kind == _BYTE_ARRAY and times * size > limits.record:
                pages.size += self._prefixes(column, chunk, page)
                check_amount(self._file, self._total + pages.size)
            if kind == _DICTIONARY_PAGE:
                pages.dictionary = max(pages.dictionary, size)
            else:
                seen += values
        pages.values = max(pages.values, seen)
        pages.size = max(pages.size, pages.values * column.width)
        self._total += pages.size
        check_amount(self._file, self._total)
        return pages

    def _prefixes(self, column: ParquetColumn, chunk: _Chunk, page: _ParquetPage) -> int:
        """Return the number of bytes of texts that a page omits because they are those of the text before."""
        self._stream.seek(page.start)
        raw, about = self._stream.read(page.packed), page.header.struct(8)
        levels, size = int(column.is_repeated) + column.is_optional, page.size
        is_packed = about.get(7, True)
        if about:
            begin = about.number(5) + about.number(6)
            raw, size, levels = raw[begin:], size - begin, 0
        most = max(self._file.limits.record, self._file.limits.ratio * self._file.size)
        try:
            return prefix_bytes(raw, chunk.codec if is_packed else 0, size, levels, most)
        except (IndexError, ValueError) as error:
            raise BadRecord(
                "GF-14", f"damaged Parquet: a page of {column.path!r:.60} can't be read: {error}"
            ) from error

    def _headers(self, chunk: _Chunk) -> Iterator[_ParquetPage]:
        at, end, left = chunk.start, min(chunk.start + chunk.size + _PADDING, self._size), chunk.values
        while at < end and left > 0:
            header = self._header(at, end)
            if header is None:
                return
            fields, length = header
            kind, unpacked, packed = fields.number(1), fields.number(2), fields.number(3)
            values = sum(fields.struct(about).number(1) for about in (5, 7, 8))
            if unpacked < 0 or packed < 0 or values < 0:
                return
            yield _ParquetPage(kind, unpacked, values, fields, at + length, packed)
            left -= values * (kind != _DICTIONARY_PAGE)
            at += length + packed

    def _header(self, at: int, end: int) -> tuple[Struct, int] | None:
        size = _HEADER
        while True:
            self._stream.seek(at)
            raw = self._stream.read(min(size, end - at))
            try:
                return struct_at(raw, 0, _PAGE)
            except IndexError:
                if size >= min(_LONGEST_HEADER, end - at):
                    return None
                size *= 8
            except ValueError:
                return None


@lru_cache(maxsize=2)  # a file is opened several times, and may be compared with another
def _read_footer(raw: bytes) -> Footer:
    fields, _ = struct_at(raw, 0, _FOOTER)
    footer = Footer(list(_columns(fields.structs(2))))
    for group in fields.structs(4):
        chunks = [_chunk(chunk.struct(3)) for chunk in group.structs(1)]
        if len(chunks) != len(footer.columns):
            raise ValueError(f"{len(chunks):,} columns in a group of rows, and {len(footer.columns):,} in the schema")
        footer.rows.append(group.number(3))
        footer.chunks.append(chunks)
    return footer


def _columns(elements: list[Struct]) -> Iterator[ParquetColumn]:
    """Yield the leaves of the schema, which lists each element before those that are in it."""
    above: list[list[Any]] = []
    """How many elements are still to come in each of those that are open, its name, and whether it may
    be missing (1) or repeat (2), or one that it is in."""
    for element in elements:
        while above and not above[-1][0]:
            above.pop()
        if above:
            above[-1][0] -= 1
        name, repetition = element.text(4), max(element.number(3), above[-1][2] if above else 0)
        if children := element.number(5):
            above.append([children, name, repetition if above else 0])
            continue
        path = ".".join([*(part for _, part, _ in above[1:]), name])
        kind = element.number(1)
        width = max(NUMBER, element.number(2)) if kind == _FIXED else 4 if kind == _BYTE_ARRAY else NUMBER
        yield ParquetColumn(path, kind, width, repetition == _REPEATED, repetition > 0)


def _chunk(about: Struct) -> _Chunk:
    """Return the position of a column's pages; pyarrow refuses an encrypted one, which does not state it."""
    start, dictionary = about.number(9), about.number(11)
    start = dictionary if 0 < dictionary < start else start
    chunk = _Chunk(start, about.number(7), about.number(5), about.number(4))
    if min(chunk) < 0:
        raise ValueError("a number below zero")
    return chunk
