"""Labels in rows: in the columns of turns, and in files of their own, a row a label."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import msgspec
import polars as pl
from msgspec import Raw, Struct

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, matches
from talkhouse.ingest.declared.labels import ParsedLabel, span_of
from talkhouse.ingest.declared.rows.columns import ID, ID_PART, TEXT, TURN_ID, LabelColumn, Placeholder, RowColumns
from talkhouse.ingest.declared.rows.facts import OWNER, RowExtras
from talkhouse.ingest.declared.rows.frames import GIVEN
from talkhouse.ingest.declared.rows.replies import TURN_INDEX
from talkhouse.ingest.declared.rows.spool import SetAside, are_apart
from talkhouse.ingest.declared.shapes import alias, rounded
from talkhouse.ingest.decode import BadRecord, dump, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Annotation, ColumnBatch, Record, Row


class OddNumber(NamedTuple):
    """A number that the column of numbers does not have as the file says it."""

    rule: str
    row: int
    placeholder: Placeholder
    detail: str


@dataclass
class LabelledRows:
    """Labels of some rows, the rows whose span is not inside its text, and odd numbers."""

    batches: list[ColumnBatch]
    outside: list[tuple[int, LabelColumn]]
    numbers: list[OddNumber]


def labels_of(rows: pl.DataFrame, columns: RowColumns, extras: RowExtras) -> LabelledRows:
    """Make the labels of rows with their ``record_id``, ``dialogue_id`` and ``turn_index``."""
    labelled = LabelledRows([], [], [])
    for label in columns.labels:
        if label.placeholder in rows.columns:
            texts = rows[label.placeholder]
            extras.keep(label.placeholder, _not_given_back(texts, label, is_csv=extras.is_csv))
        if label.is_of_turn:
            numbers = _numbers(rows, label, labelled.numbers)
            labelled.batches += _batch(rows, label, numbers, labelled.outside)
    return labelled


def labels_inside(rows: pl.DataFrame) -> Iterator[Row]:
    """Make the labels that are inside JSON rows."""
    if GIVEN not in rows.columns:
        return
    found = rows.filter(pl.col(GIVEN).is_not_null()).select(GIVEN, "record_id", "dialogue_id", TURN_INDEX)
    for raw, record_id, dialogue_id, turn_index in found.iter_rows():
        for label in msgspec.json.decode(raw, type=list[ParsedLabel]):
            yield label._replace(turn_index=turn_index).row(record_id, dialogue_id)


def _not_given_back(texts: pl.Series, label: LabelColumn, *, is_csv: bool) -> pl.Series:
    others = [value for value in label.missing if value != label.missing[0]]
    is_other = texts.is_in(others).fill_null(value=False)
    return is_other | texts.is_null() if is_csv and label.missing[0] != "" else is_other


def _numbers(rows: pl.DataFrame, label: LabelColumn, odd: list[OddNumber]) -> pl.Series:
    """Read the numbers of labels, null where there is none, and note those that are none or that are rounded."""
    if label.value is None:
        return pl.repeat(None, len(rows), dtype=pl.Float64, eager=True)
    texts = rows[label.value]
    numbers = texts.cast(pl.Float64, strict=False)
    numbers = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
    is_number = texts.is_not_null() & ~texts.is_in(list(label.missing))
    for row in (is_number & numbers.is_null()).arg_true():
        odd.append(OddNumber("GF-01", row, label.value, f"{texts[row]!r:.100} is not a number"))
    for row in (numbers.abs() >= 2**53).arg_true():
        if detail := rounded(texts[row], numbers[row]):
            odd.append(OddNumber("GF-21", row, label.value, detail))
    return numbers


def _batch(
    rows: pl.DataFrame, label: LabelColumn, numbers: pl.Series, outside: list[tuple[int, LabelColumn]]
) -> Iterator[ColumnBatch]:
    is_label = pl.col("label").is_not_null() & ~pl.col("label").is_in(list(label.missing))
    labels = rows.select(
        "record_id",
        "dialogue_id",
        TURN_INDEX,
        label=pl.col(label.placeholder) if label.placeholder in rows.columns else pl.lit(None, pl.String),
        value=numbers,
        annotator_id=pl.col(label.annotator) if label.annotator else pl.lit(label.annotator_id, pl.String),
        row=pl.int_range(pl.len()),
    ).with_columns(label=pl.when(is_label).then("label"))
    labels = labels.filter(pl.col("label").is_not_null() | pl.col("value").is_not_null())
    if not len(labels):
        return
    shared = {"scheme": label.scheme, "annotator_index": label.annotator_index, "item_index": 0}
    columns = labels.drop("row").to_dict()
    if label.start and label.end:
        ends = rows.select(label.start, label.end, TEXT)[labels["row"]]
        columns |= _spans(ends, labels["row"], label, outside)
    yield ColumnBatch(Annotation, shared, columns)


def _spans(
    rows: pl.DataFrame, numbers: pl.Series, label: LabelColumn, outside: list[tuple[int, LabelColumn]]
) -> dict[str, pl.Series]:
    spans: list[tuple[int | None, int | None]] = []
    for number, (start, end, text) in zip(numbers, rows.iter_rows(), strict=True):
        span = span_of(start, end, text, is_utf16=label.is_utf16) if start is not None and end is not None else None
        if span is None and not (start is None and end is None):
            outside.append((number, label))
        spans.append(span or (None, None))
    starts, ends = zip(*spans, strict=True)
    return {
        "start_index": pl.Series("start_index", starts, pl.Int32),
        "end_index": pl.Series("end_index", ends, pl.Int32),
    }


class StoredDialogue(Struct, array_like=True, gc=False):
    """One dialogue."""

    dialogue_id: str
    texts: list[str]
    ids: list[str | None] | None
    """Of its turns, or None if no column has them."""

    def turn(self, name: str) -> int | None:
        """Return the index of the turn that a label names, by its id or else its index, or None if there is none."""
        if self.ids is not None:
            return self.ids.index(name) if name in self.ids else None
        is_index = name.isascii() and name.isdigit() and len(name) < 10
        return int(name) if is_index and int(name) < len(self.texts) else None


class DialogueStore(SetAside):
    """The dialogues of one build by the ids that their files have; of those with one id, the first."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[str, int] = {}

    def add_rows(self, dialogues: pl.DataFrame, rows: pl.DataFrame) -> None:
        """Remember the dialogues of a batch of rows, by their ids, or by their keys where they have none."""
        ids = [pl.col(TURN_ID)] if TURN_ID in rows.columns else []
        turns = rows.group_by(OWNER, maintain_order=True).agg(TEXT, *ids)
        turn_ids = turns[TURN_ID] if ids else [None] * len(turns)
        names = dialogues["within"] + dialogues["native_id"] if ID in rows.columns else dialogues["dialogue_id"]
        for name, dialogue_id, texts, own in zip(names, dialogues["dialogue_id"], turns[TEXT], turn_ids, strict=True):
            own_ids = None if own is None else own.to_list()
            if name not in self._places:
                dialogue = StoredDialogue(dialogue_id, texts.to_list(), own_ids)
                self._places[name] = self.add(msgspec.msgpack.encode(dialogue))

    def find(self, name: str) -> StoredDialogue | None:
        """Return a dialogue by its id, behind what that means one in (``ids_within``)."""
        place = self._places.get(name)
        return None if place is None else msgspec.msgpack.decode(self.read(place), type=StoredDialogue)


