"""Compares the publisher's files with those written back from the warehouse: equal, or the first difference."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import count, zip_longest
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, TypeAlias

import duckdb

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.declared.record_files.content import FileContent, ending, is_packed
from talkhouse.ingest.declared.record_files.json_files import lines
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.disk_files import DiskFile, check_unchanged
from talkhouse.ingest.sources import BOM, JSON_LINES, SourceFile, opened
from talkhouse.restore.differences import FileDifference, first_difference, json_difference
from talkhouse.restore.output_paths import OutputPaths, RestoredSource, sources
from talkhouse.restore.raw_record import consistent
from talkhouse.restore.write_back import OnProgress, Restored, write_files
from talkhouse.schema.errors import CorpusFailed, SourceError
from talkhouse.system.files import no_room, temporary_folder


class Status(StrEnum):
    """What became of one file."""

    EQUAL = "equal"
    DIFFERENT = "different"
    CHANGED = "changed"
    """Not the file that the warehouse was built from: its SHA-256 differs."""
    NEW = "new"
    """In the folder and unknown to the warehouse."""
    GONE = "gone"
    """Known to the warehouse and not in the folder."""
    FAILED = "failed"
    """The corpus's writer raises an exception at it."""
    NOT_DATA = "not data"
    """Skipped by name or unrecognised: its content was never read."""


FINE = (Status.EQUAL, Status.NOT_DATA)


@dataclass(frozen=True)
class Verdict:
    """What was found about one file."""

    corpus_id: str
    file: str
    """Its source_file_id."""
    status: Status
    bytes: int = 0
    by: str | None = None
    """How it is equal: to the byte (bytes), or in every value and the order of keys (values)."""
    difference: FileDifference | None = None
    reason: str | None = None


def verify(
    con: duckdb.DuckDBPyConnection, corpus: Corpus, files: list[DiskFile], on_progress: OnProgress = lambda *_: None
) -> Iterator[Verdict]:
    """Write a corpus back into a temporary folder and compare it with these files; yield a verdict for each, by id.

    JSON and JSON Lines must be equal in every value and in the order of keys, Parquet in schema, order and values, what
    is packed by gzip in its content, all others byte for byte, members of archives as files. Raises OutputFailed where
    the temporary folder has no room, SourceError for a damaged archive, WarehouseDamaged where rows of the warehouse
    don't fit together, CorpusFailed where the writer raises at an unknown file.
    """
    with consistent(corpus.id):
        yield from _verdicts(con, corpus, files, on_progress)


def _verdicts(
    con: duckdb.DuckDBPyConnection, corpus: Corpus, files: list[DiskFile], on_progress: OnProgress
) -> Iterator[Verdict]:
    known = {source.id: source for source in sources(con, corpus.id) if source.kind != "archive"}
    with temporary_folder() as folder, opened(files) as (seen, skipped):
        output_paths, failed = _written(con, corpus, folder, on_progress)
        reasons = {item.file.id: item.reason for item in skipped}
        in_folder = {file.id: file for file in (*seen, *(item.file for item in skipped))}
        for key in sorted({*known, *in_folder}):
            source, file = known.get(key), in_folder.get(key)
            if source is None:
                status = Status.NOT_DATA if key in reasons else Status.NEW
                yield Verdict(corpus.id, key, status, file.size if file else 0, reason=reasons.get(key))
            elif not source.is_data:
                reason = source.note or "not recognised by the reader"
                yield Verdict(corpus.id, key, Status.NOT_DATA, source.size, reason=reason)
            elif file is None:
                yield Verdict(corpus.id, key, Status.GONE, source.size)
            elif key in failed:
                reason = "; ".join(part for part in (failed[key].what, failed[key].found) if part)
                yield Verdict(corpus.id, key, Status.FAILED, source.size, reason=reason)
            else:
                yield _compared(corpus.id, source, file, output_paths.path(source))


def _written(
    con: duckdb.DuckDBPyConnection, corpus: Corpus, folder: Path, on_progress: OnProgress
) -> tuple[OutputPaths, dict[str | None, CorpusFailed]]:
    """Write the files of a corpus to disk, members of archives by number, so that no names collide.

    Those that could not be written are returned by their id.
    """
    output_paths, restored = OutputPaths(folder, archives=True), Restored()
    try:
        write_files(con, corpus, output_paths, restored, on_progress)
    except OSError as error:
        raise no_room(error) from error
    return output_paths, {error.source_file_id: error for error in restored.failed}


