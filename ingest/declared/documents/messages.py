"""Messages: objects that are a turn each, as ``[turn]`` maps them; read with all their fields, and written again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from msgspec import Raw

from talkhouse.ingest.declared import shapes as json_shapes
from talkhouse.ingest.declared.declaration.model import ISO, MOMENTS, Declaration, JsonPath, TurnFields
from talkhouse.ingest.declared.documents.document_format import FallbackReaders, has_fallbacks
from talkhouse.ingest.declared.documents.parts import (
    MEMBERS,
    read_content,
    read_member,
    write_list,
    write_member,
    write_part,
)
from talkhouse.ingest.declared.parsed_dialogue import (
    NO_TEXT,
    ParsedDialogue,
    ParsedPart,
    ParsedTurn,
    set_aside,
    text_or_aside,
)
from talkhouse.ingest.declared.speakers import NO_ROLE, Roles
from talkhouse.ingest.declared.times import MILLISECONDS, not_a_time, read_moment, read_time, write_moment, write_time
from talkhouse.ingest.decode import BadRecord, decoder, literals, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Part, Speaker, Turn


class Message:
    """A message on its way in: what was read of it, and what columns take."""

    place: Decimal | None = None
    """Its place among the others, by ``[turn] order``, or None if it has none that can be read."""
    fields: TurnFields | None = None
    """Where it says what, if a key has several paths."""

    def __init__(self, split: json_shapes.SplitObject, turn: ParsedTurn) -> None:
        self.split = split
        self.turn = turn
        self.taken: dict[str, str | None] = {}
        self.reply: tuple[str, str] | None = None
        """The id that it replies to, and the suffix of the placeholder."""

    def close(self) -> ParsedTurn:
        """Set shape and extra, now that it is known what columns take; a list stays where it is, whole."""
        if 0 in self.split.members:
            return self.turn
        extra: dict[str, Raw] = {}
        self.turn.shape = self.split.shape(self.taken, extra)
        self.turn.extra = extra or None
        return self.turn


def read_name(message: Message, placeholder: str, path: JsonPath | None, findings: list[ReaderFinding]) -> str | None:
    """Read a text that names something, or None if there is none, or it is empty, a list or an object."""
    raw = message.split.find(path)
    if raw is None:
        return None
    if json_shapes.is_null(raw):
        message.taken[placeholder] = None
        return None
    at, what = message.turn.pointer + pointer(*path or ()), step_text((path or ("",))[-1])
    text, suffix = text_or_aside(raw, at, what, findings) or ("", "")
    if not text:
        return None
    message.taken[placeholder] = placeholder + suffix
    return text


def read_said_at(message: Message, path: JsonPath, form: str, findings: list[ReaderFinding]) -> None:
    """Read the time of a message; GF-09 where that has another form."""
    text = read_name(message, "said_at", path, findings)
    if text is None:
        return
    placeholder = message.taken.pop("said_at") or ""
    message.turn.said_at, how = read_time(text, form, is_number=placeholder.endswith(json_shapes.LITERAL))
    if how is not None:
        message.taken["said_at"] = str(json_shapes.Spelling("said_at", form=how))
    elif message.turn.said_at is None:
        at = message.turn.pointer + pointer(*path)
        findings.append(ReaderFinding("GF-09", not_a_time(text, form), pointer=at))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_place(
    message: Message, path: JsonPath, said_at: datetime | None, findings: list[ReaderFinding]
) -> Decimal | None:
    """Read the place of a message, a number or a time; what is neither is left out.

    ``said_at``: what was read there as the time of the message, by the form that [times] has for it.
    """
    raw, at = message.split.find(path), message.turn.pointer + pointer(*path)
    if raw is None or bytes(raw)[:1] in (b"{", b"[", b"n"):
        found = "missing" if raw is None else json_shapes.kind_of(raw)
        findings.append(set_aside(f"{step_text(path[-1])} is {found}: the turn stays behind the one before it", at))
        return None
    text, _ = json_shapes.text_of(raw, at, "the place")
    try:
        place = Decimal(text)
        if place.is_finite():
            return place
    except InvalidOperation:
        pass
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        if said_at is None:
            detail = f"{text!r:.100} is neither a number nor a time: the turn stays behind the one before it"
            findings.append(set_aside(detail, at))
            return None
        time = said_at
    return Decimal((time.replace(tzinfo=time.tzinfo or UTC) - _EPOCH) // timedelta(microseconds=1))


def read_ms(message: Message, placeholder: str, path: JsonPath, form: str, findings: list[ReaderFinding]) -> int | None:
    """Read a moment in a recording; GF-09 where that has another form."""
    raw = message.split.find(path)
    if raw is None or json_shapes.is_null(raw):
        if raw is not None:
            message.taken[placeholder] = None
        return None
    at = message.turn.pointer + pointer(*path)
    text, suffix = (bytes(raw).decode(), "") if bytes(raw)[:1] in _INNER else json_shapes.text_of(raw, at, placeholder)
    value, how = read_moment(text, form)
    if how is not None:
        message.taken[placeholder] = str(json_shapes.Spelling(placeholder, suffix == json_shapes.LITERAL, how))
    elif value is None and text:
        findings.append(ReaderFinding("GF-09", not_a_time(text, form or "a whole number"), pointer=at))
    return value


SYSTEM = "system"
"""The placeholder, and the role, of a system's text that is a member next to the turns."""


