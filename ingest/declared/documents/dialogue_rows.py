"""The rows of a dialogue: turns, parts, speakers, and the candidates that came with a record of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.gathered import Gathered
from talkhouse.ingest.declared.documents.record_fields import RecordFields
from talkhouse.ingest.declared.documents.talk import Piece, Said, Talk
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.declared.speakers import Speakers
from talkhouse.ingest.declared.times import microseconds
from talkhouse.ingest.decode import dump
from talkhouse.ingest.keys import digest_of
from talkhouse.ingest.rows import Candidate, Dialogue, Part, Participant, Record, Turn
from talkhouse.ingest.texts import Texts

CANDIDATE_SET = "completion"
"""The name of the list of answers that are compared."""


_REST = ("kind", "native_id", "said_at", "reply_to", "start_ms", "end_ms", "speaker_name", "is_bot", "extra")
"""What else a turn's rows hold beside who says what."""


def words_of(roles: Sequence[str], speakers: Sequence[str | None], texts: Sequence[str]) -> bytes:
    """Hash who says what."""
    named = speakers if any(name is not None for name in speakers) else None
    return digest_of(msgspec.json.encode((roles, named, texts)))


def rest_of(fields: RecordFields, shapes: Sequence[bytes], columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Hash what a dialogue's rows hold beside its words: columns of its turns, and shapes with their numbers."""
    known = (fields.title, fields.domain, fields.language, fields.started_at)
    there = {name: column for name, column in columns.items() if any(value is not None for value in column)}
    return digest_of(msgspec.json.encode((known, [Raw(shape) for shape in shapes], there)))


class DialogueRows:
    """Makes the rows of the dialogues of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        self._corpus_id = declaration.corpus_id
        self._speakers = Speakers(declaration)
        self._texts = Texts(declaration.corpus_id)
        self.shapes = Shapes()
        """Those of the file that is read."""

    def rest(self, fields: RecordFields, said: Sequence[Said]) -> bytes:
        """Hash what a dialogue's rows hold beside its words.

        All shapes of its rows count as used: a file that only repeats a dialogue is written with them too, so another
        file's rows say the same only where their shapes have the same numbers.
        """
        numbered = [self._numbered("message", turn.shape) for turn in said]
        columns: dict[str, list[Any]] = {name: [getattr(turn, name) for turn in said] for name in _REST}
        columns |= self.part_columns([turn.parts for turn in said])
        columns["kind"] = [None if turn.kind == "message" else turn.kind for turn in said]
        columns["said_at"] = [None if turn.said_at is None else microseconds(turn.said_at) for turn in said]
        shapes = list(dict.fromkeys(numbered))
        if len(shapes) > 1:
            columns["shape"] = [shapes.index(shape) for shape in numbered]
        return rest_of(fields, shapes, columns)

    def part_columns(self, parts: Sequence[Sequence[Piece] | None]) -> dict[str, list[Any]]:
        """Return the parts of turns, and their shapes, as ``rest_of`` takes them."""
        shapes = [[self._numbered("part", piece.shape) for piece in pieces] if pieces else None for pieces in parts]
        return {"parts": list(parts), "part_shapes": shapes}

    def _numbered(self, level: str, shape: Mapping[str, Any] | None) -> bytes:
        """Write a shape with its number."""
        return b"null" if shape is None else msgspec.json.encode((self.shapes.number(level, shape), shape))

    def add(self, dialogue_id: str, fields: RecordFields, said: Sequence[Said], gathered: Gathered) -> None:
        """Add a dialogue."""
        gathered.dialogues.append(self.dialogue(dialogue_id, fields))
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
                shaped(self.shapes.number("message", turn.shape) if turn.shape else 0, turn.extra),
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

    def dialogue(self, dialogue_id: str, fields: RecordFields) -> Dialogue:
        """Make the row of a dialogue itself."""
        return Dialogue(
            dialogue_id,
            self._corpus_id,
            fields.native_id,
            fields.domain,
            fields.title,
            fields.language,
            fields.started_at,
        )

    def add_speaker(self, dialogue_id: str, said: Said, gathered: Gathered) -> str:
        """Add the speaker of a turn, who has said nothing before in the dialogue, and return their key."""
        known = self._speakers.of(
            dialogue_id, said.speaker or "", said.role, is_bot=said.is_bot, shown_name=said.speaker_name
        )
        gathered.rows += [known.row] if known.is_new else []
        gathered.rows.append(Participant(dialogue_id, known.row.speaker_id, said.role))
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
