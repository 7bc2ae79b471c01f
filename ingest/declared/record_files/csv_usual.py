"""Rows that are written as their dialect has it, told apart many at a time."""

import csv
import re

from talkhouse.ingest.declared.record_files.csv_cells import Cells

MOST_MIXED = 100
"""Columns of a file of which some are always in quotes and others are not; of more, all are or none."""


class UsualRows:
    """Finds rows of which each cell is what ``Cells.cell`` writes: of these nothing need be noted."""

    def __init__(self, cells: Cells, line_end: str, columns: int) -> None:
        self._cells, self._line_end = cells, line_end
        row = _pattern(cells, line_end, columns)
        self._row = re.compile(row)
        self._rows = re.compile(rf"{row}|(?s:.+)")
        """What is no usual row is taken with all behind it, so that nothing is searched for twice."""

    def texts(self, text: str) -> list[str] | None:
        """Split a text into its rows, each with its line end; None where one of them is written otherwise."""
        texts: list[str] = self._rows.findall(text)
        return texts if texts and self._row.fullmatch(texts[-1]) else None

    def text_at(self, text: str, start: int) -> str | None:
        """Return the row that begins there; None where it is written otherwise."""
        match = self._row.match(text, start)
        return match[0] if match else None

    def values(self, texts: list[str]) -> list[list[str]] | None:
        """Return the cells of each row; None where Python's csv can't read one, which has a very long cell."""
        quote, delimiter, size = self._cells.quote, self._cells.delimiter, len(self._line_end)
        if not quote:
            return [text[:-size].split(delimiter) for text in texts]
        try:
            rows = csv.reader((text for text in texts if quote in text), delimiter=delimiter, quotechar=quote)
            quoted = iter(list(rows))
        except csv.Error:
            return None
        return [next(quoted) if quote in text else text[:-size].split(delimiter) for text in texts]


def _pattern(cells: Cells, line_end: str, columns: int) -> str:
    """Describe a row; possessive throughout, so that it takes no more time than the text is long."""
    delimiter, quote = re.escape(cells.delimiter), re.escape(cells.quote)
    some = "+" if columns == 1 else "*"  # of one column an empty line is no row
    end = re.escape(line_end)
    if not quote:
        return rf"(?:[^\r\n]++|\r(?!\n)){some}+{end}"
    if cells.escape:  # Python's csv takes one in any cell
        return rf"[^{quote}\r\n]{some}+{end}" if not cells.quoted else "(?!)"
    bare = rf"[^{delimiter}{quote}\r\n]{some}+"
    always = rf"{quote}(?:[^{quote}]++|{quote}{quote})*+{quote}"
    special = rf"(?:{quote}{quote}|[{delimiter}\r\n])"
    needed = rf"{quote}[^{delimiter}{quote}\r\n]*+{special}(?:[^{quote}]++|{quote}{quote})*+{quote}"
    if columns == 1:
        needed += f"|{quote}{quote}"
    usual = f"(?:{needed}|{bare})"
    if not cells.quoted:
        return rf"[^{quote}\r\n]{some}+{end}|{usual}(?:{delimiter}{usual})*+{end}"
    if len(cells.quoted) == columns:
        return rf"{always}(?:{delimiter}{always})*+{end}"
    return delimiter.join(always if column in cells.quoted else usual for column in range(columns)) + end
