"""Holds the publisher's files against what the warehouse gives back of them: equal, or the first difference."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from ingest.corpus import Corpus
from ingest.disk_files import DiskFile
from ingest.sources import BOM, SourceFile, opened
from schema.errors import OutputFailed
from talkhouse.restore.diff_bytes import Difference, first_difference
from talkhouse.restore.diff_json import json_difference
from talkhouse.restore.output_paths import OutputPaths, Source, sources
from talkhouse.restore.write_back import Restored, Told, write_files


class Status(StrEnum):
    """What became of one file."""

    EQUAL = "equal"
    DIFFERENT = "different"
    CHANGED = "changed"
    """Not the file that the warehouse was built from: its SHA-256 is another."""
    NEW = "new"
    """In the folder and unknown to the warehouse."""
    GONE = "gone"
    """Known to the warehouse and not in the folder."""
    NOT_DATA = "not data"
    """Skipped by name or unrecognised: its content was never read."""


FINE = (Status.EQUAL, Status.NOT_DATA)


@dataclass(frozen=True)
class Verdict:
    """What was found of one file."""

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
    con: duckdb.DuckDBPyConnection, corpus: Corpus, files: list[DiskFile], told: Told = lambda *_: None
) -> Iterator[Verdict]:
    """Write a corpus back into a temporary folder and compare it with these files; gives a verdict for each, by id.

    JSON files must be equal in every value and in the order of keys, all others byte for byte, members of archives
    as files. Raises OutputFailed where the temporary folder has no room, SourceError for a damaged archive.
    """
    known = {source.id: source for source in sources(con, corpus.id) if source.kind != "archive"}
    with TemporaryDirectory(prefix="talkhouse-") as name, opened(files) as (seen, skipped):
        shelf = _written(con, corpus, Path(name), told)
        reasons = {item.file.id: item.reason for item in skipped}
        there = {file.id: file for file in (*seen, *(item.file for item in skipped))}
        for key in sorted({*known, *there}):
            source, file = known.get(key), there.get(key)
            if source is None:
                status = Status.NOT_DATA if key in reasons else Status.NEW
                yield Verdict(corpus.id, key, status, file.size if file else 0, reason=reasons.get(key))
            elif not source.is_data:
                reason = source.note or "not recognised by the reader"
                yield Verdict(corpus.id, key, Status.NOT_DATA, source.size, reason=reason)
            elif file is None:
                yield Verdict(corpus.id, key, Status.GONE, source.size)
            else:
                yield _compared(corpus.id, source, file, shelf.place(source))


def _written(con: duckdb.DuckDBPyConnection, corpus: Corpus, folder: Path, told: Told) -> OutputPaths:
    """Write the files of a corpus to disk, each by itself, whatever their names have in common."""
    shelf = OutputPaths(folder, archives=True)
    try:
        write_files(con, corpus, shelf, Restored(), told)
    except OSError as error:
        raise OutputFailed(
            "the files could not be written to a temporary folder",
            where=folder,
            found=error.strerror or str(error),
            next_step="make room there, or name another place for temporary files with TMPDIR=FOLDER",
        ) from error
    return shelf


def _compared(corpus_id: str, source: Source, file: SourceFile, restored: Path) -> Verdict:
    """Compare one file; one that is not the one that was built from is not held against the warehouse."""
    with restored.open("rb") as went:
        has_bom = went.read(len(BOM)) == BOM
        if not has_bom:
            went.seek(0)
        came = file.chunks()
        found = first_difference(came, went)
        for _ in came:
            pass  # to its end, for the hash
    if file.sha256 != source.sha256:
        return Verdict(corpus_id, source.id, Status.CHANGED, file.size, reason="not the file that was built from")
    by = "bytes"
    if found and source.kind == "read" and file.path.suffix.lower() == ".json":
        found, by = _of_values(file, restored), "values"
    if file.has_bom != has_bom:
        mark = {True: "a byte order mark", False: "none"}
        found = Difference("the byte order mark", line=1, byte=1, expected=mark[file.has_bom], found=mark[has_bom])
    if found:
        return Verdict(corpus_id, source.id, Status.DIFFERENT, file.size, difference=found)
    return Verdict(corpus_id, source.id, Status.EQUAL, file.size, by=by)


def _of_values(file: SourceFile, restored: Path) -> Difference | None:
    """Compare two JSON files by value, their marks left out; memory: the publisher's file, once."""
    with restored.open("rb") as stream:
        # Mapped and not read; nothing of no bytes can be mapped.
        went = mmap(stream.fileno(), 0, access=ACCESS_READ) if restored.stat().st_size else b""
    return json_difference(file.hold().view, _without_mark(memoryview(went)))


def _without_mark(view: memoryview) -> memoryview:
    return view[len(BOM) :] if view[: len(BOM)] == BOM else view
