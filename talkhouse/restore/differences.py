"""The first difference between two files, with its place: byte for byte, between JSON texts, between Parquet files."""

import gzip
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
from pyarrow import lib as pa

from talkhouse.ingest.declared.record_files.content import FileContent, is_packed
from talkhouse.ingest.declared.record_files.parquet import Parquet, opened_parquet, parsed, rows_at_a_time
from talkhouse.ingest.declared.record_files.parquet_values import converters, plain
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.decode import pointer as escaped
from talkhouse.ingest.json_members import views
from talkhouse.ingest.sources import SourceFile

_SHOWN_BYTES = 30
"""Bytes before and after a difference that are shown."""

_END = "the end of the file"


@dataclass(frozen=True)
class FileDifference:
    """Where two files first differ: in JSON a pointer, in anything else line and byte, from 1."""

    what: str
    pointer: str | None = None
    line: int | None = None
    byte: int | None = None
    """Position in the line."""
    expected: str | None = None
    """What the publisher's file has there, shortened."""
    found: str | None = None
    """What the file that was written back has there."""


def first_difference(published: Iterable[bytes], restored: IO[bytes]) -> FileDifference | None:
    """Compare a file that is read in chunks with a stream; memory: one chunk of each."""
    position = _Position()
    for chunk in published:
        other = restored.read(len(chunk))
        if other != chunk:
            return position.difference(chunk, other + restored.read(_SHOWN_BYTES))
        position.advance(chunk)
    rest = restored.read(_SHOWN_BYTES)
    return position.difference(b"", rest) if rest else None


class _Position:
    """A position in a file: the line, how many of its bytes have been read, and the last of them."""

    def __init__(self) -> None:
        self.line, self.byte = 1, 0
        self._before = b""

    def advance(self, chunk: bytes) -> None:
        """Move on by some bytes."""
        ends = chunk.count(b"\n")
        last = chunk[chunk.rfind(b"\n") + 1 :] if ends else chunk
        self.line += ends
        self.byte = len(last) if ends else self.byte + len(chunk)
        self._before = last[-_SHOWN_BYTES:] if ends else (self._before + last)[-_SHOWN_BYTES:]

    def difference(self, chunk: bytes, other: bytes) -> FileDifference:
        """Find the first byte that differs, and show both lines around it."""
        same = _common(chunk, other)
        self.advance(chunk[:same])
        published, restored = chunk[same:], other[same:]
        ended = "the restored file ends here" if not restored else "the restored file goes on here"
        return FileDifference(
            ended if not published or not restored else "other bytes",
            line=self.line,
            byte=self.byte + 1,
            expected=self._line(published) if published else _END,
            found=self._line(restored) if restored else _END,
        )

    def _line(self, rest: bytes) -> str:
        """Show the line around the position, its end included."""
        after = rest[: rest.find(b"\n", 0, _SHOWN_BYTES) + 1 or _SHOWN_BYTES]
        try:
            return repr((self._before + after).decode())
        except UnicodeDecodeError:
            return repr(self._before + after)[1:]


def _common(first: bytes, second: bytes) -> int:
    """Count the bytes that both begin with, by halving: whole slices are compared faster than bytes in a loop."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


_WHOLE = 1_000_000
"""Bytes of a value up to which it is decoded whole; larger ones are split into their members first."""

_SHOWN = 40
"""Characters of a text that are shown."""


class _Number(NamedTuple):
    """A number as it is spelled: int, float, or NaN and Infinity (constant)."""

    kind: str
    literal: str


class _Object(NamedTuple):
    """An object's members in order; a key may stand twice."""

    pairs: list[tuple[str, Any]]


def json_difference(
    before: bytes | memoryview, after: bytes | memoryview, pointer: str = "", whole: int = _WHOLE
) -> FileDifference | None:
    """Compare two JSON texts by value and order of keys; memory: the texts, and the values of one member.

    Texts of up to ``whole`` bytes are decoded whole, others member by member.
    """
    if before == after:
        return None
    opening = bytes(before[:64]).lstrip()[:1]
    can_split = opening in (b"{", b"[") and opening == bytes(after[:64]).lstrip()[:1]
    if not can_split or max(len(before), len(after)) <= whole:
        try:
            if msgspec.json.format(bytes(before), indent=-1) == msgspec.json.format(bytes(after), indent=-1):
                return None  # but for blanks the same to the byte, which takes a tenth of the time of decoding
        except msgspec.DecodeError:
            pass  # NaN, or malformed
        try:
            return _of_values(_decoded(before), _decoded(after), pointer)
        except (ValueError, RecursionError):
            pass  # a member is malformed: each is compared by itself
    if can_split:
        try:
            return _of_members(list(views(before)), list(views(after)), pointer, whole, is_object=opening == b"{")
        except BadRecord:
            pass  # brackets that don't match: only bytes can be compared
    first, other = (bytes(text).strip().decode(errors="backslashreplace") for text in (before, after))
    return None if first == other else _of_spellings(first, other, pointer)


