"""Rows on their way back: the rows of stored records, and the files that have them."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import Self

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import MOMENTS, Declaration, which
from talkhouse.ingest.declared.identity import id_part
from talkhouse.ingest.declared.record_files import write_records, write_rows
from talkhouse.ingest.declared.record_files.content import Envelope, WrittenRecord, WrittenRow
from talkhouse.ingest.declared.rows import row_labels
from talkhouse.ingest.declared.rows.batch import TURNS
from talkhouse.ingest.declared.rows.columns import ID, ID_PART, LEVEL, SAID_AT, Placeholder, RowColumns, columns_of
from talkhouse.ingest.declared.rows.convokit import file_kind, utterance_columns
from talkhouse.ingest.declared.rows.frames import is_csv
from talkhouse.ingest.declared.rows.spool import REFUSED, SCATTERED, SetAside
from talkhouse.ingest.declared.shapes import KnownShapes, Spelling, alias
from talkhouse.ingest.declared.speakers import Roles
from talkhouse.ingest.declared.times import write_moment, write_time
from talkhouse.ingest.declared.whole_records import file_back, record_back
from talkhouse.ingest.decode import literals, pointer
from talkhouse.ingest.rows import Annotation, Turn
from talkhouse.ingest.stored_record import StoredRecord


class StoredRow(msgspec.Struct, gc=False):
    """One row as a file has it."""

    line: int
    """Where it stands; of rows that follow one another, the line of the first."""
    cells: dict[str, bytes]
    """Column -> JSON text, in the file's order."""
    as_written: dict[str, str] = {}
    """Of CSV: the cells that the dialect would write otherwise."""
    verbatim: bytes | None = None
    """The row itself, of a record in quarantine."""

    @classmethod
    def from_cells(cls, line: int, cells: dict[str, bytes], extra: Mapping[str, Raw]) -> Self:
        """Make a row of its cells, and of what ``extra`` has of how they are written."""
        written = extra.get("cells")
        as_written = msgspec.json.decode(written, type=dict[str, str]) if written is not None else {}
        return cls(line, cells, as_written)

    def as_object(self) -> bytes:
        """Write the row as a JSON object."""
        members = (msgspec.json.encode(key) + b":" + raw for key, raw in self.cells.items())
        return b"{" + b",".join(members) + b"}"


def cell(spelling: Spelling, text_of: Callable[[str], str | None], *, is_csv: bool) -> bytes:
    """Write the cell of a placeholder as JSON: an empty one is null, in CSV ``""``."""
    text = None if spelling.is_null else text_of(spelling.column)
    if text is None:
        return b'""' if is_csv else b"null"
    return spelling.write(text)


class RowsBack:
    """Writes the rows of records of one corpus."""

    def __init__(self, declaration: Declaration, columns: RowColumns) -> None:
        self._declaration = declaration
        self._roles = Roles(declaration)
        self._labels = {label.placeholder: label for label in columns.labels}
        self._within = declaration.speaker.scope == "dialogue"

    def rows(self, stored: StoredRecord, shapes: KnownShapes, *, is_csv: bool) -> Iterator[StoredRow]:
        """Yield the rows of a record, in the order of its turns."""
        extra = literals(stored.loaded.extra)
        lines: list[int] = msgspec.json.decode(extra.get("lines", Raw(b"[]")))
        differs: dict[str, Raw] = msgspec.json.decode(extra.get("differs", Raw(b"{}")), type=dict[str, Raw])
        first = int(stored.pointer.removeprefix("/"))
        begin, end = msgspec.json.decode(extra.get(TURNS, Raw(b"[0,null]")))
        for turn in stored.turns[begin:end]:
            at = pointer(turn.turn_index)
            own = differs.get(at)
            rest = literals(turn.extra if own is None else bytes(own).decode())
            cells: dict[str, bytes] = {}
            for key, placeholder in shapes.shape(LEVEL, rest).items():
                raw = differs.get(at + pointer(key), rest.get(alias(key))) if differs else rest.get(alias(key))
                cells[key] = (
                    bytes(raw)
                    if raw is not None
                    else self._cell(Spelling.read(placeholder), turn, stored, is_csv=is_csv, is_utc=shapes.is_utc)
                )
            yield StoredRow.from_cells(lines[turn.turn_index - begin] if lines else first, cells, rest)

    def _cell(self, spelling: Spelling, turn: Turn, stored: StoredRecord, *, is_csv: bool, is_utc: bool) -> bytes:
        text_of = partial(self._time, spelling.form, is_utc=is_utc) if spelling.form else self._text
        return cell(spelling, partial(text_of, turn, stored), is_csv=is_csv)

    def _time(
        self, form: str, turn: Turn, stored: StoredRecord, placeholder: Placeholder, *, is_utc: bool
    ) -> str | None:
        if placeholder in MOMENTS:
            moment: int | None = getattr(turn, placeholder)
            return None if moment is None else write_moment(moment, form)
        time = turn.said_at if placeholder == SAID_AT else stored.dialogue.started_at if stored.dialogue else None
        return None if time is None else write_time(time, form, is_utc=is_utc)

    def _text(self, turn: Turn, stored: StoredRecord, placeholder: Placeholder) -> str | None:
        match placeholder:
            case "text" | "kind":
                text: str | None = getattr(turn, placeholder)
                return text
            case "title" | "domain" | "language":
                fact: str | None = getattr(stored.dialogue, placeholder)
                return fact
            case "dialogue.id":
                return stored.loaded.native_id
            case _ if placeholder.startswith(ID_PART):
                return _id_part(placeholder, stored)
            case "split":
                return stored.loaded.split
            case "id":
                return turn.native_id
            case "role":
                return self._roles.word_of(turn.role)
            case "speaker":
                return self._speaker(turn)
            case "name":
                return stored.speakers[turn.speaker_id].name if turn.speaker_id else None
            case "order":
                return str(turn.turn_index)
            case "start_ms" | "end_ms":
                number = getattr(turn, placeholder)
                return None if number is None else str(number)
            case "reply_to" if turn.reply_to is not None:
                return stored.turns[turn.reply_to].native_id if self._declaration.turn.id else str(turn.reply_to)
        return self._label(placeholder, turn, stored)

    def _speaker(self, turn: Turn) -> str | None:
        begin = f"{turn.dialogue_id}/" if self._within else f"{self._declaration.corpus_id}:"
        return None if turn.speaker_id is None else turn.speaker_id.removeprefix(begin)

    def _label(self, placeholder: str, turn: Turn, stored: StoredRecord) -> str | None:
        label = self._labels.get(placeholder)
        if label is None:
            return None
        index = turn.turn_index if label.is_of_turn else None
        for row in stored.annotations_by_turn[index]:
            if row.scheme == label.scheme and row.annotator_index == label.annotator_index:
                return label.missing[0] if row.label is None else row.label
        return label.missing[0]


