"""Rows back to the groups' files, equal byte for byte."""

from typing import Any

import msgspec

from talkhouse.ingest.corpora.delidata.format import HEADER, LINE_END
from talkhouse.ingest.corpora.delidata.write_cells import cells
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.stored_record import StoredRecord


def write_record(stored: StoredRecord) -> bytes:
    """Write a group, the whole of its file: the cells as the tables have them, or as this record states them."""
    extra: dict[str, Any] = msgspec.json.decode(stored.loaded.extra or "{}")
    differs, line_end = extra.get("differs", {}), extra.get("line_end", LINE_END)
    lines = [HEADER]
    for turn in stored.turns:
        row = cells(stored.loaded.native_id or "", turn, stored.annotations_by_turn[turn.turn_index])._asdict()
        lines.append("\t".join(differs.get(pointer(turn.turn_index, name), cell) for name, cell in row.items()))
    content: str = line_end.join(lines) + ("" if extra.get("lacks_final_newline") else line_end)
    return content.encode()
