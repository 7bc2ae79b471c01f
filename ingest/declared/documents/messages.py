"""Messages: objects that are a turn each, as ``[turn]`` maps them; read with all their fields, and written again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import ISO, PLACES, UNIX, Declaration, JsonPath, TurnFields
from talkhouse.ingest.declared.documents.parsed_record import ParsedDialogue, ParsedPart, ParsedTurn, in_loops
from talkhouse.ingest.declared.documents.parts import (
    MEMBERS,
    read_content,
    read_member,
    write_list,
    write_member,
    write_part,
)
from talkhouse.ingest.declared.shapes import (
    LITERAL,
    KnownShapes,
    SplitObject,
    Wanted,
    is_null,
    join,
    kind_of,
    members_of,
    string_of,
    text_of,
    wanted,
    write_text,
)
from talkhouse.ingest.declared.speakers import NO_ROLE, Roles
from talkhouse.ingest.declared.times import MILLISECONDS, not_a_time, read_place, read_time, write_place, write_time
from talkhouse.ingest.decode import BadRecord, decoder, literals, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Part, Speaker, Turn


class Message:
    """A message on its way in: what was read of it, and what columns take."""

    def __init__(self, split: SplitObject, turn: ParsedTurn) -> None:
        self.split = split
        self.turn = turn
        self.taken: dict[str, str | None] = {}
        self.reply: tuple[str, str] | None = None
        """The id that it replies to, and the suffix of the placeholder."""

    def close(self) -> ParsedTurn:
        """Set shape and extra, now that it is known what columns take."""
        extra: dict[str, Raw] = {}
        self.turn.shape = self.split.shape(self.taken, extra)
        self.turn.extra = extra or None
        return self.turn


def read_name(message: Message, placeholder: str, path: JsonPath | None) -> str | None:
    """Read a text that names something; None where there is none, which an empty one is too."""
    raw = message.split.find(path)
    if raw is None:
        return None
    if is_null(raw):
        message.taken[placeholder] = None
        return None
    text, suffix = text_of(raw, message.turn.pointer + pointer(*path or ()), f"'{(path or ('',))[-1]}'")
    if not text:
        return None
    message.taken[placeholder] = placeholder + suffix
    return text


def read_said_at(message: Message, path: JsonPath, form: str, findings: list[ReaderFinding]) -> None:
    """Read the time of a message; GF-09 where that has another form."""
    text = read_name(message, "said_at", path)
    if text is None:
        return
    placeholder = message.taken.pop("said_at") or ""
    message.turn.said_at, how = read_time(text, form, is_number=placeholder.endswith(LITERAL))
    if how is not None:
        message.taken["said_at"] = f"said_at@{how}"
    elif message.turn.said_at is None:
        at = message.turn.pointer + pointer(*path)
        findings.append(ReaderFinding("GF-09", not_a_time(text, form), pointer=at))


def read_ms(message: Message, placeholder: str, path: JsonPath, form: str, findings: list[ReaderFinding]) -> int | None:
    """Read a place in a recording; GF-09 where that has another form."""
    raw = message.split.find(path)
    if raw is None or is_null(raw):
        if raw is not None:
            message.taken[placeholder] = None
        return None
    at = message.turn.pointer + pointer(*path)
    text, suffix = (bytes(raw).decode(), "") if bytes(raw)[:1] in _INNER else text_of(raw, at, placeholder)
    value, how = read_place(text, form)
    if how is not None:
        message.taken[placeholder] = placeholder + suffix + (f"@{how}" if how else "")
    elif value is None and text:
        findings.append(ReaderFinding("GF-09", not_a_time(text, form or "a whole number"), pointer=at))
    return value


def missing(split: SplitObject, path: JsonPath, at: str = "") -> BadRecord:
    """Return the error for a missing member, at the object that does not have it; ``at`` is where ``split`` is."""
    depth = next((depth for depth in range(len(path)) if split.find(path[: depth + 1]) is None), 0)
    return BadRecord("GF-01", f"'{path[depth]}' is missing", at + pointer(*path[:depth]))


def list_path(path: JsonPath | None) -> JsonPath:
    """Return the path of a list, which may be named with its items (``turns[*]``) or without."""
    return path[:-1] if path and path[-1] is None else path or ()


_ITEMS = decoder(list[Raw])
_INNER = (b"[", b"{")


def required(record: SplitObject, path: JsonPath, at: str = "") -> Raw:
    """Return the JSON text at a path inside an object, which is at ``at`` itself; BadRecord GF-01 without it."""
    raw = record.find(path)
    if raw is None:
        raise missing(record, path, at)
    return raw


def items_of(raw: Raw, at: str, what: str) -> list[Raw]:
    """Return the items of a list; BadRecord GF-01 where it is none; ``what`` is called so there."""
    if bytes(raw)[:1] != b"[":
        raise BadRecord("GF-01", f"{what} is {kind_of(raw)}, not a list", at)
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
    the like are members of a message (``parts.MEMBERS``). ``others``: what else the caller takes, placeholder -> path.
    """

    def __init__(
        self,
        declaration: Declaration,
        turn: TurnFields | None = None,
        *,
        with_parts: bool = True,
        others: Mapping[str, JsonPath | None] | None = None,
    ) -> None:
        self.turn = turn or declaration.turn
        self.roles = Roles(declaration)
        self._time_form = declaration.times.get("said_at", ISO)
        self._start_form, self._end_form = (declaration.times.get(place, MILLISECONDS) for place in PLACES)
        self._field = ".".join(filter(None, self.turn.text or ()))
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
        own = wanted({**paths, **(others or {})})
        self.parts: frozenset[str] = frozenset(MEMBERS.keys() - own.keys()) if with_parts else frozenset()
        self._may_be_alone = self.parts | {"text"}
        self._wanted: Wanted = {**{name: name for name in self.parts}, **own}
        self._text_key = (self.turn.text or (None,))[0]
        self._may_be_bare = declaration.format in ("chat", "sharegpt", "dialogue")
        self._names = (self.turn.speaker, declaration.speaker.name, declaration.speaker.is_bot)
        self._name_keys = {path[0] for path in self._names if path}
        self._has_others = any(path is not None for placeholder, path in paths.items() if placeholder not in _ALWAYS)

    @property
    def columns(self) -> dict[str, str] | None:
        """Column of a turn -> key of a message; None where one is deeper, or means another turn or somebody's name."""
        if self.turn.reply_to or any(self._names[1:]):
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
        if bytes(raw)[:1] != b"{":
            raise BadRecord("GF-01", self._no_object(raw), at)
        message = Message(SplitObject(members_of(raw), self._wanted), ParsedTurn(NO_ROLE, "", at))
        if self.turn.role is not None:
            self._read_role(message, self.turn.role, findings)
        self._read_parts(message)
        if not self._name_keys.isdisjoint(message.split.members):
            self._read_speaker(message)
        if self._has_others:
            self._read_others(message, findings)
        return message

    def _no_object(self, raw: Raw) -> str:
        """Return what a turn is that is no object, and for a text what would accept it."""
        problem = f"a turn is {kind_of(raw)}, not an object"
        if bytes(raw)[:1] != b'"':
            return problem
        advice = '; where all turns are texts, [turn] text = "$"' if self._may_be_bare else ""
        return f"{problem}: {string_of(raw, '', '')!r:.80}{advice}"

    def _read_role(self, message: Message, path: JsonPath, findings: list[ReaderFinding]) -> None:
        raw, parsed = message.split.find(path), message.turn
        if raw is None:
            raise missing(message.split, path, parsed.pointer)
        at = parsed.pointer + pointer(*path)
        word = string_of(raw, at, f"'{path[-1]}'")
        parsed.role = self.roles.ours(word)
        if word == FUNCTION_CALL:
            parsed.kind = FUNCTION_CALL
        if self.roles.gives_back(word):
            message.taken["role"] = "role"
        if not self.roles.is_known(word):
            findings.append(ReaderFinding("GF-05", f"the role {word!r:.100} is not known", pointer=at))

    def is_plain(self, word: str) -> bool:
        """Whether a role's word says no more than the role does."""
        return word != FUNCTION_CALL and self.roles.is_known(word) and self.roles.gives_back(word)

    def _read_parts(self, message: Message) -> None:
        split, parsed = message.split, message.turn
        pieces: list[ParsedPart] = []
        for name, raw in split.members.items():
            if name == self._text_key:
                pieces += self._read_text(message)
            elif name in self.parts:
                if is_null(raw):
                    message.taken[name] = None
                elif (read := read_member(name, raw)) is not None:
                    message.taken[name] = name
                    pieces += read
        if pieces:
            parsed.parts = pieces
        elif self.turn.text and not message.taken.keys() & self._may_be_alone and split.find(self.turn.text) is None:
            raise missing(split, self.turn.text, parsed.pointer)

    def _read_text(self, message: Message) -> list[ParsedPart]:
        path = self.turn.text or ()
        raw, parsed = message.split.find(path), message.turn
        if raw is None:
            return []
        match bytes(raw)[:1]:
            case b'"':
                parsed.text = string_of(raw, parsed.pointer, self._field)
                message.taken["text"] = "text"
            case b"n":
                message.taken["text"] = None
            case b"[":
                parsed.text, pieces = read_content(_ITEMS.decode(raw), self._field, parsed.pointer + pointer(*path))
                message.taken["text"] = "parts"
                return pieces
            case _:
                detail = f"'{path[-1]}' is {kind_of(raw)}, neither a text nor a list of parts"
                raise BadRecord("GF-01", detail, parsed.pointer + pointer(*path))
        return []

    def _read_speaker(self, message: Message) -> None:
        split, parsed = message.split, message.turn
        speaker, path, bot_path = self._names
        parsed.speaker = read_name(message, "speaker", speaker)
        name, is_bot = split.find(path), split.find(bot_path)
        if name is not None and not is_null(name):
            parsed.speaker_name, _ = text_of(name, parsed.pointer + pointer(*path or ()), "the name")
        if is_bot is not None:
            parsed.is_bot = _BOOLEANS.get(bytes(is_bot))

    def _read_others(self, message: Message, findings: list[ReaderFinding]) -> None:
        turn, parsed = self.turn, message.turn
        if turn.id is not None:
            parsed.native_id = read_name(message, "native_id", turn.id)
        if turn.said_at is not None:
            read_said_at(message, turn.said_at, self._time_form, findings)
        if turn.kind is not None:
            parsed.kind = read_name(message, "kind", turn.kind) or parsed.kind
        if turn.reply_to is not None:
            to = read_name(message, "reply_to", turn.reply_to)
            if to is not None:
                placeholder = message.taken.pop("reply_to") or ""
                message.reply = (to, placeholder.removeprefix("reply_to"))
        if turn.start_ms is not None:
            parsed.start_ms = read_ms(message, "start_ms", turn.start_ms, self._start_form, findings)
        if turn.end_ms is not None:
            parsed.end_ms = read_ms(message, "end_ms", turn.end_ms, self._end_form, findings)

    def write(
        self,
        turn: Turn,
        shapes: KnownShapes,
        *,
        parts: Sequence[Part] = (),
        speaker: Speaker | None = None,
        turns: Sequence[Turn] = (),
        others: Mapping[str, bytes] | None = None,
    ) -> bytes:
        """Write a message again; ``turns``: those of the dialogue; ``others``: JSON texts of what the caller takes."""
        extra = literals(turn.extra)
        others = others or {}

        def fill(placeholder: str) -> bytes:
            column, _, how = placeholder.partition("@")
            is_literal, column = column.endswith(LITERAL), column.removesuffix(LITERAL)
            if column in others:
                return others[column]
            if column == "parts":
                return write_list([write_part(part, turn.text, shapes) for part in parts if part.field == self._field])
            if column in self.parts:
                own = [part for part in parts if part.field == column]
                return write_member(column, own, turn.text, shapes)
            if column == "said_at" and turn.said_at is not None:
                text = write_time(turn.said_at, how, is_utc=shapes.is_utc)
                return text.encode() if how in UNIX else write_text(column, text)
            if column in PLACES:
                text = write_place(getattr(turn, column), how)
                return text.encode() if is_literal else write_text(column, text)
            return write_text(placeholder, self._text(column, turn, speaker, turns))

        return join(shapes.shape("message", extra), extra, fill)

    def _text(self, column: str, turn: Turn, speaker: Speaker | None, turns: Sequence[Turn]) -> str:
        match column:
            case "role":
                return self.roles.theirs(turn.role)
            case "speaker" if speaker is not None:
                return (speaker.name if speaker.native_id is None else speaker.native_id) or ""
            case "reply_to" if turn.reply_to is not None:
                return turns[turn.reply_to].native_id or ""
            case _:
                return str(getattr(turn, column))


