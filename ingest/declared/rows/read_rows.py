"""Reads the files of formats in which a dialogue is a group of rows: files of turns, then files of labels."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl

from talkhouse.ingest.declared.declaration.model import ALL, Declaration, Files
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.rows.batch import FileRows, RowsBuild
from talkhouse.ingest.declared.rows.columns import ID, columns_of
from talkhouse.ingest.declared.rows.frames import open_frames
from talkhouse.ingest.declared.rows.replies import with_order
from talkhouse.ingest.declared.rows.row_labels import (
    DialogueStore,
    LabelFileColumns,
    LabelRows,
    StoredDialogue,
    label_file_columns,
)
from talkhouse.ingest.declared.rows.spool import NUMBER, REFUSED, SCATTERED, Spool
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.outcomes import (
    FileEnvelope,
    LoadedBatch,
    Outcome,
    ReaderFinding,
    Rejected,
    SourceLocation,
    reject,
)
from talkhouse.ingest.rows import Record, Row
from talkhouse.ingest.sources import SourceFile


def read_file(build: RowsBuild, file: SourceFile, entry: Files) -> Iterator[Outcome]:
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
        shapes.is_utc = frames.offsets.is_utc
        rows = FileRows(build, file, entry, shapes, is_csv=frames.is_csv, bytes_a_row=file.size / max(spool.height, 1))
        records = 0
        for piece in spool.dialogues():
            batch = rows.batch(piece)
            records += batch.records
            yield batch
        scattered = {SCATTERED: True} if rows.is_scattered else {}
        found = (*frames.findings, *frames.offsets.findings(), *rows.bad_times.rest())
        yield from (replace(finding, file=file) for finding in found)
        yield FileEnvelope(file, frames.envelope | scattered, records)


def read_label_file(build: RowsBuild, known: DialogueStore, file: SourceFile, entry: Files) -> Iterator[Outcome]:
    """Read one file of labels of the dialogues that were read before."""
    declaration, identity = build.declaration, build.identity
    named = label_file_columns(declaration, str(file.path).partition("/")[2], entry.path)
    with Spool() as spool:
        try:
            frames = open_frames(file, named.columns, declaration, Shapes(), with_raw=True)
            for frame in frames:
                spool.add(frame)
        except BadRecord as bad:
            location = SourceLocation(file, "", entry.subset, entry.release, size=file.size)
            yield reject(location, bad, file.read())
            return
        reader = _LabelFile(declaration, named, file, entry, identity.file(file), known)
        for piece in spool.dialogues():
            yield from reader.read(piece, file.size / spool.height, is_csv=frames.is_csv)
        refused = {REFUSED: reader.refused} if reader.refused else {}
        scattered = {SCATTERED: True} if reader.is_scattered else {}
        yield FileEnvelope(file, frames.envelope | scattered | refused, reader.records)


class _LabelFile:
    def __init__(
        self,
        declaration: Declaration,
        named: LabelFileColumns,
        file: SourceFile,
        entry: Files,
        path: str,
        known: DialogueStore,
    ) -> None:
        self._declaration, self._named, self._file, self._entry = declaration, named, file, entry
        self._begin = f"{declaration.corpus_id}/{path}"
        self._known = known
        self.records = 0
        self.refused: dict[str, list[tuple[int, int]]] = {}
        self.is_scattered = False

    def read(self, rows: pl.DataFrame, bytes_a_row: float, *, is_csv: bool) -> Iterator[Outcome]:
        """Read the rows of some dialogues."""
        made: list[Row] = []
        findings: list[ReaderFinding] = []
        rejected: list[Rejected] = []
        for group in rows.partition_by(NUMBER, maintain_order=True):
            number = int(group[NUMBER][0])
            location = SourceLocation(
                self._file,
                f"/{group['line'][0]}",
                self._entry.subset,
                self._entry.release,
                record_index=number,
                native_id=group[ID][0] if ID in group.columns else None,
                size=int(len(group) * bytes_a_row),
            )
            labels = LabelRows(self._declaration, self._named, group, is_csv=is_csv)
            try:
                dialogue = self._dialogue(location)
                record = location.record(f"{self._begin}/{number}", dialogue.dialogue_id)
                own, problems = labels.read(record, dialogue)
            except BadRecord as bad:
                rejected.append(self._reject(location, bad, labels))
                continue
            self.is_scattered |= labels.is_scattered
            made += [record, *own]
            findings += [replace(problem, file=self._file, record_id=record.record_id) for problem in problems]
        self.records += len(rejected)
        count = sum(type(row) is Record for row in made)
        self.records += count
        if count:
            yield LoadedBatch(self._file, count, int(len(rows) * bytes_a_row), made, [], findings)
        yield from rejected

    def _dialogue(self, location: SourceLocation) -> StoredDialogue:
        """Find the dialogue that a record's labels are about; BadRecord GF-15 where it is not there."""
        dialogue = self._known.find(location.native_id or "")
        if dialogue is None:
            raise BadRecord("GF-15", f"no dialogue {location.native_id!r:.100} was read")
        return dialogue

    def _reject(self, location: SourceLocation, bad: BadRecord, labels: LabelRows) -> Rejected:
        texts = labels.texts()
        if len(texts) > 1:
            self.refused[location.pointer] = [(line, len(text)) for line, text in zip(labels.lines, texts, strict=True)]
            self.is_scattered |= labels.is_apart
        return Rejected(location, bad.rule, bad.detail, b"\n".join(texts))


def read_turns(declaration: Declaration, files: Iterable[tuple[SourceFile, Files]]) -> Iterator[Outcome]:
    """Read files of turns in their order, then files of labels."""
    entries = list(files)
    talks = [entry for entry in entries if entry[1].holds == "dialogues"]
    labels = [entry for entry in entries if entry[1].holds == "annotations"]
    with DialogueStore() as known:
        build = RowsBuild(
            declaration,
            columns_of(declaration),
            Identity(declaration.corpus_id),
            known.add_rows if labels else None,
            has_several_files=len(talks) > 1,
        )
        for file, entry in talks:
            yield from read_file(build, file, entry)
        for file, entry in labels:
            yield from read_label_file(build, known, file, entry)
