"""Texts with speaker marks: format ``transcript``, and the answers of other formats, which may be messages instead."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, TurnFields
from talkhouse.ingest.declared.documents.line_turns import MARK, LineTurns
from talkhouse.ingest.declared.documents.messages import Message, MessageFormat, items_of, required
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.parsed_dialogue import ParsedCandidate, ParsedDialogue, ParsedTurn
from talkhouse.ingest.declared.shapes import (
    KnownShapes,
    Members,
    SplitObject,
    join,
    kind_of,
    members_of,
    string_of,
    wanted,
    write_text,
)
from talkhouse.ingest.declared.speakers import NO_ROLE
from talkhouse.ingest.decode import BadRecord, decoder, literals, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Candidate, Turn
from talkhouse.ingest.stored_record import StoredRecord

MOST_TURNS = 1_000_000
"""A text has no more turns; each takes memory, however short it is."""

_SHOWN = 60
"""Letters of a text that a message shows."""


class Markers:
    """Cuts texts at their marks, and puts them together again.

    At one place the longest marker counts. One that begins with a line break begins a turn wherever it stands; any
    other only at the beginning of the text, so that words inside a line are no mark. Where no marker begins with a line
    break, they begin turns at the beginning of every line. A cut takes time in proportion to the text.
    """

    def __init__(self, markers: Mapping[str, str]) -> None:
        self._roles = markers
        self._first: dict[str, str] = {}
        for mark, role in markers.items():
            self._first.setdefault(role, mark)
        self._at_start = _any_of(markers)
        with_break = [mark for mark in markers if mark.startswith(("\n", "\r"))]
        self._within = _any_of(with_break) if with_break else _any_of(markers, before=r"(?<=[\r\n])")

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._roles)

    def begin(self, text: str) -> bool:
        """Whether a text begins with a mark."""
        return self._at_start.match(text) is not None

    def cut(self, text: str, pointer: str) -> list[ParsedTurn]:
        """Cut a text into turns, each verbatim from its mark to the next; an empty text has none.

        Raises BadRecord GF-10 at ``pointer``, which is the text's, where it begins with no mark or has too many.
        """
        if not text:
            return []
        mark = self._at_start.match(text)
        if mark is None:
            raise BadRecord("GF-10", f"the text begins with no marker, but with {text[:_SHOWN]!r}", pointer)
        turns: list[ParsedTurn] = []
        for following in self._within.finditer(text, mark.end()):
            if len(turns) == MOST_TURNS:
                raise BadRecord("GF-10", f"the text has more than {MOST_TURNS:,} marks, such as {mark[0]!r}", pointer)
            turns.append(self._turn(mark[0], text[mark.end() : following.start()], pointer))
            mark = following
        turns.append(self._turn(mark[0], text[mark.end() :], pointer))
        return turns

    def _turn(self, mark: str, text: str, pointer: str) -> ParsedTurn:
        role = self._roles[mark]
        extra = None if self._first[role] == mark else {MARK: Raw(msgspec.json.encode(mark))}
        return ParsedTurn(role, text, pointer, extra=extra)

    def mark_of(self, role: str, extra: Mapping[str, Raw]) -> str:
        """Return the mark of a turn, by its role and its ``extra``."""
        raw = extra.get(MARK)
        return self._first[role] if raw is None else msgspec.json.decode(raw, type=str)

    def join(self, turns: Iterable[Turn]) -> str:
        """Return the text that turns were cut from."""
        return "".join(self.mark_of(turn.role, literals(turn.extra)) + turn.text for turn in turns)


def _any_of(marks: Iterable[str], before: str = "") -> re.Pattern[str]:
    longest_first = sorted(marks, key=len, reverse=True)
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, longest_first))})" if longest_first else "(?!)")


class Separators:
    """Cuts texts at what stands between turns, and puts them together again.

    What stands behind the last turn, a separator and perhaps blanks, is no turn.
    """

    def __init__(self, separators: Sequence[str]) -> None:
        self._usual = separators[0]
        self._any = _any_of(separators)

    def cut(self, text: str, pointer: str) -> list[ParsedTurn]:
        """Cut a text into turns, verbatim; BadRecord GF-10 at ``pointer``, the text's, where there are too many."""
        turns, start = list[ParsedTurn](), 0
        for found in self._any.finditer(text):
            if len(turns) == MOST_TURNS:
                raise BadRecord(
                    "GF-10", f"the text has more than {MOST_TURNS:,} separators, such as {found[0]!r}", pointer
                )
            turns.append(self._turn(text[start : found.start()], found[0], pointer))
            start = found.end()
        if turns and not text[start:].strip():
            turns[-1] = self._turn(turns[-1].text, text[start - len(found[0]) :], pointer)
        elif text:
            turns.append(self._turn(text[start:], "", pointer))
        return turns

    def _turn(self, text: str, behind: str, pointer: str) -> ParsedTurn:
        extra = None if behind == self._usual else {MARK: Raw(msgspec.json.encode(behind))}
        return ParsedTurn(NO_ROLE, text, pointer, extra=extra)

    def join(self, turns: Iterable[Turn]) -> str:
        """Return the text that turns were cut from."""
        return "".join(turn.text + self._behind(literals(turn.extra)) for turn in turns)

    def _behind(self, extra: Mapping[str, Raw]) -> str:
        raw = extra.get(MARK)
        return self._usual if raw is None else msgspec.json.decode(raw, type=str)


