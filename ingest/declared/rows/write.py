"""Rows of the tables back to the rows of files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.roles import Roles
from talkhouse.ingest.declared.rows.columns import (
    DIALOGUE_TEXTS,
    END_MS,
    ID,
    KIND,
    LABEL,
    NAME,
    OF_DIALOGUE,
    ORDER,
    REPLY_TO,
    ROLE,
    SAID_AT,
    SPEAKER,
    SPLIT,
    START_MS,
    STARTED_AT,
    TEXT,
    TURN_ID,
    columns_of,
)
from talkhouse.ingest.declared.rows.frames import LEVEL
from talkhouse.ingest.declared.shapes import NULL, KnownShapes
from talkhouse.ingest.declared.shapes import _alias as alias
from talkhouse.ingest.declared.times import UNIX, write_time
from talkhouse.ingest.declared.values import LITERAL
from talkhouse.ingest.decode import literals, pointer
from talkhouse.ingest.rows import Turn
from talkhouse.ingest.stored_record import StoredRecord


class StoredRow(msgspec.Struct, gc=False):
    """One row as a file has it."""

    line: int
    """Where it stands; of rows that follow one another, the line of the first."""
    cells: dict[str, bytes]
    """Column -> JSON text, in the file's order."""
    as_written: dict[str, str] = {}
    """Of CSV: the cells that the dialect would write otherwise."""


class RowsBack:
    """Writes the rows of records of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self._roles = Roles(declaration)
        self._labels = {label.hole: label for label in columns_of(declaration).labels}
        self._within = declaration.speaker.scope == "dialogue"

    def rows(self, stored: StoredRecord, shapes: KnownShapes, *, is_csv: bool) -> Iterator[StoredRow]:
        """Yield the rows of a record, in the order of its turns."""
        extra = literals(stored.loaded.extra)
        lines: list[int] = msgspec.json.decode(extra.get("lines", Raw(b"[]")))
        differs: dict[str, Raw] = msgspec.json.decode(extra.get("differs", Raw(b"{}")), type=dict[str, Raw])
        first = int(stored.pointer.removeprefix("/"))
        nothing = b'""' if is_csv else b"null"
        for turn in stored.turns:
            at = pointer(turn.turn_index)
            own = differs.get(at)
            kept = literals(turn.extra if own is None else bytes(own).decode())
            cells: dict[str, bytes] = {}
            for key, hole in shapes.of(LEVEL, kept).items():
                other = differs.get(at + pointer(key)) if differs else None
                raw = kept.get(alias(key)) if other is None else other
                cells[key] = bytes(raw) if raw is not None else self._cell(hole, turn, stored) or nothing
            written = kept.get("cells")
            as_written = msgspec.json.decode(written, type=dict[str, str]) if written is not None else {}
            yield StoredRow(lines[turn.turn_index] if lines else first, cells, as_written)

    def _cell(self, hole: str, turn: Turn, stored: StoredRecord) -> bytes | None:
        """Write the cell that a hole gives back; None for an empty one."""
        if hole.endswith(NULL):
            return None
        name, is_time, how = hole.partition("@")
        if is_time:
            time = turn.said_at if name == SAID_AT else stored.dialogue and stored.dialogue.started_at
            if time is None:
                return None
            text: str | None = write_time(time, how)
            return text.encode() if how in UNIX else msgspec.json.encode(text)  # type: ignore[union-attr]
        text = self._text(name.removesuffix(LITERAL), turn, stored)
        if text is None:
            return None
        return text.encode() if hole.endswith(LITERAL) else msgspec.json.encode(text)

    def _text(self, hole: str, turn: Turn, stored: StoredRecord) -> str | None:
        """Return the text of a cell."""
        match hole:
            case "text":
                return turn.text
            case "dialogue.id":
                return stored.loaded.native_id
            case "id":
                return turn.native_id
            case "role":
                return self._roles.theirs(turn.role)
            case "speaker":
                return self._speaker(turn)
            case "kind":
                return turn.kind
            case "order":
                return str(turn.turn_index)
            case "reply_to":
                return self._reply(turn, stored)
            case "start_ms" | "end_ms":
                number = getattr(turn, hole)
                return None if number is None else str(number)
            case "name":
                return stored.speakers[turn.speaker_id].name if turn.speaker_id else None
            case "split":
                return stored.loaded.split
            case "title" | "domain" | "language":
                return getattr(stored.dialogue, hole)
        return self._label(hole, turn, stored)

    def _speaker(self, turn: Turn) -> str | None:
        begin = f"{turn.dialogue_id}/" if self._within else f"{self._declaration.corpus_id}:"
        return None if turn.speaker_id is None else turn.speaker_id.removeprefix(begin)

    def _reply(self, turn: Turn, stored: StoredRecord) -> str | None:
        if turn.reply_to is None:
            return None
        return stored.turns[turn.reply_to].native_id if self._declaration.turn.id else str(turn.reply_to)

    def _label(self, hole: str, turn: Turn, stored: StoredRecord) -> str | None:
        """Return the label that a column has; a cell without one has the first value that is none."""
        label = self._labels.get(hole)
        if label is None:
            return None
        index = turn.turn_index if label.is_of_turn else None
        for row in stored.annotations_by_turn[index]:
            if row.scheme == label.scheme and row.annotator_index == label.annotator_index:
                return label.missing[0] if row.label is None else row.label
        return label.missing[0]