def read_system(record: json_shapes.SplitObject, path: JsonPath | None, dialogue: ParsedDialogue) -> None:
    """Make the system's text the first turn; one of another type stays where it is."""
    raw = record.find(path)
    if raw is None:
        return
    if json_shapes.is_null(raw):
        dialogue.taken[SYSTEM] = None
        return
    at = pointer(*path or ())
    if bytes(raw)[:1] != b'"':
        detail = f"{step_text((path or ('',))[-1])} is {json_shapes.kind_of(raw)}, not a text"
        dialogue.findings.append(set_aside(detail, at))
        return
    text = json_shapes.string_of(raw, at, "it")
    dialogue.taken[SYSTEM] = SYSTEM if text else SYSTEM + json_shapes.EMPTY
    if text:
        dialogue.turns.append(ParsedTurn(SYSTEM, text, at))


def missing(split: json_shapes.SplitObject, path: JsonPath, at: str = "") -> BadRecord:
    """Return the error for a missing member, at the object that does not have it; ``at`` is where ``split`` is."""
    depth = split.depth(path)
    return BadRecord("GF-01", f"{step_text(path[depth])} is missing", at + pointer(*path[:depth]))


def step_text(step: object) -> str:
    """Return the text of a path's step in error messages; "" stands for a record that is no object (``are_bare``)."""
    return f"[{step}]" if isinstance(step, int) else f"'{step}'" if step else "the record"


_ITEMS = decoder(list[Raw])
_INNER = (b"[", b"{")


def required(record: json_shapes.SplitObject, path: JsonPath, at: str = "") -> Raw:
    """Return the JSON text at a path inside an object, which is at ``at`` itself; BadRecord GF-01 without it."""
    raw = record.find(path)
    if raw is None:
        raise missing(record, path, at)
    return raw


def items_of(raw: Raw, at: str, what: str) -> list[Raw]:
    """Return the items of a list; BadRecord GF-01 where it is none; ``what`` is called so there."""
    if bytes(raw)[:1] != b"[":
        raise BadRecord("GF-01", f"{what} is {json_shapes.kind_of(raw)}, not a list", at)
    items: list[Raw] = _ITEMS.decode(raw)
    return items


CHAT = TurnFields(role=("role",), text=("content",), speaker=("name",))
"""A message as OpenAI and chat templates have it."""

FUNCTION_CALL = "function_call"
"""The role of ShareGPT whose text is the call of a function; the kind of such a turn."""

_ALWAYS = frozenset({"text", "role", "speaker"})
_BOOLEANS = {b"true": True, b"false": False}


