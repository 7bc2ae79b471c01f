"""Records whose texts are UTF-8 that was taken for Latin-1, as Messenger and Instagram write them: mended, and back.

Only values that are texts are mended, never the names of members. A text stays as it is where its letters are no UTF-8;
the file's envelope says which, by the record and the place among its texts that are not ASCII.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.record_files.content import BadRawRecord, RawRecord, RecordFile, WrittenRecord

LATIN1_UTF8 = "latin1-utf8"
"""What ``[[files]] repair`` says."""

BROKEN = r"[\x{C2}-\x{F4}][\x{80}-\x{BF}]"
"""A pattern of Rust, which fits every text that can be mended."""

LEFT = "left"
"""In a file's layout: the texts that stay as they are."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NAME = re.compile(rb"\s*:")


def repaired(text: str) -> str:
    """Return a text with its letters taken for bytes of UTF-8; the text itself where they are none."""
    try:
        return text.encode("latin-1").decode()
    except ValueError:
        return text


def _with_texts(raw: bytes, change: Callable[[str, int], str]) -> bytes:
    """Return a JSON text with those of its texts changed that are values and not ASCII; ``change`` gets their place."""
    place = 0

    def changed(match: re.Match[bytes]) -> bytes:
        nonlocal place
        token = match[0]
        is_ascii = token.isascii() and b"\\u" not in token
        if is_ascii or _NAME.match(raw, match.end()):
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

    def __init__(self, file: RecordFile) -> None:
        self._file = file
        self._left: dict[int, list[int]] = {}

    @property
    def envelope(self) -> dict[str, Any]:
        """That of the file, and which texts stay as they are."""
        envelope = self._file.envelope
        return {**envelope, "layout": {**envelope.get("layout", {}), LEFT: self._left}}

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
            mended = repaired(text)
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

    def change(text: str, place: int) -> str:
        return text if place in left else text.encode().decode("latin-1")

    return WrittenRecord(record.pointer, _with_texts(record.raw, change), record.cells)
