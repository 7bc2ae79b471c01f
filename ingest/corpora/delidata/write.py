"""Rows back to the groups' files, equal byte for byte."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from talkhouse.ingest.corpora.delidata import format as layout
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.rows import Annotation, Turn
from talkhouse.ingest.stored_record import StoredRecord

_TYPES = {kind: name for name, kind in layout.KINDS.items()}


def cells(group_id: str, turn: Turn, annotations: Sequence[Annotation]) -> layout.GroupRow:
    """Write the raw cells of a row as the tables alone have them; what differs in a file is in its record."""
    extra: dict[str, Any] = msgspec.json.decode(turn.extra or "{}")
    by_scheme = defaultdict(list)
    for annotation in annotations:
        by_scheme[annotation.scheme].append(annotation)
    plain = layout.GroupRow(
        group_id=group_id,
        message_id=turn.native_id or "",
        message_type=extra.get("message_type") or _TYPES.get(turn.kind, ""),
        origin=(turn.speaker_id or "").removeprefix(f"{turn.dialogue_id}/"),
        original_text=turn.text,
        clean_text=extra.get("clean_text", ""),
        annotation_type=_joined(by_scheme[layout.TYPE]),
        annotation_target=_joined(by_scheme[layout.TARGET]),
        annotation_additional=_joined(by_scheme[layout.ADDITIONAL])
        or (layout.NO_ITEMS if turn.kind == "message" else ""),
        team_performance=_number(by_scheme[layout.TEAM_PERFORMANCE]),
        performance_change=_number(by_scheme[layout.PERFORMANCE_CHANGE]),
        sol_tracker_message=_joined(by_scheme[layout.SOLUTION]),
        sol_tracker_all=_tracker(by_scheme[layout.TRACKER]),
    )
    return layout.GroupRow(*map(layout.quote, plain))._replace(**extra.get("cells", {}))


def _joined(annotations: Sequence[Annotation]) -> str:
    return ",".join(annotation.label or "" for annotation in annotations)


def _number(annotations: Sequence[Annotation]) -> str:
    return "".join(repr(annotation.value) for annotation in annotations)


def _tracker(annotations: Sequence[Annotation]) -> str:
    """Write the tracker as Python's json does; ``N/A`` falls apart into its letters again."""
    users: dict[str, list[str]] = {}
    for annotation in annotations:
        cards = users.setdefault(annotation.annotator_id or "", [])
        if annotation.label is not None:
            cards.extend(layout.NO_SOLUTION if annotation.label == layout.NO_SOLUTION else [annotation.label])
    return json.dumps(users)


def write_record(stored: StoredRecord) -> bytes:
    """Write a group, the whole of its file: the cells as the tables have them, or as this record states them."""
    extra: dict[str, Any] = msgspec.json.decode(stored.loaded.extra or "{}")
    if "published" in extra:  # not as the publisher writes
        return str(extra["published"]).encode()
    differs, line_end = extra.get("differs", {}), extra.get("line_end", layout.LINE_END)
    lines = [layout.HEADER]
    for turn in stored.turns:
        row = cells(stored.loaded.native_id or "", turn, stored.annotations_by_turn[turn.turn_index])._asdict()
        lines.append("\t".join(differs.get(pointer(turn.turn_index, name), cell) for name, cell in row.items()))
    content: str = line_end.join(lines) + ("" if extra.get("lacks_final_newline") else line_end)
    return content.encode()
