"""Reads one file of turns."""

from collections.abc import Iterator
from dataclasses import replace

from talkhouse.ingest.declared.declaration.model import ALL, Files
from talkhouse.ingest.declared.rows.batch import Build, FileRows
from talkhouse.ingest.declared.rows.replies import with_order
from talkhouse.ingest.declared.rows.row_files import open_frames
from talkhouse.ingest.declared.rows.spool import SCATTERED, Spool
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.outcomes import FileEnvelope, Outcome, SourceLocation, reject
from talkhouse.ingest.sources import SourceFile


def read_file(build: Build, file: SourceFile, entry: Files) -> Iterator[Outcome]:
    """Read one file; where any of its rows can't be read, nobody knows which dialogue lost a turn: it is refused."""
    shapes = Shapes()
    with Spool() as spool:
        try:
            frames = open_frames(file, build.columns, build.declaration, shapes, labels=build.labels_inside)
            for frame in with_order(iter(frames), build.columns):
                spool.add(frame)
        except BadRecord as bad:
            location = SourceLocation(file, "", entry.subset, entry.release, entry.split or ALL, size=file.size)
            yield reject(location, bad, file.read())
            return
        rows = FileRows(build, file, entry, shapes, is_csv=frames.is_csv, bytes_a_row=file.size / max(spool.height, 1))
        records = 0
        for piece in spool.dialogues():
            batch = rows.batch(piece)
            records += batch.records
            yield batch
        scattered = {SCATTERED: True} if rows.is_scattered else {}
        yield from (replace(finding, file=file) for finding in frames.findings)
        yield FileEnvelope(file, frames.envelope | scattered, records)
