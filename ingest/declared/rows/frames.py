"""Rows as frames: a column for each placeholder, and one of what no placeholder takes, as the members of a JSON object.

Columns of a frame: ``line`` (of the file, from 0), the placeholders as texts (null: nothing is said), times as times,
``rest`` (the members that go to ``extra``, without the braces), and of JSON rows ``numbers``: the placeholders whose
cell is a literal, not a string.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, NamedTuple, Self

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import ISO, MOMENTS, Declaration, JsonPath
from talkhouse.ingest.declared.documents.labels import Labels, ParsedLabel
from talkhouse.ingest.declared.documents.parsed_record import ParsedDialogue, ParsedTurn
from talkhouse.ingest.declared.identity import joined_id, joined_ids
from talkhouse.ingest.declared.offsets import Offsets
from talkhouse.ingest.declared.record_files import CSV, TEXTS, open_records
from talkhouse.ingest.declared.record_files.content import (
    BadRawRecord,
    FileContent,
    RawRecord,
    RecordFile,
    RowTable,
    ending,
)
from talkhouse.ingest.declared.record_files.csv_cells import names
from talkhouse.ingest.declared.record_files.csv_files import CsvRows
from talkhouse.ingest.declared.record_files.pattern_lines import LineRows
from talkhouse.ingest.declared.rows.columns import (
    BEGUN,
    ID,
    LABEL,
    LEVEL,
    TEXT,
    TIMES,
    TURN_ID,
    Placeholder,
    RowColumns,
)
from talkhouse.ingest.declared.shapes import (
    LITERAL,
    NULL,
    Members,
    Shapes,
    SplitObject,
    alias,
    is_null,
    kind_of,
    members_of,
    text_of,
)
from talkhouse.ingest.declared.times import (
    ReadMoment,
    ReadTime,
    offset_of,
    read_moment,
    read_moments,
    read_time,
    read_times,
)
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.sources import SourceFile

HOW = ".how"
"""Behind the name of a time: how the file writes it, for findings null where the column is null."""

BAD_TIME = ".bad"
"""Behind the name of a time: its text where it has another form than declared."""

KEY = ".key"
"""Behind the name of a placeholder that several columns may fill: the one that does."""

RAW = "raw"
"""The row itself, where it may have to go to the quarantine alone."""

PROBLEM = "problem"
"""Beside the row itself: why its dialogue can't be loaded, as JSON; else null."""

GIVEN = "found"
"""Labels inside a row, as JSON."""


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
                self.offsets.has_others |= frame[placeholder + BAD_TIME].null_count() < len(frame)
                times = frame.select(text=placeholder, value=f"{placeholder}.value", how=placeholder + HOW)
                for text in times.drop_nulls("value").unique("how")["text"]:
                    self.offsets.add(placeholder, offset_of(text))
                for text in times.drop_nulls("value").filter(pl.col("how").is_null())["text"].unique():
                    self.offsets.add(placeholder, offset_of(text))

    @property
    def envelope(self) -> dict[str, Any]:
        """What the file is beside its rows, with their shapes, once they were read."""
        return self._file.envelope | self._shapes.envelope()


def times(texts: pl.Series, form: str) -> list[pl.Series]:
    """Read a column of times or moments: the values, how each is written, and the texts of another form."""
    read = read_moments(texts, form) if texts.name in MOMENTS else read_times(texts, form)
    names = {"value": f"{texts.name}.value", "how": texts.name + HOW, "bad": texts.name + BAD_TIME}
    return [read[column].alias(name) for column, name in names.items()]


