"""Reads and writes files whose records hold a dialogue each, whatever the format."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from typing import Any, TypeAlias

from msgspec import Raw

from talkhouse.ingest.declared import shapes as json_shapes
from talkhouse.ingest.declared import times as moments
from talkhouse.ingest.declared.declaration.model import ALL, ISO, ISO_OFFSET, ISO_UTC, Declaration, Files, Splits
from talkhouse.ingest.declared.documents.dialogue_rows import DecodedDialogues, DialogueRows, ReadRecord, dialogues_of
from talkhouse.ingest.declared.documents.document_format import (
    DocumentFormat,
    FallbackReaders,
    ListColumns,
    RecordFieldsReader,
    has_fallbacks,
    paths_of,
    take_label,
    write_field,
)
from talkhouse.ingest.declared.documents.flat_records import FlatRecords
from talkhouse.ingest.declared.documents.trees import TreeRecords
from talkhouse.ingest.declared.documents.typed import (
    EmptyTurn,
    Seen,
    Typed,
    TypedRecords,
    empty_turns,
    placeholders_of_keys,
    typed_dialogues,
)
from talkhouse.ingest.declared.labels import labels_of
from talkhouse.ingest.declared.parsed_dialogue import NO_TEXT
from talkhouse.ingest.declared.record_files import layout_of, open_records
from talkhouse.ingest.declared.record_files.content import CAREFULLY, BadRawRecord, RawRecord, RecordFile, WrittenRecord
from talkhouse.ingest.declared.record_files.repaired import as_published
from talkhouse.ingest.declared.speakers import Speakers
from talkhouse.ingest.declared.turn_tallies import TurnTallies
from talkhouse.ingest.declared.whole_records import write_stored
from talkhouse.ingest.decode import BadRecord, check, literals
from talkhouse.ingest.keys import Memory
from talkhouse.ingest.outcomes import FileEnvelope, Outcome, ReaderFinding, Rejected, SourceLocation, reject
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import StoredRecord

DeclaredFile: TypeAlias = tuple[SourceFile, Files]
"""A file, and the ``[[files]]`` that it belongs to."""

_BLOCK = 4_000_000
"""Bytes of records that are decoded and handed on together."""

_LEAST = 150_000
"""Bytes of a block from which on DuckDB decodes it, which takes 15 ms before the first record; below, reading each
record by itself is faster."""


FormatOf: TypeAlias = Callable[[Declaration], DocumentFormat]
"""Makes the format of a declaration; of one whose keys have several paths, for each choice of them."""


def read_documents(
    declaration: Declaration, speakers: Speakers, format_of: FormatOf, files: Iterable[DeclaredFile], memory: Memory
) -> Iterator[Outcome]:
    """Read files in their order."""
    reader = _DocumentReader(declaration, speakers, format_of, memory)
    for file, entry in files:
        yield from reader.file(file, entry)


class _RecordReader:
    """Reads records of which all keys of the declaration have one path."""

    def __init__(self, declaration: Declaration, format_of: FormatOf) -> None:
        self.format = format_of(declaration)
        self.want = json_shapes.merged(self.format.wanted, json_shapes.wanted(paths_of(declaration)))
        self._fields = RecordFieldsReader(declaration)
        self._labels = labels_of(declaration)

    def read(self, members: json_shapes.Members, key: str | None, inside: json_shapes.Members, at: str) -> ReadRecord:
        """Read a record; ``inside``: the members that labels of the record are among, at ``at``."""
        split = json_shapes.SplitObject(members, self.want)
        taken: dict[str, str | None] = {}
        findings: list[ReaderFinding] = []
        fields = self._fields.read(split, taken, findings)
        if fields.native_id is None:
            fields.native_id = key
        dialogue = self.format.read(split)
        labels = [label for labels in self._labels for label in labels.read(inside, dialogue, findings, at)]
        for spec in self._labels:
            take_label(spec.spec, split, taken)
        taken |= dialogue.taken
        findings += dialogue.findings
        if not dialogue.turns:
            findings.append(ReaderFinding("GF-02", "the record has no turns"))
        empty = [finding.pointer or "" for finding in findings if finding.rule == NO_TEXT]
        if empty:
            findings = [finding for finding in findings if finding.rule != NO_TEXT]
        return ReadRecord(split, fields, dialogue, taken, labels, findings, empty)


class _RecordsReader:
    """Reads the records of a corpus by one declaration, those of one form together."""

    def __init__(self, declaration: Declaration, format_of: FormatOf) -> None:
        self._declaration = declaration
        self._reader = _RecordReader(declaration, format_of)
        tables: dict[str, Any] = {"dialogue": declaration.dialogue, "pair": declaration.pair}
        if declaration.pair.each is not None:  # the other paths begin at its items
            others = {key: paths for key, paths in declaration.pair.fallbacks.items() if key == "each"}
            tables["pair"] = replace(declaration.pair, fallbacks=others)
        self._of_paths = (
            FallbackReaders(tables, lambda chosen: _RecordReader(replace(declaration, **chosen), format_of))
            if has_fallbacks(tables)
            else None
        )
        self.labels = labels_of(declaration)
        columns = None if os.environ.get(CAREFULLY) or self._of_paths else self._reader.format.columns
        placeholders = placeholders_of_keys(declaration)
        self._typed: TypedRecords | None = None
        self._flat: FlatRecords | None = None
        if isinstance(columns, ListColumns) and placeholders is not None:
            kind = TreeRecords if columns.replies else TypedRecords
            self._typed = kind(declaration, placeholders, columns, self._see)
        elif isinstance(columns, frozenset) and placeholders is not None:
            is_plain = not (self.labels or declaration.dialogue.are_bare or columns & placeholders.keys())
            self._flat = FlatRecords(columns, self._reader.want, self._see) if is_plain else None

    def flat(self, block: Sequence[RawRecord]) -> list[DecodedDialogues]:
        """Read the records of a block together whose turns are texts of the record."""
        return self._flat.decode(block) if self._flat else []

    def decoded(self, blocks: Iterable[list[RawRecord]]) -> Iterator[tuple[list[RawRecord], list[Typed]]]:
        """Decode large blocks in a thread of its own, one ahead: DuckDB works without Python's lock."""
        if self._typed is None:
            yield from ((block, []) for block in blocks)
            return
        with ThreadPoolExecutor(max_workers=1) as thread:
            ahead = deque[tuple[list[RawRecord], Future[list[Typed]] | None]]()
            for block in blocks:
                is_large = sum(len(raw.raw) for raw in block) >= _LEAST
                ahead.append((block, thread.submit(self._typed.decode, block) if is_large else None))
                if len(ahead) > 1:
                    done, typed = ahead.popleft()
                    yield done, typed.result() if typed else []
            yield from ((done, typed.result() if typed else []) for done, typed in ahead)

    def _see(self, raw: RawRecord) -> Seen | None:
        try:
            check(raw.raw)
            read = self._read(raw)
        except BadRecord:
            return None
        if read.findings or read.dialogue.extra:
            return None
        return Seen(read.split.shape(read.taken, {}), read.dialogue.turns, read.dialogue.candidates)

    def read_of(self, block: Sequence[RawRecord], reads: Mapping[int, ReadRecord], n: int) -> ReadRecord:
        return reads.get(n) or self._read(block[n])

    def checked(self, raw: RawRecord | BadRawRecord, location: SourceLocation) -> ReadRecord | Rejected:
        """Read one record; return it where it can't be loaded."""
        try:
            if isinstance(raw, BadRawRecord):
                raise raw.problem
            return self._read(raw)
        except BadRecord as problem:
            if not raw.pointer:  # the record is the file, which comes back as it was, packed or not
                return reject(location, problem, location.file.read())
            verbatim = raw.raw if isinstance(raw, BadRawRecord) else raw.quarantined
            place = replace(location, pointer=raw.pointer, record_index=raw.record_index, size=len(raw.raw))
            return reject(place, problem, verbatim)

    def _read(self, raw: RawRecord) -> ReadRecord:
        if self._declaration.dialogue.are_bare:
            return self._read_bare(raw)
        if raw.raw[:1] != b"{":
            raise BadRecord("GF-01", f"the record is {json_shapes.kind_of(Raw(raw.raw))}, not an object")
        members = json_shapes.members_of(raw.raw)
        return self._reader_of(members).read(members, raw.key, members, "")

    def _reader_of(self, members: json_shapes.Members) -> _RecordReader:
        return self._reader if self._of_paths is None else self._of_paths.reader(members)

    def _read_bare(self, raw: RawRecord) -> ReadRecord:
        """Read a record as the member "" of an object, and take that out of the places of what is found."""
        members = {"": Raw(raw.raw)}
        inside, at = (json_shapes.members_of(raw.raw), "/") if raw.raw[:1] == b"{" else (members, "")
        try:
            read = self._reader_of(members).read(members, raw.key, inside, at)
        except BadRecord as bad:
            raise BadRecord(bad.rule, bad.detail, bad.pointer.removeprefix("/")) from bad
        findings = [replace(finding, pointer=(finding.pointer or "").removeprefix("/")) for finding in read.findings]
        return read._replace(findings=findings, empty=[at.removeprefix("/") for at in read.empty])

    def see_offsets(self, raw: RawRecord, offsets: moments.Offsets) -> None:
        """Note the offsets of a record's times, where it can be read, by a declaration of the form ISO_OFFSET."""
        try:
            check(raw.raw)
            read = self._read(raw)
        except BadRecord:
            return
        _note_offsets(moments.STARTED_AT, [read.fields.started_at], offsets)
        _note_offsets(moments.SAID_AT, {turn.said_at for turn in read.dialogue.turns}, offsets)


