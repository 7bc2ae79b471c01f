"""A group's rows to its dialogue: cards, participants, a turn and annotations for every row."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.delidata.format import Cells, quote, unquote
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.rows import Annotation, Dialogue, Participant, Record, Row, Speaker, Turn

CORPUS = "delidata"
SYSTEM = "SYSTEM"
OPENING_ID = "-1"
"""message_id of the INITIAL row of every group."""

KINDS = {"INITIAL": "initial", "MESSAGE": "message", "SUBMIT": "submit"}
CARDS = 4
"""Cards on the table of every group."""

TEXTS = ("original_text", "clean_text")


class Opening(NamedTuple):
    """What the INITIAL row says: who takes part, in published order, and the cards."""

    names: list[str]
    cards: list[str]


def opening(rows: Sequence[Cells]) -> Opening:
    """Read row 0; raises BadRecord (DE-02) where a group does not open as all do."""
    first = rows[0] if rows else None
    if first is None or (first.message_type, first.origin, first.message_id) != ("INITIAL", SYSTEM, OPENING_ID):
        raise BadRecord("DE-02", "row 0 is not INITIAL by SYSTEM with the message_id -1", pointer(0))
    again = next((index for index, row in enumerate(rows) if index and row.message_type == "INITIAL"), None)
    if again is not None:
        raise BadRecord("DE-02", "a second INITIAL row", pointer(again))
    names, *cards = first.original_text.split("&&")
    if len(cards) != 1 or len(cards[0].split(",")) != CARDS:
        detail = f"not 'names&&cards' with {CARDS} cards: {first.original_text[:200]!r}"
        raise BadRecord("DE-02", detail, pointer(0, "original_text"))
    return Opening([name for name in dict.fromkeys(names.split(",")) if name], cards[0].split(","))


def dialogue_rows(dialogue_id: str, begun: Opening, rows: Sequence[Cells], raw: Sequence[Cells]) -> Iterator[Row]:
    """List the dialogue, whoever is named or speaks, and the turns; only who is named takes part."""
    yield Dialogue(dialogue_id, CORPUS, rows[0].group_id, language="en", extra=decode.dump({"cards": begun.cards}))
    for name in dict.fromkeys([*begun.names, *(row.origin for row in rows)]):
        yield Speaker.within(dialogue_id, name, kind="system" if name == SYSTEM else "human")
    for name in begun.names:
        yield Participant(dialogue_id, f"{dialogue_id}/{name}", _role(name))
    for index, row in enumerate(rows):
        yield turn_row(dialogue_id, index, row, raw[index])


def stated(raw: Sequence[Cells]) -> dict[str, str]:
    """Collect the cells that the tables of the dialogue hold, besides those that make it another dialogue."""
    columns = ("message_id", *TEXTS)
    return {pointer(index, name): getattr(row, name) for index, row in enumerate(raw) for name in columns}


def _role(alias: str) -> str:
    return "system" if alias == SYSTEM else "participant"


def turn_row(dialogue_id: str, index: int, row: Cells, raw: Cells) -> Turn:
    """Make one turn; ``extra.cells`` has a published cell where quoting its text does not give it back."""
    extra: dict[str, Any] = {"clean_text": row.clean_text} if row.clean_text else {}
    if row.message_type not in KINDS:
        extra["message_type"] = row.message_type
    cells = {name: getattr(raw, name) for name in TEXTS if quote(unquote(getattr(raw, name))) != getattr(raw, name)}
    if cells:
        extra["cells"] = cells
    return Turn(
        dialogue_id=dialogue_id,
        turn_index=index,
        speaker_id=f"{dialogue_id}/{row.origin}",
        role=_role(row.origin),
        kind=KINDS.get(row.message_type, "other"),
        text=row.original_text,
        native_id=row.message_id,
        extra=decode.dump(extra),
    )


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
