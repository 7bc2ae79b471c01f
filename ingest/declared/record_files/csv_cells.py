"""Cells of CSV and TSV: how a row is told apart, and how one is written unless its file does it otherwise."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import polars as pl


class ParsedRow(NamedTuple):
    """A row as it stands in a file."""

    values: list[str]
    written: list[str]
    """Each cell as the file has it, quotes included."""
    line_end: str
    end: int
    """Where the next row begins."""
    behind: str = ""
    """What stands behind the closing quote of a cell, which may be there for an escaped one."""

    @property
    def is_blank(self) -> bool:
        """Whether it is an empty line, which is no row."""
        return self.written == [""]


class CsvCells:
    """The dialect of a file: its delimiter, its quote (empty where quotes are letters), and which columns it quotes.

    A cell is written in quotes if its column always is, or if it has a delimiter, a quote or a line end in it. Inside
    of quotes, a quote is doubled, or has ``escape`` before it, as has ``escape`` itself. Read is whatever a file has: a
    quote that does not begin its cell is a letter, and so is ``escape`` before anything else.
    """

    def __init__(self, delimiter: str, quote: str, quoted: Collection[int] = (), escape: str = "") -> None:
        self.delimiter, self.quote, self.quoted, self.escape = delimiter, quote, frozenset(quoted), escape
        bare = rf"([^{re.escape(delimiter)}\n]*)"
        mark, sign = re.escape(quote), re.escape(escape)
        escaped = rf"{sign}(?:[\s\S]|\Z)" if escape else mark * 2
        inner = rf"(?:{mark}((?:[^{mark}{sign}]++|{escaped})*+)({mark}|\Z))?+" if quote else "()()"
        self._cell = re.compile(inner + bare)
        self._escaped = re.compile(rf"{sign}([{mark}{sign}])" if escape else f"({mark}){mark}")
        self._special = re.compile(rf"[{re.escape(delimiter)}{re.escape(quote)}\r\n]")

    def row_at(self, text: str, start: int) -> ParsedRow | None:
        """Parse the row that begins there, or None if a quote is open at the end of the text."""
        values, written, position, behind = list[str](), list[str](), start, ""
        while match := self._cell.match(text, position):
            quoted, closing, bare = match.groups()
            raw = match[0]
            if self.quote and quoted is not None:
                if not closing:
                    return None
                behind = behind or bare.removesuffix("\r" if text[match.end() : match.end() + 1] == "\n" else "")
                bare = self._escaped.sub(r"\1", quoted) + bare
            position = match.end()
            values.append(bare)
            written.append(raw)
            if text[position : position + 1] != self.delimiter:
                break
            position += 1
        line_end = text[position : position + 1]
        if line_end and raw.endswith("\r"):
            values[-1], written[-1], line_end = bare[:-1], raw[:-1], "\r\n"
        return ParsedRow(values, written, line_end, position + bool(line_end), behind)

    def cell(self, value: str, column: int, columns: int) -> str:
        """Write a cell of one of so many columns."""
        if not self.quote:
            return value
        is_blank_line = columns == 1 and not value
        if column in self.quoted or is_blank_line or self._special.search(value):
            escape = self.escape or self.quote
            value = value.replace(escape, escape * 2)
            return self.quote + (value.replace(self.quote, escape + self.quote) if self.escape else value) + self.quote
        return value

    def row(self, values: Sequence[str]) -> str:
        """Write a row, without a line end."""
        joined = self.delimiter.join(values)
        if not self.quoted and joined and len(self._special.findall(joined)) == len(values) - 1:
            return joined
        return self.delimiter.join(self.cell(value, column, len(values)) for column, value in enumerate(values))

    def written_otherwise(self, row: ParsedRow) -> dict[int, str]:
        """Return the cells that this dialect would write otherwise, by the number of their column."""
        count = len(row.values)
        pairs = enumerate(zip(row.values, row.written, strict=True))
        return {column: raw for column, (value, raw) in pairs if self.cell(value, column, count) != raw}


def names(columns: Iterable[str]) -> list[str]:
    """Name each column so that no two are the same: of those with one name, the later ones get a ``_`` or more."""
    taken: dict[str, None] = {}
    for column in columns:
        name = column
        while name in taken:
            name += "_"
        taken[name] = None
    return list(taken)


def row_writer(cells: CsvCells, columns: Sequence[str]) -> Callable[[Sequence[str], Mapping[str, str]], str]:
    """Return the writer of rows of a file with these columns; it takes cells that are to stay as they were written."""
    position = {name: column for column, name in enumerate(names(columns))}

    def write(values: Sequence[str], as_written: Mapping[str, str]) -> str:
        if not as_written:
            return cells.row(values)
        texts = [cells.cell(value, column, len(values)) for column, value in enumerate(values)]
        for name, text in as_written.items():
            texts[position[name]] = text
        return cells.delimiter.join(texts)

    return write


MOST_MIXED = 100
"""Columns of a file of which some are always in quotes and others are not; of more, all are or none."""


FIELD = "x{}".format
"""The name of a column, by its number."""
_MOST_COLUMNS = 1_000
"""Of more, each costs Polars more than its cells do."""


class CellTable(NamedTuple):
    """Whole rows as Polars tells them apart, which the dialect writes as they are but for odd ones."""

    cells: pl.DataFrame
    """Columns of texts, ``x0``, ``x1`` ..."""
    texts: pl.Series
    odd: dict[int, ParsedRow]
    """Those that are written otherwise, by their places."""


def table_of(text: str, columns: int, cells: CsvCells, line_end: str) -> CellTable | None:
    """Parse whole rows, all at once, or None if that can't be proven.

    Nothing rests on how Polars reads CSV: a dialect writes no two rows alike, so the cells are right if they give the
    text, and what they don't give is read again by itself.
    """
    if (
        not 0 < columns <= _MOST_COLUMNS
        or len(cells.delimiter.encode()) > 1
        or len(cells.quote.encode()) > 1
        or (cells.escape and cells.quote in text)
    ):
        return None
    schema = {FIELD(number): pl.String() for number in range(columns)}
    try:
        table = pl.read_csv(
            text.encode(),
            has_header=False,
            schema=schema,
            separator=cells.delimiter,
            quote_char=cells.quote or None,
            empty_string_is_null=False,
            raise_if_empty=False,
        )
    except pl.exceptions.PolarsError:
        return None
    if not len(table) or (
        columns == 1 and not cells.quote and (table.to_series() == "").any()
    ):  # a blank line is no row
        return None
    texts = _texts(table, cells, line_end)
    if texts.str.join("").item() == text:
        return CellTable(table, texts, {})
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    ends = texts.str.count_matches("\n", literal=True).cast(pl.Int64).cum_sum().to_list()
    if ends[-1] != len(lines) - 1:
        return None
    sources = pl.Series([text[lines[begin] : lines[end]] for begin, end in pairwise([0, *ends])], dtype=pl.String)
    odd: dict[int, ParsedRow] = {}
    for place in (sources != texts).arg_true():
        row = cells.row_at(sources[place], 0)
        if (
            row is None
            or row.is_blank
            or row.behind
            or row.line_end != line_end
            or tuple(row.values) != table.row(place)
        ):
            return None
        odd[place] = row
    return CellTable(table, sources, odd)


def _texts(table: pl.DataFrame, cells: CsvCells, line_end: str) -> pl.Series:
    written = [_column_text(table[name], column, cells, table.width) for column, name in enumerate(table.columns)]
    rows = table.with_columns(written).select(pl.concat_str(pl.all(), separator=cells.delimiter) + line_end)
    return rows.to_series()


def _column_text(values: pl.Series, column: int, cells: CsvCells, columns: int) -> pl.Series:
    if not cells.quote:
        return values
    is_special = values.str.contains(f"[{re.escape(cells.delimiter + cells.quote)}\r\n]")
    if columns == 1:
        is_special |= values == ""  # a blank line would be no row
    if column not in cells.quoted and not is_special.any():
        return values
    quoted = cells.quote + values.str.replace_all(cells.quote, cells.quote * 2, literal=True) + cells.quote
    if column in cells.quoted:
        return quoted.alias(values.name)
    return pl.select(pl.when(is_special).then(quoted).otherwise(values).alias(values.name)).to_series()
