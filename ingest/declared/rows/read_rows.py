"""Reads the files of formats in which a dialogue is a group of rows: files of turns, then files of labels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import polars as pl

from talkhouse.ingest.declared.declaration.model import ALL, Declaration, Files, beside
from talkhouse.ingest.declared.identity import ids_within
from talkhouse.ingest.declared.labels import Labels
from talkhouse.ingest.declared.record_files import TEXTS, content_of, open_records
from talkhouse.ingest.declared.record_files.content import ending
from talkhouse.ingest.declared.record_files.csv_files import CsvRows
from talkhouse.ingest.declared.record_files.text_files import LineRows
from talkhouse.ingest.declared.rows.batch import FileRows, RowsBuild
from talkhouse.ingest.declared.rows.columns import ID, SPLIT, TEXT, RowColumns, columns_of
from talkhouse.ingest.declared.rows.frames import PROBLEM, RAW, BadRow, CsvFrames, RowFrames, RowProblem, is_csv
from talkhouse.ingest.declared.rows.json_frames import JsonFrames
from talkhouse.ingest.declared.rows.replies import with_order
from talkhouse.ingest.declared.rows.row_labels import DialogueStore, LabelFileColumns, LabelRows, label_file_columns
from talkhouse.ingest.declared.rows.spool import NUMBER, REFUSED, SCATTERED, Spool, are_apart
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.declared.speakers import Speakers
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.keys import Memory
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
    """Read one file; where it can't be known which dialogue lost a turn, it is refused."""
    is_by_split = build.declaration.dialogue.ids == "split" and SPLIT in build.columns.placeholders
    with Spool((entry.split or ALL) if is_by_split else None) as spool:
        try:
            frames, shapes = _set_aside(build, file, spool)
        except BadRecord as bad:
            location = SourceLocation(file, "", entry.subset, entry.release, entry.split or ALL, size=file.size)
            yield reject(location, bad, file.read())
            return
        build.tallies.add(file, spool.height, frames.empty, frames.first_empty)
        shapes.is_utc = frames.offsets.is_utc
        bytes_a_row = file.size / max(spool.height, 1)
        rows = FileRows(build, file, entry, shapes, is_csv=frames.is_csv, bytes_a_row=bytes_a_row)
        refused = RefusedDialogues(file, entry)
        records = 0
        for piece in spool.dialogues():
            good, rejected = refused.taken_from(piece)
            yield from rejected
            records += len(rejected)
            if len(good):
                batch = rows.batch(good)
                records += batch.records
                yield batch
        scattered = {SCATTERED: True} if rows.is_scattered or refused.are_scattered else {}
        found = (*frames.findings, *frames.offsets.findings(), *rows.bad_times.rest())
        yield from (replace(finding, file=file) for finding in found)
        yield FileEnvelope(file, frames.envelope | scattered | refused.envelope, records)


def _set_aside(build: RowsBuild, file: SourceFile, spool: Spool) -> tuple[RowFrames, Shapes]:
    """Set the rows of a file aside; where a dialogue can't be loaded, each with the row itself."""
    for with_raw in (False, True):
        shapes = Shapes()
        frames = open_frames(
            file, build.columns, build.declaration, shapes, with_raw=with_raw, labels=build.labels_inside
        )
        try:
            for frame in with_order(iter(frames), build.columns):
                spool.add(frame)
        except BadRow:
            spool.clear()
            continue
        return frames, shapes
    raise AssertionError("a row that is kept is never bad")


def open_frames(
    file: SourceFile,
    columns: RowColumns,
    declaration: Declaration,
    shapes: Shapes,
    *,
    with_raw: bool = False,
    labels: Sequence[Labels] = (),
) -> RowFrames:
    """Open a file of rows, ``with_raw``: and keep each row itself; ``labels`` are inside JSON rows.

    Raises BadRecord where the file is to be refused, here or when it is iterated.
    """
    if ending(file.path) in TEXTS:
        if TEXT not in columns.placeholders:
            raise BadRecord("GF-14", "a text: labels are read from CSV, TSV, JSON Lines and Parquet")
        if declaration.lines is None:
            raise BadRecord("GF-14", "a text, whose lines are rows by a pattern in [lines], which is not declared")
        rows = LineRows(content_of(file, declaration), declaration.lines, columns.placeholders[TEXT])
        frames = CsvFrames(rows, columns, declaration, shapes, with_raw=with_raw)
        frames.findings = rows.findings
        return frames
    if is_csv(file.path):
        csv_rows = CsvRows(content_of(file, declaration), declaration.dialect)
        return CsvFrames(csv_rows, columns, declaration, shapes, with_raw=with_raw)
    records = open_records(file, declaration, "item")
    return JsonFrames(records, columns, declaration, shapes, with_raw=with_raw, labels=labels)


