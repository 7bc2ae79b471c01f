"""JSON Lines: a record a line."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Raw

from talkhouse.ingest.declared.record_files.content import Content
from talkhouse.ingest.declared.record_files.gaps import Gaps, gaps_of
from talkhouse.ingest.declared.record_files.record import BadRawRecord, RawRecord, WrittenRecord
from talkhouse.ingest.decode import BadRecord, check

_BLANKS = b" \t\r\n"
_PIECE = 1_000_000


class JsonLines:
    """A file of JSON Lines on its way in, line by line; a ``RecordFile``."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._gaps = Gaps()
        self._records = 0

    @property
    def envelope(self) -> dict[str, Any]:
        """Blank lines and line ends that are not the ordinary ones."""
        layout = self._content.layout() | self._gaps.layout()
        return {"layout": layout} if layout else {}

    def __iter__(self) -> Iterator[RawRecord | BadRawRecord]:
        """Yield the lines that are not blank, each checked."""
        return map(self.check, self.texts())

    def check(self, record: RawRecord) -> RawRecord | BadRawRecord:
        """Check a line."""
        try:
            check(record.raw)
        except BadRecord as bad:
            if record.record_index == 0:
                _check_form(record.raw)
            problem = in_line(bad, int(record.pointer[1:]))
            return BadRawRecord(record.record_index, record.pointer, record.raw, problem)
        return record

    def texts(self) -> Iterator[RawRecord]:
        """Yield the lines that are not blank."""
        file, limits = self._content.file, self._content.file.limits
        gap, index = bytearray(), 0
        for number, line in enumerate(lines(self._content.pieces(), self._check)):
            text = line.strip(_BLANKS)
            if not text:
                gap += line
                if len(gap) > limits.record:
                    file.refuse_record(len(gap), f"/{number}")
                continue
            if len(text) + 1 == len(line) and line[-1] == 10:
                self._gaps.add(gap.decode())
                gap = bytearray(b"\n")
            else:
                start = line.index(text)
                self._gaps.add((gap + line[:start]).decode())
                gap = bytearray(line[start + len(text) :])
            if len(text) > limits.record:
                file.refuse_record(len(text), f"/{number}")
            yield RawRecord(index, f"/{number}", text)
            index += 1
        self._gaps.add(gap.decode())

    def _check(self, size: int, number: int) -> None:
        """Raise SourceError for a line that is longer than a record may be; more of it may follow."""
        if size > self._content.file.limits.record:
            self._content.file.refuse_record(size, f"/{number}", f"{size:,} bytes or more in one line")


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


def in_line(bad: BadRecord, number: int) -> BadRecord:
    """Say in which line, counted from 0, something is wrong; the text that was judged is this line."""
    detail = bad.detail.replace("at line 1, column", "at column")
    return BadRecord(bad.rule, f"line {number + 1:,}: {detail}", bad.pointer)


def _check_form(text: bytes) -> None:
    """Raise BadRecord GF-14 where the first line says that this is no JSON Lines."""
    if text in (b"[", b"{", b"[{"):
        raise BadRecord("GF-14", "one JSON value over many lines, not one a line: rename it to .json")


def write_json_lines(layout: Mapping[str, Raw], records: Iterable[WrittenRecord]) -> Iterator[bytes]:
    """Write the lines; yield pieces of about a megabyte."""
    gaps = gaps_of(layout)
    parts, size = [next(gaps)], 0
    for record in records:
        parts += (record.raw, next(gaps))
        size += len(record.raw)
        if size > _PIECE:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)
