"""Rows as frames: a column for each placeholder, and one of what no placeholder takes, as the members of a JSON object.

Columns of a frame: ``line`` (of the file, from 0), the placeholders as texts (null: nothing is said), times as times,
``rest`` (the members that go to ``extra``, without the braces), and of JSON rows ``numbers``: the placeholders whose
cell is a literal, not a string.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec
import polars as pl

from talkhouse.ingest.declared.declaration.model import ISO, MOMENTS, Declaration
from talkhouse.ingest.declared.identity import joined_ids
from talkhouse.ingest.declared.record_files import CSV, TEXTS
from talkhouse.ingest.declared.record_files.content import RecordFile, RowTable, ending
from talkhouse.ingest.declared.record_files.csv_cells import names
from talkhouse.ingest.declared.record_files.csv_files import CsvRows
from talkhouse.ingest.declared.record_files.text_files import LineRows
from talkhouse.ingest.declared.rows.columns import BEGUN, ID, LEVEL, TEXT, TIMES, RowColumns, TimeColumns
from talkhouse.ingest.declared.shapes import Shapes, Spelling, alias
from talkhouse.ingest.declared.times import Offsets, offset_of, read_moments, read_times
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.outcomes import ReaderFinding

RAW = "raw"
"""The row itself, where it may have to go to the quarantine alone."""

PROBLEM = "problem"
"""Next to the row itself: why its dialogue can't be loaded, as JSON; else null."""

GIVEN = "found"
"""Labels inside a row, as JSON."""


class RowProblem(NamedTuple):
    """Why the dialogue of a row can't be loaded, as that column has it in JSON."""

    rule: str
    detail: str
    pointer: str


class BadRow(Exception):
    """A row whose dialogue can't be loaded: it is to be read again, with each row itself."""


