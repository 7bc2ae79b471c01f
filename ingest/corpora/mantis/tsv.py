"""The lines of a response-ranking TSV, gathered to blocks: a right response and the wrong ones for the same context."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, NoReturn

from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.sources import SourceFile

_CELL = re.compile(r'(?:\A|\t)(?:"([^"]*(?:""[^"]*)*)"(?=\t|\Z)|([^\t]*))')


def cells(row: str) -> list[str]:
    """Split a row at its tabs; a cell in quotes may hold tabs, and has its own quotes doubled (CSV's rule)."""
    if '"' not in row:
        return row.split("\t")
    return [cell[2] if cell[1] is None else cell[1].replace('""', '"') for cell in _CELL.finditer(row)]


def cell(text: str) -> str:
    """Write a cell as Python's csv writer does by default: in quotes where it holds a quote, a tab or a newline."""
    if '"' in text or "\t" in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def plain(cell: bytes) -> bytes | None:
    """Return the text of a row's last cell, or None if it is not written as the csv module would, or not one cell."""
    if b'"' not in cell:
        return None if b"\t" in cell else cell
    if cell[:1] != b'"' or cell[-1:] != b'"':
        return None
    inner = cell[1:-1].replace(b'""', b'"')
    # A cell that needs no quotes, or has a quote that is not doubled, would be written otherwise.
    is_needed = b'"' in inner or b"\t" in inner or b"\n" in inner
    return inner if is_needed and len(inner) + inner.count(b'"') + 2 == len(cell) else None


def row(texts: Iterable[str]) -> str:
    """Write a row, without its line end."""
    return "\t".join(map(cell, texts))


_LARGEST = 1_000
"""Rows after which a block ends in any case; a published one has 51 at most."""

_QUOTES = re.compile(rb'"+')
_QUOTE, _NEWLINE, _TAB = b'"\n\t'
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
        rest, size = list[bytes](), 0
        for piece in self.file.chunks():
            first, *lines = piece.split(b"\n")
            rest.append(first)
            size += len(first)
            self.file.check_record(size, f"/{self.count}")
            if not lines:
                continue
            lines.insert(0, b"".join(rest))
            rest, size = [lines.pop()], len(lines[-1])
            if not self.count:
                self.carriage = b"\r" if lines[0].endswith(b"\r") else b""
            self.count += len(lines)
            yield from lines
        if last := b"".join(rest):
            self.lacks_final_newline = True
            self.count += 1
            yield last + self.carriage

    def joined(self, lines: list[bytes], *, is_last: bool) -> bytes:
        """Return lines as they stand in the file; ``is_last``: they are its last ones."""
        text = b"".join([line + b"\n" for line in lines])
        return text.removesuffix(self.carriage + b"\n") if is_last and self.lacks_final_newline else text

    def envelope(self) -> dict[str, object]:
        """Return the facts about the file other than its lines."""
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
    tails: list[bytes]
    """What follows in each of the other rows."""
    keys: list[str | None]
    """The keys of the texts in these tails, None if one is not known; empty if the rows don't begin alike."""
    size: int
    """Bytes of the rows, line ends included."""
    file_line: int = 0
    """0-based number of the first line in the file, where a row may be several lines."""
    is_last: bool = False

    @property
    def rows(self) -> list[bytes]:
        """All rows, whole."""
        return [self.head, *(self.begin + tail for tail in self.tails)]

    def open_quote(self) -> str | None:
        """Return the position of the quote that opens the first unclosed cell, or None if all are closed."""
        before = 0
        for row in self.rows:
            at = _open_quote(row, 0, len(row), is_row=True)
            if at is not None:
                return _place(row, at, self.file_line + before)
            before += row.count(b"\n") + 1
        return None

    def __len__(self) -> int:
        """Return the number of rows."""
        return 1 + len(self.tails)


class _Buffer:
    """As many bytes of a file as are looked at together."""

    def __init__(self, lines: Lines) -> None:
        self._lines, self._pieces = lines, lines.file.chunks()
        self.text = b""
        self.whole = 0
        """Bytes up to the end of the last whole line."""
        self.is_all = False
        """Whether the file has nothing more."""

    def grow(self, position: int) -> None:
        """Drop what is before a position, and take in more than is left: no byte is looked at again and again."""
        lines, pieces = self._lines, [self.text[position:]]
        size = len(pieces[0])
        enough = min(2 * size, lines.file.limits.record)
        while size <= enough and (piece := next(self._pieces, b"")):
            pieces.append(piece)
            size += len(piece)
        self.is_all = size <= enough
        text = b"".join(pieces)
        if not self.whole and not lines.count:
            first_line = text[: max(text.find(_NEWLINE), 0)]
            lines.carriage = b"\r" if first_line.endswith(b"\r") else b""
        if self.is_all and text and not text.endswith(b"\n"):
            lines.lacks_final_newline = True
            text += lines.carriage + b"\n"
        self.text, self.whole = text, text.rfind(_NEWLINE) + 1


def blocks(lines: Lines, known: Mapping[bytes, str]) -> Iterator[RawBlock]:
    """Gather rows to blocks, each of which begins with a right response.

    The other rows of a block begin as its first one but for the label, so that only the rest of them is looked at,
    and of those rests only the ones that are not among the ``known``, which has the keys of their texts.
    """
    buffer, position, first = _Buffer(lines), 0, 0
    while position < buffer.whole or not buffer.is_all:
        block = _like_rows(buffer, position, first, known) or _any_rows(buffer, position, first)
        end = position + block.size
        may_go_on = end == buffer.whole and not buffer.is_all
        if (len(buffer.text) - position if may_go_on else block.size) > lines.file.limits.record:
            _refuse(lines, buffer, position, first)
        if may_go_on:
            buffer.grow(position)
            position = 0
            continue
        block.is_last = end == buffer.whole
        block.file_line = lines.count
        # Rows that begin alike are a line each; of others, a cell may go over several.
        lines.count += len(block) if block.begin else buffer.text.count(_NEWLINE, position, end)
        position, first = end, first + len(block)
        yield block


def _like_rows(buffer: _Buffer, begun: int, first: int, known: Mapping[bytes, str]) -> RawBlock | None:
    """Gather rows that begin alike, up to the next right response, or None if something else comes before it."""
    text, whole = buffer.text, buffer.whole
    end = text.find(_NEWLINE, begun)
    head = text[begun:end]
    if end < 0 or not head.startswith(_RIGHT[0]) or head.count(_QUOTE) % 2:
        return None
    begin, tails = _WRONG + head[len(_WRONG) : head.rindex(b"\t") + 1], list[bytes]()
    size, position = len(begin), end + 1
    while text.startswith(begin, position, whole):
        if len(tails) >= _LARGEST:
            return None
        end = text.find(_NEWLINE, position + size)
        tails.append(text[position + size : end])
        position = end + 1
    if position < whole and not text.startswith(_RIGHT[0], position):
        return None
    keys = list(map(known.get, tails))
    if any(tail.count(_QUOTE) % 2 for tail, key in zip(tails, keys, strict=True) if key is None):
        return None
    return RawBlock(first, head, begin, tails, keys, position - begun)


def _any_rows(buffer: _Buffer, begun: int, first: int) -> RawBlock:
    """Gather whatever rows come before the next right response.

    A line that begins with no label is the rest of a cell in quotes where such a cell is open, else a row of its own.
    """
    starts: list[int] = []
    text, position, opened = buffer.text, begun, None
    while (end := text.find(_NEWLINE, position)) >= 0:
        is_row = opened is None or text.startswith(_LABELS, position)
        if is_row and starts and (text.startswith(_RIGHT, position) or len(starts) >= _LARGEST):
            break
        if is_row:
            starts.append(position)
            opened = None
        opened = _open_quote(text, position, end, is_row=is_row, opened=opened)
        position = end + 1
    rows = [text[start : end - 1] for start, end in pairwise([*starts, position])]
    return RawBlock(first, rows[0] if rows else b"", b"", [*rows[1:]], [], position - begun)


def _open_quote(text: bytes, start: int, end: int, *, is_row: bool, opened: int | None = None) -> int | None:
    """Return the position of the quote that opens a cell which a line does not close, or None if no cell is open.

    A quote opens a cell at its begin; all quotes that follow in an open cell stand in pairs. So the last odd run of
    quotes decides; without one, what was ``opened`` before the line is open still. ``is_row``: a row begins here.
    """
    if text.find(_QUOTE, start, end) < 0:
        return opened
    for quotes in _QUOTES.finditer(text, start, end):
        if (quotes.end() - quotes.start()) % 2:
            at = quotes.start()
            is_begin = is_row if at == start else text[at - 1] == _TAB
            opened = at if is_begin else None
    return opened


def _place(text: bytes, at: int, line: int) -> str:
    """Name a place in a text, which begins in a line (from 0) of the file."""
    before = text[text.rfind(_NEWLINE, 0, at) + 1 : at].decode(errors="replace")
    return f"line {line + 1 + text.count(_NEWLINE, 0, at):,}, column {len(before) + 1:,}"


def _refuse(lines: Lines, buffer: _Buffer, position: int, first: int) -> NoReturn:
    """Raise SourceError that a block has too many bytes, and where a quote is open in it."""
    text = buffer.text[position:]
    found, opened, start = f"{len(text):,} bytes from line {lines.count + 1:,} on", None, 0
    while start < len(text):
        end = text.find(_NEWLINE, start) % (len(text) + 1)
        is_row = opened is None or text.startswith(_LABELS, start)
        opened = _open_quote(text, start, end, is_row=is_row, opened=None if is_row else opened)
        start = end + 1
    if opened is not None:
        found += f"; the quote that opens at {_place(text, opened, lines.count)} is not closed"
    lines.file.refuse_record(len(text), f"/{first}", found)


_FEWEST = 2
"""Cells besides the label, at least: an utterance and a response."""


class Block(NamedTuple):
    """A block whose rows fit together."""

    raw: RawBlock
    context: list[str]
    response: str
    keys: list[str | None]
    """The keys of the wrong responses, None for those that are not known."""
    new: dict[int, bytes]
    """The UTF-8 of these others, by position."""
    written: dict[str, str]
    """Rows that are not written as the csv module would, by position."""


def parse(block: RawBlock, size: int, carriage: bytes) -> Block:
    """Split a block of ``size`` rows; ``carriage`` is what stands before each newline.

    The contexts of a block were compared as bytes: of a file of gigabytes all but the candidates is repetition.
    Raises BadRecord MA-06 where the rows do not fit together, UnicodeDecodeError for bytes that are not UTF-8.
    """
    end = carriage.decode()
    head = block.head.decode()
    *context, response = _words(head.removesuffix(end), "1", 0)
    if len(block) != size:
        raise misfit(f"{len(block)} rows of one context, expected {size}", 0)
    written = {} if row(["1", *context, response]) + end == head else {"0": head}
    is_plain = block.begin == row(["0", *context, ""]).encode()

    def wrong(tail: bytes, position: int) -> bytes:
        text = plain(tail.removesuffix(carriage)) if is_plain and tail.endswith(carriage) else None
        if text is not None:
            return text
        whole = (block.begin + tail).decode()
        words = _words(whole.removesuffix(end), "0", position)
        if words[:-1] != context:
            raise misfit("another context than in the first row of the block", position)
        if row(["0", *words]) + end != whole:
            written[str(position)] = whole
        return words[-1].encode()

    keys: list[str | None] = block.keys if is_plain else [None] * len(block.tails)
    new = {at: wrong(block.tails[at - 1], at) for at, key in enumerate(keys, 1) if key is None}
    # One that is not UTF-8 must be found before any of them becomes a row.
    b"\n".join(new.values()).decode()
    return Block(block, context, response, keys, new, written)


def misfit(detail: str, position: int) -> BadRecord:
    """Return the problem that rows of a block do not fit together, and the row that shows it."""
    return BadRecord("MA-06", detail, f"/{position}")


def _words(text: str, expected: str, position: int) -> list[str]:
    """Return context and candidate of a row; BadRecord where it has another label, or too few cells."""
    label, *words = cells(text)
    if label != expected:
        raise misfit(f"the label {label[:20]!r}, expected {expected}", position)
    if len(words) < _FEWEST:
        raise misfit("fewer than 3 columns", position)
    return words
