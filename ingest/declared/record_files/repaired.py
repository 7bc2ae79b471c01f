"""Texts that are UTF-8 which was taken for Latin-1, as Messenger and Instagram write them, or for Windows-1252.

Of JSON, values that are texts are mended, never the names of members; of CSV and text files, lines. What is no UTF-8
stays as it is; the file's envelope says which, by the record and the place among its texts that are not ASCII, or by
the number of the line.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Repair
from talkhouse.ingest.declared.record_files.content import (
    BadRawRecord,
    FileContent,
    RawRecord,
    RecordFile,
    WrittenRecord,
    in_pieces,
)
from talkhouse.ingest.declared.record_files.json_files import lines
from talkhouse.ingest.sources import SourceFile

LATIN1_UTF8: Repair = "latin1-utf8"
REPAIRS: tuple[Repair, ...] = (LATIN1_UTF8, "windows1252-utf8")

_SIGNS = {code: bytes([code]).decode("cp1252") for code in range(0x80, 0xA0) if code not in b"\x81\x8d\x8f\x90\x9d"}
"""What stands in Windows-1252 where Latin-1 has control characters; five of those are in both, as browsers have it."""
_CODES = {ord(sign): code for code, sign in _SIGNS.items()}

BROKEN = rf"[\x{{C2}}-\x{{F4}}][\x{{80}}-\x{{BF}}{''.join(_SIGNS.values())}]"
"""A pattern of Rust, which fits every text that can be mended."""

LEFT, REPAIR = "left", "repair"
"""In a file's layout: the texts that stay as they are; and how the others were mended, where not from Latin-1."""
REPAIRED_LINES = "repaired_lines"
"""The same of lines: how they were mended, and which were not."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:(")|\Z)', re.DOTALL)
"""A string of JSON, or one without an end, so that none of its quotes is looked at again."""
_NAME = re.compile(rb"\s*:")


def repaired(text: str, repair: Repair = LATIN1_UTF8) -> str:
    """Return a text with its letters taken for bytes of UTF-8; the text itself where they are none."""
    try:
        mended = (text if repair == LATIN1_UTF8 else text.translate(_CODES)).encode("latin-1").decode()
    except ValueError:
        return text
    return mended if _broken(mended, repair) == text else text


def is_broken(text: str) -> bool:
    """Whether a text can be mended in some way."""
    return any(repaired(text, repair) != text for repair in REPAIRS)


def _broken(text: str, repair: Repair) -> str:
    """Return a text that was mended as it was before."""
    broken = text.encode().decode("latin-1")
    return broken if repair == LATIN1_UTF8 else broken.translate(_SIGNS)


def _with_texts(raw: bytes, change: Callable[[str, int], str]) -> bytes:
    """Return a JSON text with those of its texts changed that are values and not ASCII; ``change`` gets their place."""
    place = 0

    def changed(match: re.Match[bytes]) -> bytes:
        nonlocal place
        token = match[0]
        is_ascii = token.isascii() and b"\\u" not in token
        if is_ascii or match[1] is None or _NAME.match(raw, match.end()):
            return token
        text = msgspec.json.decode(token, type=str)
        if text.isascii():
            return token
        place += 1
        other = change(text, place - 1)
        return token if other == text else msgspec.json.encode(other)

    return _STRING.sub(changed, raw)


class RepairedRecords(RecordFile):
    """A JSON file on its way in, whose texts are mended."""

    def __init__(self, file: RecordFile, repair: Repair) -> None:
        self._file, self._repair = file, repair
        self._left: dict[int, list[int]] = {}

    @property
    def envelope(self) -> dict[str, Any]:
        """That of the file, and which texts stay as they are."""
        envelope = self._file.envelope
        other = {} if self._repair == LATIN1_UTF8 else {REPAIR: self._repair}
        return {**envelope, "layout": {**envelope.get("layout", {}), LEFT: self._left, **other}}

    def check(self, record: RawRecord) -> RawRecord | BadRawRecord:
        """Check a record as the file has it."""
        checked = self._file.check(RawRecord(record.record_index, record.pointer, record.quarantined, record.key))
        return checked if isinstance(checked, BadRawRecord) else self._repaired(checked)

    def texts(self) -> Iterator[RawRecord]:
        """Yield the records, mended."""
        return map(self._repaired, self._file.texts())

    def glance(self, names: frozenset[str]) -> Iterator[bytes]:
        """Yield pieces of the file."""
        return self._file.glance(names)

    def _repaired(self, record: RawRecord) -> RawRecord:
        left: list[int] = []

        def change(text: str, place: int) -> str:
            mended = repaired(text, self._repair)
            if mended == text:
                left.append(place)
            return mended

        try:
            raw = _with_texts(record.raw, change)
        except (msgspec.DecodeError, UnicodeDecodeError):  # which the check will say
            raw, left = record.raw, []
        self._left |= {record.record_index: left} if left else {}
        return RawRecord(record.record_index, record.pointer, raw, record.key, verbatim=record.raw)


def as_published(layout: Mapping[str, Raw], record: WrittenRecord, index: int) -> WrittenRecord:
    """Return a record, the file's ``index``th, with its texts as the file has them, where they were mended."""
    if LEFT not in layout or record.is_verbatim:
        return record
    known = msgspec.json.decode(layout[LEFT], type=dict[int, list[int]])
    left = set(known.get(index, ()))
    repair = msgspec.json.decode(layout[REPAIR], type=Repair) if REPAIR in layout else LATIN1_UTF8

    def change(text: str, place: int) -> str:
        return text if place in left else _broken(text, repair)

    return WrittenRecord(record.pointer, _with_texts(record.raw, change), record.cells)


class RepairedContent(FileContent):
    """The content of a CSV or text file on its way in, whose lines are mended."""

    def __init__(self, file: SourceFile, repair: Repair) -> None:
        super().__init__(file)
        self._repair = repair
        self._left: list[int] = []

    def pieces(self) -> Iterator[bytes]:
        """Yield the content in pieces of about a megabyte."""
        self._left = []
        return in_pieces(map(self._repaired, range(self.size), lines(super().pieces(), self.check_line)))

    def whole(self) -> memoryview:
        """Read all of the content; SourceError where that is more than a file that is held in memory may have."""
        self.file.limits.check("file", self.size, self.file.id)
        return memoryview(b"".join(self.pieces()))

    def layout(self) -> dict[str, object]:
        """What there is to say of the content, and which lines stay as they are."""
        return {**super().layout(), REPAIRED_LINES: (self._repair, self._left)}

    def _repaired(self, number: int, line: bytes) -> bytes:
        if line.isascii():
            return line
        try:
            mended = repaired(line.decode(), self._repair).encode()
        except UnicodeDecodeError:  # which the reader will say
            mended = line
        self._left += [number] if mended == line else []
        return mended


def lines_as_published(layout: Mapping[str, Raw], pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Return the content of a file with its lines as the file has them, where they were mended."""
    repair, left = msgspec.json.decode(layout[REPAIRED_LINES], type=tuple[Repair, set[int]])
    return in_pieces(
        line if line.isascii() or number in left else _broken(line.decode(), repair).encode()
        for number, line in enumerate(lines(pieces))
    )
