"""Rows as frames: a column for each hole, and one of what no hole takes, as the members of a JSON object.

Columns of a frame: ``line`` (of the file, from 0), the holes as texts (null: nothing is said), times as times,
``rest`` (the members that go to ``extra``, without the braces), and of JSON rows ``numbers``: the holes whose cell is a
literal, not a string.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any, Protocol

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.record_files.csv_cells import names
from talkhouse.ingest.declared.record_files.record import BadRawRecord, RawRecord, RecordFile, RowChunk, RowFile
from talkhouse.ingest.declared.rows.columns import ID, TEXT, TIMES, RowColumns
from talkhouse.ingest.declared.rows.stored_row import LEVEL
from talkhouse.ingest.declared.shapes import NULL, Shapes, members_of
from talkhouse.ingest.declared.shapes import _alias as alias
from talkhouse.ingest.declared.times import ISO, read_time
from talkhouse.ingest.declared.values import LITERAL, is_null, kind_of, text_of
from talkhouse.ingest.decode import BadRecord, pointer

HOW = ".how"
"""Behind the name of a time: how the file writes it, for findings null where the column is null."""

BAD_TIME = ".bad"
"""Behind the name of a time: its text where it has another form than declared."""

KEY = ".key"
"""Behind the name of a hole that several columns may fill: the one that does."""

RAW = "raw"
"""The row itself, where it may have to go to the quarantine alone."""

_ROWS = 20_000
"""JSON rows in a frame."""


class RowFrames(Protocol):
    """A file as frames: iterate it once; BadRecord where the file is to be refused."""

    is_csv: bool

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in order."""

    @property
    def envelope(self) -> dict[str, Any]:
        """What the file is beside its rows, once they were read."""


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
        self._usual: dict[str, str] = {}
        """How the first time of a column is written."""

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield a frame for each chunk."""
        for chunk, texts in self._file.with_texts() if self._with_raw else zip(self._file, repeat([])):
            if chunk.rows:
                yield self._frame(chunk, texts)

    @property
    def envelope(self) -> dict[str, Any]:
        """What the file is beside its rows, with their shapes."""
        return self._file.envelope | self._shapes.envelope()

    def _frame(self, chunk: RowChunk, texts: list[str]) -> pl.DataFrame:
        cells = zip(*chunk.rows, strict=True)
        # Not by ``pl.col``, which takes a column's name for a pattern if it looks like one.
        table = {name: pl.Series(name, column, pl.String) for name, column in zip(self._names, cells, strict=True)}
        made = [pl.Series("line", chunk.lines, pl.Int64)]
        for hole, (column, *_) in self._columns.holes.items():
            cell = table[column]
            made.append((cell if hole in (TEXT, ID) else _said(cell)).alias(hole))
        frame = pl.DataFrame(made)
        if self._with_raw:
            raw = pl.Series(RAW, texts, pl.String).str.strip_suffix("\n").str.strip_suffix("\r")
            frame = frame.with_columns(raw)
        hows: list[str] = []
        for hole in TIMES:
            if hole in self._columns.holes:
                frame = frame.with_columns(times(frame[hole], self._forms[hole]))
                hows += [hole] if hole in self._keepers.values() else []
        rest = [self._shape_numbers(frame, hows), self._as_written(chunk)]
        free = [name for name, hole in self._keepers.items() if hole is None]
        rest += [members(pl.DataFrame([table[name].alias(alias(name)) for name in free]))] if free else []
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
            number = _shape_member(self._shapes.number(LEVEL, dict(self._keepers)))
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
            numbers.append(_shape_member(self._shapes.number(LEVEL, shape)))
        ways = ways.with_columns(pl.Series("number", numbers, pl.String))
        return keys.join(ways, on=hows, how="left", maintain_order="left")["number"]

    def _as_written(self, chunk: RowChunk) -> pl.Series | None:
        """Return the cells that the dialect would write otherwise."""
        if not chunk.cells:
            return None
        written: list[str | None] = [None] * len(chunk.rows)
        for position, cells in chunk.cells.items():
            written[position] = '"cells":' + msgspec.json.encode(cells).decode()
        return pl.Series(written, dtype=pl.String)


class JsonFrames:
    """A file of JSON objects, a row each, as frames."""

    is_csv = False

    def __init__(
        self, file: RecordFile, columns: RowColumns, declaration: Declaration, shapes: Shapes, *, with_raw: bool
    ) -> None:
        self._file, self._columns, self._shapes, self._with_raw = file, columns, shapes, with_raw
        self._forms = {hole: declaration.times.get(hole, ISO) for hole in TIMES}
        self._keepers, self._readers = columns.keepers, columns.readers()
        self._required = [hole for hole in (TEXT, ID) if hole in columns.holes]
        self._named = [hole for hole, names in columns.holes.items() if len(names) > 1]

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield a frame for so many rows; BadRecord for a row that is none."""
        batch: list[dict[str, Any]] = []
        for record in self._file:
            if isinstance(record, BadRawRecord):
                raise BadRecord(record.problem.rule, record.problem.detail, record.pointer + record.problem.pointer)
            batch.append(self._row(record))
            if len(batch) == _ROWS:
                yield self._frame(batch)
                batch = []
        if batch:
            yield self._frame(batch)

    @property
    def envelope(self) -> dict[str, Any]:
        """What the file is beside its rows, with their shapes."""
        return self._file.envelope | self._shapes.envelope()

    def _frame(self, batch: list[dict[str, Any]]) -> pl.DataFrame:
        schema: dict[str, Any] = {"line": pl.Int64} | dict.fromkeys(self._columns.holes, pl.String)
        for hole in TIMES:
            if hole in self._columns.holes:
                schema |= {f"{hole}.value": pl.Datetime("us"), hole + HOW: pl.String, hole + BAD_TIME: pl.String}
        schema |= {RAW: pl.String} if self._with_raw else {}
        schema |= {hole + KEY: pl.String for hole in self._named} | {"rest": pl.String, "numbers": pl.String}
        return pl.DataFrame([pl.Series(name, [row.get(name) for row in batch], kind) for name, kind in schema.items()])

    def _row(self, record: RawRecord) -> dict[str, Any]:
        """Take a row apart; BadRecord with the pointer in the file."""
        at = record.pointer
        row: dict[str, Any] = {"line": int(at.rpartition("/")[2])}
        shape: dict[str, str | None] = {}
        rest: list[str] = []
        numbers: list[str] = []
        if record.raw[:1] != b"{":
            raise BadRecord("GF-01", f"a row is {kind_of(Raw(record.raw))}, not an object", at)
        for key, raw in members_of(record.raw).items():
            name = self._take(key, raw, row, numbers, at) if key in self._readers else None
            shape[key] = name
            if name is None:
                rest.append(f"{_key(key)}{bytes(raw).decode()}")
        for hole in self._required:
            if row.get(hole) is None:
                wanted = " or ".join(repr(name) for name in self._columns.holes[hole])
                raise BadRecord("GF-01", f"{wanted} is missing", at)
        number = _shape_member(self._shapes.number(LEVEL, shape))
        row["rest"] = ",".join([number, *rest] if number else rest) or None
        row[RAW] = record.raw.decode() if self._with_raw else None
        row["numbers"] = " ".join(numbers) or None
        return row

    def _take(self, key: str, raw: Raw, row: dict[str, Any], numbers: list[str], at: str) -> str | None:
        """Read a cell for all that want it; returns how its keeper writes it, None where none gives it back."""
        keeper = self._keepers.get(key)
        written: str | None = None
        for hole in self._readers[key]:
            if hole in row and row[hole] is not None:
                continue
            if is_null(raw):
                written = hole + NULL if hole == keeper else written
                continue
            text, suffix = text_of(raw, at + pointer(key), f"'{key}'")
            if hole == TEXT and suffix:
                raise BadRecord("GF-01", f"'{key}' is {text:.100}, not a text", at + pointer(key))
            row[hole], row[hole + KEY] = text, key
            name: str | None = hole + suffix
            if suffix:
                numbers.append(hole)
            if hole in TIMES:
                value, how = read_time(text, self._forms[hole], is_number=suffix == LITERAL)
                row[f"{hole}.value"], row[hole + HOW] = value, how
                row[hole + BAD_TIME] = text if value is None else None
                name = f"{hole}@{how}" if how else None
            written = name if hole == keeper else written
        return written