class MessageFormat:
    """The messages of one corpus.

    ``turn``: where a message says what; the declaration's own unless given. ``with_parts``: tool calls, reasoning and
    the like are members of a message (``parts.MEMBERS``). ``others``: keys of ``[turn]`` that the caller takes too.
    """

    def __init__(
        self,
        declaration: Declaration,
        turn: TurnFields | None = None,
        *,
        with_parts: bool = True,
        others: Iterable[str] = (),
    ) -> None:
        self.turn = turn or declaration.turn
        tables = {"turn": self.turn, "speaker": declaration.speaker}
        self.are_lists = any(path and isinstance(path[0], int) for path in _paths_of(*tables.values()))
        """Whether messages are lists, which have no shape, so that the list of them has to stay as it is."""

        def with_one_path(chosen: Mapping[str, Any]) -> MessageFormat:
            own = replace(declaration, speaker=chosen["speaker"])
            chosen_format = MessageFormat(own, chosen["turn"], with_parts=with_parts, others=others)
            chosen_format.are_lists = self.are_lists
            return chosen_format

        self._of_paths = FallbackReaders(tables, with_one_path) if has_fallbacks(tables) else None
        self.roles = Roles(declaration)
        self._time_form = declaration.times.get("said_at", ISO)
        self._start_form, self._end_form = (declaration.times.get(moment, MILLISECONDS) for moment in MOMENTS)
        self._text_paths = [path for path in (self.turn.text, *self.turn.fallbacks.get("text", ())) if path]
        self._field = _field_of(self.turn.text or ())
        # The speaker is before the role: what is both comes back whatever [roles] says.
        paths = self._paths = {
            "text": self.turn.text,
            "speaker": self.turn.speaker,
            "role": self.turn.role,
            "native_id": self.turn.id,
            "said_at": self.turn.said_at,
            "reply_to": self.turn.reply_to,
            "kind": self.turn.kind,
            "start_ms": self.turn.start_ms,
            "end_ms": self.turn.end_ms,
        }
        own = json_shapes.wanted({**paths, **{key: getattr(self.turn, key) for key in others}})
        self.parts: frozenset[str] = frozenset(MEMBERS.keys() - own.keys()) if with_parts else frozenset()
        self.null_is_text = with_parts
        """Whether a text of null means that there is none, as in messages that have parts instead."""
        self._wanted: json_shapes.Wanted = {**{name: name for name in self.parts}, **own}
        self._text_key = (self.turn.text or (None,))[0]
        self._may_be_bare = declaration.format in ("chat", "sharegpt", "dialogue")
        self._names = (self.turn.speaker, declaration.speaker.name, declaration.speaker.is_bot)
        self._name_keys = {path[0] for path in self._names if path}
        others_there = (path is not None for placeholder, path in paths.items() if placeholder not in _ALWAYS)
        self._has_others = any(others_there) or self.turn.order is not None

    @property
    def columns(self) -> dict[str, str] | None:
        """Column of a turn -> key of a message; None if one is deeper, or means a person's name."""
        if any(self._names[1:]) or self._of_paths or self.are_lists:
            return None
        paths = {column: path for column, path in self._paths.items() if path}
        return (
            {column: str(path[0]) for column, path in paths.items() if len(path) == 1}
            if all(len(path) == 1 for path in paths.values())
            else None
        )

    def read(self, raw: Raw, at: str, findings: list[ReaderFinding]) -> ParsedTurn:
        """Read a message, the object at a pointer; raises BadRecord GF-01. What it replies to stays in its extra."""
        return self.open(raw, at, findings).close()

    def open(self, raw: Raw, at: str, findings: list[ReaderFinding]) -> Message:
        """Read a message, but do not yet decide what is left of it: a reply's turn and what the caller takes."""
        if bytes(raw)[:1] != (b"[" if self.are_lists else b"{"):
            raise BadRecord("GF-01", self._no_object(raw), at)
        members = json_shapes.members_of_any(raw) if self.are_lists else json_shapes.members_of(raw)
        if self._of_paths is not None:
            reader = self._of_paths.reader(members)
            message = reader.open(raw, at, findings)
            message.fields = reader.turn
            return message
        message = Message(json_shapes.SplitObject(members, self._wanted), ParsedTurn(NO_ROLE, "", at))
        if self.turn.role is not None:
            self._read_role(message, self.turn.role, findings)
        self._read_parts(message, findings)
        if not self._name_keys.isdisjoint(message.split.members):
            self._read_speaker(message, findings)
        if self._has_others:
            self._read_others(message, findings)
        return message

    def is_none(self, raw: Raw) -> bool:
        """Whether a member of an object of messages is none: null, or an object that has nothing where messages are.

        Without a text it is none either where it has its place among replies (``reply_to``).
        """
        if bytes(raw)[:1] != b"{":
            return json_shapes.is_null(raw)
        split, paths = json_shapes.SplitObject(json_shapes.members_of(raw), {}), self._text_paths
        if any(name in self.parts and not json_shapes.is_null(member) for name, member in split.members.items()):
            return False
        texts = [found for path in paths if (found := split.find(path)) is not None]
        if any(not json_shapes.is_null(text) for text in texts):
            return False
        holders = (split.find(path[:-1]) for path in paths if len(path) > 1)
        has_no_holder = all(len(path) > 1 for path in paths) and all(
            h is None or json_shapes.is_null(h) for h in holders
        )
        return has_no_holder or self.turn.reply_to is not None

    def is_said(self, raw: Raw) -> bool:
        """Whether what is no message has something there where one would have its text."""
        split = json_shapes.SplitObject(json_shapes.members_of_any(raw), {})
        holders = (split.find(path[:-1]) for path in self._text_paths if len(path) > 1)
        return any(holder is not None and not json_shapes.is_null(holder) for holder in holders)

    def reply_of(self, raw: Raw, key: str) -> dict[str, str | None]:
        """Return the id of what is no message, or else its name ``key``, and the id of what it is an answer to."""
        members = json_shapes.members_of_any(raw)
        if self._of_paths is not None:
            return self._of_paths.reader(members).reply_of(raw, key)
        message = Message(json_shapes.SplitObject(members, {}), ParsedTurn(NO_ROLE, "", ""))
        own = read_name(message, "native_id", self.turn.id, []) if self.turn.id is not None else key
        above = read_name(message, "reply_to", self.turn.reply_to, [])
        return {} if own is None else {own: above}

    def _no_object(self, raw: Raw) -> str:
        """Return the problem with a turn that is no object, and for a text the declaration that would accept it."""
        problem = f"a turn is {json_shapes.kind_of(raw)}, not {'a list' if self.are_lists else 'an object'}"
        if bytes(raw)[:1] != b'"':
            return problem
        advice = '; where all turns are texts, [turn] text = "$"' if self._may_be_bare else ""
        return f"{problem}: {json_shapes.string_of(raw, '', '')!r:.80}{advice}"

    def _read_role(self, message: Message, path: JsonPath, findings: list[ReaderFinding]) -> None:
        raw, parsed = message.split.find(path), message.turn
        if raw is None:
            raise missing(message.split, path, parsed.pointer)
        at = parsed.pointer + pointer(*path)
        word = json_shapes.string_of(raw, at, step_text(path[-1]))
        parsed.role = self.roles.role_of(word)
        if word == FUNCTION_CALL:
            parsed.kind = FUNCTION_CALL
        if self.roles.gives_back(word):
            message.taken["role"] = "role"
        if not self.roles.is_known(word):
            findings.append(ReaderFinding("GF-05", f"the role {word!r:.100} is not known", pointer=at))

    def is_plain(self, word: str) -> bool:
        """Whether a role's word says no more than the role does."""
        return word != FUNCTION_CALL and self.roles.is_known(word) and self.roles.gives_back(word)

    def _read_parts(self, message: Message, findings: list[ReaderFinding]) -> None:
        split, parsed = message.split, message.turn
        pieces: list[ParsedPart] = []
        for name, raw in split.members.items():
            if name == self._text_key:
                pieces += self._read_text(message, findings)
            elif name in self.parts:
                if json_shapes.is_null(raw):
                    message.taken[name] = None
                elif (read := read_member(name, raw)) is not None:
                    message.taken[name] = name
                    pieces += read
        if pieces:
            parsed.parts = pieces
        elif not parsed.text and self.turn.text and not self._has_text(message):
            findings.append(ReaderFinding(NO_TEXT, "no text", pointer=parsed.pointer))

    def _has_text(self, message: Message) -> bool:
        taken = message.taken
        return "text" in taken and (taken["text"] is not None or self.null_is_text)

    def _read_text(self, message: Message, findings: list[ReaderFinding]) -> list[ParsedPart]:
        path = self.turn.text or ()
        raw, parsed = message.split.find(path), message.turn
        if raw is None:
            return []
        match bytes(raw)[:1]:
            case b'"':
                parsed.text = json_shapes.string_of(raw, parsed.pointer, self._field)
                message.taken["text"] = "text"
            case b"n":
                message.taken["text"] = None
            case b"[":
                parsed.text, pieces = read_content(_ITEMS.decode(raw), self._field, parsed.pointer + pointer(*path))
                message.taken["text"] = "parts"
                return pieces
            case b"{":
                at = parsed.pointer + pointer(*path)
                findings.append(set_aside(f"{step_text(path[-1])} is an object, not a text", at))
            case _:
                detail = f"{step_text(path[-1])} is {json_shapes.kind_of(raw)}, neither a text nor a list of parts"
                raise BadRecord("GF-01", detail, parsed.pointer + pointer(*path))
        return []

    def _read_speaker(self, message: Message, findings: list[ReaderFinding]) -> None:
        split, parsed = message.split, message.turn
        speaker, path, bot_path = self._names
        parsed.speaker = read_name(message, "speaker", speaker, findings)
        name, is_bot = split.find(path), split.find(bot_path)
        if name is not None and not json_shapes.is_null(name):
            at = parsed.pointer + pointer(*path or ())
            parsed.speaker_name, _ = text_or_aside(name, at, "the name", findings) or (None, "")
        if is_bot is not None:
            parsed.is_bot = _BOOLEANS.get(bytes(is_bot))

    def _read_others(self, message: Message, findings: list[ReaderFinding]) -> None:
        turn, parsed = self.turn, message.turn
        if turn.id is not None:
            parsed.native_id = read_name(message, "native_id", turn.id, findings)
        if turn.said_at is not None:
            read_said_at(message, turn.said_at, self._time_form, findings)
        if turn.kind is not None:
            parsed.kind = read_name(message, "kind", turn.kind, findings) or parsed.kind
        if turn.reply_to is not None:
            to = read_name(message, "reply_to", turn.reply_to, findings)
            if to is not None:
                placeholder = message.taken.pop("reply_to") or ""
                message.reply = (to, placeholder.removeprefix("reply_to"))
        if turn.order is not None:
            said_at = parsed.said_at if turn.order == turn.said_at else None
            message.place = read_place(message, turn.order, said_at, findings)
        if turn.start_ms is not None:
            parsed.start_ms = read_ms(message, "start_ms", turn.start_ms, self._start_form, findings)
        if turn.end_ms is not None:
            parsed.end_ms = read_ms(message, "end_ms", turn.end_ms, self._end_form, findings)

    def write(
        self,
        turn: Turn,
        shapes: json_shapes.KnownShapes,
        *,
        parts: Sequence[Part] = (),
        speaker: Speaker | None = None,
        turns: Sequence[Turn] = (),
        others: Mapping[str, bytes] | None = None,
    ) -> bytes:
        """Write a message again; ``turns``: those of the dialogue; ``others``: JSON texts of what the caller takes."""
        extra = literals(turn.extra)
        others, shape = others or {}, shapes.shape("message", extra)

        def fill(placeholder: str) -> bytes:
            spelling = json_shapes.Spelling.read(placeholder)
            column = spelling.column
            if column in others:
                return others[column]
            if column == "parts":
                of_list = {_field_of(path) for path in self._text_paths if _at(shape, path) == column}
                return write_list([write_part(part, turn.text, shapes) for part in parts if part.field in of_list])
            if column in self.parts:
                own = [part for part in parts if part.field == column]
                return write_member(column, own, turn.text, shapes)
            if column == "said_at" and turn.said_at is not None:
                return spelling.write(write_time(turn.said_at, spelling.form, is_utc=shapes.is_utc))
            if column in MOMENTS:
                return spelling.write(write_moment(getattr(turn, column), spelling.form))
            return spelling.write(self._text(column, turn, speaker, turns))

        return json_shapes.join(shape, extra, fill)

    def _text(self, column: str, turn: Turn, speaker: Speaker | None, turns: Sequence[Turn]) -> str:
        match column:
            case "role":
                return self.roles.word_of(turn.role)
            case "speaker" if speaker is not None:
                return (speaker.name if speaker.native_id is None else speaker.native_id) or ""
            case "reply_to" if turn.reply_to is not None:
                return turns[turn.reply_to].native_id or ""
            case _:
                return str(getattr(turn, column))


def _field_of(path: JsonPath) -> str:
    """Return the ``field`` of the parts of a list of texts at a path."""
    return ".".join(str(name) for name in path if name != "")


def _at(shape: Mapping[str, Any], path: JsonPath) -> object:
    """Return the part of a shape at a path."""
    found: Any = shape
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _paths_of(*tables: object) -> Iterator[JsonPath]:
    """Yield all paths of tables of a declaration."""
    for table in tables:
        for value in vars(table).values():
            if isinstance(value, tuple):
                yield value
            elif isinstance(value, Mapping):
                yield from (path for others in value.values() for path in others)


def results_without_calls(turns: Iterable[ParsedTurn]) -> Iterator[ReaderFinding]:
    """Yield GF-16 for each result of a call that none of the turns makes."""
    answers = [(turn, piece) for turn in turns for piece in turn.parts or () if piece.call_id is not None]
    calls = {piece.call_id for _, piece in answers if piece.kind == "tool_call"}
    for turn, piece in answers:
        if piece.kind == "tool_call_response" and piece.call_id not in calls:
            detail = f"no turn makes the call {piece.call_id!r:.100}"
            yield ReaderFinding("GF-16", detail, pointer=turn.pointer + pointer(piece.field))
