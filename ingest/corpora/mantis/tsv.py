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
    rows: list[bytes]
    is_last: bool = False

    @property
    def size(self) -> int:
        """Bytes of its rows, line ends included."""
        return sum(map(len, self.rows)) + len(self.rows)


def blocks(lines: Lines) -> Iterator[RawBlock]:
    """Gather rows to blocks, each of which begins with a right response.

    A line that begins with no label is the rest of a cell in quotes where such a cell is open, else a row of its own.
    """
    rows: list[bytes] = []
    first = 0
    for line in lines:
        if line.startswith(_WRONG) and len(rows) < _LARGEST:
            rows.append(line)
        elif rows and not line.startswith(_LABELS) and _OPEN.search(rows[-1]):
            rows[-1] += b"\n" + line
        elif rows and (line.startswith(_RIGHT) or len(rows) >= _LARGEST):
            yield RawBlock(first, rows)
            first, rows = first + len(rows), [line]
        else:
            rows.append(line)
    if rows:
        yield RawBlock(first, rows, is_last=True)


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