def _compared(corpus_id: str, source: RestoredSource, file: SourceFile, restored: Path) -> Verdict:
    """Compare one file; one that the warehouse was not built from is not compared."""
    with restored.open("rb") as stream:
        has_bom = stream.read(len(BOM)) == BOM
        if not has_bom:
            stream.seek(0)
        chunks = file.chunks()
        difference = first_difference(chunks, stream)
        for _ in chunks:
            pass  # to its end, for the hash
    by = "bytes"
    if difference and source.kind == "read" and file.sha256 == source.sha256:
        difference, by = content_difference(file, restored, difference)
    if file.sha256 != source.sha256:
        return Verdict(
            corpus_id, source.id, Status.CHANGED, file.size, reason="not the file that the warehouse was built from"
        )
    if file.has_bom != has_bom:
        bom = {True: "a byte order mark", False: "none"}
        difference = FileDifference(
            "the byte order mark", line=1, byte=1, expected=bom[file.has_bom], found=bom[has_bom]
        )
    if difference:
        return Verdict(corpus_id, source.id, Status.DIFFERENT, file.size, difference=difference)
    return Verdict(corpus_id, source.id, Status.EQUAL, file.size, by=by)


_Compare: TypeAlias = Callable[[SourceFile, Path], FileDifference | None]
"""Compares a publisher's file with the one that was written back."""

_PIECE = 2_000_000


def content_difference(file: SourceFile, restored: Path, of_bytes: FileDifference) -> tuple[FileDifference | None, str]:
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


def _json(file: SourceFile, restored: Path) -> FileDifference | None:
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


def _packed_json(file: SourceFile, restored: Path) -> FileDifference | None:
    """Compare two packed JSON documents by value; memory: both."""
    content = FileContent(file)
    published = content.whole()
    with gzip.open(restored) as stream:
        unpacked = stream.read()
    return _of_marks(content, unpacked) or json_difference(published, unpacked.removeprefix(BOM))


def _json_lines(file: SourceFile, restored: Path) -> FileDifference | None:
    """Compare two files of JSON Lines: the values, and to the byte what stands between; memory: a line of each."""
    content = FileContent(file)
    with _opened(file, restored) as stream:
        pairs = zip_longest(lines(content.pieces()), lines(iter(partial(stream.read, _PIECE), b"")), fillvalue=b"")
        for number, (line, other) in zip(count(), pairs, strict=False):
            if line != other and (difference := _of_lines(line, other.removeprefix(b"" if number else BOM), number)):
                return difference
    with _opened(file, restored) as stream:
        return _of_marks(content, stream.read(len(BOM)))


def _of_lines(line: bytes, other: bytes, number: int) -> FileDifference | None:
    """Compare two lines, one of which may be missing."""
    text, its = line.strip(), other.strip()
    if text and its and (difference := json_difference(text, its, f"/{number}")):
        return difference
    start, its_start = line.find(text), other.find(its)
    if bool(text) == bool(its) and line[:start] == other[:its_start] and _end(line, text) == _end(other, its):
        return None
    shown = [repr(part[:40].decode(errors="backslashreplace")) if part else "no line" for part in (line, other)]
    return FileDifference("other blanks or line ends", line=number + 1, byte=1, expected=shown[0], found=shown[1])


def _end(line: bytes, text: bytes) -> bytes:
    return line[line.find(text) + len(text) :]


def _packed_bytes(file: SourceFile, restored: Path) -> FileDifference | None:
    """Compare the content of two packed files byte for byte."""
    content = FileContent(file)
    with _opened(file, restored) as stream:
        begin = stream.read(len(BOM))
        if begin != BOM:
            stream.seek(0)
        return first_difference(content.pieces(), stream) or _of_marks(content, begin)


def _parquet(file: SourceFile, restored: Path) -> FileDifference | None:
    """Compare two Parquet files."""
    # It takes a while to import, and few folders have one.
    from talkhouse.restore.differences import parquet_difference

    return parquet_difference(file, restored)


def _of_marks(content: FileContent, restored: bytes) -> FileDifference | None:
    """Compare the byte order marks of packed contents, once the publisher's was read."""
    has_bom = restored.startswith(BOM)
    if not content.is_packed or content.has_bom == has_bom:
        return None
    bom = {True: "a byte order mark", False: "none"}
    return FileDifference("the byte order mark", line=1, byte=1, expected=bom[content.has_bom], found=bom[has_bom])


def _opened(file: SourceFile, restored: Path) -> IO[bytes]:
    """Open the content of a file that was written back."""
    return io.BufferedReader(gzip.GzipFile(restored)) if is_packed(file.path) else restored.open("rb")


_COMPARISONS: dict[str, _Compare] = {".json": _json, **dict.fromkeys(JSON_LINES, _json_lines), ".parquet": _parquet}