def said(texts: pl.Series) -> pl.Series:
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
        made = [rows.lines.alias("line")]
        for placeholder, (column, *others) in self._columns.placeholders.items():
            if placeholder in self._columns.fallbacks:
                cell = _first_said([table[name] for name in (column, *others) if name in table])
                cell = cell.fill_null("") if placeholder == TEXT else cell
            else:
                cell = table[column]
            is_whole = placeholder in (TEXT, ID) or placeholder in self._id_parts
            made.append((cell if is_whole else said(cell)).alias(placeholder))
        if rows.dialogues is not None:
            made.append(rows.dialogues.alias(BEGUN))
        frame = pl.DataFrame(made)
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
                alias(name), frame[placeholder], frame[placeholder].is_not_null() & frame[placeholder + HOW].is_null()
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
            known = frame[placeholder + HOW].drop_nulls()
            if len(known):
                self._usual.setdefault(placeholder, known[0])
        written = [
            frame[placeholder + HOW].fill_null(self._usual.get(placeholder, "")).alias(placeholder)
            for placeholder in hows
        ]
        keys = pl.DataFrame(written)
        ways = keys.unique(maintain_order=True)
        numbers = []
        for way in ways.iter_rows(named=True):
            names_of = {placeholder: f"{placeholder}@{how}" if how else placeholder for placeholder, how in way.items()}
            shape = {name: names_of.get(placeholder or "", placeholder) for name, placeholder in self._holders.items()}
            numbers.append(shape_member(self._shapes.number(LEVEL, shape)))
        ways = ways.with_columns(pl.Series("number", numbers, pl.String))
        return keys.join(ways, on=hows, how="left", maintain_order="left")["number"]


def _first_said(cells: Sequence[pl.Series]) -> pl.Series:
    """Return of each row the first cell that is not empty, else null."""
    named = pl.DataFrame([said(cell).alias(str(number)) for number, cell in enumerate(cells)])
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


_ROWS = 20_000
"""Rows in a frame."""


class _Cell(NamedTuple):
    placeholder: Placeholder
    path: JsonPath
    below: str
    """Its pointer."""
    name: str
    """What messages call it."""

    @classmethod
    def at(cls, placeholder: Placeholder, path: JsonPath) -> Self:
        """Describe the cell at a path."""
        return cls(placeholder, path, pointer(*path), f"'{'.'.join(str(name) for name in path if name)}'")