_WHOLE_TEXT = "text"
_COUNTS = "lines"
"""In a record's ``extra``, where the text is a list: how many turns each of its items has."""


class Transcript:
    """Reads and writes the records of one corpus."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        self._path = declaration.dialogue.text or ()
        self._at = pointer(*self._path)
        self._lines = None if declaration.lines is None else LineTurns(declaration)
        self._turns = Separators(declaration.separators) if declaration.separators else Markers(declaration.markers)
        self.wanted = wanted({_WHOLE_TEXT: self._path})

    def read(self, record: SplitObject) -> ParsedDialogue:
        """Cut the text at its marks; BadRecord GF-01 where there is none, GF-10 where it begins with no marker."""
        raw = required(record, self._path)
        dialogue = ParsedDialogue([], taken={_WHOLE_TEXT: _WHOLE_TEXT})
        if bytes(raw)[:1] != b"[":
            dialogue.turns = self._cut(string_of(raw, self._at, "the text"), self._at, dialogue)
            return dialogue
        counts = []
        for place, item in enumerate(items_of(raw, self._at, "the text")):
            at = f"{self._at}/{place}"
            turns = self._cut(string_of(item, at, "a text of the list"), at, dialogue, is_item=True)
            counts.append(len(turns))
            dialogue.turns += turns
        dialogue.extra[_COUNTS] = Raw(msgspec.json.encode(counts))
        return dialogue

    def _cut(self, text: str, at: str, dialogue: ParsedDialogue, *, is_item: bool = False) -> list[ParsedTurn]:
        if self._lines is None:
            return self._turns.cut(text, at)
        return self._lines.cut(text, at, dialogue.findings, is_item=is_item)

    def write(self, placeholder: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:  # noqa: ARG002  as all formats
        """Return the text, or the list of texts."""
        join = self._turns.join if self._lines is None else self._lines.join
        counts = literals(stored.loaded.extra).get(_COUNTS)
        if counts is None:
            return msgspec.json.encode(join(stored.turns))
        turns = iter(stored.turns)
        return msgspec.json.encode([join(islice(turns, count)) for count in msgspec.json.decode(counts)])


AnswerForm: TypeAlias = Literal["text", "marks", "open", "message", "list"]
"""``open``: a text with marks that ends with the mark of the answering role."""

ROLE = "role"
_FIELDS = "fields"
"""In a candidate's ``extra``: what else its message has, where that has a member called role too."""

_TEXT = decoder(str)
_ITEMS = decoder(list[Raw])


@dataclass
class ParsedAnswer:
    """The turns of a member."""

    form: AnswerForm
    turns: list[ParsedTurn]
    messages: list[Message]
    """Of the forms message and list, those that the turns are."""


