"""The first rows of a text of delimited cells, and the dialect by which they come apart."""

import csv
import io
from dataclasses import dataclass, field, replace
from typing import Any

from talkhouse.ingest.declared.declaration.model import Dialect

_DELIMITERS = (",", "\t", ";", "|")
_QUOTE = '"'
_ESCAPE = "\\"


@dataclass
class Rows:
    """The first rows; each has as many cells as there are columns."""

    columns: tuple[str, ...]
    rows: list[list[str]] = field(default_factory=list)
    is_whole: bool = True
    dialect: Dialect = field(default_factory=Dialect)
    """What is said only where it is not the default of the file's ending."""
    problem: str | None = None


def rows_of(text: str, is_whole: bool, usual: str, most: int) -> Rows:
    """Read the first rows by the dialect that fits best.

    ``usual`` is the delimiter of the file's ending. A dialect fits where all rows have as many cells as the header;
    of those that fit, the usual delimiter wins, then the most columns, and quotes quote unless that does not fit,
    doubled inside of cells, or else with a backslash before them.
    """
    if "\r" in text and "\n" not in text:
        return Rows((), problem="its lines end with a carriage return alone: write it with line feeds")
    delimiters = (usual, *(delimiter for delimiter in _DELIMITERS if delimiter != usual))
    quotes = [(_QUOTE, ""), *([(_QUOTE, _ESCAPE)] if _ESCAPE + _QUOTE in text else []), ("", "")]
    tried = [_read(text, is_whole, Dialect(delimiter, *one), most) for delimiter in delimiters for one in quotes]
    # A quote that is a letter would swallow lines up to the next one that has no backslash before it.
    lines = {
        rows.dialect.delimiter: len(rows.rows) for rows in tried if not rows.dialect.quote_char and not rows.problem
    }
    tried = [
        one for one in tried if not one.dialect.escape_char or len(one.rows) >= lines.get(one.dialect.delimiter, 0)
    ]
    fitting = [rows for rows in tried if rows.problem is None]
    chosen = next((rows for rows in fitting if len(rows.columns) > 1 and rows.dialect.delimiter == usual), None)
    chosen = chosen or max(fitting or tried[:1], key=lambda rows: len(rows.columns))
    given = chosen.dialect.delimiter
    chosen.dialect = replace(chosen.dialect, delimiter=None if given == usual else given)
    return chosen


def _read(text: str, is_whole: bool, dialect: Dialect, most: int) -> Rows:
    escape = dialect.escape_char or None
    quotes: dict[str, Any] = {"quotechar": dialect.quote_char, "strict": True, "escapechar": escape}
    quotes |= {"doublequote": escape is None} if dialect.quote_char else {"quotechar": None, "quoting": csv.QUOTE_NONE}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter or ",", **quotes)
    limit = csv.field_size_limit(max(len(text), 1))
    result = Rows((), dialect=dialect)
    try:
        result.columns = tuple(next(reader, []))
        for row in reader:
            if len(result.rows) > most:
                break
            result.rows.append(row)
    except csv.Error as error:
        if is_whole or "unexpected end" not in str(error):
            result.problem = f"line {reader.line_num:,}: {error}"
    finally:
        csv.field_size_limit(limit)
    return _checked(result, is_whole, most)


def _checked(result: Rows, is_whole: bool, most: int) -> Rows:
    """Leave out the row that is cut off, and those beyond what is wanted; say where a row does not fit."""
    if len(result.rows) > most:
        result.rows, result.is_whole = result.rows[:most], False
    elif not is_whole:
        result.rows, result.is_whole = result.rows[:-1], False
    width = len(result.columns)
    uneven = [number for number, row in enumerate(result.rows, 2) if len(row) != width]
    if uneven and result.problem is None:
        result.problem = f"row {uneven[0]:,} has another number of cells than the header, which has {width:,}"
    if len(set(result.columns)) < width:
        result.problem = result.problem or "two columns have one name"
    result.rows = [row for row in result.rows if len(row) == width]
    return result
