"""Compares the publisher's files with those written back from the warehouse: equal, or the first difference."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import duckdb

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import DiskFile
from talkhouse.ingest.sources import BOM, SourceFile, opened
from talkhouse.restore.consistent import consistent
from talkhouse.restore.diff_bytes import Difference, first_difference
from talkhouse.restore.diff_values import content_difference
from talkhouse.restore.output_paths import OutputPaths, Source, sources
from talkhouse.restore.write_back import OnProgress, Restored, write_files
from talkhouse.schema.errors import CorpusFailed
from talkhouse.system.folders import no_room, temporary_folder


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
    difference: Difference | None = None
    reason: str | None = None


def verify(
    con: duckdb.DuckDBPyConnection, corpus: Corpus, files: list[DiskFile], on_progress: OnProgress = lambda *_: None
) -> Iterator[Verdict]:
    """Write a corpus back into a temporary folder and compare it with these files; yield a verdict for each, by id.

    JSON and JSON Lines must be equal in every value and in the order of keys, Parquet in schema, order and values, what
    is packed by gzip in its content, all others byte for byte, members of archives as files. Raises OutputFailed where
    the temporary folder has no room, SourceError for a damaged archive, WarehouseDamaged where rows of the warehouse
    don't fit together, CorpusFailed where the writer raises and nobody knows at which file.
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


def _compared(corpus_id: str, source: Source, file: SourceFile, restored: Path) -> Verdict:
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
        difference = Difference("the byte order mark", line=1, byte=1, expected=bom[file.has_bom], found=bom[has_bom])
    if difference:
        return Verdict(corpus_id, source.id, Status.DIFFERENT, file.size, difference=difference)
    return Verdict(corpus_id, source.id, Status.EQUAL, file.size, by=by)
