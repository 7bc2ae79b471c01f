"""CSV and TSV files: rows of cells, all of them texts, read as rows, as columns or as records, and written back."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Dialect
from talkhouse.ingest.declared.record_files import content as record_content
from talkhouse.ingest.declared.record_files.csv_cells import (
    FIELD,
    MOST_MIXED,
    CsvCells,
    ParsedRow,
    names,
    row_writer,
    table_of,
)
from talkhouse.ingest.decode import BadRecord, decoder

_BLOCK = 4_000_000
"""Bytes of text that are told apart at once: about 50,000 rows."""


class Blocks:
    """The text of a file, block by block, each of whole lines."""

    def __init__(self, content: record_content.FileContent) -> None:
        self._content = content
        self._line = 0
        self._blocks = self._read()
        self._next = next(self._blocks, None)

    @property
    def is_at_end(self) -> bool:
        """Whether all of the text was given out."""
        return self._next is None

    def next(self) -> str:
        """Return the next block; empty at the end."""
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
        raw = b"".join(parts)
        cut = raw.rfind(b"\n") + 1
        if cut:
            yield self._text(raw[:cut])
        parts[:] = [raw[cut:]]
        size = len(parts[0])
        if size > self._content.file.limits.record:
            self._content.file.refuse_record(size, f"/{self._line}", f"{size:,} bytes or more in one line")

    def _text(self, raw: bytes) -> str:
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
    """Return the delimiter of a file for which none is declared."""
    return "\t" if record_content.ending(path) == ".tsv" else ","


class CsvRows:
    """A file of rows on its way in, block by block; it can be read once."""

    def __init__(self, content: record_content.FileContent, dialect: Dialect) -> None:
        """Read the header, if there is one; raises BadRecord GF-13 or TH-02 for a file that begins with none."""
        self._content = content
        self._default = delimiter_by_ending(content.file.path)
        self._gaps, self._gap = record_content.Gaps(), ""
        self._line_end = record_content.LINE_END
        self._line = 0
        self._blocks = Blocks(content)
        self._text = ""
        self._cells = CsvCells(dialect.delimiter or self._default, dialect.quote_char, (), dialect.escape_char)
        self.columns = list(dialect.names)
        self._has_names = bool(dialect.names)
        self._header: str | None = None
        self._read_header()
        self._check_names()
        self._names = names(self.columns)
        self._cells = CsvCells(self._cells.delimiter, self._cells.quote, self._quoted(), self._cells.escape)

    @property
    def envelope(self) -> dict[str, Any]:
        """The header as it is written, or the names without one; the dialect, blank lines, and odd line ends."""
        cells = self._cells
        layout: dict[str, Any] = {} if self._header is None else {"header": self._header}
        if self._has_names:
            layout["names"] = self.columns
        if cells.delimiter != self._default:
            layout["delimiter"] = cells.delimiter
        if cells.quote != '"':
            layout["quote"] = cells.quote
        if cells.escape:
            layout["escape"] = cells.escape
        if cells.quoted:
            layout["quoted"] = sorted(cells.quoted)
        return {"layout": layout | self._content.layout() | self._gaps.layout()}

    def tables(self) -> Iterator[record_content.RowTable]:
        """Yield the rows in order, about 50,000 at a time; BadRecord where a row is not as long as the header."""
        while True:
            is_last = self._blocks.is_at_end
            is_cut = is_last and self._text != "" and not self._text.endswith("\n")
            self._text += self._line_end if is_cut else ""
            table = self._usual(is_last=is_last) or self._one_by_one(is_last=is_last)
            if len(table.lines):
                yield table
            if is_last:
                break
            self._text += self._blocks.next()
        self._gap = self._gap.removesuffix(self._line_end) if is_cut else self._gap
        self._gaps.add(self._gap)

    def _usual(self, *, is_last: bool) -> record_content.RowTable | None:
        """Parse the whole rows of the text at once, if most are written as usual."""
        text, begin = self._text, self._line
        end = len(text) if is_last else self._end_of_rows()
        usual = table_of(text[:end], len(self.columns), self._cells, self._line_end)
        if usual is None:
            return None
        self._text = text[end:]
        self._line += text.count("\n", 0, end)
        self._gaps.add(self._gap)
        self._gaps.add(self._line_end, len(usual.texts) - 1)
        self._gap = self._line_end
        breaks = usual.texts.str.count_matches("\n", literal=True).cast(pl.Int64)
        lines = (breaks.cum_sum().shift(1, fill_value=0) + begin).alias("line")
        as_written = {place: self._as_written(row) for place, row in usual.odd.items()}
        return record_content.RowTable(usual.cells, lines, as_written, usual.texts.str.strip_suffix(self._line_end))

    def _end_of_rows(self) -> int:
        """Return the end of the last line up to which the quotes are even, so that none is open."""
        text, quote, end = self._text, self._cells.quote, len(self._text)
        is_open = bool(quote) and text.count(quote) % 2 == 1
        while is_open:
            begin = text.rfind("\n", 0, end - 1) + 1
            is_open, end = text.count(quote, begin, end) % 2 == 0, begin
        return end

    def _as_written(self, row: ParsedRow) -> dict[str, str]:
        return {self._names[column]: raw for column, raw in self._cells.written_otherwise(row).items()}

    def _read_header(self) -> None:
        """Read the first line that is not blank; where it is no header, only how it ends."""
        while not self._blocks.is_at_end or self._text:
            row = self._cells.row_at(self._text, 0) if self._text.endswith("\n") or self._blocks.is_at_end else None
            if row is None:
                if self._blocks.is_at_end:
                    raise self._open_quote(self._line)
                self._check_open(self._text, self._line)
                self._text += self._blocks.next()
                continue
            if self._has_names and not row.is_blank:
                self._line_end = row.line_end or record_content.LINE_END
                return
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
            self._line_end = row.line_end or record_content.LINE_END
            return

    def _check_names(self) -> None:
        """Raise BadRecord GF-12 where far too many columns have one name, each of which would get a longer one."""
        for name, count in Counter(self.columns).most_common(1):
            if count > _MOST_ALIKE:
                raise BadRecord("GF-12", f"the column {name!r:.60} occurs {count:,} times", "/0")

    def _quoted(self) -> list[int]:
        """Find out which columns are in quotes without need, by the first rows; the other cells are noted."""
        if not self._cells.quote or self._cells.quote not in self._text:
            return []
        needless, start, count = Counter[int](), 0, 0
        while start < len(self._text) and count < _LOOKED_AT and (row := self._cells.row_at(self._text, start)):
            start, count = row.end, count + 1
            for column, (value, raw) in enumerate(zip(row.values, row.written, strict=True)):
                if self._cells.cell(value, column, len(row.values)) == value:
                    needless[column] += 1 if raw != value else -1
        quoted = [column for column in range(len(self.columns)) if needless[column] > 0]
        return quoted if len(quoted) == len(self.columns) or len(self.columns) <= MOST_MIXED else []

    def _one_by_one(self, *, is_last: bool) -> record_content.RowTable:
        """Parse row by row, however they are written; a row that is not whole stays in the text."""
        text, start = self._text, 0
        rows, lines, texts = list[list[str]](), list[int](), list[str]()
        as_written: dict[int, dict[str, str]] = {}
        while start < len(text):
            row = self._cells.row_at(text, start)
            if row is None:
                self._check_open(text[start:], self._line)
                if is_last:
                    raise self._open_quote(self._line)
                break
            source = text[start : row.end]
            if row.is_blank:
                self._gap += source
                if len(self._gap) > self._content.file.limits.record:
                    self._content.file.refuse_record(len(self._gap), f"/{self._line}")
            else:
                self._check_row(row)
                if otherwise := self._as_written(row):
                    as_written[len(rows)] = otherwise
                self._gaps.add(self._gap)
                self._gap = row.line_end
                rows.append(row.values)
                lines.append(self._line)
                texts.append(source.removesuffix(row.line_end))
            self._line += source.count("\n")
            start = row.end
        self._text = text[start:]
        columns = zip(*rows, strict=True)
        cells = pl.DataFrame([pl.Series(FIELD(number), column, pl.String) for number, column in enumerate(columns)])
        return record_content.RowTable(
            cells, pl.Series("line", lines, pl.Int64), as_written, pl.Series("text", texts, pl.String)
        )

    def _check_row(self, row: ParsedRow) -> None:
        if len(row.values) != len(self.columns):
            known = f"{len(self.columns):,} {'names' if self._has_names else 'columns'}"
            detail = f"{len(row.values):,} cells, and {known}"
            raise BadRecord("GF-13", f"line {self._line + 1:,}: {detail}", f"/{self._line}")
        self._check_quotes(row)

    def _check_quotes(self, row: ParsedRow) -> None:
        if row.behind:
            detail = f"text behind the closing quote of a cell: {row.behind!r:.60}; see escapeChar in [dialect]"
            raise BadRecord("GF-13", f"line {self._line + 1:,}: {detail}", f"/{self._line}")

    def _open_quote(self, line: int) -> BadRecord:
        return BadRecord("GF-13", f"line {line + 1:,}: a quote is never closed", f"/{line}")

    def _check_open(self, text: str, line: int) -> None:
        """Raise BadRecord GF-13 for a quote that is open for longer than a record may be."""
        if len(text) > self._content.file.limits.record:
            raise self._open_quote(line)


def layout_cells(layout: Mapping[str, Raw], path: PurePosixPath) -> CsvCells:
    """Return the dialect of a file on its way back."""
    known: dict[str, Any] = {
        name: msgspec.json.decode(layout[name]) for name in ("delimiter", "quote", "quoted", "escape") if name in layout
    }
    delimiter = known.get("delimiter", delimiter_by_ending(path))
    return CsvCells(delimiter, known.get("quote", '"'), known.get("quoted", ()), known.get("escape", ""))


class CsvRecords(record_content.RecordFile):
    """A file of rows on its way in, each as a JSON object of texts.

    It is read twice: one that can't be told apart to its end is refused before a record of it is loaded.
    """

    def __init__(self, content: record_content.FileContent, dialect: Dialect) -> None:
        for _ in CsvRows(content, dialect).tables():
            pass
        self._content, self._dialect = content, dialect
        self._rows = CsvRows(content, dialect)
        twice = [column for column, count in Counter(self._rows.columns).items() if count > 1]
        if twice:
            raise BadRecord("GF-12", f"the column {twice[0]!r} occurs twice", "/0")

    @property
    def envelope(self) -> dict[str, Any]:
        """That of the rows."""
        return self._rows.envelope

    def check(self, record: record_content.RawRecord) -> record_content.RawRecord | record_content.BadRawRecord:
        """Return a row as it is: cells are told apart and written by us."""
        return record

    def glance(self, names: frozenset[str]) -> Iterator[bytes]:
        """Yield the cells of these columns, those of a block that are the same once."""
        rows = CsvRows(self._content, self._dialect)
        places = {name: place for place, name in enumerate(rows.columns) if name in names}
        for table in rows.tables():
            for name, place in places.items():
                yield from (msgspec.json.encode({name: cell}) for cell in table.cells.to_series(place).unique())

    def texts(self) -> Iterator[record_content.RawRecord]:
        """Yield the rows."""
        index, encode, columns = 0, msgspec.json.encode, self._rows.columns
        for table in self._rows.tables():
            for position, (row, line, text) in enumerate(
                zip(table.cells.rows(), table.lines, table.texts, strict=True)
            ):
                raw = encode(dict(zip(columns, row, strict=True)))
                cells = table.as_written.get(position)
                yield record_content.RawRecord(index, f"/{line}", raw, cells=cells, verbatim=text.encode())
                index += 1


def write_csv_records(
    layout: Mapping[str, Raw], records: Iterable[record_content.WrittenRecord], path: PurePosixPath
) -> Iterator[bytes]:
    """Write rows from objects of their cells; a quarantined one is the text of its row."""
    columns = _columns(layout, path)
    write = row_writer(layout_cells(layout, path), columns)
    cells_of = decoder(dict[str, str])
    texts = (
        record.raw.decode()
        if record.is_verbatim
        else write([cells_of.decode(record.raw)[column] for column in columns], record.cells or {})
        for record in records
    )
    return _pieces(layout, texts)


def write_csv_rows(
    layout: Mapping[str, Raw], columns: Sequence[str], rows: Iterable[record_content.WrittenRow], path: PurePosixPath
) -> Iterator[bytes]:
    """Write rows, to the byte."""
    write = row_writer(layout_cells(layout, path), columns)
    texts = (write(list(row.cells), row.as_written) if row.verbatim is None else row.verbatim.decode() for row in rows)
    return _pieces(layout, texts)


def _columns(layout: Mapping[str, Raw], path: PurePosixPath) -> list[str]:
    if "header" not in layout:
        return msgspec.json.decode(layout["names"], type=list[str]) if "names" in layout else []
    row = layout_cells(layout, path).row_at(msgspec.json.decode(layout["header"]), 0)
    return row.values if row else []


def _pieces(layout: Mapping[str, Raw], texts: Iterable[str]) -> Iterator[bytes]:
    """Write the header and the rows, with what stands between; yield pieces of about a megabyte."""
    header = [msgspec.json.decode(layout["header"], type=str)] if "header" in layout else []
    return record_content.with_gaps(layout, (text.encode() for text in chain(header, texts)))
