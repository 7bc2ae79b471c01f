"""Reads the files of a format in which a dialogue is a group of rows."""

from collections.abc import Iterable, Iterator

from talkhouse.ingest.declared.declaration.model import Declaration, Files
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.rows.batch import Build, FileRows
from talkhouse.ingest.declared.rows.columns import columns_of
from talkhouse.ingest.declared.rows.known_dialogues import KnownDialogues
from talkhouse.ingest.declared.rows.label_files import LabelFiles
from talkhouse.ingest.declared.rows.opening import open_frames
from talkhouse.ingest.declared.rows.order import with_order
from talkhouse.ingest.declared.rows.spool import SCATTERED, Spool
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.declared.splits import ALL
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.outcomes import FileEnvelope, Outcome, SourceLocation, reject
from talkhouse.ingest.sources import SourceFile


def read_rows_format(declaration: Declaration, files: Iterable[tuple[SourceFile, Files]]) -> Iterator[Outcome]:
    """Read files of turns in their order, then files of labels."""
    entries = list(files)
    talks = [entry for entry in entries if entry[1].holds == "dialogues"]
    labels = [entry for entry in entries if entry[1].holds == "annotations"]
    with KnownDialogues() as known:
        build = Build(
            declaration,
            columns_of(declaration),
            Identity(declaration.corpus_id),
            known if labels else None,
            has_several_files=len(talks) > 1,
        )
        shapes = Shapes()
        for file, entry in talks:
            yield from read_file(build, shapes, file, entry)
        yield from LabelFiles(declaration, build.identity, known).read(labels)


def read_file(build: Build, shapes: Shapes, file: SourceFile, entry: Files) -> Iterator[Outcome]:
    """Read one file; where any of its rows can't be read, nobody knows which dialogue lost a turn: it is refused."""
    with Spool() as spool:
        try:
            frames = open_frames(file, build.columns, build.declaration, shapes)
            for frame in with_order(iter(frames), build.columns):
                spool.add(frame)
        except BadRecord as bad:
            shapes.envelope()  # those of this file are not needed
            location = SourceLocation(file, "", entry.subset, entry.release, entry.split or ALL, size=file.size)
            yield reject(location, bad, file.read())
            return
        rows = FileRows(build, file, entry, is_csv=frames.is_csv, bytes_a_row=file.size / max(spool.height, 1))
        records = 0
        for piece in spool.dialogues():
            batch = rows.batch(piece)
            records += batch.records
            yield batch
        scattered = {SCATTERED: True} if rows.is_scattered else {}
        yield FileEnvelope(file, frames.envelope | scattered, records)
