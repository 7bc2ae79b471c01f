"""The formats ``chat``, ``sharegpt``, ``dialogue`` and ``tree``: a record has a list of messages, or a tree of them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.documents.messages import (
    Message,
    MessageFormat,
    find_replies,
    find_same_ids,
    list_path,
    missing,
    results_without_calls,
    step_text,
)
from talkhouse.ingest.declared.documents.parsed_record import ListColumns, ParsedDialogue, ParsedTurn
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.shapes import (
    EMPTY,
    KnownShapes,
    SplitObject,
    Wanted,
    is_null,
    kind_of,
    members_of_any,
    string_of,
    wanted,
    write_text,
)
from talkhouse.ingest.declared.speakers import NO_ROLE
from talkhouse.ingest.decode import BadRecord, decoder, pointer
from talkhouse.ingest.stored_record import StoredRecord

_SYSTEM = "system"
_TURNS = "turns"
_AFTER_SYSTEM = "turns[1:]"
"""The same placeholder in the shape of a record whose first turn is the system's text."""

_ITEMS = decoder(list[Raw])


class DialogueFormat:
    """A list of messages, as ``[dialogue]`` and ``[turn]`` map them."""

    def __init__(self, declaration: Declaration) -> None:
        self._path = list_path(declaration.dialogue.turns)
        self._system = declaration.dialogue.system
        self._has_bare_turns = declaration.turn.text == ()
        self._messages = MessageFormat(declaration, with_parts=declaration.format != "dialogue")
        self._is_one_list = None not in self._path
        self._at = pointer(*self._path)
        self.wanted: Wanted = wanted({_SYSTEM: self._system, _TURNS: self._path})

    @property
    def columns(self) -> ListColumns | None:
        """The list of turns."""
        fields = None if self._has_bare_turns or len(self._path) != 1 else self._messages.columns
        return (
            None
            if fields is None
            else ListColumns(str(self._path[0]), fields, self._messages.parts, self._messages.is_plain)
        )

    def read(self, record: SplitObject) -> ParsedDialogue:
        """Read the turns of a record; raises BadRecord GF-01."""
        dialogue = ParsedDialogue([])
        self._read_system(record, dialogue)
        if self._is_one_list:
            self._read_list(record, dialogue)
        else:
            self._read_far(record, dialogue)
        return dialogue

    def _read_system(self, record: SplitObject, dialogue: ParsedDialogue) -> None:
        raw = record.find(self._system)
        if raw is None:
            return
        if is_null(raw):
            dialogue.taken[_SYSTEM] = None
            return
        at = pointer(*self._system or ())
        text = string_of(raw, at, f"'{(self._system or ('',))[-1]}'")
        dialogue.taken[_SYSTEM] = _SYSTEM if text else _SYSTEM + EMPTY
        if text:
            dialogue.turns.append(ParsedTurn("system", text, at))

    def _read_list(self, record: SplitObject, dialogue: ParsedDialogue) -> None:
        raw = record.find(self._path)
        if raw is None:
            raise missing(record, self._path)
        if bytes(raw)[:1] != b"[":
            raise BadRecord("GF-01", f"{step_text(self._path[-1])} is {kind_of(raw)}, not a list", self._at)
        dialogue.taken[_TURNS] = _AFTER_SYSTEM if dialogue.turns else _TURNS
        items = _ITEMS.decode(raw)
        self._read_items(items, [f"{self._at}/{position}" for position in range(len(items))], dialogue)

    def _read_far(self, record: SplitObject, dialogue: ParsedDialogue) -> None:
        head = self._path[: self._path.index(None)]
        raw = record.find(head)
        if raw is None:
            raise missing(record, head)
        places = list(_walk(raw, pointer(*head), (*self._path[len(head) :], None)))
        first = len(dialogue.turns)
        items, pointers = [item for item, _ in places], [at for _, at in places]
        self._read_items(items, pointers, dialogue)
        for turn in dialogue.turns[first:]:
            turn.shape = turn.extra = None
            for piece in turn.parts or ():
                piece.shape = piece.extra = None

    def _read_items(self, items: Sequence[Raw], pointers: Sequence[str], dialogue: ParsedDialogue) -> None:
        if self._has_bare_turns:
            dialogue.turns += [
                ParsedTurn(NO_ROLE, string_of(item, at, "a turn"), at) for item, at in zip(items, pointers, strict=True)
            ]
            return
        messages: dict[int, Message] = {}
        for index, (item, at) in enumerate(zip(items, pointers, strict=True), len(dialogue.turns)):
            messages[index] = self._messages.open(item, at, dialogue.findings)
            dialogue.turns.append(messages[index].turn)
        if self._messages.turn.id is not None:
            find_replies(messages, self._messages.turn, dialogue)
        for message in messages.values():
            message.close()
        dialogue.messages = {index: message.split.members for index, message in messages.items()}
        dialogue.findings += results_without_calls(dialogue.turns)

    def write(self, placeholder: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the JSON text of the turns, or of the system's text."""
        if placeholder.startswith(_SYSTEM):
            return b'""' if placeholder.endswith(EMPTY) else write_text(placeholder, stored.turns[0].text)
        turns = stored.turns[1:] if placeholder == _AFTER_SYSTEM else stored.turns
        if self._has_bare_turns:
            return write_list([write_text(placeholder, turn.text) for turn in turns])
        return write_list(
            [
                self._messages.write(
                    turn,
                    shapes,
                    parts=stored.parts_by_turn[turn.turn_index],
                    speaker=stored.speakers.get(turn.speaker_id or ""),
                    turns=stored.turns,
                )
                for turn in turns
            ]
        )


def _walk(raw: Raw, at: str, path: JsonPath) -> Iterator[tuple[Raw, str]]:
    """Yield what stands at a path, in order, each with its pointer; raises BadRecord GF-01."""
    if not path:
        yield raw, at
        return
    name, rest = path[0], path[1:]
    if name is None or name is ...:
        opening, what = (b"[", "a list") if name is None else (b"{", "an object")
        if bytes(raw)[:1] != opening:
            raise BadRecord("GF-01", f"{kind_of(raw)}, not {what}", at)
        for key, item in members_of_any(raw).items():
            yield from _walk(item, at + pointer(key), rest)
        return
    members = members_of_any(raw)
    if name not in members:
        raise BadRecord("GF-01", f"{step_text(name)} is missing", at)
    yield from _walk(members[name], at + pointer(name), rest)


_ROOT = "root"
_ROOTS = "root[*]"
"""The same placeholder in the shape of a record that has a list of first messages."""
_REPLIES = "replies"
_PARENT = ("parent_id",)
"""Where a message names the one above it, unless ``[turn] reply_to`` says otherwise."""


class TreeFormat:
    """A message and its replies, each with its own: a message comes first, then each reply with all below it."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        self._path = list_path(declaration.dialogue.turns)
        turn = replace(declaration.turn, reply_to=declaration.turn.reply_to or _PARENT)
        self._messages = MessageFormat(declaration, turn, with_parts=False, others={_REPLIES: turn.replies})
        self.wanted: Wanted = wanted({_ROOT: self._path})

    def read(self, record: SplitObject) -> ParsedDialogue:
        """Read the turns of a record; raises BadRecord GF-01."""
        raw, at = record.find(self._path), pointer(*self._path)
        if raw is None:
            raise missing(record, self._path)
        dialogue = ParsedDialogue([])
        if bytes(raw)[:1] == b"[":
            dialogue.taken[_ROOT] = _ROOTS
            roots = [(item, f"{at}/{position}") for position, item in enumerate(_ITEMS.decode(raw))]
        else:
            dialogue.taken[_ROOT] = _ROOT
            roots = [(raw, at)]
        messages = self._read_all(roots, dialogue)
        dialogue.messages = {index: message.split.members for index, message in enumerate(messages)}
        find_same_ids(self._messages.turn, dialogue)
        dialogue.findings += results_without_calls(dialogue.turns)
        return dialogue

    def _read_all(self, roots: list[tuple[Raw, str]], dialogue: ParsedDialogue) -> list[Message]:
        """Read messages and all below them, without a call for each level."""
        waiting: list[tuple[Raw, str, int | None]] = [(raw, at, None) for raw, at in reversed(roots)]
        messages: list[Message] = []
        while waiting:
            raw, at, parent = waiting.pop()
            message = self._messages.open(raw, at, dialogue.findings)
            index = len(messages)
            messages.append(message)
            message.turn.reply_to = parent
            above = None if parent is None else messages[parent].turn.native_id
            if message.reply is not None and message.reply[0] == above:
                message.taken["reply_to"] = "reply_to" + message.reply[1]
            replies = self._replies(message)
            waiting += [(reply, place, index) for reply, place in reversed(replies)]
            dialogue.turns.append(message.close())
        return messages

    def _replies(self, message: Message) -> list[tuple[Raw, str]]:
        path = self._messages.turn.replies
        raw = message.split.find(path)
        if path is None or raw is None:
            return []
        at = message.turn.pointer + pointer(*path)
        if is_null(raw):
            message.taken[_REPLIES] = None
            return []
        if bytes(raw)[:1] != b"[":
            raise BadRecord("GF-01", f"{step_text(path[-1])} is {kind_of(raw)}, not a list", at)
        message.taken[_REPLIES] = _REPLIES
        return [(item, f"{at}/{position}") for position, item in enumerate(_ITEMS.decode(raw))]

    def write(self, placeholder: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the JSON text of the tree: from the last message to the first, as replies come behind."""
        below: defaultdict[int | None, list[bytes]] = defaultdict(list)
        for turn in reversed(stored.turns):
            replies = write_list(below.pop(turn.turn_index, [])[::-1])
            text = self._messages.write(
                turn,
                shapes,
                parts=stored.parts_by_turn[turn.turn_index],
                speaker=stored.speakers.get(turn.speaker_id or ""),
                turns=stored.turns,
                others={_REPLIES: replies},
            )
            below[turn.reply_to].append(text)
        return write_list(below[None][::-1]) if placeholder == _ROOTS else below[None][0]
