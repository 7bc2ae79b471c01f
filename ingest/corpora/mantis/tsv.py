"""The lines of a response-ranking TSV, gathered to blocks: a right response and the wrong ones for the same context."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from ingest.sources import SourceFile

_LARGEST = 1_000
"""Rows after which a block ends in any case; a published one has 51 at most."""

_CELL = re.compile(r'"([^"]*(?:""[^"]*)*)"(?=\t|\Z)|([^\t]*)')
_OPEN = re.compile(rb'(?:\A|\t)"[^"]*(?:""[^"]*)*\Z')
_QUOTE = b'"'
_WRONG = b"0\t"
_RIGHT = (b"1\t", b'"1"\t')
_LABELS = (_WRONG, b'"0"\t', *_RIGHT)


@dataclass(slots=True)
class Lines:
    """A text file in lines; tells afterwards how its lines end."""

    file: SourceFile
    count: int = 0
    carriage: bytes = b""
    """``\\r`` where the first line ends with ``\\r\\n``."""
    lacks_final_newline: bool = False
    """Whether the last line has no end; it is given as if it had one."""

    def pieces(self) -> Iterator[list[bytes]]:
        """Give the lines without their ends, many at a time; a carriage return before the newline stays."""
        rest = b""
        for piece in self.file.chunks():
            *lines, last = piece.split(b"\n")
            if lines:
                lines[0], rest = rest + lines[0], last
            else:
                rest += last
            if not self.count and lines:
                self.carriage = b"\r" if lines[0].endswith(b"\r") else b""
            self.count += len(lines)
            yield lines
        if rest:
            self.lacks_final_newline = True
            self.count += 1
            yield [rest + self.carriage]

    def __iter__(self) -> Iterator[bytes]:
        """Give every line without its newline."""
        return chain.from_iterable(self.pieces())

    def joined(self, lines: list[bytes], *, is_last: bool) -> bytes:
        """Give lines as they stand in the file; ``is_last``: they are its last ones."""
        text = b"".join([line + b"\n" for line in lines])
        return text.removesuffix(self.carriage + b"\n") if is_last and self.lacks_final_newline else text

    def frame(self) -> dict[str, object]:
        """Give what the file says beside its lines."""
        extra: dict[str, object] = {"lines": self.count}
        if self.carriage:
            extra["line_end"] = "\r\n"
        if self.lacks_final_newline:
            extra["lacks_final_newline"] = True
        return extra


@dataclass(slots=True)
class RawBlock:
    """Rows that belong together, as published."""

    line: int
    """0-based number of the first row."""
    head: bytes
    """The first row."""
    begin: bytes
    """What all other rows begin with, where they do."""
    tails: list[bytes]
    """What follows in each of the other rows."""
    is_last: bool = False

    @property
    def rows(self) -> list[bytes]:
        """All rows, whole."""
        return [self.head, *(self.begin + tail for tail in self.tails)]

    def __len__(self) -> int:
        """How many rows it is."""
        return 1 + len(self.tails)

    @property
    def size(self) -> int:
        """Bytes of its rows, line ends included."""
        return len(self.head) + sum(map(len, self.tails)) + len(self.begin) * len(self.tails) + len(self)


class _Buffer:
    """Whole lines of a file, as many as are looked at together."""

    def __init__(self, lines: Lines) -> None:
        self._lines, self._pieces = lines, lines.file.chunks()
        self._rest = self.text = b""
        self.is_whole = False
        """Whether the file has nothing more."""

    def grow(self, position: int) -> None:
        """Drop what is before a position, and take in more."""
        lines, piece = self._lines, next(self._pieces, None)
        if piece is None:
            self.is_whole = True
            lines.lacks_final_newline = self._rest != b""
            whole, self._rest = self._rest + lines.carriage + b"\n" if self._rest else b"", b""
        else:
            cut = piece.rfind(b"\n") + 1
            whole = self._rest + piece[:cut] if cut else b""
            self._rest = piece[cut:] if cut else self._rest + piece
        if not lines.count and not self.text and b"\r\n" in whole[: whole.find(b"\n") + 1]:
            lines.carriage = b"\r"
        self.text = self.text[position:] + whole


def blocks(lines: Lines) -> Iterator[RawBlock]:
    """Gather rows to blocks, each of which begins with a right response.

    The other rows of a block begin as its first one but for the label, so that only the rest of them is looked at.
    """
    buffer, position, first = _Buffer(lines), 0, 0
    while position < len(buffer.text) or not buffer.is_whole:
        block, end = _like_rows(buffer.text, position, first) or _any_rows(buffer.text, position, first)
        if end == len(buffer.text) and not buffer.is_whole:
            buffer.grow(position)  # the block may go on
            position = 0
            continue
        block.is_last = end == len(buffer.text)
        # Rows that begin alike are a line each; of others, a cell may go over several.
        lines.count += len(block) if block.begin else buffer.text.count(b"\n", position, end)
        position, first = end, first + len(block)
        yield block


def _like_rows(text: bytes, position: int, first: int) -> tuple[RawBlock, int] | None:
    """Gather rows that begin alike, up to the next right response; None where something else comes before it."""
    end = text.find(b"\n", position)
    head = text[position:end]
    if not head.startswith(_RIGHT[0]) or head.count(_QUOTE) % 2:
        return None
    begin, tails = _WRONG + head[len(_WRONG) : head.rindex(b"\t") + 1], list[bytes]()
    size, position = len(begin), end + 1
    while text.startswith(begin, position):
        end = text.find(b"\n", position + size)
        tail = text[position + size : end]
        if tail.count(_QUOTE) % 2:
            return None
        tails.append(tail)
        position = end + 1
    if position < len(text) and not text.startswith(_RIGHT[0], position):
        return None
    return RawBlock(first, head, begin, tails), position


def _any_rows(text: bytes, position: int, first: int) -> tuple[RawBlock, int]:
    """Gather whatever rows come before the next right response.

    A line that begins with no label is the rest of a cell in quotes where such a cell is open, else a row of its own.
    """
    rows: list[bytes] = []
    while (end := text.find(b"\n", position)) >= 0:
        line = text[position:end]
        if rows and not line.startswith(_LABELS) and _OPEN.search(rows[-1]):
            rows[-1] += b"\n" + line
        elif rows and (line.startswith(_RIGHT) or len(rows) >= _LARGEST):
            break
        else:
            rows.append(line)
        position = end + 1
    return RawBlock(first, rows[0] if rows else b"", b"", rows[1:]), position


def cells(row: str) -> list[str]:
    """Split a row at its tabs; a cell in quotes may hold tabs, and has its own quotes doubled (CSV's rule)."""
    if '"' not in row:
        return row.split("\t")
    found, position = [], 0
    while position <= len(row):
        match = _CELL.match(row, position)
        assert match is not None  # noqa: S101 - the second way takes anything up to a tab
        found.append(match[2] if match[1] is None else match[1].replace('""', '"'))
        position = match.end() + 1
    return found


def cell(text: str) -> str:
    """Write a cell as Python's csv writer does by default: in quotes where it holds a quote, a tab or a newline."""
    if '"' in text or "\t" in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def row(texts: Iterable[str]) -> str:
    """Write a row, without its line end."""
    return "\t".join(map(cell, texts))