def _of_members(
    before: list[tuple[str, Any]], after: list[tuple[str, Any]], pointer: str, whole: int, *, is_object: bool
) -> FileDifference | None:
    """Compare the members of two large or malformed objects or lists, one by one."""
    if is_object and (difference := _of_keys([key for key, _ in before], [key for key, _ in after], pointer)):
        return difference
    for (token, value), (_, other) in zip(before, after, strict=False):
        if difference := json_difference(memoryview(value), memoryview(other), pointer + escaped(token), whole):
            return difference
    return _of_lengths(before, after, pointer)


def _of_values(before: Any, after: Any, pointer: str) -> FileDifference | None:
    """Compare two decoded values."""
    if type(before) is not type(after):
        return FileDifference("another type", pointer, expected=_shown(before), found=_shown(after))
    if isinstance(before, _Object):
        keys = _of_keys([key for key, _ in before.pairs], [key for key, _ in after.pairs], pointer)
        members = ((key, value, other) for (key, value), (_, other) in zip(before.pairs, after.pairs, strict=False))
        return keys or _first(members, pointer)
    if isinstance(before, list):
        items = ((str(index), value, other) for index, (value, other) in enumerate(zip(before, after, strict=False)))
        return _first(items, pointer) or _of_lengths(before, after, pointer)
    if isinstance(before, _Number):
        return None if _is_same_number(before, after) else _of_spellings(before.literal, after.literal, pointer)
    if isinstance(before, str) and before != after:
        at = _first_unlike(before, after)
        what = f"another text, from character {at + 1:,} on"
        return FileDifference(what, pointer, expected=_shown(_cut(before, at)), found=_shown(_cut(after, at)))
    return (
        None
        if before == after
        else FileDifference("another value", pointer, expected=_shown(before), found=_shown(after))
    )


def _first(members: Iterable[tuple[str, Any, Any]], pointer: str) -> FileDifference | None:
    differences = (_of_values(value, other, pointer + escaped(token)) for token, value, other in members)
    return next((difference for difference in differences if difference), None)


def _of_keys(before: list[str], after: list[str], pointer: str) -> FileDifference | None:
    """Compare the keys of two objects, in order."""
    if before == after:
        return None
    if sorted(before) == sorted(after):
        first, other = next(pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])
        return FileDifference("keys in another order", pointer, expected=_shown(first), found=_shown(other))
    first, other = next(pair for pair in zip_longest(before, after) if pair[0] != pair[1])
    lacking = [key for key in before if key not in after]
    what = f"no key {_shown(lacking[0])}" if lacking else "a key too many"
    return FileDifference(what, pointer, expected=_shown(first, "no key"), found=_shown(other, "no key"))


def _of_lengths(before: list[Any], after: list[Any], pointer: str) -> FileDifference | None:
    if len(before) == len(after):
        return None
    return FileDifference("another number of items", pointer, expected=f"{len(before):,}", found=f"{len(after):,}")


def _of_spellings(before: str, after: str, pointer: str) -> FileDifference:
    """Compare the spelling of two numbers, or of what is not JSON."""
    at = _first_unlike(before, after)
    return FileDifference("another value", pointer, expected=_cut(before, at), found=_cut(after, at))


def _first_unlike(before: str, after: str) -> int:
    return next((index for index, pair in enumerate(zip_longest(before, after)) if pair[0] != pair[1]), 0)


