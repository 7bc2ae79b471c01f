"""CSV and TSV as frames."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import polars as pl

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.record_files.csv_cells import names
from talkhouse.ingest.declared.record_files.csv_tables import laid_out
from talkhouse.ingest.declared.record_files.record import RowFile, RowTable
from talkhouse.ingest.declared.rows.columns import ID, TEXT, TIMES, RowColumns
from talkhouse.ingest.declared.rows.frames import HOW, RAW, joined, member, members, said, shape_member, times
from talkhouse.ingest.declared.rows.stored_row import LEVEL
from talkhouse.ingest.declared.shapes import Shapes, alias
from talkhouse.ingest.declared.times import ISO
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.outcomes import ReaderFinding

_SHOWN = 50
"""Columns that a message names."""


class CsvFrames:
    """A CSV file as frames."""

    is_csv = True

    def __init__(
        self, file: RowFile, columns: RowColumns, declaration: Declaration, shapes: Shapes, *, with_raw: bool
    ) -> None:
        """Raises BadRecord GF-12 where a declared column is not there, or twice."""
        self._file, self._columns, self._shapes, self._with_raw = file, columns, shapes, with_raw
        self._forms = {hole: declaration.times.get(hole, ISO) for hole in TIMES}
        check_header(file.columns, columns.declared)
        self._names = names(file.columns)
        keepers = columns.keepers
        self._keepers = {name: keepers.get(name) for name in self._names}
        self.findings: list[ReaderFinding] = []
        self._usual: dict[str, str] = {}
        """How the first time of a column is written."""

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield a frame for each chunk."""
        if not self._with_raw:
            yield from map(self._frame, self._file.tables())
            return
        for chunk, texts in self._file.with_texts():
            raw = pl.Series(RAW, texts, pl.String).str.strip_suffix("\n").str.strip_suffix("\r")
            yield self._frame(laid_out(chunk)).with_columns(raw)

    @property
    def envelope(self) -> dict[str, Any]:
        """What the file is beside its rows, with their shapes."""
        return self._file.envelope | self._shapes.envelope()

    def _frame(self, rows: RowTable) -> pl.DataFrame:
        # Not by ``pl.col``, which takes a column's name for a pattern if it looks like one.
        table = dict(zip(self._names, rows.cells.get_columns(), strict=True))
        made = [rows.lines.alias("line")]
        for hole, (column, *_) in self._columns.holes.items():
            cell = table[column]
            made.append((cell if hole in (TEXT, ID) else said(cell)).alias(hole))
        frame = pl.DataFrame(made)
        hows: list[str] = []
        for hole in TIMES:
            if hole in self._columns.holes:
                frame = frame.with_columns(times(frame[hole], self._forms[hole]))
                hows += [hole] if hole in self._keepers.values() else []
        rest = [self._shape_numbers(frame, hows), _as_written(rows)]
        free = [name for name, hole in self._keepers.items() if hole is None]
        rest += [members({alias(name): table[name] for name in free})] if free else []
        rest += [
            # A time that the column does not give back stays as it is.
            member(alias(name), frame[hole], frame[hole].is_not_null() & frame[hole + HOW].is_null())
            for name, hole in self._keepers.items()
            if hole in hows
        ]
        return frame.with_columns(rest=joined([piece for piece in rest if piece is not None], len(frame)))

    def _shape_numbers(self, frame: pl.DataFrame, hows: list[str]) -> pl.Series | None:
        """Return the number of each row's shape where it is not 0; shapes differ in how times are written."""
        if not hows:
            number = shape_member(self._shapes.number(LEVEL, dict(self._keepers)))
            return None if number is None else pl.repeat(number, len(frame), eager=True)
        for hole in hows:  # an empty cell, and one that stays in extra, may have any shape
            known = frame[hole + HOW].drop_nulls()
            if len(known):
                self._usual.setdefault(hole, known[0])
        written = [frame[hole + HOW].fill_null(self._usual.get(hole, "")).alias(hole) for hole in hows]
        keys = pl.DataFrame(written)
        ways = keys.unique(maintain_order=True)
        numbers = []
        for way in ways.iter_rows(named=True):
            names_of = {hole: f"{hole}@{how}" if how else hole for hole, how in way.items()}
            shape = {name: names_of.get(hole or "", hole) for name, hole in self._keepers.items()}
            numbers.append(shape_member(self._shapes.number(LEVEL, shape)))
        ways = ways.with_columns(pl.Series("number", numbers, pl.String))
        return keys.join(ways, on=hows, how="left", maintain_order="left")["number"]


def _as_written(rows: RowTable) -> pl.Series | None:
    """Return the cells that the dialect would write otherwise."""
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
            problem = "is not there" if not times_there else "is there twice"
            more = f" and {len(columns) - _SHOWN:,} more" if len(columns) > _SHOWN else ""
            known = ", ".join(columns[:_SHOWN]) + more
            raise BadRecord("GF-12", f"the column '{name}' {problem}; the columns are: {known}", "/0")
