"""The lines of a response-ranking TSV, gathered to blocks: a right response and the wrong ones for the same context."""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from hashlib import sha256

from ingest.sources import SourceFile

_LARGEST = 1_000
"""Rows after which a block ends in any case; a published one has 51 at most."""

_OPEN = re.compile(rb'(?:\A|\t)"[^"]*(?:""[^"]*)*\Z')
_QUOTE, _NEWLINE = b'"\n'
_WRONG = b"0\t"
_RIGHT = (b"1\t", b'"1"\t')
_LABELS = (_WRONG, b'"0"\t', *_RIGHT)


@dataclass(slots=True)
class Lines:
    """A text file in lines; knows afterwards how its lines end."""

    file: SourceFile
    count: int = 0
    carriage: bytes = b""
    """``\\r`` where the first line ends with ``\\r\\n``."""
    lacks_final_newline: bool = False
    """Whether the last line has no end; it is given as if it had one."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield every line without its newline; a carriage return before it stays."""
        rest = b""
        for piece in self.file.chunks():
            *lines, rest = (rest + piece).split(b"\n")
            if not self.count and lines:
                self.carriage = b"\r" if lines[0].endswith(b"\r") else b""
            self.count += len(lines)
            yield from lines
        if rest:
            self.lacks_final_newline = True
            self.count += 1
            yield rest + self.carriage

    def joined(self, lines: list[bytes], *, is_last: bool) -> bytes:
        """Return lines as they stand in the file; ``is_last``: they are its last ones."""
        text = b"".join([line + b"\n" for line in lines])
        return text.removesuffix(self.carriage + b"\n") if is_last and self.lacks_final_newline else text

    def envelope(self) -> dict[str, object]:
        """Return what the file says beside its lines."""
        line_end = {"line_end": "\r\n"} if self.carriage else {}
        return {"lines": self.count, **line_end} | ({"lacks_final_newline": True} if self.lacks_final_newline else {})


@dataclass(slots=True)
class RawBlock:
    """Rows that belong together, as published."""

    line: int
    """0-based number of the first row."""
    head: bytes
    """The first row."""
    begin: bytes
    """What all other rows begin with, where they do."""
    tails: list[bytes | bytearray]
    """What follows in each of the other rows."""
    fingerprints: list[bytes]
    """The hashes of these tails, where all rows begin alike."""
    size: int
    """Bytes of the rows, line ends included."""
    is_last: bool = False

    @property
    def rows(self) -> list[bytes]:
        """All rows, whole."""
        return [self.head, *(self.begin + tail for tail in self.tails)]

    def __len__(self) -> int:
        """Return the number of rows."""
        return 1 + len(self.tails)


class _Buffer:
    """As many bytes of a file as are looked at together; its memory is used again and again."""

    def __init__(self, lines: Lines) -> None:
        self._lines, self._pieces = lines, lines.file.chunks()
        self.text = bytearray()
        self.whole = 0
        """Bytes up to the end of the last whole line."""
        self.is_all = False
        """Whether the file has nothing more."""

    def grow(self, position: int) -> None:
        """Drop what is before a position, and take in more."""
        lines, text, piece = self._lines, self.text, next(self._pieces, None)
        if piece is None:
            self.is_all = True
            lines.lacks_final_newline = len(text) > self.whole
            piece = lines.carriage + b"\n" if lines.lacks_final_newline else b""
        is_first = not self.whole and not lines.count
        del text[:position]
        text += piece
        self.whole = text.rfind(_NEWLINE) + 1
        if is_first and self.whole and text[: text.find(_NEWLINE)].endswith(b"\r"):
            lines.carriage = b"\r"


def blocks(lines: Lines, known: Container[bytes]) -> Iterator[RawBlock]:
    """Gather rows to blocks, each of which begins with a right response.

    The other rows of a block begin as its first one but for the label, so that only the rest of them is looked at,
    and of those rests only the ones whose hash is not known.
    """
    buffer, position, first = _Buffer(lines), 0, 0
    while position < buffer.whole or not buffer.is_all:
        block = _like_rows(buffer, position, first, known) or _any_rows(buffer, position, first)
        end = position + block.size
        if end == buffer.whole and not buffer.is_all:
            buffer.grow(position)  # the block may go on
            position = 0
            continue
        block.is_last = end == buffer.whole
        # Rows that begin alike are a line each; of others, a cell may go over several.
        lines.count += len(block) if block.begin else buffer.text.count(_NEWLINE, position, end)
        position, first = end, first + len(block)
        yield block


def _like_rows(buffer: _Buffer, begun: int, first: int, known: Container[bytes]) -> RawBlock | None:
    """Gather rows that begin alike, up to the next right response; None where something else comes before it."""
    text, whole = buffer.text, buffer.whole
    end = text.find(_NEWLINE, begun)
    head = bytes(text[begun:end])
    if end < 0 or not head.startswith(_RIGHT[0]) or head.count(_QUOTE) % 2:
        return None
    begin, tails = _WRONG + head[len(_WRONG) : head.rindex(b"\t") + 1], list[bytes | bytearray]()
    size, position = len(begin), end + 1
    while text.startswith(begin, position, whole):
        end = text.find(_NEWLINE, position + size)
        tails.append(text[position + size : end])
        position = end + 1
    if position < whole and not text.startswith(_RIGHT[0], position):
        return None
    fingerprints = [sha256(tail).digest() for tail in tails]
    pairs = zip(tails, fingerprints, strict=True)
    if any(tail.count(_QUOTE) % 2 for tail, fingerprint in pairs if fingerprint not in known):
        return None
    return RawBlock(first, head, begin, tails, fingerprints, position - begun)


def _any_rows(buffer: _Buffer, begun: int, first: int) -> RawBlock:
    """Gather whatever rows come before the next right response.

    A line that begins with no label is the rest of a cell in quotes where such a cell is open, else a row of its own.
    """
    rows: list[bytes] = []
    text, position = buffer.text, begun
    while (end := text.find(_NEWLINE, position)) >= 0:
        line = bytes(text[position:end])
        if rows and not line.startswith(_LABELS) and _OPEN.search(rows[-1]):
            rows[-1] += b"\n" + line
        elif rows and (line.startswith(_RIGHT) or len(rows) >= _LARGEST):
            break
        else:
            rows.append(line)
        position = end + 1
    return RawBlock(first, rows[0] if rows else b"", b"", [*rows[1:]], [], position - begun)