class RefusedDialogues:
    """Dialogues of one file that go to the quarantine, row by row as the file has them."""

    def __init__(self, file: SourceFile, entry: Files) -> None:
        self._file, self._entry = file, entry
        self._lines: dict[str, list[tuple[int, int]]] = {}
        self.are_scattered = False
        """Whether rows of others stand between those of one."""

    @property
    def envelope(self) -> dict[str, Any]:
        """What the file's envelope has to say of them."""
        return {REFUSED: self._lines} if self._lines else {}

    def taken_from(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[Rejected]]:
        """Return the rows of dialogues that can be loaded, and the others as they go to the quarantine."""
        if PROBLEM not in rows.columns:
            return rows, []
        numbers = rows.filter(pl.col(PROBLEM).is_not_null())[NUMBER].unique()
        is_bad = pl.col(NUMBER).is_in(numbers.implode())
        groups = rows.filter(is_bad).partition_by(NUMBER, maintain_order=True)
        return rows.filter(~is_bad).drop(RAW, PROBLEM), [self._reject(group) for group in groups]

    def _reject(self, group: pl.DataFrame) -> Rejected:
        problem = msgspec.json.decode(group[PROBLEM].drop_nulls()[0], type=RowProblem)
        location = SourceLocation(
            self._file,
            f"/{group['line'][0]}",
            self._entry.subset,
            self._entry.release,
            self._entry.split or ALL,
            record_index=int(group[NUMBER][0]),
            native_id=group[ID][0] if ID in group.columns else None,
            size=sum(map(len, group[RAW])),
        )
        return self.reject(location, BadRecord(problem.rule, f"{problem.detail} - at {problem.pointer}"), group)

    def reject(self, location: SourceLocation, bad: BadRecord, group: pl.DataFrame) -> Rejected:
        """Note where the rows of a record stand, and return it as it goes to the quarantine."""
        texts = [raw.encode() for raw in group[RAW]]
        if len(texts) > 1:
            self._lines[location.pointer] = [(line, len(text)) for line, text in zip(group["line"], texts, strict=True)]
            self.are_scattered |= are_apart(group)
        return Rejected(location, bad.rule, bad.detail, b"\n".join(texts))


def read_label_file(build: RowsBuild, known: DialogueStore, file: SourceFile, entry: Files) -> Iterator[Outcome]:
    """Read one file of labels of the dialogues that were read before."""
    declaration, identity = build.declaration, build.identity
    named = label_file_columns(declaration, str(file.path).partition("/")[2], entry.path)
    with Spool() as spool:
        try:
            frames = open_frames(file, named.columns, beside(declaration), Shapes(), with_raw=True)
            for frame in frames:
                spool.add(frame)
        except BadRecord as bad:
            location = SourceLocation(file, "", entry.subset, entry.release, size=file.size)
            yield reject(location, bad, file.read())
            return
        reader = _LabelFile(declaration, named, file, entry, identity.file(file), known)
        for piece in spool.dialogues():
            yield from reader.read(piece, file.size / spool.height, is_csv=frames.is_csv)
        scattered = {SCATTERED: True} if reader.is_scattered or reader.refused.are_scattered else {}
        yield from (replace(finding, file=file) for finding in frames.findings)
        yield FileEnvelope(file, frames.envelope | scattered | reader.refused.envelope, reader.records)


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
        self._within = ids_within(declaration.dialogue.ids, path, entry.split or ALL)
        self._known = known
        self.records = 0
        self.refused = RefusedDialogues(file, entry)
        self.is_scattered = False

    def read(self, rows: pl.DataFrame, bytes_a_row: float, *, is_csv: bool) -> Iterator[Outcome]:
        """Read the rows of some dialogues."""
        loaded: list[Row] = []
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
                dialogue = self._known.find(self._within + (location.native_id or ""))
                if dialogue is None:
                    raise BadRecord("GF-15", f"no dialogue {location.native_id!r:.100} was read")
                record = location.record(f"{self._begin}/{number}", dialogue.dialogue_id)
                own, problems = labels.read(record, dialogue)
            except BadRecord as bad:
                rejected.append(self.refused.reject(location, bad, group))
                continue
            self.is_scattered |= labels.is_scattered
            loaded += [record, *own]
            findings += [replace(problem, file=self._file, record_id=record.record_id) for problem in problems]
        self.records += len(rejected)
        count = sum(type(row) is Record for row in loaded)
        self.records += count
        if count:
            yield LoadedBatch(self._file, count, int(len(rows) * bytes_a_row), loaded, [], findings)
        yield from rejected


def read_turns(
    declaration: Declaration, speakers: Speakers, files: Iterable[tuple[SourceFile, Files]], memory: Memory
) -> Iterator[Outcome]:
    """Read files of turns in their order, then files of labels."""
    entries = list(files)
    talks = [entry for entry in entries if entry[1].holds == "dialogues"]
    labels = [entry for entry in entries if entry[1].holds == "annotations"]
    with DialogueStore() as known:
        build = RowsBuild(
            declaration,
            speakers,
            columns_of(declaration),
            memory,
            known.add_rows if labels else None,
            has_several_files=memory.is_of_part or len(talks) > 1,
        )
        for file, entry in talks:
            yield from read_file(build, file, entry)
        for file, entry in labels:
            yield from read_label_file(build, known, file, entry)