FIELDS = ("turn", "label", "value", "annotator", "start", "end")


@dataclass(frozen=True)
class LabelFileColumns:
    """The columns of one file of labels."""

    columns: RowColumns
    specs: tuple[Annotations, ...]
    """The schemes that have labels there."""


def label_file_columns(declaration: Declaration, path: str, pattern: str) -> LabelFileColumns:
    """Return the columns of a file of labels, by the ``[[annotations]]`` that take labels from it."""
    specs = tuple(
        spec
        for spec in declaration.annotations
        if spec.from_file is not None and (spec.from_file == pattern or matches(spec.from_file, path))
    )
    placeholders: dict[Placeholder, tuple[str, ...]] = {}
    for spec in specs:
        if spec.dialogue:
            placeholders.setdefault(ID, (str(spec.dialogue[0]),))
        for number, part in enumerate(spec.dialogue_parts):
            placeholders.setdefault(f"{ID_PART}{number}", (str(part[0]),))
    for spec in specs:
        for field in FIELDS:
            column = getattr(spec, field)
            if column:
                placeholders[placeholder_of(spec, field)] = (str(column[0]),)
    return LabelFileColumns(RowColumns(placeholders), specs)


def placeholder_of(spec: Annotations, field: str) -> Placeholder:
    """Return the placeholder of a field of a scheme's labels."""
    return f"{field}:{spec.scheme}"