class LabelsBack:
    """Writes the rows of records of a file of labels."""

    def __init__(self, declaration: Declaration, named: row_labels.LabelFileColumns) -> None:
        self._declaration, self._named = declaration, named
        self._specs = {declaration.scheme(spec.scheme): spec for spec in named.specs}

    def rows(self, stored: StoredRecord, shapes: KnownShapes, *, is_csv: bool) -> Iterator[StoredRow]:
        """Yield the rows of a record, in the order of its annotations, those without one behind them."""
        record = literals(stored.loaded.extra)
        in_order = sorted(stored.annotations, key=row_labels.order_of)
        first = int(stored.pointer.removeprefix("/"))
        numbers = range(first, first + len(in_order))
        lines: list[int] = msgspec.json.decode(record["lines"]) if "lines" in record else list(numbers)
        by_line: defaultdict[int, list[Annotation]] = defaultdict(list)
        for line, annotation in zip(lines, in_order, strict=True):
            by_line[line].append(annotation)
        for line, annotations in by_line.items():
            extra: dict[str, Raw] = {}
            texts = self._ids(stored)
            for annotation in annotations:
                extra |= literals(annotation.extra)
                texts |= self._texts(annotation, stored)
            yield self._row(line if "lines" in record else first, texts, extra, shapes, is_csv=is_csv)
        bare = msgspec.json.decode(record.get("differs", Raw(b"{}")), type=dict[str, Raw])
        for at, raw in bare.items():
            texts = self._ids(stored)
            extra = literals(bytes(raw).decode())
            yield self._row(int(at.removeprefix("/")), texts, extra, shapes, is_csv=is_csv)

    def _ids(self, stored: StoredRecord) -> dict[str, str | None]:
        parts: dict[str, str | None] = {
            placeholder: _id_part(placeholder, stored) for placeholder in self._named.columns.id_parts
        }
        return parts or {ID: stored.loaded.native_id}

    def _texts(self, annotation: Annotation, stored: StoredRecord) -> dict[str, str | None]:
        spec = self._specs[annotation.scheme]
        turn = None if annotation.turn_index is None else stored.turns[annotation.turn_index]
        name = turn.native_id if turn is not None and self._declaration.turn.id else str(annotation.turn_index)
        is_utf16 = spec.offsets == "utf-16"
        cells = row_labels.cells_of(annotation, name, "" if turn is None else turn.text, is_utf16=is_utf16)
        return {row_labels.placeholder_of(spec, field): text for field, text in cells.items()}

    def _row(
        self, line: int, texts: dict[str, str | None], extra: dict[str, Raw], shapes: KnownShapes, *, is_csv: bool
    ) -> StoredRow:
        cells = {}
        for key, placeholder in shapes.shape(LEVEL, extra).items():
            raw = extra.get(alias(key))
            cells[key] = bytes(raw) if raw is not None else cell(Spelling.read(placeholder), texts.get, is_csv=is_csv)
        return StoredRow.from_cells(line, cells, extra)


