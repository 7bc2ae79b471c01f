"""What is said in one member of a preference: a text, a text with speaker marks, a message, or a list of messages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, TurnFields
from talkhouse.ingest.declared.documents.message_fields import Message
from talkhouse.ingest.declared.documents.messages import Messages
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.documents.talk import Offered, Said
from talkhouse.ingest.declared.documents.transcript import Markers
from talkhouse.ingest.declared.shapes import KnownShapes, Members, Split, join, kind_of, members_of, string_of, wanted
from talkhouse.ingest.decode import BadRecord, decoder, literals
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Candidate, Turn
from talkhouse.ingest.stored_record import StoredRecord

AnswerForm: TypeAlias = Literal["text", "marks", "open", "message", "list"]
"""``open``: a text with marks that ends with the mark of whoever answers."""

ROLE = "role"
_FIELDS = "fields"
"""In a candidate's ``extra``: what else its message has, where that has a member called role too."""

_TEXT = decoder(str)
_ITEMS = decoder(list[Raw])


@dataclass
class Answer:
    """What is said in a member."""

    form: AnswerForm
    said: list[Said]
    messages: list[Message]
    """Of the forms message and list, those that the turns are."""


class Answers:
    """Reads and writes such members of one corpus; ``turn``: where a message says what (``Messages``)."""

    def __init__(self, declaration: Declaration, turn: TurnFields | None = None) -> None:
        self._messages = Messages(declaration, turn)
        self._markers = Markers(declaration.markers)
        self._of_candidate = wanted({ROLE: self._messages.turn.role, "text": self._messages.turn.text})

    def read(self, raw: Raw, at: str, role: str, findings: list[ReaderFinding], *, is_part: bool = False) -> Answer:
        """Read a member; ``role`` says a text without marks.

        ``is_part``: it is a part of a dialogue, so that it may begin without a mark. Raises BadRecord GF-01, GF-10.
        """
        match bytes(raw)[:1]:
            case b'"':
                text = string_of(raw, at, "it")
                if not self._markers or (is_part and not self._markers.begin(text)):
                    return Answer("text", [Said(role, text, at)], [])
                return Answer("marks", self._markers.cut(text, at), [])
            case b"{":
                message = self._messages.open(raw, at, findings)
                return Answer("message", [message.close()], [message])
            case b"[":
                items: list[Raw] = _ITEMS.decode(raw)
                messages = [self._messages.open(item, f"{at}/{place}", findings) for place, item in enumerate(items)]
                return Answer("list", [message.close() for message in messages], messages)
        raise BadRecord("GF-01", f"this is {kind_of(raw)}, neither a text nor a message nor a list of messages", at)

    def write(
        self,
        form: str,
        turns: Sequence[Turn],
        stored: StoredRecord,
        shapes: KnownShapes,
        offered: Iterable[Candidate] = (),
    ) -> bytes:
        """Write a member: turns of the dialogue, and behind them messages that only candidates hold."""
        pieces = [self._turn(form, turn, stored, shapes) for turn in turns]
        pieces += [self._candidate(form, candidate, stored, shapes) for candidate in offered]
        match form:
            case "marks":
                return msgspec.json.encode(b"".join(pieces).decode())
            case "list":
                return write_list(pieces)
        return pieces[0]

    def write_open(self, turns: Sequence[Turn]) -> bytes:
        """Write a text with marks, up to the mark of the last of these turns."""
        return msgspec.json.encode(self._markers.join(turns).removesuffix(turns[-1].text))

    def has_messages(self, raw: Raw) -> bool:
        """Whether a member is a list of objects, one at least."""
        items: list[Raw] = _ITEMS.decode(raw) if bytes(raw)[:1] == b"[" else []
        return bool(items) and all(bytes(item)[:1] == b"{" for item in items)

    def _turn(self, form: str, turn: Turn, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        match form:
            case "text":
                return msgspec.json.encode(turn.text)
            case "marks":
                return (self._markers.mark_of(turn.role, literals(turn.extra)) + turn.text).encode()
        parts = stored.parts_by_turn[turn.turn_index]
        speaker = stored.speakers.get(turn.speaker_id or "")
        return self._messages.write(turn, shapes, parts=parts, speaker=speaker)

    def offer(self, answer: Answer, place: int, offered: Offered, *, is_whole: bool) -> Offered:
        """Return who speaks in a candidate, which is what ``answer`` says at a place.

        ``is_whole``: no turn holds the message, so the candidate has to.
        """
        said = answer.said[place]
        offered.extra = {ROLE: Raw(msgspec.json.encode(said.role))}
        if is_whole and answer.messages:
            rest: dict[str, Raw] = {}
            offered.shape = self._shape(answer.messages[place], rest)
            offered.extra |= {_FIELDS: Raw(msgspec.json.encode(rest))} if ROLE in rest else rest
        elif is_whole:
            offered.shape = said.shape
            offered.extra |= said.extra or {}
        return offered

    def _shape(self, message: Message, extra: dict[str, Raw]) -> dict[str, object]:
        """Return the shape of a message of which a candidate takes only role and text, and add the rest."""
        split = Split(message.split.members, self._of_candidate)
        taken = {hole: name for hole, name in message.taken.items() if name in (ROLE, "text", None)}
        return split.shape(taken, extra)

    def _candidate(self, form: str, candidate: Candidate, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        text, extra = stored.texts[candidate.text_id or ""], literals(candidate.extra)
        role: str = _TEXT.decode(extra[ROLE])
        match form:
            case "text":
                return msgspec.json.encode(text)
            case "marks":
                return (self._markers.mark_of(role, extra) + text).encode()
        rest: Members = members_of(extra[_FIELDS]) if _FIELDS in extra else extra
        filled = {ROLE: self._messages.roles.theirs(role), "text": text}
        return join(shapes.of("candidate", extra), rest, lambda hole: msgspec.json.encode(filled[hole]))


def open_prompt(prompt: Answer, answers: Iterable[Answer]) -> None:
    """Take an empty last turn of a prompt for what it is where the answers have no marks: the mark of the answer."""
    last = prompt.said.pop()
    prompt.form = "open"
    for answer in answers:
        answer.said[0].role, answer.said[0].extra = last.role, last.extra


def has_same_words(said: Said, other: Said) -> bool:
    """Whether two turns say the same."""
    return (said.role, said.text, said.kind, said.speaker, said.parts) == (
        other.role,
        other.text,
        other.kind,
        other.speaker,
        other.parts,
    )


def is_written_the_same(said: Said, other: Said) -> bool:
    """Whether two turns differ in nothing but their places; the order of members counts."""
    there = msgspec.structs.replace(other, pointer=said.pointer)
    return msgspec.json.encode(said) == msgspec.json.encode(there)
