"""The format of a group's file: tab-separated cells, quoted with ``'`` where they hold one, a line per row."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from talkhouse.ingest import decode
from talkhouse.ingest.decode import BadRecord, pointer


class GroupRow(NamedTuple):
    """The cells of one row, in published order; as published (raw), or with their quotes taken off."""

    group_id: str
    message_id: str
    message_type: str
    origin: str
    original_text: str
    clean_text: str
    annotation_type: str
    annotation_target: str
    annotation_additional: str
    team_performance: str
    performance_change: str
    sol_tracker_message: str
    sol_tracker_all: str


HEADER = "\t".join(GroupRow._fields)
LINE_END, WINDOWS_END = "\n", "\r\n"


def quote(text: str) -> str:
    """Write a cell as the publisher's writer does: quoted where it holds a quote, which is then doubled."""
    return "'" + text.replace("'", "''") + "'" if "'" in text else text


def unquote(cell: str) -> str:
    """Remove the outer quotes and halve the doubled ones inside; anything else is the text itself."""
    return cell[1:-1].replace("''", "'") if is_quoted(cell) else cell


def is_quoted(cell: str) -> bool:
    """Whether a cell stands in quotes."""
    return len(cell) > 1 and cell[0] == cell[-1] == "'"


def looks_like_a_table(raw: bytes) -> bool:
    """Whether this can be a group's file at all, if only a damaged one: empty, or its first line has our cells."""
    first = raw.split(b"\n", 1)[0]
    return not raw or b"\t" in first or first == HEADER.encode()


class GroupFile(NamedTuple):
    """A group's file: its rows, and how its lines end."""

    rows: list[GroupRow]
    """Cells as they were published, without the quotes of the reference reader."""
    cells: list[GroupRow]
    """The same, with these quotes."""
    line_end: str
    lacks_final_newline: bool
    unusual: Mapping[str, int] = {}
    """What only the reference reader takes, and the first row that has it."""


def parse(text: str, group_id: str) -> GroupFile:
    """Split a file into the raw cells of its rows; raises BadRecord (DE-01) where it is none of this corpus.

    One that is not as the publisher writes it is read as the reference reader does, Python's csv.DictReader.
    """
    if not text:
        raise BadRecord("DE-01", "the file is empty")
    # A checkout by git on Windows has another line end than the publisher's.
    line_end = WINDOWS_END if text.partition(LINE_END)[0].endswith("\r") else LINE_END
    header, *lines = text.removesuffix(line_end).split(line_end)
    rows = [GroupRow(*cells) for line in lines if len(cells := line.split("\t")) == len(GroupRow._fields)]
    is_usual = header == HEADER and len(rows) == len(lines) and (line_end == WINDOWS_END or "\r\n" not in text)
    is_usual = is_usual and not any(LINE_END in line for line in lines)
    table = GroupFile(rows, rows, line_end, not text.endswith(line_end)) if is_usual else _leniently(text)
    for index, row in enumerate(table.rows):
        if row.group_id != group_id and (is_usual or row.group_id.strip(" ")):
            detail = f"the file is named {group_id}, its group_id is {row.group_id}"
            raise BadRecord("DE-01", detail, pointer(index, "group_id"))
    return table


_CELL = re.compile(r'( *"(?:[^"]|"")*+(?:"[^\t\r\n]*|\Z)|[^\t\r\n]*)(\t|\r\n|[\r\n]|\Z)')
_QUOTED = re.compile(r' *"((?:[^"]|"")*+)"?(.*)', re.DOTALL)


def _leniently(text: str) -> GroupFile:
    """Split a file where the reference reader does: quotes may hold line ends, and rows have any number of cells."""
    (header, *rows), unusual = _split(text), {}
    places = {_field(name).lstrip(" "): place for place, name in enumerate(header)}
    if missing := [name for name in GroupRow._fields if name not in places]:
        raise BadRecord("DE-01", f"the header is {text[:200]!r}, without {', '.join(missing)}")
    if list(places) != list(GroupRow._fields):
        unusual["columns in another order, or further ones"] = 0
    if len(set(re.findall(r"\r\n|[\r\n]", text))) > 1:
        unusual["lines that end in several ways"] = 0
    cells: list[GroupRow] = []
    for row in rows:
        if row == [""]:
            unusual.setdefault("a blank line", len(cells))
            continue
        if len(row) != len(header):
            unusual.setdefault(f"{len(row)} cells in a row under {len(header)} names", len(cells))
        if any("\n" in cell or "\r" in cell for cell in row):
            unusual.setdefault("a line end in a quoted cell", len(cells))
        cells.append(GroupRow(*("".join(row[places[name] : places[name] + 1]) for name in GroupRow._fields)))
    return GroupFile([GroupRow(*map(_field, row)) for row in cells], cells, "", False, unusual)


def _split(text: str) -> list[list[str]]:
    """Split a file into rows of cells with their quotes; a blank line has one, which is empty."""
    rows: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        match = _CELL.match(text, at)
        assert match  # noqa: S101 - there may be nothing in a cell, and something ends it
        rows[-1].append(match[1])
        at = match.end()
        if match[2] != "\t":
            rows.append([])
        elif at == len(text):
            rows[-1].append("")
    return [row for row in rows if row]


def _field(cell: str) -> str:
    """Remove the quotes of the reference reader."""
    match = _QUOTED.fullmatch(cell)
    return match[1].replace('""', '"') + match[2] if match else cell


CORPUS = "delidata"


SYSTEM = "SYSTEM"


OPENING_ID = "-1"
"""message_id of the INITIAL row of every group."""


KINDS = {"INITIAL": "initial", "MESSAGE": "message", "SUBMIT": "submit"}


TYPE = "delidata.type"


TARGET = "delidata.target"


ADDITIONAL = "delidata.additional"


TEAM_PERFORMANCE = "delidata.team_performance"


PERFORMANCE_CHANGE = "delidata.performance_change"


SOLUTION = "delidata.solution"


TRACKER = "delidata.tracker"


NO_SOLUTION = "N/A"
"""The tracker's value, split into letters, for a user without a known solution."""


NO_ITEMS = "0"
"""What annotation_additional says of a message where there is nothing to say."""


_NUMBER = re.compile(r"[+-]?(\d++\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def number(cell: str) -> float | None:
    """Read a decimal number; None for any other text."""
    value = float(cell) if _NUMBER.fullmatch(cell) else None
    return value if value is not None and abs(value) != float("inf") else None


def tracker(cell: str) -> dict[str, list[str]] | None:
    """Read the cards of every user, or None if the cell is no JSON object of lists of texts, each key once."""
    try:
        cards: dict[str, list[str]] = decode.decoder(dict[str, list[str]]).decode(cell)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    if json.dumps(cards) == cell:
        return cards
    pairs: list[Any] = json.loads(cell, object_pairs_hook=list)
    return cards if len(pairs) == len(cards) else None