def find_replies(messages: Mapping[int, Message], turn: TurnFields, dialogue: ParsedDialogue) -> None:
    """Set the turns that messages reply to, by the ids of turns; ``messages``: turn index -> a turn's message."""
    first = find_same_ids(turn, dialogue)
    asked = {index: message.reply for index, message in messages.items() if message.reply is not None}
    targets = [first.get(asked[index][0]) if index in asked else None for index in range(len(dialogue.turns))]
    is_in_loop = in_loops(targets)
    found: list[tuple[str, int, str]] = []
    for index, (to, suffix) in asked.items():
        target = targets[index]
        if target is None:
            found.append(("GF-07", index, f"a reply to {to!r:.100}, which is not a turn of the dialogue"))
        elif is_in_loop[index]:
            found.append(("GF-07", index, f"a reply to {to!r:.100}, which replies to this turn in the end"))
        else:
            messages[index].turn.reply_to = target
            messages[index].taken["reply_to"] = "reply_to" + suffix
            if target > index:
                found.append(("GF-19", index, f"a reply to the turn {target}"))
    for rule, index, problem in found:
        at = dialogue.turns[index].pointer + pointer(*turn.reply_to or ())
        dialogue.findings.append(ReaderFinding(rule, problem, pointer=at))


def find_same_ids(turn: TurnFields, dialogue: ParsedDialogue) -> Mapping[str, int]:
    """Return the first turn of each id; GF-06 where another has the same."""
    first: dict[str, int] = {}
    for index, parsed in enumerate(dialogue.turns):
        if parsed.native_id is not None and first.setdefault(parsed.native_id, index) != index:
            detail = f"the id {parsed.native_id!r:.100} is that of an earlier turn"
            dialogue.findings.append(ReaderFinding("GF-06", detail, pointer=parsed.pointer + pointer(*turn.id or ())))
    return first


def results_without_calls(turns: Iterable[ParsedTurn]) -> Iterator[ReaderFinding]:
    """Yield GF-16 for each result of a call that none of the turns makes."""
    answers = [(turn, piece) for turn in turns for piece in turn.parts or () if piece.call_id is not None]
    calls = {piece.call_id for _, piece in answers if piece.kind == "tool_call"}
    for turn, piece in answers:
        if piece.kind == "tool_call_response" and piece.call_id not in calls:
            detail = f"no turn makes the call {piece.call_id!r:.100}"
            yield ReaderFinding("GF-16", detail, pointer=turn.pointer + pointer(piece.field))
