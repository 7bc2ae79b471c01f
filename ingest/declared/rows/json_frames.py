"""Files of JSON objects, a row each, as frames: rows of one form are read together, the others one by one."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self, TypeAlias

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared import shapes as json_shapes
from talkhouse.ingest.declared.declaration.model import MOMENTS, Declaration, JsonPath
from talkhouse.ingest.declared.identity import joined_id, joined_ids
from talkhouse.ingest.declared.labels import Labels, ParsedLabel
from talkhouse.ingest.declared.parsed_dialogue import ParsedDialogue, ParsedTurn
from talkhouse.ingest.declared.record_files.content import CAREFULLY, BadRawRecord, RawRecord, RecordFile
from talkhouse.ingest.declared.rows import frames as row_frames
from talkhouse.ingest.declared.rows.columns import ID, LABEL, LEVEL, TEXT, TURN_ID, Placeholder, RowColumns, filled_by
from talkhouse.ingest.declared.times import read_moment, read_time
from talkhouse.ingest.decode import BadRecord, decoder, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.schema.errors import SourceError

_ROWS = 20_000
"""Rows in a frame."""

_FEW = 100
"""Rows of one form from which on they are read together, which takes two milliseconds before the first of them."""

_TEXT, _LITERAL, _NULL = b'"#n'
"""What may stand in a cell of rows that are read together, by its first byte; ``#`` stands for numbers and booleans."""
_KINDS = bytes.maketrans(b"-0123456789tf", b"#############")
_STRINGS = decoder(list[str])
_BETWEEN = b"\0"
"""What no JSON text contains."""
_PLACE = "place"
"""Column of rows that are read together: their places in the batch."""


_Form: TypeAlias = tuple[tuple[str, ...], bytes]
"""How rows are written: the keys in their order, and what stands in each cell that is wanted."""
_Together: TypeAlias = tuple[pl.DataFrame, dict[str, str | None]]
"""Rows of a batch that were read together, with ``place``, and without the number of their shape; and that shape."""


class _Cell(NamedTuple):
    placeholder: Placeholder
    path: JsonPath
    below: str
    """Its pointer."""
    name: str
    """What messages call it."""
    filled_by: str
    """The column of the frame that tells which column filled the placeholder."""

    @classmethod
    def at(cls, placeholder: Placeholder, path: JsonPath) -> Self:
        """Describe the cell at a path."""
        name = f"'{'.'.join(str(name) for name in path if name)}'"
        return cls(placeholder, path, pointer(*path), name, filled_by(placeholder))


