"""The beginning of a file, decoded: its first 1,000 records, or as many as 8 MB of it hold."""

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple

import msgspec

from talkhouse.guess.record_values import Records, is_keyed
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


class Most(NamedTuple):
    """How much of a file is looked at."""

    records: int = 1_000
    bytes: int = 8_000_000
    """Unpacked."""

    def shared(self, files: int) -> "Most":
        """Return the share of each of several files: together not much more than of one."""
        share = max(1, min(files, 8))
        return Most(max(self.records // share, min(self.records, 400)), self.bytes // share)


MOST = Most()
MOST_FIELDS = 1_000
"""Fields that are looked at: of records, of the objects in them, and of the objects in their lists."""
_DEEPEST, _FAR_INSIDE = 4, (None,)
"""Where objects of a tree are not told apart by their places."""
_BATCH = 64
"""Rows of Parquet that are decoded at a time."""
_TEXT = "text"


@dataclass
class Sample:
    """What the beginning of a file has."""

    path: str
    """Inside the folder, archives as folders."""
    form: str
    """In words: ``JSON Lines``."""
    size: int
    """Bytes of the file as it lies there, be it compressed."""
    records: list[Any] = field(default_factory=list)
    """Objects; any values while it is decoded."""
    is_whole: bool = True
    """Whether these are all records of the file."""
    record: RecordForm = "item"
    """What a record is, as ``[dialogue] record`` says it."""
    columns: tuple[str, ...] = ()
    """Of rows."""
    dialect: Dialect = field(default_factory=Dialect)
    """What is said only where it is not the default of the file's ending."""
    problem: str | None = None
    """Why not all of the beginning could be read; None where it could."""
    others: int = 0
    """Records in the beginning that are no objects, or can't be read."""
    beginning: bytes = b""
    """What a file of these records alone would be; empty where the file has no others."""
    has_all_fields: bool = True
    """Whether the records have all of their fields, and not only those that are looked at."""

    @property
    def is_text(self) -> bool:
        """Whether only the words of the file say what its records are."""
        return self.form.partition(",")[0] == _TEXT

    @property
    def remark(self) -> str | None:
        """What is wrong, or was not looked at, in words."""
        fields = None if self.has_all_fields else f"more than {MOST_FIELDS:,} fields: only the first are looked at"
        return "; ".join(part for part in (self.problem, fields) if part) or None


class Samples(list[Sample]):
    """Samples of files of one kind."""

    @cached_property
    def records(self) -> Records:
        """The records of all of them."""
        return Records(chain.from_iterable(sample.records for sample in self))


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
    name = PurePosixPath(path)
    taken = _parquet(file, most) if ending(name) == ".parquet" else _text(file, name, most)
    taken.path, taken.size = path, file.size
    taken.form += ", gzip" * is_packed(name)
    taken.columns = taken.columns[:MOST_FIELDS]
    values = taken.records
    taken.records = [value for value in values if isinstance(value, dict)]
    if not taken.records:  # a list of messages is a record too, as [dialogue] turns = "$" has it
        taken.records = [{"": value} for value in values if value and _list_of_objects(value)]
    _decode_cells(taken.records)
    taken.others = len(values) - len(taken.records)
    taken.has_all_fields = _keep_first_fields(taken.records)
    return taken


def _decode_cells(records: list[dict[str, Any]]) -> None:
    """Put lists in place of the texts that have them as JSON, where all cells of a column do."""
    begun = {name for record in records for name, value in record.items() if str(value)[:1] == "["}
    for name in begun:
        cells = [record[name] for record in records if record.get(name)]
        try:
            lists = [msgspec.json.decode(cell, type=list[dict[str, Any] | str]) for cell in cells]
        except (msgspec.DecodeError, TypeError):
            continue
        for record, value in zip((record for record in records if record.get(name)), lists, strict=True):
            record[name] = value


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


def _parquet(file: SourceFile, most: Most) -> Sample:
    from talkhouse.ingest.declared.record_files.parquet import opened_parquet, parquet_of, rows_at_a_time

    decoded = Sample("", "Parquet", 0)
    try:
        content, size = FileContent(file), 0
        rows = min(_BATCH, rows_at_a_time(content, most.records))
        with opened_parquet(content) as parquet:
            decoded.columns = tuple(parquet.schema.names)
            batches = []
            for batch in parquet.batches(rows, parquet.groups(most.records)):
                batches.append(batch.slice(0, most.records - len(decoded.records)))
                decoded.records += batches[-1].to_pylist()
                size += batch.nbytes
                if len(decoded.records) >= most.records or size > most.bytes:
                    break
            decoded.is_whole = len(decoded.records) == parquet.rows
            if not decoded.is_whole:
                decoded.beginning = parquet_of(parquet.schema, batches)
    except (BadRecord, ValueError) as error:
        decoded.problem = error.detail if isinstance(error, BadRecord) else f"not Parquet that can be read: {error}"
    except BeyondLimit as error:
        decoded.problem = f"{error.what}: {error.found}"
    return decoded


def _text(file: SourceFile, path: PurePosixPath, most: Most) -> Sample:
    with file.peek() as stream:
        raw, problem = _beginning(stream, most.bytes, packed=is_packed(path))
    is_whole = len(raw) <= most.bytes and problem is None
    text, bad = _decode(raw[: most.bytes].removeprefix(BOM), is_whole=is_whole)
    decode = _only_text if ending(path) in TEXTS else _DECODE.get(ending(path), _lines)
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


def _lines(text: str, is_whole: bool, most: int) -> Sample:
    decoded = Sample("", "JSON Lines", 0, is_whole=is_whole)
    lines = text.split("\n", most * 2)
    if not is_whole or len(lines) > most * 2:
        decoded.is_whole = False
        if len(lines) > 1:
            lines.pop()  # cut off
    for number, line in enumerate(lines):
        if not line.strip(" \t\r"):
            continue
        if len(decoded.records) == most:
            decoded.is_whole, lines = False, lines[:number]
            break
        try:
            decoded.records.append(msgspec.json.decode(line))
        except (ValueError, RecursionError) as error:
            decoded.records.append(None)
            decoded.problem = decoded.problem or f"line {number + 1:,} is no JSON: {error}"
    if len(decoded.records) == 1 and decoded.problem and not is_whole:
        # One endless line: perhaps its beginning says enough.
        value, _ = start_of(lines[0], most)
        decoded.records, lines = [value], [json.dumps(value)]
    decoded.beginning = b"" if decoded.is_whole else "\n".join(lines).encode()
    return decoded


def _only_text(text: str, is_whole: bool, most: int) -> Sample:  # noqa: ARG001 - as the others
    """Return a text, or its whole lines."""
    whole = text if is_whole else text[: text.rfind("\n") + 1] or text
    records = [{"": whole}] if whole.strip() else []
    return Sample("", _TEXT, 0, records, is_whole, "file", beginning=b"" if is_whole else whole.encode())


def _json(text: str, is_whole: bool, most: int) -> Sample:
    value, is_all = start_of(text, most)
    decoded = Sample("", "JSON object", 0, [] if value is None else [value], is_all and is_whole, "file")
    if is_whole and not is_all and _size(value) < most:
        others = _lines(text, is_whole, most)
        if len(others.records) > 1 and not others.problem:
            others.problem = "a record a line: the file should be called .jsonl"
            return others
        decoded.problem = "malformed JSON: only its beginning can be read"
    if isinstance(value, list):
        decoded.form, decoded.record, decoded.records = "JSON list", "item", value
    elif isinstance(value, dict) and _holds_records(value):
        decoded.form, decoded.record, decoded.records = "JSON object of records", "member", list(value.values())
    decoded.beginning = b"" if decoded.is_whole else json.dumps(value).encode()
    return decoded


def _size(value: object) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _holds_records(value: dict[str, Any]) -> bool:
    """Whether an object's members are records: objects with names in common."""
    members = list(value.values())
    if len(members) < 2 or not all(isinstance(member, dict) and member for member in members):
        return False
    return bool(set.intersection(*(set(member) for member in members)))


_DELIMITERS = (",", "\t", ";", "|")
_QUOTE = '"'
_ESCAPE = "\\"


def _rows(form: str, usual: str, text: str, is_whole: bool, most: int) -> Sample:
    """Read the first rows by the dialect that fits best.

    ``usual`` is the delimiter of the file's ending. A dialect fits where all rows have as many cells as the header;
    of those that fit, the usual delimiter wins, then the most columns, and quotes quote unless that does not fit,
    doubled inside of cells, or else with a backslash before them.
    """
    if "\r" in text and "\n" not in text:
        return Sample("", form, 0, problem="its lines end with a carriage return alone: write it with line feeds")
    quotes = [(_QUOTE, ""), *([(_QUOTE, _ESCAPE)] if _ESCAPE + _QUOTE in text else []), ("", "")]
    dialects = [Dialect(sign, *quote) for sign in dict.fromkeys((usual, *_DELIMITERS)) for quote in quotes]
    tried = [_read_rows(form, text, is_whole, dialect, most) for dialect in dialects]
    # A quote that is a letter would swallow lines up to the next one that has no backslash before it.
    lines = {
        rows.dialect.delimiter: len(rows.records) for rows in tried if not rows.dialect.quote_char and not rows.problem
    }
    tried = [
        rows
        for rows in tried
        if not rows.dialect.escape_char or len(rows.records) >= lines.get(rows.dialect.delimiter, 0)
    ]
    fitting = [rows for rows in tried if rows.problem is None]
    chosen = next((rows for rows in fitting if len(rows.columns) > 1 and rows.dialect.delimiter == usual), None)
    chosen = chosen or max(fitting or tried[:1], key=lambda rows: len(rows.columns))
    if chosen.dialect.delimiter == usual:
        chosen.dialect = replace(chosen.dialect, delimiter=None)
    return chosen


def _read_rows(form: str, text: str, is_whole: bool, dialect: Dialect, most: int) -> Sample:
    """Return at most so many rows by a dialect, without one that is cut off, and where one does not fit."""
    cells = CsvCells(dialect.delimiter or ",", dialect.quote_char, (), dialect.escape_char)
    result = Sample("", form, 0, dialect=dialect)
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
    result.columns = tuple(rows[0]) if rows else ()
    width, rows = len(result.columns), rows[1:]
    if len(rows) > most or not is_whole:
        rows, result.is_whole = rows[:most] if len(rows) > most else rows[:-1], False
    uneven = [number for number, row in enumerate(rows, 2) if len(row) != width]
    if uneven and result.problem is None:
        result.problem = f"row {uneven[0]:,} has another number of cells than the header, which has {width:,}"
    if len(set(result.columns)) < width:
        result.problem = result.problem or "two columns have one name"
    result.beginning = b"" if result.is_whole or not ends else text[: ends[len(rows)]].encode()
    result.records = [dict(zip(result.columns, row, strict=True)) for row in rows if len(row) == width]
    return result


_DECODE: dict[str, Callable[[str, bool, int], Sample]] = {
    ".csv": partial(_rows, "CSV", ","),
    ".tsv": partial(_rows, "TSV", "\t"),
    **dict.fromkeys(JSON, _json),
}
