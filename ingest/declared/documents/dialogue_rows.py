"""The rows of a dialogue: turns, parts, speakers, and the candidates that came with a record of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.gathered import Gathered
from talkhouse.ingest.declared.documents.record_fields import RecordFields
from talkhouse.ingest.declared.documents.talk import Piece, Said, Talk
from talkhouse.ingest.declared.identity import digest_of_lines, line
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.declared.speakers import Speakers
from talkhouse.ingest.declared.times import microseconds
from talkhouse.ingest.decode import dump
from talkhouse.ingest.keys import digest_of
from talkhouse.ingest.rows import Candidate, Dialogue, Part, Participant, Record, Turn
from talkhouse.ingest.texts import Texts

CANDIDATE_SET = "completion"
"""The name of the list of answers that are compared."""


REST = (
    "kind",
    "native_id",
    "said_at",
    "reply_to",
    "start_ms",
    "end_ms",
    "speaker_name",
    "is_bot",
    "extra",
    "parts",
    "shape",
)
"""What else a turn's rows hold beside who says what."""

FACTS = ("title", "domain", "language", "started_at")
"""What the row of a dialogue holds beside its keys."""


def words_of(said: Iterable[Said]) -> bytes:
    """Hash who says what."""
    return digest_of_lines("", (line((turn.role, turn.speaker, turn.text)) for turn in said))


class DialogueRows:
    """Makes the rows of the dialogues of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        self._corpus_id = declaration.corpus_id
        self._speakers = Speakers(declaration)
        self._texts = Texts(declaration.corpus_id)
        self.shapes = Shapes()
        """Those of the file that is read."""

    def rest(self, fields: RecordFields, said: Sequence[Said]) -> bytes:
        """Hash what a dialogue's rows hold beside its words."""
        shapes = [self.shape_key(turn.shape) for turn in said]
        changed = [None if shape == before else shape for before, shape in pairwise(shapes)]
        rows = (line(self._rest(turn, shape)) for turn, shape in zip(said, [None, *changed], strict=False))
        return digest_of_lines(line((*(_text(getattr(fields, name)) for name in FACTS), *shapes[:1])), rows)

    def _rest(self, turn: Said, shape: str | None) -> Iterator[str | None]:
        """Yield what a turn's rows hold, by ``REST``; ``shape`` is None where it is that of the turn before."""
        yield None if turn.kind == "message" else turn.kind
        yield from (_text(getattr(turn, name)) for name in REST[1:-3])
        yield self._extra(turn)
        yield self.parts_text(turn.parts) if turn.parts else None
        yield shape

    def shape_key(self, shape: Mapping[str, Any] | None) -> str | None:
        """Return what stands for the shape of a turn, and its number in the file.

        All shapes of a dialogue's rows count as used: a file that only repeats it is written with them too, so another
        file's rows say the same only where their shapes have the same numbers.
        """
        return None if shape is None else digest_of(self._numbered("message", shape)).hex()

    def parts_text(self, pieces: Sequence[Piece]) -> str:
        """Write the parts of a turn, with their shapes, to be hashed."""
        shapes = [None if piece.shape is None else Raw(self._numbered("part", piece.shape)) for piece in pieces]
        return msgspec.json.encode((pieces, shapes)).decode()

    def _numbered(self, level: str, shape: Mapping[str, Any]) -> bytes:
        """Write a shape with its number."""
        return msgspec.json.encode((self.shapes.number(level, shape), shape))

    def _extra(self, turn: Said) -> str | None:
        return shaped(self.shapes.number("message", turn.shape) if turn.shape else 0, turn.extra)

    def add(self, dialogue_id: str, fields: RecordFields, said: Sequence[Said], gathered: Gathered) -> None:
        """Add a dialogue."""
        gathered.dialogues.append(
            Dialogue(
                dialogue_id,
                self._corpus_id,
                fields.native_id,
                fields.domain,
                fields.title,
                fields.language,
                fields.started_at,
            )
        )
        for index, turn in enumerate(said):
            gathered.rows += self.parts(dialogue_id, index, turn.parts or ())
        ids: dict[str, str] = {}
        for turn in said:
            if turn.speaker is not None and turn.speaker not in ids:
                ids[turn.speaker] = self.add_speaker(dialogue_id, turn, gathered)
        gathered.turns += [
            Turn(
                dialogue_id,
                index,
                ids.get(turn.speaker or ""),
                turn.role,
                turn.kind,
                turn.text,
                turn.native_id,
                turn.said_at,
                self._extra(turn),
                turn.reply_to,
                turn.start_ms,
                turn.end_ms,
            )
            for index, turn in enumerate(said)
        ]

    def candidates(self, record: Record, talk: Talk, gathered: Gathered) -> None:
        """Add the answers that came with a record."""
        for offered in talk.offered:
            number = self.shapes.number("candidate", offered.shape) if offered.shape else 0
            gathered.rows.append(
                Candidate(
                    record.record_id,
                    offered.turn_index,
                    CANDIDATE_SET,
                    offered.position,
                    offered.item_index,
                    record.dialogue_id,
                    self._texts.id(offered.text, gathered.rows),
                    is_gold=offered.is_gold,
                    extra=shaped(number, offered.extra),
                )
            )

    def add_speaker(self, dialogue_id: str, said: Said, gathered: Gathered) -> str:
        """Add the speaker of a turn, who has said nothing before in the dialogue, and return their key."""
        speaker_id = self.speaker(dialogue_id, said, gathered)
        gathered.rows.append(Participant(dialogue_id, speaker_id, said.role))
        return speaker_id

    def speaker(self, dialogue_id: str, said: Said, gathered: Gathered) -> str:
        """Return the key of the speaker of a turn, and add their row where they are new."""
        known = self._speakers.of(
            dialogue_id, said.speaker or "", said.role, is_bot=said.is_bot, shown_name=said.speaker_name
        )
        gathered.rows += [known.row] if known.is_new else []
        return known.row.speaker_id

    def parts(self, dialogue_id: str, turn_index: int, pieces: Iterable[Piece]) -> Iterator[Part]:
        """Make the parts of a turn."""
        return (self._part(dialogue_id, turn_index, index, piece) for index, piece in enumerate(pieces))

    def _part(self, dialogue_id: str, turn_index: int, part_index: int, piece: Piece) -> Part:
        return Part(
            dialogue_id,
            turn_index,
            part_index,
            piece.field,
            piece.kind,
            piece.start_index,
            piece.end_index,
            piece.name,
            piece.call_id,
            piece.arguments,
            piece.uri,
            piece.mime_type,
            piece.text,
            shaped(self.shapes.number("part", piece.shape) if piece.shape else 0, piece.extra),
        )


def shaped(number: int | Mapping[str, Any], rest: Mapping[str, Raw] | None) -> str | None:
    """Write ``extra``: the number of a shape, unless it is 0, and what no column holds."""
    if not number:
        return dump(rest)
    return dump({"shape": number} | dict(rest or {}))


def record_extra(
    number: int | Mapping[str, Any], cells: Mapping[str, str] | None, rest: Mapping[str, Raw]
) -> str | None:
    """Write ``extra`` of a record: as ``shaped``, and which cells of a CSV are written otherwise."""
    own = ({"shape": number} if number else {}) | ({"cells": cells} if cells else {})
    return dump(own | dict(rest))


def _text(value: object) -> str | None:
    """Write a value of a row as a column of texts has it."""
    return None if value is None else str(microseconds(value)) if isinstance(value, datetime) else str(value)
