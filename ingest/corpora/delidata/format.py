"""The format of a group's file: tab-separated cells, quoted with ``'`` where they hold one, a line per row."""

import json
import re
from collections.abc import Iterator
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
    """A group's file: its raw cells, and how its lines end."""

    rows: list[GroupRow]
    line_end: str
    lacks_final_newline: bool


def parse(text: str, group_id: str) -> GroupFile:
    """Split a file into the raw cells of its rows; raises BadRecord (DE-01) where it is none of this corpus."""
    if not text:
        raise BadRecord("DE-01", "the file is empty")
    line_end = _line_end(text)
    header, *lines = text.removesuffix(line_end).split(line_end)
    if header != HEADER:
        raise BadRecord("DE-01", f"the header is {header[:200]!r}")
    rows = list(_rows(lines, group_id))
    return GroupFile(rows, line_end, not text.endswith(line_end))


def _line_end(text: str) -> str:
    """Find what ends the first line: a checkout by git on Windows has another end than the publisher's."""
    return WINDOWS_END if text.partition(LINE_END)[0].endswith("\r") else LINE_END


def _rows(lines: list[str], group_id: str) -> Iterator[GroupRow]:
    """Split every line into its cells; raises BadRecord (DE-01)."""
    for index, line in enumerate(lines):
        if LINE_END in line:
            raise BadRecord("DE-01", "the lines do not all end as the first does", pointer(index))
        row = _row(index, line)
        if row.group_id != group_id:
            detail = f"the file is named {group_id}, its group_id is {row.group_id}"
            raise BadRecord("DE-01", detail, pointer(index, "group_id"))
        yield row


def _row(index: int, line: str) -> GroupRow:
    cells = line.split("\t")
    if len(cells) != len(GroupRow._fields):
        raise BadRecord("DE-01", f"{len(cells)} cells in a row, not {len(GroupRow._fields)}", pointer(index))
    return GroupRow(*cells)


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
"""What the tracker has, split into letters, for a user of whom no solution is known."""


NO_ITEMS = "0"
"""What annotation_additional says of a message where there is nothing to say."""


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def number(cell: str) -> float | None:
    """Read a decimal number; None for any other text."""
    value = float(cell) if _NUMBER.fullmatch(cell) else None
    return value if value is not None and abs(value) != float("inf") else None


def tracker(cell: str) -> dict[str, list[str]] | None:
    """Read the cards of every user; None where the cell is no JSON object of lists of texts, each key once."""
    try:
        cards: dict[str, list[str]] = decode.decoder(dict[str, list[str]]).decode(cell)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    if json.dumps(cards) == cell:
        return cards
    pairs: list[Any] = json.loads(cell, object_pairs_hook=list)
    return cards if len(pairs) == len(cards) else None