def to_number(text: str) -> float | None:
    """Read a number, or None if there is none, or one that JSON does not have."""
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
        self._are_apart = are_apart(rows)
        self.is_scattered = False
        """Whether the rows are not in the order of the annotations, one each; known when they were read."""
        self._annotators: dict[tuple[int | None, str], list[str | None]] = {}
        self._items: Counter[tuple[int | None, str, int]] = Counter()
        self._findings: list[ReaderFinding] = []

    def read(self, record: Record, dialogue: StoredDialogue) -> tuple[list[Annotation], list[ReaderFinding]]:
        """Make the annotations of a record, and what it has to keep; BadRecord GF-15 for a turn that is not there."""
        loaded: list[tuple[Annotation, int]] = []
        bare: dict[str, Raw] = {}
        for row in self._rows:
            found: dict[str, Annotation] = {}
            for spec in self._named.specs:
                annotation = self._annotation(spec, row, record, dialogue)
                if annotation is not None:
                    found[spec.scheme] = annotation
            extra = self._extra(row, found, dialogue)
            if found:
                next(iter(found.values())).extra = extra
                loaded += [(annotation, row["line"]) for annotation in found.values()]
            else:
                bare[pointer(row["line"])] = Raw((extra or "{}").encode())
        in_order = sorted(loaded, key=lambda pair: order_of(pair[0]))
        lines = [line for _, line in in_order]
        self.is_scattered = self._are_apart or lines != self.lines
        order = {"lines": lines} if self.is_scattered else {}
        record.extra = dump(order | ({"differs": bare} if bare else {}))
        return [annotation for annotation, _ in in_order], self._findings

    def _annotation(
        self, spec: Annotations, row: dict[str, Any], record: Record, dialogue: StoredDialogue
    ) -> Annotation | None:
        label, number = row.get(placeholder_of(spec, "label")), row.get(placeholder_of(spec, "value"))
        label = None if label in (spec.missing_values or ("",)) else label
        value = self._number(spec, number, row) if number is not None else None
        turn = self._turn(spec, row, dialogue)
        if label is None and value is None:
            return None
        scheme = self._declaration.scheme(spec.scheme)
        name = row.get(placeholder_of(spec, "annotator"))
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

    def _turn(self, spec: Annotations, row: dict[str, Any], dialogue: StoredDialogue) -> int | None:
        if spec.turn is None:
            return None
        name = row[placeholder_of(spec, "turn")]
        index = dialogue.turn(name) if name is not None else None
        if index is None:
            raise BadRecord("GF-15", f"line {row['line'] + 1:,}: the dialogue has no turn {name or ''!r:.100}")
        return index

    def _number(self, spec: Annotations, text: str, row: dict[str, Any]) -> float | None:
        if text in (spec.missing_values or ("",)):
            return None
        number = to_number(text)
        if number is None:
            self._find("GF-01", spec, "value", row, f"{text!r:.100} is not a number")
        elif detail := rounded(text, number):
            self._find("GF-21", spec, "value", row, detail)
        return number

    def _span(
        self, spec: Annotations, row: dict[str, Any], turn: int | None, dialogue: StoredDialogue
    ) -> tuple[int | None, int | None]:
        start, end = row.get(placeholder_of(spec, "start")), row.get(placeholder_of(spec, "end"))
        if turn is None or (start is None and end is None):
            return None, None
        span = span_of(start or "", end or "", dialogue.texts[turn], is_utf16=spec.offsets == "utf-16")
        if span is None:
            self._find(
                "GF-08", spec, "start", row, f"the span {start or '':.20} to {end or '':.20} is not inside its text"
            )
        return span or (None, None)

    def _find(self, rule: str, spec: Annotations, field: str, row: dict[str, Any], detail: str) -> None:
        column = self._named.columns.placeholders[placeholder_of(spec, field)][0]
        at = pointer(row["line"], column)
        self._findings.append(ReaderFinding(rule, detail, pointer=at, severity="warn"))

    def _extra(self, row: dict[str, Any], found: dict[str, Annotation], dialogue: StoredDialogue) -> str | None:
        members = [row["rest"]] if row["rest"] else []
        back = self._given_back(found, dialogue)
        for column, placeholder in self._keepers.items():
            text = row[placeholder]
            is_id = placeholder == ID or placeholder.startswith(ID_PART)
            if not is_id and back.get(placeholder) != text and (text is not None or self._is_csv):
                members.append(f"{msgspec.json.encode(alias(column)).decode()}:{self._literal(placeholder, row)}")
        return "{" + ",".join(members) + "}" if members else None

    def _given_back(self, found: dict[str, Annotation], dialogue: StoredDialogue) -> dict[Placeholder, str | None]:
        """Return the cells that annotations give back."""
        back: dict[Placeholder, str | None] = {}
        for spec in self._named.specs:
            if (annotation := found.get(spec.scheme)) is not None:
                turn = annotation.turn_index
                ids = dialogue.ids
                name = None if turn is None else ids[turn] if ids is not None else str(turn)
                text = "" if turn is None else dialogue.texts[turn]
                cells = cells_of(annotation, name, text, is_utf16=spec.offsets == "utf-16")
                back |= {placeholder_of(spec, field): cell for field, cell in cells.items()}
        return back

    def _literal(self, placeholder: Placeholder, row: dict[str, Any]) -> str:
        text = row[placeholder]
        is_number = placeholder in (row.get("numbers") or "").split(" ")
        return text if is_number and text is not None else msgspec.json.encode(text or "").decode()


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
