"""The rows of a dialogue: turns, parts, speakers, and the candidates that came with a record of it."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.gathered import Gathered
from talkhouse.ingest.declared.documents.record_fields import RecordFields
from talkhouse.ingest.declared.documents.talk import Piece, Said, Talk
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.declared.speakers import Speakers
from talkhouse.ingest.decode import dump
from talkhouse.ingest.keys import digest_of
from talkhouse.ingest.rows import Candidate, Dialogue, Part, Participant, Record
from talkhouse.ingest.texts import Texts

CANDIDATE_SET = "completion"
"""The name of the list of answers that are compared."""


class WholeTalk:
    """A talk with its roles and texts as columns."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.is_plain = talk.is_plain or talk.plain is not None
        self.roles = talk.plain.roles if talk.plain else [said.role for said in talk.said]
        self.texts = talk.plain.texts if talk.plain else [said.text for said in talk.said]
        self.shape_numbers: list[Any] | None = None

    def words(self) -> bytes:
        """Hash who says what."""
        speakers = None if self.is_plain else [said.speaker for said in self.talk.said]
        if speakers is not None and speakers.count(None) == len(speakers):
            speakers = None
        return digest_of(msgspec.json.encode((self.roles, speakers, self.texts)))


class DialogueRows:
    """Makes the rows of the dialogues of one corpus."""

    def __init__(self, declaration: Declaration, shapes: Shapes) -> None:
        self._corpus_id = declaration.corpus_id
        self._speakers = Speakers(declaration)
        self._shapes = shapes
        self._texts = Texts(declaration.corpus_id)

    def rest(self, fields: RecordFields, whole: WholeTalk) -> bytes:
        """Return what a dialogue's rows hold beside its words, as a hash where that is long.

        All shapes of its rows count as used: a file that only repeats a dialogue is written with them too.
        """
        known = (fields.title, fields.domain, fields.language, fields.started_at)
        said = whole.talk.said
        if whole.is_plain:
            turns: Any = self._shape_numbers(whole)
            if not any(turns) and known == (None, None, fields.language, None):
                return b"" if fields.language is None else b"=" + fields.language.encode()  # as most are
        else:
            turns = [
                (
                    self._shapes.number("message", turn.shape) if turn.shape else None,
                    turn.kind,
                    turn.native_id,
                    turn.said_at,
                    turn.reply_to,
                    turn.start_ms,
                    turn.end_ms,
                    turn.speaker_name,
                    turn.is_bot,
                    turn.extra,
                    turn.parts,
                    [self._shapes.number("part", piece.shape) for piece in turn.parts or () if piece.shape],
                )
                for turn in said
            ]
        return digest_of(msgspec.json.encode((known, turns)))

    def add(self, dialogue_id: str, fields: RecordFields, whole: WholeTalk, gathered: Gathered) -> None:
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
        said = whole.talk.said
        if whole.is_plain:
            numbers = self._shape_numbers(whole)
            extra = [_extra(number, None) for number in numbers] if any(numbers) else None
            gathered.plain_turns(dialogue_id, whole.roles, whole.texts, extra)
        else:
            extra = [self._turn_extra(dialogue_id, index, turn, gathered) for index, turn in enumerate(said)]
            speakers = self._people(dialogue_id, said, gathered)
            gathered.turns(dialogue_id, whole.roles, whole.texts, extra, speakers, said)

    def candidates(self, record: Record, talk: Talk, gathered: Gathered) -> None:
        """Add the answers that came with a record."""
        for offered in talk.offered:
            number = self._shapes.number("candidate", offered.shape) if offered.shape else 0
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
                    extra=_extra(number, offered.extra),
                )
            )

    def _shape_numbers(self, whole: WholeTalk) -> list[Any]:
        """Return the number of each plain turn's shape; most have the same."""
        if whole.shape_numbers is None:
            if whole.talk.plain is not None:
                whole.shape_numbers = [self._shapes.number("message", whole.talk.plain.shape)] * len(whole.texts)
            else:
                shapes = [turn.shape for turn in whole.talk.said]
                whole.shape_numbers = [self._shapes.number("message", shape) if shape else 0 for shape in shapes]
        return whole.shape_numbers

    def _people(self, dialogue_id: str, said: list[Said], gathered: Gathered) -> list[str | None] | None:
        """Add the speakers of a dialogue, and return that of each turn; None where nothing names one."""
        ids: dict[str, str] = {}
        for turn in said:
            if turn.speaker is not None and turn.speaker not in ids:
                known = self._speakers.of(
                    dialogue_id, turn.speaker, turn.role, is_bot=turn.is_bot, shown_name=turn.speaker_name
                )
                ids[turn.speaker] = known.row.speaker_id
                gathered.rows += [known.row] if known.is_new else []
                gathered.rows.append(Participant(dialogue_id, known.row.speaker_id, turn.role))
        return [ids[turn.speaker] if turn.speaker is not None else None for turn in said] if ids else None

    def _turn_extra(self, dialogue_id: str, turn_index: int, said: Said, gathered: Gathered) -> str | None:
        """Return ``extra`` of a turn, and add its parts."""
        for index, piece in enumerate(said.parts or ()):
            gathered.rows.append(self._part(dialogue_id, turn_index, index, piece))
        return _extra(self._shapes.number("message", said.shape) if said.shape else 0, said.extra)

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
            _extra(self._shapes.number("part", piece.shape) if piece.shape else 0, piece.extra),
        )


def _extra(number: int | Mapping[str, Any], rest: Mapping[str, Raw] | None) -> str | None:
    """Write ``extra``: the number of a shape, unless it is 0, and what no column holds."""
    if not number:
        return dump(rest)
    return dump({"shape": number} | dict(rest or {}))
