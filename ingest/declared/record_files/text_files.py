"""Text files of which a record is the file, or a line that is not blank; a record is the text, as JSON has it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import RecordForm
from talkhouse.ingest.declared.record_files.content import (
    BadRawRecord,
    FileContent,
    Gaps,
    RawRecord,
    RecordFile,
    WrittenRecord,
    with_gaps,
)
from talkhouse.ingest.declared.record_files.json_files import lines
from talkhouse.ingest.decode import BadRecord

_BLANKS = b" \t\r\n"


class TextRecords(RecordFile):
    """A text file on its way in; what stands between its records, and its last line end, are no part of them."""

    def __init__(self, content: FileContent, form: RecordForm) -> None:
        """``form``: what a record is; BadRecord GF-14 for members, which a text has none of."""
        if form == "member":
            raise BadRecord("GF-14", 'a text, which has no members: record = "$" takes the file as a record')
        self._content = content
        self._form = form
        self._gaps = Gaps()

    @property
    def envelope(self) -> dict[str, Any]:
        """Blank lines and line ends that are not the ordinary ones."""
        layout = self._content.layout() | self._gaps.layout()
        return {"layout": layout} if layout else {}

    def check(self, record: RawRecord) -> RawRecord | BadRawRecord:
        """Return a text as it is; one that is not UTF-8 is bad, and has no JSON."""
        if record.raw:
            return record
        verbatim = record.quarantined if record.verbatim is None else record.verbatim
        try:
            verbatim.decode()
        except UnicodeDecodeError as error:
            line = verbatim.count(b"\n", 0, error.start) + (int(record.pointer[1:]) if record.pointer else 0)
            byte = error.start - verbatim.rfind(b"\n", 0, error.start) - 1
            detail = f"line {line + 1:,}: not UTF-8: byte {verbatim[error.start]:#04x} at byte {byte:,} of the line"
            return BadRawRecord(record.record_index, record.pointer, verbatim, BadRecord("TH-02", detail))
        raise RuntimeError("a text without JSON is one that is not UTF-8")

    def texts(self) -> Iterator[RawRecord]:
        """Yield the file, or the lines that are not blank."""
        if self._form == "file":
            self._content.file.check_record(self._content.size)
        index, gap = 0, b""
        for number, text in enumerate([bytes(self._content.whole())] if self._form == "file" else self._lines()):
            place = "" if self._form == "file" else f"/{number}"
            end = b"\r\n" if text.endswith(b"\r\n") else b"\n" if text.endswith(b"\n") else b""
            record = text.removesuffix(end)
            if self._form == "item" and not record.strip(_BLANKS):
                gap += text
                self._content.file.check_record(len(gap), place)
                continue
            self._content.file.check_record(len(record), place)
            self._gaps.add(gap.decode())
            gap = end
            yield _raw(index, place, record)
            index += 1
        self._gaps.add(gap.decode())

    def _lines(self) -> Iterator[bytes]:
        return lines(self._content.pieces(), self._check_line)

    def _check_line(self, size: int, number: int) -> None:
        if size > self._content.file.limits.record:
            self._content.file.refuse_record(size, f"/{number}", f"{size:,} bytes or more in one line")


def _raw(index: int, place: str, text: bytes) -> RawRecord:
    try:
        return RawRecord(index, place, msgspec.json.encode(text.decode()), verbatim=text)
    except UnicodeDecodeError:
        return RawRecord(index, place, b"", verbatim=text)


def write_text_records(layout: Mapping[str, Raw], records: Iterable[WrittenRecord]) -> Iterator[bytes]:
    """Write the texts, to the byte; yield pieces of about a megabyte."""
    texts = (
        record.raw if record.is_verbatim else msgspec.json.decode(record.raw, type=str).encode() for record in records
    )
    return with_gaps(layout, texts)
