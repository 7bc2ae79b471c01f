"""JSON: a document with records in it, or one record; and JSON Lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import JsonPath, RecordForm
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.record_files import content as record_content
from talkhouse.ingest.decode import BadRecord, check, last_name, pointer, unique
from talkhouse.ingest.json_members import items, views

_LONGEST = 8_000_000
"""Bytes that are looked at to tell whether a document is JSON Lines."""
_HINTS = {
    "item": 'a JSON object, not a list of records: record = "$" takes the file as one, "*" each member',
    "member": "a JSON list, not an object of which each member is a record: leave out record",
}


class _Piece(NamedTuple):
    """A value of a document."""

    raw: memoryview
    pointer: str = ""
    key: str | None = None
    """Its name, if it is a member of an object."""
    rest: JsonPath = ()
    """What is left of the path to go down inside of it."""


class JsonDocument(record_content.SeparatedRecords):
    """A JSON document on its way in. Memory: the file."""

    def __init__(self, content: record_content.FileContent, form: RecordForm) -> None:
        super().__init__(content)
        self._form = form

    @property
    def envelope(self) -> dict[str, Any]:
        """What a record is, and what stands between those further inside."""
        form = "inside" if isinstance(self._form, tuple) else self._form
        return {"layout": {"form": form, **self._content.layout(), **self._gaps.layout()}}

    def check(self, record: record_content.RawRecord) -> record_content.RawRecord | record_content.BadRawRecord:
        """Check a record; one that can't be read is kept with the blanks around it."""
        try:
            check(record.raw)
        except BadRecord as bad:
            if self._form == "file":
                _check_form(memoryview(record.raw))
            return record_content.BadRawRecord(record.record_index, record.pointer, record.raw, bad)
        return record_content.RawRecord(record.record_index, record.pointer, record.raw.strip(), record.key)

    def texts(self) -> Iterator[record_content.RawRecord]:
        """Yield the records; BadRecord TH-01, TH-03 or GF-14 where these can't be told apart."""
        for index, piece in enumerate(self._pieces(self._content.whole())):
            self._content.file.check_record(len(piece.raw), piece.pointer)
            yield record_content.RawRecord(index, piece.pointer, bytes(piece.raw), piece.key)

    def glance(self, names: frozenset[str]) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the document."""
        return self._content.glance()

    def _pieces(self, view: memoryview) -> Iterable[_Piece]:
        if self._form == "file":
            return [_Piece(view)]
        if isinstance(self._form, tuple):
            return self._inside(view, self._form)
        opening = bytes(view[:64]).lstrip()[:1]
        expected = b"[" if self._form == "item" else b"{"
        if opening != expected:
            _check_form(view)
            if opening in (b"[", b"{"):
                _checked(lambda: [*views(view)], view)
                raise BadRecord("GF-14", _HINTS[self._form])
        if self._form == "item":
            listed = _checked(lambda: items(view), view)
            return (_Piece(memoryview(raw), f"/{index}") for index, raw in enumerate(listed))
        members = _checked(lambda: unique(views(view)), view)
        return (_Piece(memoryview(raw), pointer(key), key) for key, raw in members.items())

    def _inside(self, view: memoryview, path: JsonPath) -> Iterator[_Piece]:
        """Yield what stands at a path, and keep all else as the gaps between; it is read before the first is yielded.

        What has no list there is kept as it is; where nothing has one, the path leads nowhere: GF-14.
        """
        found: list[_Piece] = []
        gap: list[bytes] = []
        lists, missing = 0, ""
        waiting: list[bytes | _Piece] = [_Piece(view, rest=path)]
        while waiting:
            piece = waiting.pop()
            if isinstance(piece, bytes):
                gap.append(piece)
                continue
            raw, at, _, rest = piece
            if not rest:
                self._gaps.add(b"".join(gap).decode())
                gap = []
                found.append(piece)
                continue
            members = _members(raw, rest[0], at, view) if bytes(raw[:4]) != b"null" or not at else None
            if members is None or (isinstance(rest[0], str | int) and rest[0] not in members):
                check(bytes(raw))
                gap.append(bytes(raw))
                missing = missing or _what_is_there(members, rest[0], at)
                continue
            lists += len(rest) == 1
            waiting += reversed(_taken_apart(members, rest, at))
        self._gaps.add(b"".join(gap).decode())
        if missing and not lists:
            raise BadRecord("GF-14", f"no record at record = {path_text(path)!r}: {missing}")
        yield from found


def _members(raw: memoryview, step: object, at: str, view: memoryview) -> dict[Any, memoryview]:
    """Split what a step of a path leads into; BadRecord GF-14 where it is of another type."""
    is_list = step is None or isinstance(step, int)
    opening = bytes(raw[:64]).lstrip()[:1]
    if opening != (b"[" if is_list else b"{"):
        if not at:
            _check_form(view)
        check(bytes(raw))
        problem = f"a JSON {'list' if opening == b'[' else 'object' if opening == b'{' else 'value'}"
        hint = ": '.*' takes each member of an object, '[*]' each item of a list" if step in (None, ...) else ""
        raise BadRecord("GF-14", f"{problem}, not {'a list' if is_list else 'an object'}{hint}", at)
    if is_list:
        return {place: memoryview(item) for place, item in enumerate(_checked(lambda: items(raw, view), view))}
    return {key: memoryview(member) for key, member in _checked(lambda: unique(views(raw, view)), view).items()}


def _taken_apart(members: Mapping[Any, memoryview], path: JsonPath, at: str) -> list[bytes | _Piece]:
    """Return the pieces of a list or object in order: JSON to keep, and members to go into."""
    step, rest = path[0], path[1:]
    is_list = step is None or isinstance(step, int)
    pieces: list[bytes | _Piece] = [b"[" if is_list else b"{"]
    for number, (key, member) in enumerate(members.items()):
        name = b"" if is_list else msgspec.json.encode(key) + b":"
        pieces.append((b"," if number else b"") + name)
        if step in (None, ..., key):
            pieces.append(_Piece(member, at + pointer(key), None if is_list else key, rest))
        else:
            check(bytes(member))
            pieces.append(bytes(member))
    return [*pieces, b"]" if is_list else b"}"]


_SHOWN = 10
"""Members that a message names."""


def _what_is_there(members: Mapping[Any, memoryview] | None, step: object, at: str) -> str:
    if members is None:
        return f"{at} is null"
    there = ", ".join(f"{key!r:.40}" for key in [*members][:_SHOWN]) or "nothing"
    name = f"'{step}'" if isinstance(step, str) else f"[{step}]"
    return f"{at or 'the file'} has no {name:.80}, but {there}"


def _checked(split: Callable[[], Any], view: memoryview) -> Any:
    """Split a document; what is wrong as a whole may be that it is JSON Lines."""
    try:
        return split()
    except BadRecord as bad:
        if bad.rule == "TH-01":
            _check_form(view)
        raise


def _check_form(view: memoryview) -> None:
    """Raise BadRecord GF-14 for a text of several lines of which the first two are JSON values by themselves."""
    lines = bytes(view[:_LONGEST]).lstrip().split(b"\n", 2)[:2]
    if len(lines) > 1 and lines[1].strip():
        try:
            for line in lines:
                msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        raise BadRecord("GF-14", "JSON Lines, a value a line: rename it to .jsonl")


def write_json_document(layout: Mapping[str, Raw], records: Iterable[record_content.WrittenRecord]) -> Iterator[bytes]:
    """Write the document without blanks between its records; yield pieces of about a megabyte."""
    form = msgspec.json.decode(layout["form"])
    return write_json_lines(layout, records) if form == "inside" else record_content.in_pieces(_document(form, records))


def _document(form: str, records: Iterable[record_content.WrittenRecord]) -> Iterator[bytes]:
    opening, closing = {"item": (b"[", b"]"), "member": (b"{", b"}"), "file": (b"", b"")}[form]
    yield opening
    for count, record in enumerate(records):
        name = msgspec.json.encode(last_name(record.pointer)) + b":" if form == "member" else b""
        yield (b"," if count else b"") + name
        yield record.raw
    yield closing


_BLANKS = b" \t\r\n"


class JsonLines(record_content.SeparatedRecords):
    """A file of JSON Lines on its way in, line by line."""

    def check(self, record: record_content.RawRecord) -> record_content.RawRecord | record_content.BadRawRecord:
        """Check a line."""
        try:
            check(record.raw)
        except BadRecord as bad:
            if record.record_index == 0 and record.raw in (b"[", b"{", b"[{"):
                raise BadRecord("GF-14", "one JSON value over many lines, not one a line: rename it to .json") from bad
            # The text that was checked is this line alone.
            detail = bad.detail.replace("at line 1, column", "at column")
            problem = BadRecord(bad.rule, f"line {int(record.pointer[1:]) + 1:,}: {detail}", bad.pointer)
            return record_content.BadRawRecord(record.record_index, record.pointer, record.raw, problem)
        return record

    def glance(self, names: frozenset[str]) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the content."""
        return self._content.glance()

    def texts(self) -> Iterator[record_content.RawRecord]:
        """Yield the lines that are not blank."""
        file, limit = self._content.file, self._content.file.limits.record
        gap, index, ordinary = bytearray(), 0, 0
        for number, line in enumerate(lines(self._content.pieces(), self._content.check_line)):
            text = line.strip(_BLANKS)
            if not text:
                gap += line
                if len(gap) > limit:
                    file.refuse_record(len(gap), f"/{number}")
                continue
            if len(text) + 1 == len(line) and line[-1] == 10 and gap == b"\n":
                ordinary += 1
            else:
                self._gaps.add(record_content.LINE_END, ordinary)
                start, ordinary = line.index(text), 0
                self._gaps.add((gap + line[:start]).decode())
                gap = bytearray(line[start + len(text) :])
            if len(text) > limit:
                file.refuse_record(len(text), f"/{number}")
            yield record_content.RawRecord(index, f"/{number}", text)
            index += 1
        self._gaps.add(record_content.LINE_END, ordinary)
        self._gaps.add(gap.decode())


def lines(pieces: Iterable[bytes], check: Callable[[int, int], None] = lambda *_: None) -> Iterator[bytes]:
    """Yield the lines of a text that comes in pieces, each with its line feed; the last may have none.

    ``check`` gets the size of a line that is not at its end, and its number from 0, before more of it is read.
    """
    parts: list[bytes] = []
    count, size = 0, 0
    for piece in pieces:
        first, feed, rest = piece.partition(b"\n")
        parts.append(first + feed)
        size += len(first)
        check(size, count)
        if not feed:
            continue
        yield b"".join(parts)
        whole = rest.split(b"\n")
        last = whole.pop()
        for line in whole:
            yield line + b"\n"
        count += 1 + len(whole)
        parts, size = [last], len(last)
    if size:
        yield b"".join(parts)


def write_json_lines(layout: Mapping[str, Raw], records: Iterable[record_content.WrittenRecord]) -> Iterator[bytes]:
    """Write the records and what stands between them; yield pieces of about a megabyte."""
    return record_content.with_gaps(layout, (record.raw for record in records))