def _cut(text: str, at: int) -> str:
    """Cut a text around a position."""
    begin = max(at - _SHOWN // 2, 0)
    return text[begin : begin + _SHOWN]


def _is_same_number(number: _Number, other: _Number) -> bool:
    if number.kind != other.kind or number.kind != "float" or number.literal == other.literal:
        return number == other
    double = float(number.literal)
    if math.isfinite(double) and double != 0:
        return double == float(other.literal)
    try:
        exact, its = Decimal(number.literal), Decimal(other.literal)
    except InvalidOperation:
        return False
    return exact == its and exact.is_signed() == its.is_signed()


def _decoded(raw: bytes | memoryview) -> Any:
    """Decode a text so that nothing is lost: numbers as they are spelled, all keys in order."""
    return json.loads(
        bytes(raw).decode(),
        parse_int=lambda literal: _Number("int", "0" if literal == "-0" else literal),
        parse_float=lambda literal: _Number("float", literal),
        parse_constant=lambda literal: _Number("constant", literal),
        object_pairs_hook=_Object,
    )


def _shown(value: Any, nothing: str = "null") -> str:
    """Spell a value, a long or nested one in short."""
    match value:
        case None:
            return nothing
        case _Number():
            return value.literal[:_SHOWN]
        case _Object():
            return f"an object of {len(value.pairs):,} keys"
        case list():
            return f"a list of {len(value):,} items"
        case str():
            short = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
            return json.dumps(short, ensure_ascii=not short.isprintable())
        case _:
            return json.dumps(value)


_SHOWN_VALUE = 60
"""Characters of a value or type that are shown."""


def parquet_difference(file: SourceFile, restored: Path) -> FileDifference | None:
    """Compare a publisher's file with the one that was written back; memory: some rows of each.

    Raises BadRecord where one of them is no Parquet.
    """
    stream: Any = (
        pa.BufferReader(gzip.decompress(restored.read_bytes())) if is_packed(file.path) else restored.open("rb")
    )
    content = FileContent(file)
    rows = rows_at_a_time(content)
    with stream, opened_parquet(content) as before, parsed(stream, file) as after:
        if difference := _of_schemas(before.schema, after.schema):
            return difference
        start = 0
        for first, other in zip_longest(_tables(before, rows), _tables(after, rows)):
            counts = [0 if table is None else table.num_rows for table in (first, other)]
            if counts[0] != counts[1]:
                expected, found = (f"{start + count:,} or more" for count in counts)
                return FileDifference("another number of rows", "", expected=expected, found=found)
            if difference := _of_tables(first, other, start):
                return difference
            start += first.num_rows
    return None


def _of_schemas(first: pa.Schema, other: pa.Schema) -> FileDifference | None:
    if first.equals(other, check_metadata=True):
        return None
    for field, its in zip_longest(first, other):
        if field is None or its is None or not field.equals(its, check_metadata=True):
            shown = [str(part)[:_SHOWN_VALUE] if part is not None else "no column" for part in (field, its)]
            name = (its if field is None else field).name
            return FileDifference("another column", escaped(name), expected=shown[0], found=shown[1])
    return FileDifference("other notes in the schema", "", expected=_notes(first), found=_notes(other))


def _notes(schema: pa.Schema) -> str:
    return ", ".join(sorted(key.decode(errors="replace") for key in schema.metadata or {})) or "none"


def _tables(parquet: Parquet, rows: int) -> Iterator[pa.Table]:
    """Read so many rows at a time, however they are grouped."""
    rest: list[pa.RecordBatch] = []
    for batch in parquet.batches(rows):
        rest.append(batch)
        while sum(part.num_rows for part in rest) >= rows:
            table = pa.Table.from_batches(rest)
            yield table.slice(0, rows)
            rest = table.slice(rows).to_batches()
    if rest:
        yield pa.Table.from_batches(rest)


def _of_tables(first: pa.Table, other: pa.Table, start: int) -> FileDifference | None:
    """Compare rows, column by column; ``start`` is the number of the first."""
    for field in first.schema:
        pair = [table.column(field.name).cast(plain(field.type)) for table in (first, other)]
        # Arrow takes 0.0 for -0.0, and NaN for another value than NaN.
        may_hold_floats = any(name in str(field.type) for name in ("float", "double"))
        if not may_hold_floats and pair[0].equals(pair[1]):
            continue
        to, _ = converters(field.type)
        texts = [[msgspec.json.encode(to(value)) for value in column.to_pylist()] for column in pair]
        for row, (text, its) in enumerate(zip(*texts, strict=True)):
            if text != its:
                shown = [part.decode(errors="replace")[:_SHOWN_VALUE] for part in (text, its)]
                return FileDifference(
                    "another value", escaped(start + row, field.name), expected=shown[0], found=shown[1]
                )
    return None