class RowFrames(ABC):
    """A file as frames: iterate it once; BadRecord where the file is to be refused, BadRow where rows are wanted."""

    is_csv: bool

    _file: CsvRows | LineRows | RecordFile

    def __init__(self, columns: RowColumns, declaration: Declaration, shapes: Shapes, *, with_raw: bool) -> None:
        self._columns, self._shapes, self._with_raw = columns, shapes, with_raw
        self._keepers, self._id_parts = columns.keepers, columns.id_parts
        forms = {**dict.fromkeys(TIMES, ISO), **declaration.times}
        self._forms = {placeholder: form for placeholder, form in forms.items() if placeholder in columns.placeholders}
        self._times = {placeholder: TimeColumns.of(placeholder) for placeholder in self._forms}
        self.offsets = Offsets()
        """Of the times that were read."""
        self.findings: list[ReaderFinding] = []
        """What was found in rows; known when they were read."""
        self.empty = 0
        """Rows without a text."""
        self.first_empty = ""
        """Where the first of them stands."""

    @abstractmethod
    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in order."""

    def _see_offsets(self, frame: pl.DataFrame) -> None:
        for placeholder, form in self._forms.items():
            if form == ISO and placeholder not in MOMENTS:
                of_time = self._times[placeholder]
                self.offsets.has_others |= frame[of_time.bad].null_count() < len(frame)
                times = frame.select(text=placeholder, value=of_time.value, how=of_time.how)
                for text in times.drop_nulls("value").unique("how")["text"]:
                    self.offsets.add(placeholder, offset_of(text))
                for text in times.drop_nulls("value").filter(pl.col("how").is_null())["text"].unique():
                    self.offsets.add(placeholder, offset_of(text))

    @property
    def envelope(self) -> dict[str, Any]:
        """The facts about the file other than its rows, with their shapes, once they were read."""
        return self._file.envelope | self._shapes.envelope()


def times(texts: pl.Series, form: str, *, is_number: bool = False) -> list[pl.Series]:
    """Read a column of times or moments: the values, how each is written, and the texts of another form."""
    read = read_moments(texts, form) if texts.name in MOMENTS else read_times(texts, form, is_number=is_number)
    return [read[column].alias(name) for column, name in TimeColumns.of(texts.name)._asdict().items()]


def filled(texts: pl.Series) -> pl.Series:
    """Return the cells, null where one is empty."""
    return pl.select(pl.when(texts != "").then(texts)).to_series()


def members(texts: Mapping[str, pl.Series]) -> pl.Series:
    """Write columns of texts as the members of JSON objects, without their braces; one may have the empty name."""
    objects = pl.DataFrame(dict(texts)).select(
        pl.struct(pl.all()).struct.json_encode().str.slice(1).str.strip_suffix("}")
    )
    return objects.to_series()


def member(key: str, texts: pl.Series, where: pl.Series) -> pl.Series:
    """Write texts as members of this key, where that is needed; else null."""
    if not where.any():
        return pl.Series([None] * len(texts), dtype=pl.String)
    written = members({key: texts.fill_null("")})
    return pl.select(pl.when(where).then(written)).to_series()


def joined(pieces: list[pl.Series], height: int) -> pl.Series:
    """Join members; null where there are none."""
    named = pl.DataFrame([piece.alias(str(number)) for number, piece in enumerate(pieces)])
    if not named.width:
        return pl.Series([None] * height, dtype=pl.String)
    text = pl.concat_str(pl.all(), separator=",", ignore_nulls=True)
    return named.select(pl.when(text != "").then(text)).to_series()


def shape_member(number: int | Mapping[str, Any]) -> str | None:
    """Write the number of a shape as a member of ``extra``; None for the usual one, which is left out."""
    return None if number == 0 else '"shape":' + msgspec.json.encode(number).decode()


_SHOWN = 50
"""Columns that a message names."""


class CsvFrames(RowFrames):
    """A CSV file as frames."""

    is_csv = True

    def __init__(
        self, file: CsvRows | LineRows, columns: RowColumns, declaration: Declaration, shapes: Shapes, *, with_raw: bool
    ) -> None:
        """Raises BadRecord GF-12 where a declared column is not there, or twice."""
        super().__init__(columns, declaration, shapes, with_raw=with_raw)
        self._file: CsvRows | LineRows = file
        check_header(file.columns, columns.declared)
        for placeholder in columns.fallbacks:
            check_some(file.columns, columns.placeholders[placeholder])
        self._names = names(file.columns)
        self._holders = {name: self._keepers.get(name) for name in self._names}
        self._usual: dict[str, str] = {}
        """How the first time of a column is written."""

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield a frame for each chunk."""
        if not self._with_raw:
            yield from map(self._frame, self._file.tables())
            return
        for table in self._file.tables():
            yield self._frame(table).with_columns(table.texts.alias(RAW))

    def _frame(self, rows: RowTable) -> pl.DataFrame:
        # Not by ``pl.col``, which takes a column's name for a pattern if it looks like one.
        table = dict(zip(self._names, rows.cells.get_columns(), strict=True))
        columns = [rows.lines.alias("line")]
        for placeholder, (column, *others) in self._columns.placeholders.items():
            if placeholder in self._columns.fallbacks:
                cell = _first_said([table[name] for name in (column, *others) if name in table])
                cell = cell.fill_null("") if placeholder == TEXT else cell
            else:
                cell = table[column]
            is_whole = placeholder in (TEXT, ID) or placeholder in self._id_parts
            columns.append((cell if is_whole else filled(cell)).alias(placeholder))
        if rows.dialogues is not None:
            columns.append(rows.dialogues.alias(BEGUN))
        frame = pl.DataFrame(columns)
        if self._id_parts:
            frame = frame.with_columns(joined_ids(frame[part] for part in self._id_parts).alias(ID))
        hows: list[str] = []
        for placeholder, form in self._forms.items():
            frame = frame.with_columns(times(frame[placeholder], form))
            hows += [placeholder] if placeholder in self._holders.values() else []
        self._see_offsets(frame)
        rest = [self._shape_numbers(frame, hows), _as_written(rows)]
        free = [name for name, placeholder in self._holders.items() if placeholder is None]
        rest += [members({alias(name): table[name] for name in free})] if free else []
        rest += [
            # A time that the column does not give back stays as it is.
            member(
                alias(name),
                frame[placeholder],
                frame[placeholder].is_not_null() & frame[self._times[placeholder].how].is_null(),
            )
            for name, placeholder in self._holders.items()
            if placeholder in hows
        ]
        return frame.with_columns(rest=joined([piece for piece in rest if piece is not None], len(frame)))

    def _shape_numbers(self, frame: pl.DataFrame, hows: list[str]) -> pl.Series | None:
        """Return the number of each row's shape where it is not 0; shapes differ in how times are written."""
        if not hows:
            number = shape_member(self._shapes.number(LEVEL, dict(self._holders)))
            return None if number is None else pl.repeat(number, len(frame), eager=True)
        for placeholder in hows:  # an empty cell, and one that stays in extra, may have any shape
            known = frame[self._times[placeholder].how].drop_nulls()
            if len(known):
                self._usual.setdefault(placeholder, known[0])
        written = [
            frame[self._times[placeholder].how].fill_null(self._usual.get(placeholder, "")).alias(placeholder)
            for placeholder in hows
        ]
        keys = pl.DataFrame(written)
        ways = keys.unique(maintain_order=True)
        numbers = []
        for way in ways.iter_rows(named=True):
            names_of = {placeholder: str(Spelling(placeholder, form=how)) for placeholder, how in way.items()}
            shape = {name: names_of.get(placeholder or "", placeholder) for name, placeholder in self._holders.items()}
            numbers.append(shape_member(self._shapes.number(LEVEL, shape)))
        ways = ways.with_columns(pl.Series("number", numbers, pl.String))
        return keys.join(ways, on=hows, how="left", maintain_order="left")["number"]


def _first_said(cells: Sequence[pl.Series]) -> pl.Series:
    """Return of each row the first cell that is not empty, else null."""
    named = pl.DataFrame([filled(cell).alias(str(number)) for number, cell in enumerate(cells)])
    return named.select(pl.coalesce(pl.all())).to_series()


def _as_written(rows: RowTable) -> pl.Series | None:
    if not rows.as_written:
        return None
    written: list[str | None] = [None] * len(rows.lines)
    for position, cells in rows.as_written.items():
        written[position] = '"cells":' + msgspec.json.encode(cells).decode()
    return pl.Series(written, dtype=pl.String)


def check_header(columns: list[str], declared: Iterable[str]) -> None:
    """Raise BadRecord GF-12 for a declared column that a file does not have, or has twice."""
    for name in declared:
        times_there = columns.count(name)
        if times_there != 1:
            problem = "is missing" if not times_there else "occurs twice"
            more = f" and {len(columns) - _SHOWN:,} more" if len(columns) > _SHOWN else ""
            known = ", ".join(columns[:_SHOWN]) + more
            raise BadRecord("GF-12", f"the column '{name}' {problem}; the columns are: {known}", "/0")


def check_some(columns: list[str], declared: Sequence[str]) -> None:
    """Raise BadRecord GF-12 where a file has none of some columns, or one of them twice."""
    there = [name for name in declared if name in columns]
    check_header(columns, there or declared[:1])


def is_csv(path: PurePosixPath) -> bool:
    """Whether a file has cells, not objects, by its path."""
    return ending(path) in (*CSV, *TEXTS)
