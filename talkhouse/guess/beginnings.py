"""Beginnings of files that are cut off: the members of a JSON text, the rows of a text of delimited cells."""

import csv
import io
import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from talkhouse.ingest.declared.declaration.model import Dialect

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")
_DEEPEST = 4
"""Levels at which a value that is cut off is looked into; each costs a pass over the text."""


def start_of(text: str, most: int) -> tuple[Any, bool]:
    """Decode the beginning of a text: the value, at most so many of its members, and whether that is all of it.

    None where not even a beginning can be read.
    """
    value, end = _start(text, _after_blank(text, 0), most, _DEEPEST)
    return value, end is not None and _after_blank(text, end) == len(text)


def _start(text: str, at: int, most: int, levels: int) -> tuple[Any, int | None]:
    """Decode the value that begins here; its end is None where it is cut off, malformed, or has more members."""
    match text[at : at + 1]:
        case "[":
            return _items(text, at + 1, most, levels)
        case "{":
            return _members(text, at + 1, most, levels)
        case _:
            return _whole(text, at)


def _whole(text: str, at: int) -> tuple[Any, int | None]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, None


def _items(text: str, at: int, most: int, levels: int) -> tuple[list[Any], int | None]:
    items: list[Any] = []
    at = _after_blank(text, at)
    if text[at : at + 1] == "]":
        return items, at + 1
    while len(items) < most:
        value, end = _whole(text, at)
        if end is None:
            if not items and levels:
                value, _ = _start(text, at, most, levels - 1)
            return [*items, value] if value is not None else items, None
        items.append(value)
        at = _after_blank(text, end)
        if text[at : at + 1] == "]":
            return items, at + 1
        if text[at : at + 1] != ",":
            return items, None
        at = _after_blank(text, at + 1)
    return items, None


def _members(text: str, at: int, most: int, levels: int) -> tuple[dict[str, Any], int | None]:
    members: dict[str, Any] = {}
    at = _after_blank(text, at)
    if text[at : at + 1] == "}":
        return members, at + 1
    while len(members) < most:
        key, end = _whole(text, at)
        if end is None or not isinstance(key, str):
            return members, None
        at = _after_blank(text, end)
        if text[at : at + 1] != ":":
            return members, None
        at = _after_blank(text, at + 1)
        value, end = _whole(text, at)
        if end is None:
            value, _ = _start(text, at, most, levels - 1) if levels else (None, None)
            return members if value is None else {**members, key: value}, None
        members[key] = value
        at = _after_blank(text, end)
        if text[at : at + 1] == "}":
            return members, at + 1
        if text[at : at + 1] != ",":
            return members, None
        at = _after_blank(text, at + 1)
    return members, None


def _after_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


_DELIMITERS = (",", "\t", ";", "|")
_QUOTE = '"'
_ESCAPE = "\\"


@dataclass
class DelimitedRows:
    """The first rows; each has as many cells as there are columns."""

    columns: tuple[str, ...]
    rows: list[list[str]] = field(default_factory=list)
    is_whole: bool = True
    dialect: Dialect = field(default_factory=Dialect)
    """What is said only where it is not the default of the file's ending."""
    problem: str | None = None


def rows_of(text: str, is_whole: bool, usual: str, most: int) -> DelimitedRows:
    """Read the first rows by the dialect that fits best.

    ``usual`` is the delimiter of the file's ending. A dialect fits where all rows have as many cells as the header;
    of those that fit, the usual delimiter wins, then the most columns, and quotes quote unless that does not fit,
    doubled inside of cells, or else with a backslash before them.
    """
    if "\r" in text and "\n" not in text:
        return DelimitedRows((), problem="its lines end with a carriage return alone: write it with line feeds")
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


def _read(text: str, is_whole: bool, dialect: Dialect, most: int) -> DelimitedRows:
    escape = dialect.escape_char or None
    quotes: dict[str, Any] = {"quotechar": dialect.quote_char, "strict": True, "escapechar": escape}
    quotes |= {"doublequote": escape is None} if dialect.quote_char else {"quotechar": None, "quoting": csv.QUOTE_NONE}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter or ",", **quotes)
    limit = csv.field_size_limit(max(len(text), 1))
    result = DelimitedRows((), dialect=dialect)
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


def _checked(result: DelimitedRows, is_whole: bool, most: int) -> DelimitedRows:
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
