"""The labels of one dialogue in a file of labels: from rows to annotations."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, matches
from talkhouse.ingest.declared.documents.labels import Offsets
from talkhouse.ingest.declared.rows.columns import ID, Hole, RowColumns
from talkhouse.ingest.declared.rows.known_dialogues import KnownDialogue
from talkhouse.ingest.declared.rows.spool import POSITION
from talkhouse.ingest.declared.shapes import alias, rounded
from talkhouse.ingest.decode import BadRecord, dump, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Annotation, Record

FIELDS = ("turn", "label", "value", "annotator", "start", "end")


@dataclass(frozen=True)
class LabelFileColumns:
    """The columns of one file of labels."""

    columns: RowColumns
    specs: tuple[Annotations, ...]
    """The schemes that have labels there."""


def label_file_columns(declaration: Declaration, path: str, pattern: str) -> LabelFileColumns:
    """Return what the columns of a file of labels are, by the ``[[annotations]]`` that take labels from it."""
    specs = tuple(
        spec
        for spec in declaration.annotations
        if spec.from_file is not None and (spec.from_file == pattern or matches(spec.from_file, path))
    )
    holes: dict[Hole, tuple[str, ...]] = {}
    for spec in specs:
        if spec.dialogue:
            holes.setdefault(ID, (str(spec.dialogue[0]),))
    for spec in specs:
        for field in FIELDS:
            column = getattr(spec, field)
            if column:
                holes[hole_of(spec, field)] = (str(column[0]),)
    return LabelFileColumns(RowColumns(holes), specs)


def hole_of(spec: Annotations, field: str) -> Hole:
    """Return the hole of a field of a scheme's labels."""
    return f"{field}:{spec.scheme}"