def check_header(columns: list[str], declared: Iterable[str]) -> None:
    """Raise BadRecord GF-12 for a declared column that a file does not have, or has twice."""
    for name in declared:
        times_there = columns.count(name)
        if times_there != 1:
            problem = "is not there" if not times_there else "is there twice"
            raise BadRecord("GF-12", f"the column '{name}' {problem}; the columns are: {', '.join(columns)}", "/0")


def times(texts: pl.Series, form: str) -> list[pl.Series]:
    """Read a column of times: the values, how each is written, and the texts of another form."""
    hole = texts.name
    known = {text: read_time(text, form) for text in texts.drop_nulls().unique()}
    values: list[Any] = [known[text].value if text is not None else None for text in texts]
    hows = [known[text].how if text is not None else None for text in texts]
    bad = [text if text is not None and known[text].value is None else None for text in texts]
    return [
        pl.Series(f"{hole}.value", values, pl.Datetime("us")),
        pl.Series(hole + HOW, hows, pl.String),
        pl.Series(hole + BAD_TIME, bad, pl.String),
    ]


def _said(texts: pl.Series) -> pl.Series:
    """Take an empty cell for one that says nothing."""
    return pl.select(pl.when(texts != "").then(texts)).to_series()


def members(table: pl.DataFrame) -> pl.Series:
    """Write the rows of texts as the members of JSON objects, without their braces."""
    objects = table.select(pl.struct(pl.all()).struct.json_encode().str.slice(1).str.strip_suffix("}"))
    return objects.to_series()


def member(key: str, texts: pl.Series, where: pl.Series) -> pl.Series:
    """Write texts as members of this key, where that is needed; else null."""
    if not where.any():
        return pl.Series([None] * len(texts), dtype=pl.String)
    written = members(pl.DataFrame([texts.fill_null("").alias(key)]))
    return pl.select(pl.when(where).then(written)).to_series()


def joined(pieces: list[pl.Series], height: int) -> pl.Series:
    """Join members; null where there are none."""
    named = pl.DataFrame([piece.alias(str(number)) for number, piece in enumerate(pieces)])
    if not named.width:
        return pl.Series([None] * height, dtype=pl.String)
    text = pl.concat_str(pl.all(), separator=",", ignore_nulls=True)
    return named.select(pl.when(text != "").then(text)).to_series()


def _shape_member(number: int | Mapping[str, Any]) -> str | None:
    return None if number == 0 else '"shape":' + msgspec.json.encode(number).decode()


_KEYS: dict[str, str] = {}


def _key(key: str) -> str:
    """Write the key of a member in ``extra``, with the colon."""
    if key not in _KEYS:
        if len(_KEYS) > 10_000:
            _KEYS.clear()
        _KEYS[key] = msgspec.json.encode(alias(key)).decode() + ":"
    return _KEYS[key]
