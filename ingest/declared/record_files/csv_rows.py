"""CSV and TSV: a row of cells, all of them texts; fast where it is written as Python's csv does, exact everywhere."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Dialect
from talkhouse.ingest.declared.record_files.content import Content, ending
from talkhouse.ingest.declared.record_files.csv_cells import MOST_MIXED, Cells, ParsedRow, UsualRows, names
from talkhouse.ingest.declared.record_files.csv_tables import laid_out, lines_of, table_of
from talkhouse.ingest.declared.record_files.record import LINE_END, Gaps, RowChunk, RowTable
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


_MOST_ALIKE = 100
"""Columns of one name."""
_LOOKED_AT = 200
"""Rows by which it is told which columns are always in quotes."""


def delimiter_by_ending(path: PurePosixPath) -> str:
    """Return the delimiter of a file of which nobody said it."""
    return "\t" if ending(path) == ".tsv" else ","


class CsvRows:
    """A file of rows on its way in, block by block; a ``RowFile``."""

    def __init__(self, content: Content, dialect: Dialect) -> None:
        """Read the header; raises BadRecord GF-13 or TH-02 for a file that begins with none."""
        self._content = content
        self._default = delimiter_by_ending(content.file.path)
        self._gaps, self._gap = Gaps(), ""
        self._line_end = LINE_END
        self._line = 0
        self._blocks = Blocks(content)
        self._text = ""
        self._cells = Cells(dialect.delimiter or self._default, dialect.quote_char, (), dialect.escape_char)
        self.columns: list[str] = []
        self._header: str | None = None
        self._read_header()
        self._check_names()
        self._names = names(self.columns)
        self._cells = Cells(self._cells.delimiter, self._cells.quote, self._quoted(), self._cells.escape)
        self._usual = UsualRows(self._cells, self._line_end, len(self.columns))

    @property
    def envelope(self) -> dict[str, Any]:
        """The header as it is written, the dialect, blank lines, and line ends other than line feeds."""
        cells = self._cells
        layout: dict[str, Any] = {} if self._header is None else {"header": self._header}
        if cells.delimiter != self._default:
            layout["delimiter"] = cells.delimiter
        if cells.quote != '"':
            layout["quote"] = cells.quote
        if cells.escape:
            layout["escape"] = cells.escape
        if cells.quoted:
            layout["quoted"] = sorted(cells.quoted)
        return {"layout": layout | self._content.layout() | self._gaps.layout()}

    def __iter__(self) -> Iterator[RowChunk]:
        """Yield the rows in order, about 50,000 at a time; BadRecord where a row is not as long as the header."""
        for chunk, _ in self.with_texts():
            yield chunk

    def with_texts(self) -> Iterator[tuple[RowChunk, list[str]]]:
        """Yield the rows, and the text of each with its line end."""
        while True:
            is_last = self._blocks.is_at_end
            chunk, texts = self._chunk(is_last=is_last)
            if chunk.rows:
                yield chunk, texts
            if is_last:
                break
            self._text += self._blocks.next()
        self._gaps.add(self._gap)

    def tables(self) -> Iterator[RowTable]:
        """Yield the same rows as columns, which is faster."""
        while True:
            is_last = self._blocks.is_at_end
            table = self._table()
            if table is None:
                chunk, _ = self._chunk(is_last=is_last)
                table = laid_out(chunk) if chunk.rows else None
            if table is not None:
                yield table
            if is_last:
                break
            self._text += self._blocks.next()
        self._gaps.add(self._gap)

    def _table(self) -> RowTable | None:
        """Tell the rows apart that are there if all are whole and written as usual."""
        text, begin = self._text, self._line
        cells = table_of(text, len(self.columns), self._cells, self._line_end) if text.endswith("\n") else None
        if cells is None:
            return None
        self._text = ""
        self._line += text.count("\n")
        self._gaps.add(self._gap)
        self._gaps.add(self._line_end, len(cells) - 1)
        self._gap = self._line_end
        return RowTable(cells, lines_of(cells, text, begin), {})

    def _read_header(self) -> None:
        """Read the first line that is not blank."""
        while not self._blocks.is_at_end or self._text:
            row = self._cells.row_at(self._text, 0) if self._text.endswith("\n") or self._blocks.is_at_end else None
            if row is None:
                if self._blocks.is_at_end:
                    raise self._open_quote(self._line)
                self._check_open(self._text, self._line)
                self._text += self._blocks.next()
                continue
            self._check_quotes(row)
            quote = self._cells.quote
            if any("\r" in cell and not (quote and cell.startswith(quote)) for cell in row.written):
                detail = "a carriage return without a line feed ends no line; write the file with line feeds"
                raise BadRecord("GF-13", f"line {self._line + 1:,}: {detail}", f"/{self._line}")
            taken, self._text = self._text[: row.end], self._text[row.end :]
            self._line += taken.count("\n")
            if row.is_blank:
                self._gap += taken
                continue
            self.columns, self._header = row.values, self._cells.delimiter.join(row.written)
            self._gaps.add(self._gap)
            self._gap = row.line_end
            self._line_end = row.line_end or LINE_END
            return

    def _check_names(self) -> None:
        """Raise BadRecord GF-12 where far too many columns have one name, each of which would get a longer one."""
        for name, count in Counter(self.columns).most_common(1):
            if count > _MOST_ALIKE:
                raise BadRecord("GF-12", f"the column {name!r:.60} is there {count:,} times", "/0")

    def _quoted(self) -> list[int]:
        """Find out which columns are in quotes without need, by the first rows; the other cells are noted."""
        needless, start, count = Counter[int](), 0, 0
        while start < len(self._text) and count < _LOOKED_AT and (row := self._cells.row_at(self._text, start)):
            start, count = row.end, count + 1
            for column, (value, raw) in enumerate(zip(row.values, row.written, strict=True)):
                if self._cells.cell(value, column, len(row.values)) == value:
                    needless[column] += 1 if raw != value else -1
        quoted = [column for column in range(len(self.columns)) if needless[column] > 0]
        return quoted if len(quoted) == len(self.columns) or len(self.columns) <= MOST_MIXED else []

    def _chunk(self, *, is_last: bool) -> tuple[RowChunk, list[str]]:
        """Tell the rows apart that are there as a whole; the rest of the text stays."""
        text = self._text
        is_ended = not is_last or not text or text.endswith("\n")
        if not is_ended:
            text += self._line_end
        texts = self._usual.texts(text)
        rows = self._usual.values(texts) if texts else None
        if texts and rows and set(map(len, rows)) == {len(self.columns)}:
            chunk = RowChunk(self.columns, rows, self._lines(text, texts))
            self._text = ""
            self._gaps.add(self._gap)
            self._gaps.add(self._line_end, len(rows) - 1)
            self._gap = self._line_end
        else:
            chunk, texts = self._one_by_one(text, is_last=is_last)
        if not is_ended:
            self._gap = self._gap.removesuffix(self._line_end)
        return chunk, texts

    def _lines(self, text: str, texts: list[str]) -> list[int]:
        """Number the lines on which rows begin."""
        begin, count = self._line, text.count("\n")
        self._line += count
        if count == len(texts):
            return list(range(begin, self._line))
        return list(accumulate((row.count("\n") for row in texts[:-1]), initial=begin))

    def _one_by_one(self, text: str, *, is_last: bool) -> tuple[RowChunk, list[str]]:
        """Tell rows apart one after the other, whatever they look like."""
        chunk, texts = RowChunk(self.columns, [], [], {}), list[str]()
        start = 0
        while start < len(text):
            source = self._usual.text_at(text, start)
            values = self._usual.values([source]) if source else None
            if source and values and len(values[0]) == len(self.columns):
                self._add(chunk, values[0], self._line_end)
            else:
                parsed = self._cells.row_at(text, start)
                if parsed is None:
                    self._check_open(text[start:], self._line)
                    if is_last:
                        raise self._open_quote(self._line)
                    break
                source = text[start : parsed.end]
                self._add_parsed(chunk, parsed, source)
            if len(texts) < len(chunk.rows):
                texts.append(source)
            self._line += source.count("\n")
            start += len(source)
        self._text = text[start:]
        return chunk, texts

    def _add_parsed(self, chunk: RowChunk, parsed: ParsedRow, source: str) -> None:
        """Add a row that is written otherwise, or a blank line; BadRecord GF-13 for another number of cells."""
        if parsed.is_blank:
            self._gap += source
            if len(self._gap) > self._content.file.limits.record:
                self._content.file.refuse_record(len(self._gap), f"/{self._line}")
            return
        if len(parsed.values) != len(self.columns):
            detail = f"{len(parsed.values):,} cells, and {len(self.columns):,} columns"
            raise BadRecord("GF-13", f"line {self._line + 1:,}: {detail}", f"/{self._line}")
        self._check_quotes(parsed)
        otherwise = self._cells.written_otherwise(parsed)
        if otherwise:
            chunk.cells[len(chunk.rows)] = {self._names[column]: raw for column, raw in otherwise.items()}
        self._add(chunk, parsed.values, parsed.line_end)

    def _add(self, chunk: RowChunk, row: list[str], line_end: str) -> None:
        self._gaps.add(self._gap)
        self._gap = line_end
        chunk.rows.append(row)
        chunk.lines.append(self._line)

    def _check_quotes(self, row: ParsedRow) -> None:
        """Raise BadRecord GF-13 for text behind a closing quote: nobody knows which quotes belong to it."""
        if row.behind:
            detail = f"text behind the closing quote of a cell: {row.behind!r:.60}; see escapeChar in [dialect]"
            raise BadRecord("GF-13", f"line {self._line + 1:,}: {detail}", f"/{self._line}")

    def _open_quote(self, line: int) -> BadRecord:
        return BadRecord("GF-13", f"line {line + 1:,}: a quote is never closed", f"/{line}")

    def _check_open(self, text: str, line: int) -> None:
        """Raise BadRecord GF-13 for a quote that is open for longer than a record may be."""
        if len(text) > self._content.file.limits.record:
            raise self._open_quote(line)


def layout_cells(layout: Mapping[str, Raw], path: PurePosixPath) -> Cells:
    """Return the dialect of a file on its way back."""
    known: dict[str, Any] = {
        name: msgspec.json.decode(layout[name]) for name in ("delimiter", "quote", "quoted", "escape") if name in layout
    }
    delimiter = known.get("delimiter", delimiter_by_ending(path))
    return Cells(delimiter, known.get("quote", '"'), known.get("quoted", ()), known.get("escape", ""))
