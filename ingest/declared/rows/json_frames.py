"""Files of JSON objects, a row each, as frames."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.documents.labels import Labels
from talkhouse.ingest.declared.documents.talk import Said, Talk
from talkhouse.ingest.declared.record_files.record import BadRawRecord, RawRecord, RecordFile
from talkhouse.ingest.declared.rows.columns import ID, TEXT, TIMES, TURN_ID, Hole, RowColumns
from talkhouse.ingest.declared.rows.frames import BAD_TIME, GIVEN, HOW, KEY, RAW, shape_member
from talkhouse.ingest.declared.rows.stored_row import LEVEL
from talkhouse.ingest.declared.shapes import NULL, Members, Shapes, Split, alias, members_of
from talkhouse.ingest.declared.times import ISO, read_time
from talkhouse.ingest.declared.values import LITERAL, is_null, kind_of, text_of
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding

_ROWS = 20_000
"""Rows in a frame."""


class _Cell(NamedTuple):
    """Where a hole's cell is in a row."""

    hole: Hole
    path: JsonPath
    below: str
    """Its pointer."""
    name: str
    """What messages call it."""

    @classmethod
    def at(cls, hole: Hole, path: JsonPath) -> Self:
        """Describe the cell at a path."""
        return cls(hole, path, pointer(*path), f"'{'.'.join(filter(None, path))}'")


class JsonFrames:
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
        self._file, self._columns, self._shapes = file, columns, shapes
        self._with_raw, self._labels = with_raw, labels
        self.findings: list[ReaderFinding] = []
        self._forms = {hole: declaration.times.get(hole, ISO) for hole in TIMES}
        self._keepers = columns.keepers
        self._readers = {
            key: [_Cell.at(hole, columns.path(hole, key)) for hole in holes] for key, holes in columns.readers().items()
        }
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
        schema |= {GIVEN: pl.String} if self._labels else {}
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
        members = members_of(record.raw)
        for key, raw in members.items():
            name = self._take(key, raw, row, numbers, at) if key in self._readers else None
            shape[key] = name
            if name is None:
                rest.append(f"{_key(key)}{bytes(raw).decode()}")
        for hole in self._required:
            if row.get(hole) is None and not self._has_default(hole, row):
                cells = (_Cell.at(hole, self._columns.path(hole, name)) for name in self._columns.holes[hole])
                wanted = " or ".join(cell.name for cell in cells)
                raise BadRecord("GF-01", f"{wanted} is missing", at)
        number = shape_member(self._shapes.number(LEVEL, shape))
        row["rest"] = ",".join([number, *rest] if number else rest) or None
        row[GIVEN] = self._given(members, row, at) if self._labels else None
        row[RAW] = record.raw.decode() if self._with_raw else None
        row["numbers"] = " ".join(numbers) or None
        return row

    def _has_default(self, hole: Hole, row: dict[str, Any]) -> bool:
        """Whether a turn may lack what others need: the dialogue's id, if it has an id of its own."""
        return hole == ID and self._columns.has_default_ids and row.get(TURN_ID) is not None

    def _take(self, key: str, member: Raw, row: dict[str, Any], numbers: list[str], at: str) -> str | None:
        """Read a cell for all that want it; returns how its keeper writes it, None where none gives it back."""
        keeper = self._keepers.get(key)
        written: str | None = None
        for hole, path, below, name_in_file in self._readers[key]:
            if hole in row and row[hole] is not None:
                continue
            raw = member if len(path) == 1 else Split({key: member}, {}).find(path)
            if raw is None or is_null(raw):
                written = hole + NULL if hole == keeper else written
                continue
            text, suffix = text_of(raw, at + below, name_in_file)
            if hole == TEXT and suffix:
                raise BadRecord("GF-01", f"{name_in_file} is {text:.100}, not a text", at + below)
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

    def _given(self, members: Members, row: dict[str, Any], at: str) -> str | None:
        """Read the labels inside a row; BadRecord for one of another type."""
        talk = Talk([Said("", row[TEXT], at)], messages={0: members})
        given = [label for labels in self._labels for label in labels.given(members, talk, self.findings)]
        return msgspec.json.encode(given).decode() if given else None


_KEYS: dict[str, str] = {}


def _key(key: str) -> str:
    """Write the key of a member in ``extra``, with the colon."""
    if key not in _KEYS:
        if len(_KEYS) > 10_000:
            _KEYS.clear()
        _KEYS[key] = msgspec.json.encode(alias(key)).decode() + ":"
    return _KEYS[key]