class Answers:
    """Reads and writes such members of one corpus; ``turn``: where a message says what (``MessageFormat``)."""

    def __init__(self, declaration: Declaration, turn: TurnFields | None = None) -> None:
        self._messages = MessageFormat(declaration, turn)
        self._markers = Markers(declaration.markers)
        self._of_candidate = wanted({ROLE: self._messages.turn.role, "text": self._messages.turn.text})

    def read(
        self, raw: Raw, at: str, role: str, findings: list[ReaderFinding], *, is_part: bool = False
    ) -> ParsedAnswer:
        """Read a member; ``role`` says a text without marks.

        ``is_part``: it is a part of a dialogue, so that it may begin without a mark. Raises BadRecord GF-01, GF-10.
        """
        match bytes(raw)[:1]:
            case b'"':
                text = string_of(raw, at, "it")
                if not self._markers or (is_part and not self._markers.begin(text)):
                    return ParsedAnswer("text", [ParsedTurn(role, text, at)], [])
                return ParsedAnswer("marks", self._markers.cut(text, at), [])
            case b"{":
                message = self._messages.open(raw, at, findings)
                return ParsedAnswer("message", [message.close()], [message])
            case b"[":
                items: list[Raw] = _ITEMS.decode(raw)
                messages = [self._messages.open(item, f"{at}/{place}", findings) for place, item in enumerate(items)]
                return ParsedAnswer("list", [message.close() for message in messages], messages)
        raise BadRecord("GF-01", f"this is {kind_of(raw)}, neither a text nor a message nor a list of messages", at)

    def write(
        self,
        form: str,
        turns: Sequence[Turn],
        stored: StoredRecord,
        shapes: KnownShapes,
        candidates: Iterable[Candidate] = (),
    ) -> bytes:
        """Write a member: turns of the dialogue, and behind them messages that only candidates hold."""
        pieces = [self._turn(form, turn, stored, shapes) for turn in turns]
        pieces += [self._candidate(form, candidate, stored, shapes) for candidate in candidates]
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

    def offer(self, answer: ParsedAnswer, place: int, candidate: ParsedCandidate, *, is_whole: bool) -> ParsedCandidate:
        """Return a candidate with its speaker's role, from the turn of ``answer`` at a place.

        ``is_whole``: no turn holds the message, so the candidate has to.
        """
        turn = answer.turns[place]
        candidate.extra = {ROLE: Raw(msgspec.json.encode(turn.role))}
        if is_whole and answer.messages:
            rest: dict[str, Raw] = {}
            candidate.shape = self._shape(answer.messages[place], rest)
            self.keep(candidate, rest)
        elif is_whole:
            candidate.shape = turn.shape
            candidate.extra |= turn.extra or {}
        return candidate

    def keep(self, candidate: ParsedCandidate, rest: Members) -> None:
        """Add to a candidate that was offered what else its object says."""
        own = {_FIELDS: Raw(msgspec.json.encode(rest))} if ROLE in rest else dict(rest)
        candidate.extra = (candidate.extra or {}) | own

    def write_item(self, candidate: Candidate, stored: StoredRecord, shapes: KnownShapes, *, is_bare: bool) -> bytes:
        """Write an item of a list of answers; ``is_bare``: it is the answer's text."""
        text, extra = stored.texts[candidate.text_id or ""], literals(candidate.extra)
        if is_bare:
            return msgspec.json.encode(text)
        rest: Members = members_of(extra[_FIELDS]) if _FIELDS in extra else extra

        def fill(placeholder: str) -> bytes:
            return write_text(placeholder, text if placeholder == "text" else candidate.source or "")

        return join(shapes.shape("candidate", extra), rest, fill)

    def _shape(self, message: Message, extra: dict[str, Raw]) -> dict[str, object]:
        """Return the shape of a message of which a candidate takes only role and text, and add the rest."""
        fields = message.fields
        want = self._of_candidate if fields is None else wanted({ROLE: fields.role, "text": fields.text})
        split = SplitObject(message.split.members, want)
        taken = {placeholder: name for placeholder, name in message.taken.items() if name in (ROLE, "text", None)}
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
        filled = {ROLE: self._messages.roles.word_of(role), "text": text}
        return join(
            shapes.shape("candidate", extra), rest, lambda placeholder: msgspec.json.encode(filled[placeholder])
        )


def open_prompt(prompt: ParsedAnswer, answers: Iterable[ParsedAnswer]) -> None:
    """Remove the empty last turn of a prompt, which is the mark of the answers where these have none."""
    last = prompt.turns.pop()
    prompt.form = "open"
    for answer in answers:
        answer.turns[0].role, answer.turns[0].extra = last.role, last.extra


def has_same_words(turn: ParsedTurn, other: ParsedTurn) -> bool:
    """Whether two turns say the same."""
    return all(getattr(turn, name) == getattr(other, name) for name in ("role", "text", "kind", "speaker", "parts"))


def is_written_the_same(turn: ParsedTurn, other: ParsedTurn) -> bool:
    """Whether two turns differ in nothing but their places; the order of members counts."""
    there = msgspec.structs.replace(other, pointer=turn.pointer)
    return msgspec.json.encode(turn) == msgspec.json.encode(there)
