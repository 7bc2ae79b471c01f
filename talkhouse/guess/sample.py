"""The beginning of a file, decoded: its first 1,000 records, or as many as 8 MB of it hold."""

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, Any, Literal, NamedTuple

import msgspec

from talkhouse.guess.record_values import is_keyed
from talkhouse.ingest.declared.declaration.model import Dialect, JsonPath, RecordForm
from talkhouse.ingest.declared.record_files import ENDINGS, JSON, TEXTS
from talkhouse.ingest.declared.record_files.content import FileContent, ending, is_packed
from talkhouse.ingest.declared.record_files.csv_cells import CsvCells
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import BeyondLimit
from talkhouse.ingest.sources import BOM, SourceFile

_BLANK = " \t\r\n"
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|(".*)|[\[\]{},]', re.DOTALL)
"""The group: a quote that nothing closes, with all that follows."""


def start_of(text: str, most: int) -> tuple[Any, bool]:
    """Decode the beginning of a text: the value, at most so many of its members, and whether that is all of it.

    None where not even a beginning can be read.
    """
    try:
        value, end = json.JSONDecoder().raw_decode(text, len(text) - len(text.lstrip(_BLANK)))
        is_all = not text[end:].strip(_BLANK)
    except json.JSONDecodeError as error:
        # What stands before a missing comma is whole.
        whole = text[: error.pos] + "," * error.msg.startswith("Expecting ',' delimiter")
        value, is_all = _decoded(_closed(whole)), False
    except (ValueError, RecursionError):
        value, is_all = None, False
    first = value
    if isinstance(value, list | dict) and len(value) > most:
        first = value[:most] if isinstance(value, list) else dict(islice(value.items(), most))
    return first, is_all and first is value


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _closed(text: str) -> str:
    """Close the lists and objects of a text that is cut off, behind the last whole item of the outermost list with one.

    Where there is none, behind the last whole member of the innermost object.
    """
    still_open: list[tuple[str, int]] = []
    """What closes a bracket, and where its last whole member ends."""
    for token in _TOKEN.finditer(text):
        match token[0]:  # what nothing closes is none of these
            case "[":
                still_open.append(("]", token.end()))
            case "{":
                still_open.append(("}", token.end()))
            case "]" | "}" if still_open:
                still_open.pop()
            case "," if still_open:
                still_open[-1] = (still_open[-1][0], token.start())
    is_begun = [closing == "]" and text[end : end + 1] == "," for closing, end in still_open]
    depth = is_begun.index(True) + 1 if True in is_begun else len(still_open)
    closing = "".join(closing for closing, _ in reversed(still_open[:depth]))
    return text[: still_open[depth - 1][1]] + closing if depth else ""


_DELIMITERS = (",", "\t", ";", "|")
_QUOTE = '"'
_ESCAPE = "\\"


@dataclass
class DelimitedRows:
    """The first rows; each has as many cells as there are columns."""

    columns: tuple[str, ...]
    rows: list[list[str]] = field(default_factory=list)
    is_whole: bool = True
    end: int = 0
    """Where in the text the last of them ends."""
    dialect: Dialect = field(default_factory=Dialect)
    """What is said only where it is not the default of the file's ending."""
    problem: str | None = None


def rows_of(text: str, is_whole: bool, usual: str, most: int) -> DelimitedRows:
    """Read the first rows by the dialect that fits best.

    ``usual`` is the delimiter of the file's ending. A dialect fits where all rows have as many cells as the header;
    of those that fit, the usual delimiter wins, then the most columns, and quotes quote unless that does not fit,
    doubled inside of cells, or else with a backslash before them.
    """
    if "\r" in text and "\n" not in text:
        return DelimitedRows((), problem="its lines end with a carriage return alone: write it with line feeds")
    delimiters = (usual, *(delimiter for delimiter in _DELIMITERS if delimiter != usual))
    quotes = [(_QUOTE, ""), *([(_QUOTE, _ESCAPE)] if _ESCAPE + _QUOTE in text else []), ("", "")]
    tried = [_read_rows(text, is_whole, Dialect(delimiter, *one), most) for delimiter in delimiters for one in quotes]
    # A quote that is a letter would swallow lines up to the next one that has no backslash before it.
    lines = {
        rows.dialect.delimiter: len(rows.rows) for rows in tried if not rows.dialect.quote_char and not rows.problem
    }
    tried = [
        one for one in tried if not one.dialect.escape_char or len(one.rows) >= lines.get(one.dialect.delimiter, 0)
    ]
    fitting = [rows for rows in tried if rows.problem is None]
    chosen = next((rows for rows in fitting if len(rows.columns) > 1 and rows.dialect.delimiter == usual), None)
    chosen = chosen or max(fitting or tried[:1], key=lambda rows: len(rows.columns))
    given = chosen.dialect.delimiter
    chosen.dialect = replace(chosen.dialect, delimiter=None if given == usual else given)
    return chosen


def _read_rows(text: str, is_whole: bool, dialect: Dialect, most: int) -> DelimitedRows:
    cells = CsvCells(dialect.delimiter or ",", dialect.quote_char, (), dialect.escape_char)
    result = DelimitedRows((), dialect=dialect)
    start, rows, ends = 0, list[list[str]](), list[int]()
    while start < len(text) and len(rows) <= most + 1:
        row = cells.row_at(text, start)
        if row is None and not is_whole:
            break
        if row is None or row.behind:
            problem = "text behind the closing quote of a cell" if row else "a quote is never closed"
            result.problem = f"line {text.count(chr(10), 0, start) + 1:,}: {problem}"
            break
        start = row.end
        if not row.is_blank:
            rows.append(row.values)
            ends.append(start)
    result.columns, result.rows = tuple(rows[0]) if rows else (), rows[1:]
    return _checked(result, is_whole, most, ends)


def _checked(result: DelimitedRows, is_whole: bool, most: int, ends: Sequence[int]) -> DelimitedRows:
    """Return the rows without one that is cut off and those beyond ``most``, and where a row does not fit."""
    if len(result.rows) > most:
        result.rows, result.is_whole = result.rows[:most], False
    elif not is_whole:
        result.rows, result.is_whole = result.rows[:-1], False
    width = len(result.columns)
    uneven = [number for number, row in enumerate(result.rows, 2) if len(row) != width]
    if uneven and result.problem is None:
        result.problem = f"row {uneven[0]:,} has another number of cells than the header, which has {width:,}"
    if len(set(result.columns)) < width:
        result.problem = result.problem or "two columns have one name"
    result.end = ends[len(result.rows)] if ends else 0
    result.rows = [row for row in result.rows if len(row) == width]
    return result


class Most(NamedTuple):
    """How much of a file is looked at."""

    records: int = 1_000
    bytes: int = 8_000_000
    """Unpacked."""

    def shared(self, files: int) -> "Most":
        """Return how much of each of several files: together not much more than of one."""
        share = max(1, min(files, 8))
        return Most(max(self.records // share, min(self.records, 400)), self.bytes // share)


MOST = Most()
MOST_FIELDS = 1_000
"""Fields that are looked at: of records, of the objects in them, and of the objects in their lists."""
_DEEPEST, _FAR_INSIDE = 4, (None,)
"""Where objects of a tree are not told apart by their places."""
_BATCH = 64
"""Rows of Parquet that are decoded at a time."""


@dataclass(frozen=True)
class Sample:
    """What the beginning of a file has."""

    path: str
    """Inside the folder, archives as folders."""
    form: str
    """In words: ``JSON Lines``."""
    size: int
    """Bytes of the file as it lies there, be it compressed."""
    records: list[dict[str, Any]]
    is_whole: bool
    """Whether these are all records of the file."""
    record: RecordForm = "item"
    """What a record is, as ``[dialogue] record`` says it."""
    columns: tuple[str, ...] = ()
    """Of rows."""
    dialect: Dialect = field(default_factory=Dialect)
    problem: str | None = None
    """Why not all of the beginning could be read; None where it could."""
    others: int = 0
    """Records in the beginning that are no objects, or can't be read."""
    beginning: bytes = b""
    """What a file of these records alone would be; empty where the file has no others."""
    has_all_fields: bool = True
    """Whether the records have all of their fields, and not only those that are looked at."""

    @property
    def remark(self) -> str | None:
        """What is wrong, or was not looked at, in words."""
        fields = None if self.has_all_fields else f"more than {MOST_FIELDS:,} fields: only the first are looked at"
        return "; ".join(part for part in (self.problem, fields) if part) or None


@dataclass
class _Decoded:
    form: str
    values: list[Any] = field(default_factory=list)
    is_whole: bool = True
    record: Literal["item", "file", "member"] = "item"
    columns: tuple[str, ...] = ()
    dialect: Dialect = field(default_factory=Dialect)
    problem: str | None = None
    beginning: Any = ""
    """What a file of these values alone would be: its bytes, its text, or the value that it has."""


def is_read(path: str) -> bool:
    """Whether a file of this name is read, by its ending."""
    return ending(PurePosixPath(path)) in (*ENDINGS, *TEXTS)


def sample(file: SourceFile, path: str | None = None, most: Most = MOST) -> Sample | None:
    """Decode the beginning of a file, which is called by its ``path``; None where its ending is none that is read.

    Reads at most so many bytes, unpacked, but of Parquet the pages that the first rows are in. Raises SourceError where
    the file can't be read at all.
    """
    path = path or str(file.path)
    if not is_read(path):
        return None
    is_parquet = ending(PurePosixPath(path)) == ".parquet"
    decoded = _parquet(file, most) if is_parquet else _text(file, PurePosixPath(path), most)
    records = [value for value in decoded.values if isinstance(value, dict)]
    if not records:  # a list of messages is a record too, as [dialogue] turns = "$" has it
        records = [{"": value} for value in decoded.values if value and _list_of_objects(value)]
    has_all_fields = _keep_first_fields(records)
    beginning = decoded.beginning
    if not isinstance(beginning, bytes):
        beginning = beginning.encode() if isinstance(beginning, str) else json.dumps(beginning).encode()
    return Sample(
        path,
        decoded.form + ", gzip" * is_packed(PurePosixPath(path)),
        file.size,
        records,
        decoded.is_whole,
        decoded.record,
        decoded.columns[:MOST_FIELDS],
        decoded.dialect,
        decoded.problem,
        len(decoded.values) - len(records),
        b"" if decoded.is_whole else beginning,
        has_all_fields,
    )


def records_inside(taken: Sample) -> Iterator[Sample]:
    """Yield the samples of the records that a file's object has in lists, the outer ones first: ``data[*]``.

    At most three lists deep, and as many paths as a file may well have.
    """
    if taken.record != "file" or not taken.records:
        return
    ahead: list[tuple[JsonPath, list[Any]]] = [((), taken.records[:1])]
    for _ in range(_MOST_PATHS):
        if not ahead:
            return
        path, values = ahead.pop(0)
        inner: dict[str, list[Any]] = {}
        for value in values:
            for name, member in value.items() if isinstance(value, dict) else ():
                inner.setdefault(name, []).append(member)
        every = [item for members in inner.values() for member in members for item in _list_of_objects(member)]
        if len(inner) > 1 and all(_list_of_objects(member) for members in inner.values() for member in members):
            yield _first(taken, every, (*path, ..., None))
        for name, members in inner.items():
            items = [item for member in members if isinstance(member, list) for item in member]
            objects = [item for item in items if isinstance(item, dict)]
            if objects and len(objects) == len(items):
                below: JsonPath = (*path, name, None)
                yield _first(taken, objects, below)
                if below.count(None) < _MOST_LISTS:
                    ahead.append((below, objects))
            elif len(path) < _MOST_LISTS and any(isinstance(member, dict) for member in members):
                ahead.append(((*path, name), members))


def _first(taken: Sample, records: list[Any], record: JsonPath) -> Sample:
    is_whole = taken.is_whole and len(records) <= MOST.records
    return replace(taken, records=records[: MOST.records], record=record, is_whole=is_whole)


def _list_of_objects(value: Any) -> list[dict[str, Any]]:
    return value if isinstance(value, list) and all(isinstance(item, dict) for item in value) else []


_MOST_PATHS, _MOST_LISTS = 50, 3


def _keep_first_fields(records: list[dict[str, Any]]) -> bool:
    """Remove from records, and from the objects in them, all but the first fields; return whether there were no more.

    Two objects in the same place of a record, or both far inside, may have the same field.
    """
    known: set[tuple[str | None, ...]] = set()
    has_all = True
    ahead: list[tuple[Any, tuple[str | None, ...]]] = [(record, ()) for record in reversed(records)]
    while ahead:
        value, place = ahead.pop()
        if isinstance(value, list):
            ahead += [(item, place) for item in reversed(value) if isinstance(item, list | dict)]
            continue
        if is_keyed(value):
            ahead += [(item, (*place, None)) for item in reversed(value.values())]
            continue
        for name, inner in list(value.items()):
            field = (*place, name)
            if field not in known and len(known) == MOST_FIELDS:
                del value[name]
                has_all = False
                continue
            known.add(field)
            if isinstance(inner, list | dict):
                ahead.append((inner, field if len(field) < _DEEPEST else _FAR_INSIDE))
    return has_all


def _parquet(file: SourceFile, most: Most) -> _Decoded:
    from talkhouse.ingest.declared.record_files.parquet import opened_parquet, parquet_of, rows_at_a_time

    decoded = _Decoded("Parquet")
    try:
        content, size = FileContent(file), 0
        rows = min(_BATCH, rows_at_a_time(content, most.records))
        with opened_parquet(content) as parquet:
            decoded.columns = tuple(parquet.schema.names)
            batches = []
            for batch in parquet.batches(rows, parquet.groups(most.records)):
                batches.append(batch.slice(0, most.records - len(decoded.values)))
                decoded.values += batches[-1].to_pylist()
                size += batch.nbytes
                if len(decoded.values) >= most.records or size > most.bytes:
                    break
            decoded.is_whole = len(decoded.values) == parquet.rows
            if not decoded.is_whole:
                decoded.beginning = parquet_of(parquet.schema, batches)
    except (BadRecord, ValueError) as error:
        decoded.problem = error.detail if isinstance(error, BadRecord) else f"not Parquet that can be read: {error}"
    except BeyondLimit as error:
        decoded.problem = f"{error.what}: {error.found}"
    return decoded


def _text(file: SourceFile, path: PurePosixPath, most: Most) -> _Decoded:
    with file.peek() as stream:
        raw, problem = _beginning(stream, most.bytes, packed=is_packed(path))
    is_whole = len(raw) <= most.bytes and problem is None
    text, bad = _decode(raw[: most.bytes].removeprefix(BOM), is_whole=is_whole)
    decode = _one_text if ending(path) in TEXTS else _DECODE.get(ending(path), _lines)
    decoded = decode(text, is_whole, most.records)
    decoded.problem = problem or bad or decoded.problem
    return decoded


def _beginning(stream: IO[bytes], most_bytes: int, *, packed: bool) -> tuple[bytes, str | None]:
    """Read one byte more than is decoded, and say what is wrong with a file that is packed."""
    if not packed:
        return stream.read(most_bytes + 1), None
    raw = b""
    try:
        with gzip.GzipFile(fileobj=stream) as unpacked:
            while len(raw) <= most_bytes and (piece := unpacked.read1(most_bytes + 1 - len(raw))):
                raw += piece
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        return raw, f"damaged gzip: {error}"
    return raw, None


def _decode(raw: bytes, *, is_whole: bool) -> tuple[str, str | None]:
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(raw, is_whole), None
    except UnicodeDecodeError as error:
        if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or b"\0" in raw[:2]:
            return "", "UTF-16, not UTF-8: write the file as UTF-8"
        problem = f"not UTF-8: byte {raw[error.start]:#04x} at byte {error.start:,}"
        return raw.decode(errors="replace"), problem


def _lines(text: str, is_whole: bool, most: int) -> _Decoded:
    decoded = _Decoded("JSON Lines", is_whole=is_whole)
    lines = text.split("\n", most * 2)
    if not is_whole or len(lines) > most * 2:
        decoded.is_whole = False
        if len(lines) > 1:
            lines.pop()  # cut off
    for number, line in enumerate(lines):
        if not line.strip(" \t\r"):
            continue
        if len(decoded.values) == most:
            decoded.is_whole, lines = False, lines[:number]
            break
        try:
            decoded.values.append(msgspec.json.decode(line))
        except (ValueError, RecursionError) as error:
            decoded.values.append(None)
            decoded.problem = decoded.problem or f"line {number + 1:,} is no JSON: {error}"
    if len(decoded.values) == 1 and decoded.problem and not is_whole:
        # One endless line: perhaps its beginning says enough.
        value, _ = start_of(lines[0], most)
        decoded.values, lines = [value], [json.dumps(value)]
    decoded.beginning = "\n".join(lines)
    return decoded


TEXT = "text"
"""The form of a file of which only its own words say what its records are."""


def _one_text(text: str, is_whole: bool, most: int) -> _Decoded:  # noqa: ARG001 - as the others
    """Return a text, or its whole lines."""
    whole = text if is_whole else text[: text.rfind("\n") + 1] or text
    return _Decoded(TEXT, [{"": whole}] if whole.strip() else [], is_whole, "file", beginning=whole)


def _json(text: str, is_whole: bool, most: int) -> _Decoded:
    value, is_all = start_of(text, most)
    problem = None
    if is_whole and not is_all and _size(value) < most:
        others = _lines(text, is_whole, most)
        if len(others.values) > 1 and not others.problem:
            others.problem = "a record a line: the file should be called .jsonl"
            return others
        problem = "malformed JSON: only its beginning can be read"
    is_all = is_all and is_whole
    if isinstance(value, list):
        return _Decoded("JSON list", value, is_all, problem=problem, beginning=value)
    if isinstance(value, dict) and _holds_records(value):
        members = list(value.values())
        return _Decoded("JSON object of records", members, is_all, "member", problem=problem, beginning=value)
    return _Decoded("JSON object", [] if value is None else [value], is_all, "file", problem=problem, beginning=value)


def _size(value: object) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _holds_records(value: dict[str, Any]) -> bool:
    """Whether an object's members are records: objects with names in common."""
    members = list(value.values())
    if len(members) < 2 or not all(isinstance(member, dict) and member for member in members):
        return False
    return bool(set.intersection(*(set(member) for member in members)))


def _rows(form: str, usual: str, text: str, is_whole: bool, most: int) -> _Decoded:
    rows = rows_of(text, is_whole, usual, most)
    values = [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]
    taken = text[: rows.end]
    return _Decoded(form, list(values), rows.is_whole, "item", rows.columns, rows.dialect, rows.problem, taken)


_DECODE: dict[str, Callable[[str, bool, int], _Decoded]] = {
    ".csv": partial(_rows, "CSV", ","),
    ".tsv": partial(_rows, "TSV", "\t"),
    **dict.fromkeys(JSON, _json),
}
