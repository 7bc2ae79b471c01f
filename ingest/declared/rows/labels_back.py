"""Annotations back to the rows of files of labels."""

from collections import defaultdict
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.rows.columns import ID
from talkhouse.ingest.declared.rows.label_columns import LabelFileColumns, hole_of
from talkhouse.ingest.declared.rows.label_rows import cells_of, order_of
from talkhouse.ingest.declared.rows.stored_row import LEVEL, StoredRow, cell
from talkhouse.ingest.declared.shapes import KnownShapes, alias
from talkhouse.ingest.decode import literals
from talkhouse.ingest.rows import Annotation
from talkhouse.ingest.stored_record import StoredRecord


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