class JsonFrames(row_frames.RowFrames):
    """A file of JSON objects, a row each, as frames."""

    is_csv = False

    def __init__(
        self,
        file: RecordFile,
        columns: RowColumns,
        declaration: Declaration,
        shapes: json_shapes.Shapes,
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
        is_plain = not (with_raw or labels or columns.inside or columns.fallbacks)
        self._is_careful = not is_plain or bool(os.environ.get(CAREFULLY))
        """Whether rows are read one by one."""
        schema: dict[str, Any] = {"line": pl.Int64} | dict.fromkeys(columns.placeholders, pl.String)
        schema |= {ID: pl.String} if self._id_parts else {}
        for placeholder, of_time in self._times.items():
            schema[of_time.value] = pl.Int64 if placeholder in MOMENTS else pl.Datetime("us")
            schema |= {of_time.how: pl.String, of_time.bad: pl.String}
        schema |= {row_frames.RAW: pl.String, row_frames.PROBLEM: pl.String} if with_raw else {}
        schema |= {row_frames.GIVEN: pl.String} if labels else {}
        named = (placeholder for placeholder, names in columns.placeholders.items() if len(names) > 1)
        schema |= {filled_by(placeholder): pl.String for placeholder in named}
        self._schema = schema | {"rest": pl.String, "numbers": pl.String}

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield a frame for so many rows; BadRecord for a row that is none, or that is of no dialogue."""
        for batch in self._batches():
            self._rows += len(batch)
            yield self._frame(batch)
        for bad, count in self._odd.values():
            detail = f"{bad.detail}; so in {count:,} of {self._rows:,} rows of this file, here the first"
            self.findings.append(ReaderFinding(bad.rule, detail, pointer=bad.pointer, severity="warn"))

    def _batches(self) -> Iterator[list[RawRecord]]:
        """Yield the rows; those before one at which the file can't be read on come before that is raised."""
        batch: list[RawRecord] = []
        try:
            for record in self._file:
                if isinstance(record, BadRawRecord):
                    raise BadRecord(record.problem.rule, record.problem.detail, record.pointer + record.problem.pointer)
                batch.append(record)
                if len(batch) == _ROWS:
                    yield batch
                    batch = []
        except (BadRecord, SourceError):
            if batch:
                yield batch
            raise
        if batch:
            yield batch

    def _frame(self, batch: Sequence[RawRecord]) -> pl.DataFrame:
        """Read rows, in their order; shapes are numbered in the order of their first rows."""
        together = [] if self._is_careful else self._together(batch)
        done = {place for rows, _ in together for place in rows[_PLACE]}
        single = {place: self._row(record) for place, record in enumerate(batch) if place not in done}
        shapes = {place: row["shape"] for place, row in single.items()}
        shapes |= {rows[_PLACE][0]: shape for rows, shape in together}
        numbers = {
            place: row_frames.shape_member(self._shapes.number(LEVEL, shapes[place])) for place in sorted(shapes)
        }
        frames: list[pl.DataFrame] = []
        if single:
            for place, row in single.items():
                row["rest"] = ",".join(filter(None, (numbers[place], row["rest"]))) or None
            cells = {name: [row.get(name) for row in single.values()] for name in self._schema}
            frames.append(pl.DataFrame([pl.Series(name, cells[name], kind) for name, kind in self._schema.items()]))
        for rows, _ in together:
            number = pl.repeat(numbers[rows[_PLACE][0]], len(rows), dtype=pl.String, eager=True)
            frames.append(rows.drop(_PLACE).with_columns(rest=row_frames.joined([number, rows["rest"]], len(rows))))
        frame = pl.concat(frames).sort("line") if len(frames) > 1 else frames[0]
        self._see_offsets(frame)
        return frame

    def _together(self, batch: Sequence[RawRecord]) -> list[_Together]:
        """Read the rows of all forms that many have; what there is to find in a row is left to ``_row``."""
        places, cells = defaultdict[_Form, list[int]](list), defaultdict[_Form, list[tuple[Raw, ...]]](list)
        wanted: dict[tuple[str, ...], list[int]] = {}
        """Keys -> the places of those that are read."""
        for place, record in enumerate(batch):
            if record.raw[:1] == b"{":
                members = json_shapes.members_of(record.raw)
                keys, raws = tuple(members), tuple(members.values())
                if keys not in wanted:
                    wanted[keys] = [number for number, key in enumerate(keys) if key in self._readers]
                form = keys, bytes([bytes(raws[number])[0] for number in wanted[keys]]).translate(_KINDS)
                places[form].append(place)
                cells[form].append(raws)
        many = [form for form in places if len(places[form]) >= _FEW]
        read = (self._of_form(form, places[form], cells[form], batch) for form in many)
        return [some for some in read if some is not None]

    def _of_form(
        self, form: _Form, places: Sequence[int], cells: Sequence[tuple[Raw, ...]], batch: Sequence[RawRecord]
    ) -> _Together | None:
        """Read rows of one form as ``_row`` does, or None: those whose times are written as in the first of them."""
        columns = {
            _PLACE: pl.Series(places, dtype=pl.UInt32),
            "line": pl.Series([int(batch[place].pointer.rpartition("/")[2]) for place in places], dtype=pl.Int64),
        }
        constants: dict[str, str] = {}
        shape: dict[str, str | None] = {}
        rest: list[pl.Series] = []
        literals: list[str] = []
        are_alike = pl.repeat(True, len(places), eager=True)
        keys, kinds = form[0], iter(form[1])
        for key, raws in zip(keys, zip(*cells, strict=True), strict=True):
            readers = self._readers.get(key, ())
            kind = next(kinds) if readers else None
            texts = _texts(raws, kind) if kind != _NULL else None
            written: str | None = None
            for placeholder in (cell.placeholder for cell in readers):
                is_keeper = placeholder == self._keepers.get(key)
                if placeholder in columns:
                    continue
                if texts is None:
                    written = str(json_shapes.Spelling(placeholder, is_null=True)) if is_keeper else written
                    continue
                if kind not in (_TEXT, _LITERAL) or (placeholder == TEXT and kind != _TEXT):
                    return None
                columns[placeholder] = texts.alias(placeholder)
                constants[filled_by(placeholder)] = key
                literals += [placeholder] if kind == _LITERAL else []
                name: str | None = str(json_shapes.Spelling(placeholder, kind == _LITERAL))
                if of_time := self._times.get(placeholder):
                    is_number = kind == _LITERAL
                    read = row_frames.times(columns[placeholder], self._forms[placeholder], is_number=is_number)
                    columns |= {column.name: column for column in read}
                    how = columns[of_time.how][0]
                    are_alike &= columns[of_time.how].eq_missing(how)
                    name = (
                        str(json_shapes.Spelling(placeholder, is_number and placeholder in MOMENTS, how))
                        if how
                        else None
                    )
                written = name if is_keeper else written
            shape[key] = written
            if written is None:
                rest.append(_key(key) + (_texts(raws, None) if texts is None or kind == _TEXT else texts))
        if TEXT in self._columns.placeholders and TEXT not in columns:
            return None
        has_default = self._columns.has_default_ids and TURN_ID in columns
        if any(column not in columns and not (column == ID and has_default) for column in self._required):
            return None
        if self._id_parts:
            columns[ID] = joined_ids(columns[part] for part in self._id_parts)
        constants |= {"numbers": " ".join(literals)} if literals else {}
        columns["rest"] = row_frames.joined(rest, len(places))
        rows = pl.DataFrame(columns).with_columns(pl.lit(text).alias(name) for name, text in constants.items())
        there = {name: pl.col(name) for name in rows.columns}
        wanted = [there.get(name, pl.lit(None, kind).alias(name)) for name, kind in self._schema.items()]
        return rows.select(_PLACE, *wanted).filter(are_alike), shape

    def _row(self, record: RawRecord) -> dict[str, Any]:
        at = record.pointer
        row: dict[str, Any] = {"line": int(at.rpartition("/")[2])}
        shape: dict[str, str | None] = {}
        rest: list[str] = []
        numbers: list[str] = []
        if record.raw[:1] != b"{":
            raise BadRecord("GF-01", f"a row is {json_shapes.kind_of(Raw(record.raw))}, not an object", at)
        members = json_shapes.members_of(record.raw)
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
            if row_frames.PROBLEM not in row:
                self.first_empty = self.first_empty or at
                self.empty += 1
        row["shape"], row["rest"] = shape, ",".join(rest) or None
        row[row_frames.GIVEN] = self._read_labels(members, row, at) if self._labels else None
        row[row_frames.RAW] = record.quarantined.decode() if self._with_raw else None
        row["numbers"] = " ".join(numbers) or None
        return row

    def _take(
        self, key: str, member: Raw, row: dict[str, Any], numbers: list[str], at: str, cells: Sequence[_Cell]
    ) -> str | None:
        """Read a cell for all that want it; returns the form that its keeper writes, or None if none restores it."""
        keeper = self._keepers.get(key)
        written: str | None = None
        for placeholder, path, below, name_in_file, filled in cells:
            if placeholder in row and row[placeholder] is not None:
                continue
            raw = member if len(path) == 1 else json_shapes.SplitObject({key: member}, {}).find(path)
            if raw is None or json_shapes.is_null(raw):
                written = str(json_shapes.Spelling(placeholder, is_null=True)) if placeholder == keeper else written
                continue
            try:
                text, suffix = json_shapes.text_of(raw, at + below, name_in_file)
                if placeholder == TEXT and suffix:
                    raise BadRecord("GF-01", f"{name_in_file} is {text:.100}, not a text", at + below)
            except BadRecord as bad:
                self._set_aside(placeholder, bad, row, is_object=bytes(raw)[:1] == b"{")
                continue
            row[placeholder], row[filled] = text, key
            name: str | None = placeholder + suffix
            if suffix:
                numbers.append(placeholder)
            if of_time := self._times.get(placeholder):
                is_number, form = suffix == json_shapes.LITERAL, self._forms[placeholder]
                is_moment = placeholder in MOMENTS
                value, how = read_moment(text, form) if is_moment else read_time(text, form, is_number=is_number)
                row[of_time.value], row[of_time.how] = value, how
                row[of_time.bad] = text if value is None else None
                name = str(json_shapes.Spelling(placeholder, is_number and is_moment, how)) if how else None
            written = name if placeholder == keeper else written
        return written

    def _set_aside(self, placeholder: Placeholder, bad: BadRecord, row: dict[str, Any], *, is_object: bool) -> None:
        """Keep a cell of another type in ``extra``; without an id no dialogue can be loaded.

        A text that is an object is none, as in messages; with any other its dialogue can't be loaded.
        """
        if placeholder in self._required:
            raise bad
        if placeholder != TEXT or is_object:
            self._note(placeholder, bad)
            return
        if not self._with_raw:
            raise row_frames.BadRow
        row[row_frames.PROBLEM] = msgspec.json.encode(row_frames.RowProblem(bad.rule, bad.detail, bad.pointer)).decode()

    def _note(self, what: str, bad: BadRecord) -> None:
        first, count = self._odd.get(what, (bad, 0))
        self._odd[what] = first, count + 1

    def _read_labels(self, members: json_shapes.Members, row: dict[str, Any], at: str) -> str | None:
        dialogue = ParsedDialogue([ParsedTurn("", row[TEXT], at)], messages={0: members})
        found: list[ParsedLabel] = []
        for labels in self._labels:
            try:
                found += labels.read(members, dialogue, self.findings)
            except BadRecord as bad:
                self._note(LABEL + labels.spec.scheme, bad)
        return msgspec.json.encode(found).decode() if found else None


def _texts(raws: Sequence[Raw], kind: int | None) -> pl.Series:
    """Return a column of JSON strings as texts; all else as the JSON that it is."""
    if kind == _TEXT:
        return pl.Series(_STRINGS.decode(b"[" + b",".join(raws) + b"]"), dtype=pl.String)
    return pl.Series(_BETWEEN.join(raws).decode().split("\0"), dtype=pl.String)


_KEYS: dict[str, str] = {}


def _key(key: str) -> str:
    if key not in _KEYS:
        if len(_KEYS) > 10_000:
            _KEYS.clear()
        _KEYS[key] = msgspec.json.encode(json_shapes.alias(key)).decode() + ":"
    return _KEYS[key]