def _id_part(placeholder: Placeholder, stored: StoredRecord) -> str:
    return id_part(stored.loaded.native_id or "", int(placeholder.removeprefix(ID_PART)))


def in_order_of_lines(rows: Iterable[StoredRow]) -> Iterator[StoredRow]:
    """Yield rows by their lines, those of one line as they come; memory: 100 bytes for each row."""
    lines = array("q")
    with SetAside() as aside:
        for row in rows:
            lines.append(row.line)
            aside.add(msgspec.msgpack.encode(row))
        for number in sorted(range(len(lines)), key=lines.__getitem__):
            yield msgspec.msgpack.decode(aside.read(number), type=StoredRow)


class RowFilesWriter:
    """Writes the files of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self._is_convokit = declaration.format == "convokit"
        columns = utterance_columns(declaration) if self._is_convokit else columns_of(declaration)
        self._turns = RowsBack(declaration, columns)

    def _back(self, path: str) -> RowsBack | LabelsBack:
        entry = which(self._declaration, path)
        if entry is None or entry.holds == "dialogues":
            return self._turns
        return LabelsBack(self._declaration, row_labels.label_file_columns(self._declaration, path, entry.path))

    def write_file(self, first: StoredRecord, others: Iterator[StoredRecord]) -> Iterator[bytes]:
        """Write a file from its envelope and its records."""
        envelope, path = literals(first.file.extra), PurePosixPath(first.path)
        if self._has_members(path):
            yield from file_back(first, others)
            return
        rows = self._rows(first, others, envelope)
        yield from write_rows_of(envelope, in_order_of_lines(rows) if SCATTERED in envelope else rows, path)

    def _has_members(self, path: PurePosixPath) -> bool:
        return self._is_convokit and file_kind(path) != "utterances"

    def _rows(self, first: StoredRecord, others: Iterator[StoredRecord], envelope: Envelope) -> Iterator[StoredRow]:
        raw = envelope.get(REFUSED, Raw(b"{}"))
        refused = msgspec.json.decode(raw, type=dict[str, list[tuple[int, int]]])
        back, shapes, has_cells = self._back(first.path), KnownShapes(envelope), is_csv(PurePosixPath(first.path))
        for stored in chain([first], others):
            if stored.raw is not None:
                yield from _refused_rows(stored, refused)
            elif stored.record is not None:
                yield from back.rows(stored, shapes, is_csv=has_cells)

    def write_record(self, stored: StoredRecord) -> bytes:
        """Write the rows of a record alone, one below the other."""
        if self._has_members(PurePosixPath(stored.path)):
            return record_back(stored)
        shapes = KnownShapes(literals(stored.file.extra))
        rows = self._back(stored.path).rows(stored, shapes, is_csv=is_csv(PurePosixPath(stored.path)))
        return b"\n".join(row.as_object() for row in sorted(rows, key=lambda row: row.line))


def _refused_rows(stored: StoredRecord, refused: Mapping[str, list[tuple[int, int]]]) -> Iterator[StoredRow]:
    """Yield the rows of a record in quarantine, verbatim; ``refused``: the lines and bytes of those with several."""
    raw, pointer = stored.raw or b"", stored.pointer
    start = 0
    for line, size in refused.get(pointer, [(int(pointer.removeprefix("/")), len(raw))]):
        yield StoredRow(line, {}, verbatim=raw[start : start + size])
        start += size + 1


def write_rows_of(envelope: Envelope, rows: Iterable[StoredRow], path: PurePosixPath) -> Iterator[bytes]:
    """Write rows as a file of this path."""
    if is_csv(path):
        return write_rows(envelope, _columns(envelope), map(_written, rows), path)
    records = (
        WrittenRecord(f"/{number}", row.verbatim or row.as_object(), is_verbatim=row.verbatim is not None)
        for number, row in enumerate(rows)
    )
    return write_records(envelope, records, path)


def _columns(envelope: Envelope) -> list[str]:
    shapes = literals(bytes(envelope["shapes"]).decode()) if "shapes" in envelope else {}
    known: dict[str, dict[str, Raw]] = msgspec.json.decode(shapes.get(LEVEL, b"{}"), type=dict[str, dict[str, Raw]])
    return [*next(iter(known.values()), {})]


def _written(row: StoredRow) -> WrittenRow:
    if row.verbatim is not None:
        return WrittenRow((), verbatim=row.verbatim)
    return WrittenRow([msgspec.json.decode(cell, type=str) for cell in row.cells.values()], row.as_written)
