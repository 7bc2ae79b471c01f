"""The annotations, performance and solutions of a row, as rows of annotations."""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.delidata.format import Cells
from talkhouse.ingest.rows import Annotation, Record

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


def annotation_rows(record: Record, index: int, row: Cells) -> Iterator[Annotation]:
    """List every annotation of one row; an empty cell is none, ``None`` and ``0`` are labels as published."""
    additional = "" if row.annotation_additional == NO_ITEMS else row.annotation_additional
    for scheme, labels in (
        (TYPE, [row.annotation_type] if row.annotation_type else []),
        (TARGET, [row.annotation_target] if row.annotation_target else []),
        (ADDITIONAL, _items(additional)),
        (SOLUTION, _items(row.sol_tracker_message)),
    ):
        for item, label in enumerate(labels):
            yield record.annotation(index, scheme, label, item_index=item)
    for scheme, cell in ((TEAM_PERFORMANCE, row.team_performance), (PERFORMANCE_CHANGE, row.performance_change)):
        if (value := number(cell)) is not None:
            yield record.annotation(index, scheme, None, value)
    for position, (user, cards) in enumerate((tracker(row.sol_tracker_all) or {}).items()):
        for item, card in enumerate(_tracked(cards)):
            yield record.annotation(index, TRACKER, card, annotator_index=position, annotator_id=user, item_index=item)


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


def _items(cell: str) -> list[str]:
    return cell.split(",") if cell else []


def _tracked(cards: list[str]) -> list[str | None]:
    """List one user's labels: the cards, ``N/A`` for its letters in any order, and null for an empty list."""
    if sorted(cards) == sorted(NO_SOLUTION):
        return [NO_SOLUTION]
    return [*cards] or [None]
