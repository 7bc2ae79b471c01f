"""What a turn is made of beside its text, as it is shown: tool calls with their responses, reasoning, attachments."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[int, int]
"""turn_index and part_index."""

CALL, RESPONSE, TEXT = "tool_call", "tool_call_response", "text"


@dataclass(frozen=True)
class TurnPart:
    """A part of a turn."""

    kind: str
    name: str
    """Of the tool or file; of a response, that of the tool that was called."""
    content: str
    """The arguments of a call, the words of anything else; empty for what is only an address."""
    address: str
    """Where it is, and its media type, as far as published."""
    other_turn: int | None = None
    """Of a call, the turn with its response; of a response, the turn with its call."""
    response: str | None = None
    """Of a call that is answered in another turn: the words of the response."""


def parts_by_turn(turns: Iterable[Row], parts: Iterable[Row]) -> dict[int, list[TurnPart]]:
    """Return what is to be shown below each turn; a part of its text is no such thing.

    ``turns`` and ``parts`` are those of one dialogue, in order, with all columns of their tables.
    """
    texts = {turn["turn_index"]: turn["text"] for turn in turns}
    rows = {(row["turn_index"], row["part_index"]): row for row in parts}
    pairs = _pairs(rows)
    shown: defaultdict[int, list[TurnPart]] = defaultdict(list)
    for place, row in rows.items():
        if row["kind"] != TEXT or row["start_index"] is None:
            shown[row["turn_index"]].append(_part(row, texts, rows.get(pairs.get(place, place))))
    return dict(shown)


def _pairs(rows: Mapping[Place, Row]) -> dict[Place, Place]:
    """Pair calls with responses, both ways, as ``bi.parts`` does: the second call of an id has the second response."""
    calls: defaultdict[str, list[Place]] = defaultdict(list)
    responses: defaultdict[str, list[Place]] = defaultdict(list)
    for place, row in rows.items():
        if row["call_id"] is not None and row["kind"] in (CALL, RESPONSE):
            (calls if row["kind"] == CALL else responses)[row["call_id"]].append(place)
    found = [pair for call_id in calls for pair in zip(calls[call_id], responses[call_id], strict=False)]
    return dict(found) | {response: call for call, response in found}


def _part(row: Row, texts: Mapping[int, str], other: Row | None) -> TurnPart:
    is_paired = other is not None and other is not row
    name = row["name"] or (other["name"] if other and is_paired and row["kind"] == RESPONSE else None)
    is_elsewhere = other is not None and is_paired and other["turn_index"] != row["turn_index"]
    return TurnPart(
        kind=row["kind"],
        name=name or "",
        content=_words(row, texts),
        address=" ".join(filter(None, (row["uri"], row["mime_type"]))),
        other_turn=other["turn_index"] if other and is_paired else None,
        response=_words(other, texts) if other and is_elsewhere and row["kind"] == CALL else None,
    )


def _words(row: Row, texts: Mapping[int, str]) -> str:
    if row["arguments"] is not None:
        return str(row["arguments"])
    if row["text"] is not None:
        return str(row["text"])
    if row["start_index"] is None or row["end_index"] is None:
        return ""
    return texts.get(row["turn_index"], "")[row["start_index"] : row["end_index"]]


def in_recording(start_ms: int | None, end_ms: int | None) -> str:
    """Return where a turn is in its recording, in seconds, such as `` 1.000-1.900 s``; empty where it is in none."""
    if start_ms is None and end_ms is None:
        return ""
    begin, end = ("" if at is None else f"{at / 1000:,.3f}" for at in (start_ms, end_ms))
    return f" {begin}-{end} s"