class JsonFrames(RowFrames):
    """A file of JSON objects, a row each, as frames."""

    is_csv = False

    def __init__(
        self,
        file: RecordFile,
        columns: RowColumns,
        declaration: Declaration,
        shapes: Shapes,
        *,
        with_raw: bool = False,
        labels: Sequence[Labels] = (),
    ) -> None:
        super().__init__(columns, declaration, shapes, with_raw=with_raw)
        self._file: RecordFile = file
        self._labels = labels
        self._rows = 0
        self._odd: dict[str, tuple[BadRecord, int]] = {}
        """Placeholder, or ``LABEL`` and a scheme -> the first cell of another type than it takes, and their number."""
        self._readers = {
            key: [_Cell.at(placeholder, columns.path(placeholder, key)) for placeholder in placeholders]
            for key, placeholders in columns.readers().items()
        }
        self._in_order = [
            [
                (key, [_Cell.at(placeholder, columns.path(placeholder, key))])
                for key in columns.placeholders[placeholder]
            ]
            for placeholder in columns.fallbacks
        ]
        """Of each placeholder that has several members: these, in the order in which they count."""
        self._required = [placeholder for placeholder in (ID, *self._id_parts) if placeholder in columns.placeholders]
        self._named = [placeholder for placeholder, names in columns.placeholders.items() if len(names) > 1]

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield a frame for so many rows; BadRecord for a row that is none, or that is of no dialogue."""
        batch: list[dict[str, Any]] = []
        for record in self._file:
            if isinstance(record, BadRawRecord):
                raise BadRecord(record.problem.rule, record.problem.detail, record.pointer + record.problem.pointer)
            batch.append(self._row(record))
            self._rows += 1
            if len(batch) == _ROWS:
                yield self._frame(batch)
                batch = []
        if batch:
            yield self._frame(batch)
        for bad, count in self._odd.values():
            detail = f"{bad.detail}; so in {count:,} of {self._rows:,} rows of this file, here the first"
            self.findings.append(ReaderFinding(bad.rule, detail, pointer=bad.pointer, severity="warn"))

    def _frame(self, batch: list[dict[str, Any]]) -> pl.DataFrame:
        schema: dict[str, Any] = {"line": pl.Int64} | dict.fromkeys(self._columns.placeholders, pl.String)
        schema |= {ID: pl.String} if self._id_parts else {}
        for placeholder in self._forms:
            schema |= {
                f"{placeholder}.value": pl.Int64 if placeholder in MOMENTS else pl.Datetime("us"),
                placeholder + HOW: pl.String,
                placeholder + BAD_TIME: pl.String,
            }
        schema |= {RAW: pl.String, PROBLEM: pl.String} if self._with_raw else {}
        schema |= {GIVEN: pl.String} if self._labels else {}
        schema |= {placeholder + KEY: pl.String for placeholder in self._named} | {
            "rest": pl.String,
            "numbers": pl.String,
        }
        columns = [pl.Series(name, [row.get(name) for row in batch], kind) for name, kind in schema.items()]
        self._see_offsets(frame := pl.DataFrame(columns))
        return frame

    def _row(self, record: RawRecord) -> dict[str, Any]:
        at = record.pointer
        row: dict[str, Any] = {"line": int(at.rpartition("/")[2])}
        shape: dict[str, str | None] = {}
        rest: list[str] = []
        numbers: list[str] = []
        if record.raw[:1] != b"{":
            raise BadRecord("GF-01", f"a row is {kind_of(Raw(record.raw))}, not an object", at)
        members = members_of(record.raw)
        for key, raw in members.items():
            name = self._take(key, raw, row, numbers, at, self._readers[key]) if key in self._readers else None
            shape[key] = name
            if name is None:
                rest.append(f"{_key(key)}{bytes(raw).decode()}")
        for key, own in chain.from_iterable(self._in_order):
            if key in members:
                self._take(key, members[key], row, numbers, at, own)
        for placeholder in self._required:
            # A turn with an id of its own may lack the dialogue's.
            has_default = placeholder == ID and self._columns.has_default_ids and row.get(TURN_ID) is not None
            if row.get(placeholder) is None and not has_default:
                cells = (
                    _Cell.at(placeholder, self._columns.path(placeholder, name))
                    for name in self._columns.placeholders[placeholder]
                )
                wanted = " or ".join(cell.name for cell in cells)
                raise BadRecord("GF-01", f"{wanted} is missing", at)
        if self._id_parts:
            row[ID] = joined_id(row[part] for part in self._id_parts)
        if TEXT in self._columns.placeholders and row.get(TEXT) is None:
            row[TEXT] = ""
            if PROBLEM not in row:
                self.first_empty = self.first_empty or at
                self.empty += 1
        number = shape_member(self._shapes.number(LEVEL, shape))
        row["rest"] = ",".join([number, *rest] if number else rest) or None
        row[GIVEN] = self._given(members, row, at) if self._labels else None
        row[RAW] = record.raw.decode() if self._with_raw else None
        row["numbers"] = " ".join(numbers) or None
        return row

    def _take(
        self, key: str, member: Raw, row: dict[str, Any], numbers: list[str], at: str, cells: Sequence[_Cell]
    ) -> str | None:
        """Read a cell for all that want it; returns how its keeper writes it, None where none gives it back."""
        keeper = self._keepers.get(key)
        written: str | None = None
        for placeholder, path, below, name_in_file in cells:
            if placeholder in row and row[placeholder] is not None:
                continue
            raw = member if len(path) == 1 else SplitObject({key: member}, {}).find(path)
            if raw is None or is_null(raw):
                written = placeholder + NULL if placeholder == keeper else written
                continue
            try:
                text, suffix = text_of(raw, at + below, name_in_file)
                if placeholder == TEXT and suffix:
                    raise BadRecord("GF-01", f"{name_in_file} is {text:.100}, not a text", at + below)
            except BadRecord as bad:
                self._set_aside(placeholder, bad, row)
                continue
            row[placeholder], row[placeholder + KEY] = text, key
            name: str | None = placeholder + suffix
            if suffix:
                numbers.append(placeholder)
            if placeholder in self._forms:
                value, how = self._timed(placeholder, text, is_number=suffix == LITERAL)
                row[f"{placeholder}.value"], row[placeholder + HOW] = value, how
                row[placeholder + BAD_TIME] = text if value is None else None
                name = f"{placeholder}{suffix if placeholder in MOMENTS else ''}@{how}" if how else None
            written = name if placeholder == keeper else written
        return written

    def _timed(self, placeholder: Placeholder, text: str, *, is_number: bool) -> ReadTime | ReadMoment:
        form = self._forms[placeholder]
        return read_moment(text, form) if placeholder in MOMENTS else read_time(text, form, is_number=is_number)

    def _set_aside(self, placeholder: Placeholder, bad: BadRecord, row: dict[str, Any]) -> None:
        """Keep a cell of another type in ``extra``; without a text its dialogue can't be loaded, without an id none."""
        if placeholder in self._required:
            raise bad
        if placeholder != TEXT:
            self._note(placeholder, bad)
            return
        if not self._with_raw:
            raise BadRow
        row[PROBLEM] = msgspec.json.encode((bad.rule, bad.detail, bad.pointer)).decode()

    def _note(self, what: str, bad: BadRecord) -> None:
        first, count = self._odd.get(what, (bad, 0))
        self._odd[what] = first, count + 1

    def _given(self, members: Members, row: dict[str, Any], at: str) -> str | None:
        dialogue = ParsedDialogue([ParsedTurn("", row[TEXT], at)], messages={0: members})
        found: list[ParsedLabel] = []
        for labels in self._labels:
            try:
                found += labels.read(members, dialogue, self.findings)
            except BadRecord as bad:
                self._note(LABEL + labels.spec.scheme, bad)
        return msgspec.json.encode(found).decode() if found else None


