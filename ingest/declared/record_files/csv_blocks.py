"""The text of a file of rows in blocks."""

from collections.abc import Iterator

from talkhouse.ingest.declared.record_files.content import Content
from talkhouse.ingest.decode import BadRecord

_BLOCK = 4_000_000
"""Bytes of text that are told apart at once: about 50,000 rows."""


class Blocks:
    """The text of a file, block by block, each of whole lines."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._line = 0
        self._blocks = self._read()
        self._next = next(self._blocks, None)

    @property
    def is_at_end(self) -> bool:
        """Whether all of the text was given out."""
        return self._next is None

    def next(self) -> str:
        """Give out the next block; empty at the end."""
        block, self._next = self._next, next(self._blocks, None)
        return block or ""

    def _read(self) -> Iterator[str]:
        parts, size = list[bytes](), 0
        for piece in self._content.pieces():
            cut = piece.rfind(b"\n") + 1
            if cut and size + cut >= _BLOCK:
                yield self._text(b"".join((*parts, piece[:cut])))
                parts, size = [piece[cut:]], len(piece) - cut
            else:
                parts.append(piece)
                size += len(piece)
                if size > self._content.file.limits.record + _BLOCK:
                    yield from self._whole_lines(parts)
                    size = len(parts[0])
        if size:
            yield self._text(b"".join(parts))

    def _whole_lines(self, parts: list[bytes]) -> Iterator[str]:
        """Give out the lines that are there, and keep the rest; SourceError for an endless one."""
        raw = b"".join(parts)
        cut = raw.rfind(b"\n") + 1
        if cut:
            yield self._text(raw[:cut])
        parts[:] = [raw[cut:]]
        size = len(parts[0])
        if size > self._content.file.limits.record:
            self._content.file.refuse_record(size, f"/{self._line}", f"{size:,} bytes or more in one line")

    def _text(self, raw: bytes) -> str:
        """Decode whole lines; raises BadRecord TH-02."""
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            line = self._line + raw.count(b"\n", 0, error.start)
            byte = error.start - raw.rfind(b"\n", 0, error.start) - 1
            detail = f"line {line + 1:,}: not UTF-8: byte {raw[error.start]:#04x} at byte {byte:,} of the line"
            raise BadRecord("TH-02", detail, f"/{line}") from error
        self._line += text.count("\n")
        return text