def to_number(text: str) -> float | None:
    """Read a number; None where there is none, or one that JSON does not have."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def number_text(value: float) -> str:
    """Write a number in the one way that a column gives back: without the ``.0`` of a whole one."""
    return repr(value).removesuffix(".0")


def offset_text(index: int, text: str, *, is_utf16: bool) -> str:
    """Write a place in a text, in code points or in units of UTF-16."""
    return str(len(text[:index].encode("utf-16-le")) // 2 if is_utf16 else index)


class LabelRows:
    """The rows of one dialogue's labels."""

    def __init__(self, declaration: Declaration, named: LabelFileColumns, rows: pl.DataFrame, *, is_csv: bool) -> None:
        self._declaration, self._named, self._is_csv = declaration, named, is_csv
        self._rows = rows.rows(named=True)
        self._keepers = named.columns.keepers
        self.lines: list[int] = rows["line"].to_list()
        positions = rows[POSITION]
        self.is_apart = bool(positions[-1] - positions[0] >= len(positions))
        """Whether rows of other dialogues stand between them."""
        self.is_scattered = False
        """Whether the rows are not in the order of the annotations, one each; known when they were read."""
        self._annotators: dict[tuple[int | None, str], list[str | None]] = {}
        self._items: Counter[tuple[int | None, str, int]] = Counter()
        self._findings: list[ReaderFinding] = []

    def read(self, record: Record, dialogue: KnownDialogue) -> tuple[list[Annotation], list[ReaderFinding]]:
        """Make the annotations of a record, and what it has to keep; BadRecord GF-15 for a turn that is not there."""
        made: list[tuple[Annotation, int]] = []
        bare: dict[str, Raw] = {}
        for row in self._rows:
            given: dict[str, Annotation] = {}
            for spec in self._named.specs:
                annotation = self._annotation(spec, row, record, dialogue)
                if annotation is not None:
                    given[spec.scheme] = annotation
            extra = self._extra(row, given, dialogue)
            if given:
                next(iter(given.values())).extra = extra
                made += [(annotation, row["line"]) for annotation in given.values()]
            else:
                bare[pointer(row["line"])] = Raw((extra or "{}").encode())
        in_order = sorted(made, key=lambda pair: order_of(pair[0]))
        lines = [line for _, line in in_order]
        self.is_scattered = self.is_apart or lines != self.lines
        kept = {"lines": lines} if self.is_scattered else {}
        record.extra = dump(kept | ({"differs": bare} if bare else {}))
        return [annotation for annotation, _ in in_order], self._findings

    def _annotation(
        self, spec: Annotations, row: dict[str, Any], record: Record, dialogue: KnownDialogue
    ) -> Annotation | None:
        label, number = row.get(hole_of(spec, "label")), row.get(hole_of(spec, "value"))
        label = None if label in (spec.missing_values or ("",)) else label
        value = self._number(spec, number, row) if number is not None else None
        turn = self._turn(spec, row, dialogue)
        if label is None and value is None:
            return None
        scheme = self._declaration.scheme(spec.scheme)
        name = row.get(hole_of(spec, "annotator"))
        annotators = self._annotators.setdefault((turn, scheme), [])
        if name not in annotators:
            annotators.append(name)
        annotator = annotators.index(name)
        item = self._items[turn, scheme, annotator]
        self._items[turn, scheme, annotator] += 1
        start, end = self._span(spec, row, turn, dialogue)
        return record.annotation(
            turn,
            scheme,
            label,
            value,
            annotator_index=annotator,
            annotator_id=name,
            item_index=item,
            start_index=start,
            end_index=end,
        )

    def _turn(self, spec: Annotations, row: dict[str, Any], dialogue: KnownDialogue) -> int | None:
        if spec.turn is None:
            return None
        name = row[hole_of(spec, "turn")]
        index = dialogue.turn(name) if name is not None else None
        if index is None:
            raise BadRecord("GF-15", f"line {row['line'] + 1:,}: the dialogue has no turn {name or ''!r:.100}")
        return index

    def _number(self, spec: Annotations, text: str, row: dict[str, Any]) -> float | None:
        if text in (spec.missing_values or ("",)):
            return None
        number = to_number(text)
        if number is None:
            self._find("GF-01", spec, "value", row, f"{text!r:.100} is no number")
        elif detail := rounded(text, number):
            self._find("GF-21", spec, "value", row, detail)
        return number

    def _span(
        self, spec: Annotations, row: dict[str, Any], turn: int | None, dialogue: KnownDialogue
    ) -> tuple[int | None, int | None]:
        start, end = row.get(hole_of(spec, "start")), row.get(hole_of(spec, "end"))
        if turn is None or (start is None and end is None):
            return None, None
        span = Offsets(spec.offsets).span(start or "", end or "", dialogue.texts[turn])
        if span is None:
            self._find(
                "GF-08", spec, "start", row, f"the span {start or '':.20} to {end or '':.20} is not inside its text"
            )
        return span or (None, None)

    def _find(self, rule: str, spec: Annotations, field: str, row: dict[str, Any], detail: str) -> None:
        column = self._named.columns.holes[hole_of(spec, field)][0]
        at = pointer(row["line"], column)
        self._findings.append(ReaderFinding(rule, detail, pointer=at, severity="warn"))

    def _extra(self, row: dict[str, Any], given: dict[str, Annotation], dialogue: KnownDialogue) -> str | None:
        """Return what the annotations of a row don't give back of it."""
        members = [row["rest"]] if row["rest"] else []
        back = {hole_of(spec, field): text for spec, field, text in self._given_back(given, dialogue)}
        for column, hole in self._keepers.items():
            text = row[hole]
            if hole != ID and back.get(hole) != text and (text is not None or self._is_csv):
                members.append(f"{msgspec.json.encode(alias(column)).decode()}:{self._literal(hole, row)}")
        return "{" + ",".join(members) + "}" if members else None

    def _given_back(
        self, given: dict[str, Annotation], dialogue: KnownDialogue
    ) -> Iterator[tuple[Annotations, str, str | None]]:
        """Yield what columns give back of a row."""
        for spec in self._named.specs:
            if (annotation := given.get(spec.scheme)) is not None:
                turn = annotation.turn_index
                ids = dialogue.ids
                name = None if turn is None else ids[turn] if ids is not None else str(turn)
                text = "" if turn is None else dialogue.texts[turn]
                for field, value in cells_of(annotation, name, text, is_utf16=spec.offsets == "utf-16").items():
                    yield spec, field, value

    def _literal(self, hole: Hole, row: dict[str, Any]) -> str:
        text = row[hole]
        is_number = hole in (row.get("numbers") or "").split(" ")
        return text if is_number and text is not None else msgspec.json.encode(text or "").decode()

    def texts(self) -> list[bytes]:
        """Return the rows, verbatim."""
        return [row["raw"].encode() for row in self._rows]


def cells_of(annotation: Annotation, turn: str | None, text: str, *, is_utf16: bool) -> dict[str, str | None]:
    """Return the texts that an annotation gives back: field -> cell."""
    start, end = annotation.start_index, annotation.end_index
    return {
        "turn": turn,
        "label": annotation.label,
        "value": None if annotation.value is None else number_text(annotation.value),
        "annotator": annotation.annotator_id,
        "start": None if start is None else offset_text(start, text, is_utf16=is_utf16),
        "end": None if end is None else offset_text(end, text, is_utf16=is_utf16),
    }


def order_of(annotation: Annotation) -> tuple[bool, int, int, str, int]:
    """Return by what annotations of a record are ordered, to find their rows again."""
    turn = annotation.turn_index
    return turn is None, turn or 0, annotation.annotator_index, annotation.scheme, annotation.item_index