def _note_offsets(key: str, times: Iterable[datetime | None], offsets: moments.Offsets) -> None:
    for since in times:
        if since == moments.NO_TIME:
            offsets.has_others = True
        elif since is not None:
            offsets.add(key, None if since == moments.NO_OFFSET else since - moments.EPOCH)


class _DocumentReader:
    def __init__(self, declaration: Declaration, speakers: Speakers, format_of: FormatOf, memory: Memory) -> None:
        self._declaration = declaration
        self._reader_of = cache(lambda form: _RecordsReader(moments.with_form(declaration, form), format_of))
        self._times = moments.paths_of_times(declaration)
        self._tallies = TurnTallies(declaration, memory.tallies)
        self._rows = DialogueRows(declaration, speakers, Splits(declaration), memory, self._tallies)

    def file(self, file: SourceFile, entry: Files) -> Iterator[Outcome]:
        """Read one file; what is wrong with it as a whole refuses it."""
        location = SourceLocation(file, subset=entry.subset, release=entry.release, split=entry.split or ALL)
        path, count = self._rows.identity.file(file), 0
        self._rows.shapes, self._rows.bad_times = json_shapes.Shapes(), moments.BadTimes()
        try:
            records = open_records(file, self._declaration)
            offsets = self._offsets(records, file)
            self._rows.shapes.is_utc = offsets.is_utc
            reader = self._reader_of(ISO_UTC if offsets.is_utc else ISO)
            for block, typed in reader.decoded(_blocks(records.texts())):
                some = [typed_dialogues(form, reader.labels) for form in typed]
                empty = [turn for form, decoded in zip(typed, some, strict=True) for turn in empty_turns(form, decoded)]
                some += reader.flat(block)
                decoded = {n for dialogues in some for n in dialogues.of_records}
                reads: dict[int, ReadRecord] = {}
                for n, raw in enumerate(block):
                    if n not in decoded:
                        read = reader.checked(records.check(raw), location)
                        if isinstance(read, Rejected):
                            yield read
                        else:
                            reads[n] = read
                empty += [(n, at) for n, read in reads.items() for at in read.empty]
                left_out = [block[n].pointer + at for n, read in reads.items() for at in read.dialogue.left_out]
                self._tallies.leave_out(file, left_out)
                some.append(dialogues_of(reads))
                self._count(file, block, some, empty)
                read_again = partial(reader.read_of, block, reads)
                if batch := self._rows.batch(block, location, path, some, read_again):
                    yield batch
                count += len(block)
        except BadRecord as problem:
            yield reject(location, problem, file.read())
            return
        yield from (replace(finding, file=file) for finding in (*offsets.findings(), *self._rows.bad_times.rest()))
        yield FileEnvelope(file, records.envelope | self._rows.shapes.envelope(), count)

    def _offsets(self, records: RecordFile, file: SourceFile) -> moments.Offsets:
        """Look how times are written, and only where a glance finds several offsets, at each of them."""
        offsets = moments.Offsets()
        near = moments.offsets_of_names(records, self._times) if self._times else set[moments.Offset]()
        if len(near) > 1:
            reader = self._reader_of(ISO_OFFSET)
            for block, typed in reader.decoded(_blocks(open_records(file, self._declaration).texts())):
                seen = {n for form in typed for n in form.records["n"]}
                for form in typed:
                    for key, rows in ((moments.STARTED_AT, form.records), (moments.SAID_AT, form.turns)):
                        if key in rows.columns:
                            _note_offsets(key, rows[key].unique(), offsets)
                for n, raw in enumerate(block):
                    if n not in seen:
                        reader.see_offsets(raw, offsets)
                if offsets.mixed or offsets.has_others:
                    break
        return offsets

    def _count(
        self, file: SourceFile, block: Sequence[RawRecord], some: Sequence[DecodedDialogues], empty: Iterable[EmptyTurn]
    ) -> None:
        """Count the turns of a block, and those that have no text, each by its record and its place there."""
        in_order = sorted(empty)
        first = block[in_order[0][0]].pointer + in_order[0][1] if in_order else ""
        self._tallies.add(file, sum(len(dialogues.turns) for dialogues in some), len(in_order), first)


