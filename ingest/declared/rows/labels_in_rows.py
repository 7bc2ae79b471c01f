"""Labels in the columns of turns: a rater a column, or a label with its number, annotator and span beside it."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import polars as pl

from talkhouse.ingest.declared.documents.labels import Given, Offsets
from talkhouse.ingest.declared.rows.columns import TEXT, Hole, LabelColumn, RowColumns
from talkhouse.ingest.declared.rows.facts import Kept
from talkhouse.ingest.declared.rows.frames import GIVEN
from talkhouse.ingest.declared.rows.replies import TURN_INDEX
from talkhouse.ingest.declared.shapes import rounded
from talkhouse.ingest.rows import Annotation, ColumnBatch, Row


@dataclass
class LabelledRows:
    """Labels of some rows, the rows whose span is not inside its text, and odd numbers."""

    batches: list[ColumnBatch]
    outside: list[tuple[int, LabelColumn]]
    numbers: list[tuple[str, int, Hole, str]]
    """Numbers that the column does not have: rule, row, hole and detail."""


def labels_of(rows: pl.DataFrame, columns: RowColumns, kept: Kept) -> LabelledRows:
    """Make the labels of rows with their ``record_id``, ``dialogue_id`` and ``turn_index``."""
    made = LabelledRows([], [], [])
    for label in columns.labels:
        if label.hole in rows.columns:
            texts = rows[label.hole]
            kept.keep(label.hole, _not_given_back(texts, label, is_csv=kept.is_csv))
        if label.is_of_turn:
            numbers = _numbers(rows, label, made.numbers)
            made.batches += _batch(rows, label, numbers, made.outside)
    return made


def labels_inside(rows: pl.DataFrame) -> Iterator[Row]:
    """Make the labels that are inside JSON rows."""
    if GIVEN not in rows.columns:
        return
    found = rows.filter(pl.col(GIVEN).is_not_null()).select(GIVEN, "record_id", "dialogue_id", TURN_INDEX)
    for raw, record_id, dialogue_id, turn_index in found.iter_rows():
        for given in msgspec.json.decode(raw, type=list[Given]):
            yield Annotation(
                record_id,
                turn_index,
                None,
                None,
                given.scheme,
                given.annotator,
                given.item,
                dialogue_id,
                None,
                given.annotator_id,
                given.label,
                given.value,
                None,
                given.start,
                given.end,
            )


def _not_given_back(texts: pl.Series, label: LabelColumn, *, is_csv: bool) -> pl.Series:
    """Return which cells are no label, and another than what a cell without a label has."""
    others = [value for value in label.missing if value != label.missing[0]]
    is_other = texts.is_in(others).fill_null(value=False)
    return is_other | texts.is_null() if is_csv and label.missing[0] != "" else is_other


def _numbers(rows: pl.DataFrame, label: LabelColumn, odd: list[tuple[str, int, Hole, str]]) -> pl.Series:
    """Read the numbers of labels, null where there is none, and note those that are none or that are rounded."""
    if label.value is None:
        return pl.repeat(None, len(rows), dtype=pl.Float64, eager=True)
    texts = rows[label.value]
    numbers = texts.cast(pl.Float64, strict=False)
    numbers = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
    is_number = texts.is_not_null() & ~texts.is_in(list(label.missing))
    for row in (is_number & numbers.is_null()).arg_true():
        odd.append(("GF-01", row, label.value, f"{texts[row]!r:.100} is no number"))
    for row in (numbers.abs() >= 2**53).arg_true():
        if detail := rounded(texts[row], numbers[row]):
            odd.append(("GF-21", row, label.value, detail))
    return numbers


def _batch(
    rows: pl.DataFrame, label: LabelColumn, numbers: pl.Series, outside: list[tuple[int, LabelColumn]]
) -> Iterator[ColumnBatch]:
    is_label = pl.col("label").is_not_null() & ~pl.col("label").is_in(list(label.missing))
    given = rows.select(
        "record_id",
        "dialogue_id",
        TURN_INDEX,
        label=pl.col(label.hole) if label.hole in rows.columns else pl.lit(None, pl.String),
        value=numbers,
        annotator_id=pl.col(label.annotator) if label.annotator else pl.lit(label.annotator_id, pl.String),
        row=pl.int_range(pl.len()),
    ).with_columns(label=pl.when(is_label).then("label"))
    given = given.filter(pl.col("label").is_not_null() | pl.col("value").is_not_null())
    if not len(given):
        return
    shared = {"scheme": label.scheme, "annotator_index": label.annotator_index, "item_index": 0}
    made = given.drop("row").to_dict()
    if label.start and label.end:
        ends = rows.select(label.start, label.end, TEXT)[given["row"]]
        made |= _spans(ends, given["row"], label, outside)
    yield ColumnBatch(Annotation, shared, made)


def _spans(
    rows: pl.DataFrame, numbers: pl.Series, label: LabelColumn, outside: list[tuple[int, LabelColumn]]
) -> dict[str, pl.Series]:
    offsets = Offsets("utf-16" if label.is_utf16 else "code points")
    spans: list[tuple[int | None, int | None]] = []
    for number, (start, end, text) in zip(numbers, rows.iter_rows(), strict=True):
        span = offsets.span(start, end, text) if start is not None and end is not None else None
        if span is None and not (start is None and end is None):
            outside.append((number, label))
        spans.append(span or (None, None))
    starts, ends = zip(*spans, strict=True)
    return {
        "start_index": pl.Series("start_index", starts, pl.Int32),
        "end_index": pl.Series("end_index", ends, pl.Int32),
    }
