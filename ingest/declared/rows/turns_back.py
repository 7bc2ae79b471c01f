"""Turns and annotations back to the rows of files."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import UNIX, Declaration
from talkhouse.ingest.declared.rows.columns import ID, SAID_AT, RowColumns
from talkhouse.ingest.declared.rows.label_rows import LabelFileColumns, cells_of, hole_of, order_of
from talkhouse.ingest.declared.rows.stored_row import LEVEL, StoredRow, cell
from talkhouse.ingest.declared.shapes import NULL, KnownShapes, alias
from talkhouse.ingest.declared.speakers import Roles
from talkhouse.ingest.declared.times import write_time
from talkhouse.ingest.decode import literals, pointer
from talkhouse.ingest.rows import Annotation, Turn
from talkhouse.ingest.stored_record import StoredRecord


class RowsBack:
    """Writes the rows of records of one corpus."""

    def __init__(self, declaration: Declaration, columns: RowColumns) -> None:
        self._declaration = declaration
        self._roles = Roles(declaration)
        self._labels = {label.hole: label for label in columns.labels}
        self._within = declaration.speaker.scope == "dialogue"

    def rows(self, stored: StoredRecord, shapes: KnownShapes, *, is_csv: bool) -> Iterator[StoredRow]:
        """Yield the rows of a record, in the order of its turns."""
        extra = literals(stored.loaded.extra)
        lines: list[int] = msgspec.json.decode(extra.get("lines", Raw(b"[]")))
        differs: dict[str, Raw] = msgspec.json.decode(extra.get("differs", Raw(b"{}")), type=dict[str, Raw])
        first = int(stored.pointer.removeprefix("/"))
        for turn in stored.turns:
            at = pointer(turn.turn_index)
            own = differs.get(at)
            kept = literals(turn.extra if own is None else bytes(own).decode())
            text_of = partial(self._text, turn, stored)
            cells: dict[str, bytes] = {}
            for key, hole in shapes.of(LEVEL, kept).items():
                raw = differs.get(at + pointer(key), kept.get(alias(key))) if differs else kept.get(alias(key))
                cells[key] = bytes(raw) if raw is not None else self._cell(hole, text_of, turn, stored, is_csv=is_csv)
            yield StoredRow.of(lines[turn.turn_index] if lines else first, cells, kept)

    def _cell(
        self, hole: str, text_of: Callable[[str], str | None], turn: Turn, stored: StoredRecord, *, is_csv: bool
    ) -> bytes:
        """Write the cell that a hole gives back."""
        name, is_time, how = hole.partition("@")
        if not is_time:
            return cell(hole, text_of, is_csv=is_csv)
        time = turn.said_at if name == SAID_AT else stored.dialogue.started_at if stored.dialogue else None
        if time is None:
            return cell(name + NULL, text_of, is_csv=is_csv)
        text = write_time(time, how)
        return text.encode() if how in UNIX else msgspec.json.encode(text)

    def _text(self, turn: Turn, stored: StoredRecord, hole: str) -> str | None:
        """Return the text of a cell."""
        match hole:
            case "text":
                return turn.text
            case "dialogue.id":
                return stored.loaded.native_id
            case "id":
                return turn.native_id
            case "role":
                return self._roles.theirs(turn.role)
            case "speaker":
                return self._speaker(turn)
            case "kind":
                return turn.kind
            case "order":
                return str(turn.turn_index)
            case "reply_to":
                return self._reply(turn, stored)
            case "start_ms" | "end_ms":
                number = getattr(turn, hole)
                return None if number is None else str(number)
            case "name":
                return stored.speakers[turn.speaker_id].name if turn.speaker_id else None
            case "split":
                return stored.loaded.split
            case "title" | "domain" | "language":
                fact: str | None = getattr(stored.dialogue, hole)
                return fact
        return self._label(hole, turn, stored)

    def _speaker(self, turn: Turn) -> str | None:
        begin = f"{turn.dialogue_id}/" if self._within else f"{self._declaration.corpus_id}:"
        return None if turn.speaker_id is None else turn.speaker_id.removeprefix(begin)

    def _reply(self, turn: Turn, stored: StoredRecord) -> str | None:
        if turn.reply_to is None:
            return None
        return stored.turns[turn.reply_to].native_id if self._declaration.turn.id else str(turn.reply_to)

    def _label(self, hole: str, turn: Turn, stored: StoredRecord) -> str | None:
        """Return the label that a column has; a cell without one has the first value that is none."""
        label = self._labels.get(hole)
        if label is None:
            return None
        index = turn.turn_index if label.is_of_turn else None
        for row in stored.annotations_by_turn[index]:
            if row.scheme == label.scheme and row.annotator_index == label.annotator_index:
                return label.missing[0] if row.label is None else row.label
        return label.missing[0]


class LabelsBack:
    """Writes the rows of records of a file of labels."""

    def __init__(self, declaration: Declaration, named: LabelFileColumns) -> None:
        self._declaration, self._named = declaration, named
        self._specs = {declaration.scheme(spec.scheme): spec for spec in named.specs}

    def rows(self, stored: StoredRecord, shapes: KnownShapes, *, is_csv: bool) -> Iterator[StoredRow]:
        """Yield the rows of a record, in the order of its annotations, those without one behind them."""
        record = literals(stored.loaded.extra)
        in_order = sorted(stored.annotations, key=order_of)
        first = int(stored.pointer.removeprefix("/"))
        numbers = range(first, first + len(in_order))
        lines: list[int] = msgspec.json.decode(record["lines"]) if "lines" in record else list(numbers)
        by_line: defaultdict[int, list[Annotation]] = defaultdict(list)
        for line, annotation in zip(lines, in_order, strict=True):
            by_line[line].append(annotation)
        for line, annotations in by_line.items():
            extra: dict[str, Raw] = {}
            texts: dict[str, str | None] = {ID: stored.loaded.native_id}
            for annotation in annotations:
                extra |= literals(annotation.extra)
                texts |= self._texts(annotation, stored)
            yield self._row(line if "lines" in record else first, texts, extra, shapes, is_csv=is_csv)
        bare = msgspec.json.decode(record.get("differs", Raw(b"{}")), type=dict[str, Raw])
        for at, raw in bare.items():
            texts = {ID: stored.loaded.native_id}
            extra = literals(bytes(raw).decode())
            yield self._row(int(at.removeprefix("/")), texts, extra, shapes, is_csv=is_csv)

    def _texts(self, annotation: Annotation, stored: StoredRecord) -> dict[str, str | None]:
        spec = self._specs[annotation.scheme]
        turn = None if annotation.turn_index is None else stored.turns[annotation.turn_index]
        name = turn.native_id if turn is not None and self._declaration.turn.id else str(annotation.turn_index)
        is_utf16 = spec.offsets == "utf-16"
        cells = cells_of(annotation, name, "" if turn is None else turn.text, is_utf16=is_utf16)
        return {hole_of(spec, field): text for field, text in cells.items()}

    def _row(
        self, line: int, texts: dict[str, str | None], extra: dict[str, Raw], shapes: KnownShapes, *, is_csv: bool
    ) -> StoredRow:
        cells = {}
        for key, hole in shapes.of(LEVEL, extra).items():
            raw = extra.get(alias(key))
            cells[key] = bytes(raw) if raw is not None else cell(hole, texts.get, is_csv=is_csv)
        return StoredRow.of(line, cells, extra)