_KEYS: dict[str, str] = {}


def _key(key: str) -> str:
    if key not in _KEYS:
        if len(_KEYS) > 10_000:
            _KEYS.clear()
        _KEYS[key] = msgspec.json.encode(alias(key)).decode() + ":"
    return _KEYS[key]


def is_csv(path: PurePosixPath) -> bool:
    """Whether a file has cells, not objects, by its path."""
    return ending(path) in (*CSV, *TEXTS)


def open_frames(
    file: SourceFile,
    columns: RowColumns,
    declaration: Declaration,
    shapes: Shapes,
    *,
    with_raw: bool = False,
    labels: Sequence[Labels] = (),
) -> RowFrames:
    """Open a file of rows, ``with_raw``: and keep each row itself; ``labels`` are inside JSON rows.

    Raises BadRecord where the file is to be refused, here or when it is iterated.
    """
    if ending(file.path) in TEXTS:
        if TEXT not in columns.placeholders:
            raise BadRecord("GF-14", "a text: labels are read from CSV, TSV, JSON Lines and Parquet")
        if declaration.lines is None:
            raise BadRecord("GF-14", "a text, whose lines are rows by a pattern in [lines], which is not declared")
        rows = LineRows(FileContent(file), declaration.lines, columns.placeholders[TEXT])
        frames = CsvFrames(rows, columns, declaration, shapes, with_raw=with_raw)
        frames.findings = rows.findings
        return frames
    if is_csv(file.path):
        return CsvFrames(
            CsvRows(FileContent(file), declaration.dialect), columns, declaration, shapes, with_raw=with_raw
        )
    records = open_records(file, declaration, "item")
    return JsonFrames(records, columns, declaration, shapes, with_raw=with_raw, labels=labels)