def _blocks(texts: Iterable[RawRecord]) -> Iterator[list[RawRecord]]:
    block, size = list[RawRecord](), 0
    for raw in texts:
        block.append(raw)
        size += len(raw.raw)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


class DocumentFilesWriter:
    """Writes the files of one corpus; ``are_bare`` as ``[dialogue]`` has it."""

    def __init__(self, document_format: DocumentFormat, *, are_bare: bool) -> None:
        self._format, self._are_bare = document_format, are_bare

    def write_file(self, first: StoredRecord, others: Iterator[StoredRecord]) -> Iterator[bytes]:
        """Write a file from its envelope and its records."""
        return write_stored(
            first, others, partial(self._json, shapes=json_shapes.KnownShapes(literals(first.file.extra)))
        )

    def write_record(self, stored: StoredRecord) -> bytes:
        """Write a record alone."""
        envelope = literals(stored.file.extra)
        written = WrittenRecord(stored.pointer, self._json(stored, json_shapes.KnownShapes(envelope)))
        return as_published(layout_of(envelope), written, stored.loaded.record_index or 0).raw

    def _json(self, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> bytes:
        extra = literals(stored.loaded.extra)

        def fill(placeholder: str) -> bytes:
            own = write_field(placeholder, stored, shapes)
            return own if own is not None else self._format.write(placeholder, stored, shapes)

        written = json_shapes.join(shapes.shape("record", extra), extra, fill)
        return written.removeprefix(b'{"":').removesuffix(b"}") if self._are_bare else written
