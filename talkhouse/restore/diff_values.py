"""Compares files by what they say, where one text has many spellings: JSON, Parquet, and what is packed."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from itertools import count, zip_longest
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, TypeAlias

from talkhouse.ingest.declared.record_files.content import Content, ending, is_packed
from talkhouse.ingest.declared.record_files.json_files import lines
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.disk_files import check_unchanged
from talkhouse.ingest.sources import BOM, SourceFile
from talkhouse.restore.diff_bytes import Difference, first_difference
from talkhouse.restore.diff_json import json_difference
from talkhouse.schema.errors import SourceError

Compare: TypeAlias = Callable[[SourceFile, Path], Difference | None]
"""Compares a publisher's file with the one that was written back."""

_PIECE = 2_000_000


def content_difference(file: SourceFile, restored: Path, of_bytes: Difference) -> tuple[Difference | None, str]:
    """Compare two files that differ in bytes: what differs in what they say, and how it was compared (bytes, values).

    Byte order marks are left out, but for those inside of .gz. Raises SourceError where the publisher's file changed
    meanwhile.
    """
    compare = _COMPARISONS.get(ending(file.path), _packed_bytes if is_packed(file.path) else None)
    if compare is None:
        return of_bytes, "bytes"
    try:
        return compare(file, restored), "values"
    except (BadRecord, gzip.BadGzipFile, EOFError, zlib.error):
        return of_bytes, "bytes"  # it is not packed, whatever its name says


def _json(file: SourceFile, restored: Path) -> Difference | None:
    """Compare two JSON documents by value; memory: the publisher's, once."""
    if is_packed(file.path):
        return _packed_json(file, restored)
    try:
        published = file.hold().view
    except SourceError:
        check_unchanged([file.disk])
        raise
    with restored.open("rb") as stream:
        # Mapped and not read; an empty file can't be mapped.
        mapped = mmap(stream.fileno(), 0, access=ACCESS_READ) if restored.stat().st_size else b""
    return json_difference(published, _without_bom(memoryview(mapped)))


def _without_bom(view: memoryview) -> memoryview:
    return view[len(BOM) :] if view[: len(BOM)] == BOM else view


def _packed_json(file: SourceFile, restored: Path) -> Difference | None:
    """Compare two packed JSON documents by value; memory: both."""
    content = Content(file)
    published = content.whole()
    with gzip.open(restored) as stream:
        unpacked = stream.read()
    return _of_marks(content, unpacked) or json_difference(published, unpacked.removeprefix(BOM))


def _json_lines(file: SourceFile, restored: Path) -> Difference | None:
    """Compare two files of JSON Lines: the values, and to the byte what stands between; memory: a line of each."""
    content = Content(file)
    with _opened(file, restored) as stream:
        pairs = zip_longest(lines(content.pieces()), lines(_pieces(stream)), fillvalue=b"")
        for number, (line, other) in zip(count(), pairs, strict=False):
            if line != other and (difference := _of_lines(line, other.removeprefix(b"" if number else BOM), number)):
                return difference
    with _opened(file, restored) as stream:
        return _of_marks(content, stream.read(len(BOM)))


def _of_lines(line: bytes, other: bytes, number: int) -> Difference | None:
    """Compare two lines, of which one may be missing."""
    text, its = line.strip(), other.strip()
    if text and its and (difference := json_difference(text, its, f"/{number}")):
        return difference
    start, its_start = line.find(text), other.find(its)
    if bool(text) == bool(its) and line[:start] == other[:its_start] and _end(line, text) == _end(other, its):
        return None
    shown = [repr(part[:40].decode(errors="backslashreplace")) if part else "no line" for part in (line, other)]
    return Difference("other blanks or line ends", line=number + 1, byte=1, expected=shown[0], found=shown[1])


def _end(line: bytes, text: bytes) -> bytes:
    return line[line.find(text) + len(text) :]


def _packed_bytes(file: SourceFile, restored: Path) -> Difference | None:
    """Compare the content of two packed files byte for byte."""
    content = Content(file)
    with _opened(file, restored) as stream:
        begin = stream.read(len(BOM))
        if begin != BOM:
            stream.seek(0)
        return first_difference(content.pieces(), stream) or _of_marks(content, begin)


def _parquet(file: SourceFile, restored: Path) -> Difference | None:
    """Compare two Parquet files."""
    # It takes a while to import, and few folders have one.
    from talkhouse.restore.diff_parquet import parquet_difference

    return parquet_difference(file, restored)


def _of_marks(content: Content, restored: bytes) -> Difference | None:
    """Compare the byte order marks of packed contents, once the publisher's was read."""
    has_bom = restored.startswith(BOM)
    if not content.is_packed or content.has_bom == has_bom:
        return None
    bom = {True: "a byte order mark", False: "none"}
    return Difference("the byte order mark", line=1, byte=1, expected=bom[content.has_bom], found=bom[has_bom])


def _opened(file: SourceFile, restored: Path) -> IO[bytes]:
    """Open the content of a file that was written back."""
    return io.BufferedReader(gzip.GzipFile(restored)) if is_packed(file.path) else restored.open("rb")


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece


_COMPARISONS: dict[str, Compare] = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
}
