"""The formats ``chat``, ``sharegpt`` and ``dialogue``: a record has a list of turns, and maybe a system's text."""

from collections.abc import Iterator, Sequence

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.documents.message_fields import Message, list_path, missing
from talkhouse.ingest.declared.documents.messages import Messages
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.documents.replies_and_calls import find_replies, results_without_calls
from talkhouse.ingest.declared.documents.talk import ListColumns, Said, Talk
from talkhouse.ingest.declared.shapes import (
    EMPTY,
    KnownShapes,
    Split,
    Wanted,
    is_null,
    kind_of,
    members_of,
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
"""The same hole in the shape of a record whose first turn is the system's text."""

_ITEMS = decoder(list[Raw])


class DialogueFormat:
    """A list of messages, as ``[dialogue]`` and ``[turn]`` map them."""

    def __init__(self, declaration: Declaration) -> None:
        self._path = list_path(declaration.dialogue.turns)
        self._system = declaration.dialogue.system
        self._has_bare_turns = declaration.turn.text == ()
        self._messages = Messages(declaration, with_parts=declaration.format != "dialogue")
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

    def read(self, record: Split) -> Talk:
        """Read the turns of a record; raises BadRecord GF-01."""
        talk = Talk([])
        self._read_system(record, talk)
        if self._is_one_list:
            self._read_list(record, talk)
        else:
            self._read_far(record, talk)
        return talk

    def _read_system(self, record: Split, talk: Talk) -> None:
        raw = record.find(self._system)
        if raw is None:
            return
        if is_null(raw):
            talk.taken[_SYSTEM] = None
            return
        at = pointer(*self._system or ())
        text = string_of(raw, at, f"'{(self._system or ('',))[-1]}'")
        talk.taken[_SYSTEM] = _SYSTEM if text else _SYSTEM + EMPTY
        if text:
            talk.said.append(Said("system", text, at))

    def _read_list(self, record: Split, talk: Talk) -> None:
        """Read the turns of one list, which the turns give back."""
        raw = record.find(self._path)
        if raw is None:
            raise missing(record, self._path)
        if bytes(raw)[:1] != b"[":
            raise BadRecord("GF-01", f"'{self._path[-1]}' is {kind_of(raw)}, not a list", self._at)
        talk.taken[_TURNS] = _AFTER_SYSTEM if talk.said else _TURNS
        items = _ITEMS.decode(raw)
        self._read_items(items, [f"{self._at}/{position}" for position in range(len(items))], talk)

    def _read_far(self, record: Split, talk: Talk) -> None:
        """Read turns that stand in several lists; these stay in extra, as they are."""
        head = self._path[: self._path.index(None)]
        raw = record.find(head)
        if raw is None:
            raise missing(record, head)
        places = list(_walk(raw, pointer(*head), (*self._path[len(head) :], None)))
        first = len(talk.said)
        items, pointers = [item for item, _ in places], [at for _, at in places]
        self._read_items(items, pointers, talk)
        for said in talk.said[first:]:
            said.shape = said.extra = None
            for piece in said.parts or ():
                piece.shape = piece.extra = None

    def _read_items(self, items: Sequence[Raw], pointers: Sequence[str], talk: Talk) -> None:
        if self._has_bare_turns:
            talk.said += [
                Said(NO_ROLE, string_of(item, at, "a turn"), at) for item, at in zip(items, pointers, strict=True)
            ]
            return
        messages: dict[int, Message] = {}
        for index, (item, at) in enumerate(zip(items, pointers, strict=True), len(talk.said)):
            messages[index] = self._messages.open(item, at, talk.findings)
            talk.said.append(messages[index].said)
        if self._messages.turn.id is not None:
            find_replies(messages, self._messages.turn, talk)
        for message in messages.values():
            message.close()
        talk.messages = {index: message.split.members for index, message in messages.items()}
        talk.findings += results_without_calls(talk.said)

    def write(self, hole: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the JSON text of the turns, or of the system's text."""
        if hole.startswith(_SYSTEM):
            return b'""' if hole.endswith(EMPTY) else write_text(hole, stored.turns[0].text)
        turns = stored.turns[1:] if hole == _AFTER_SYSTEM else stored.turns
        if self._has_bare_turns:
            return write_list([write_text(hole, turn.text) for turn in turns])
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
    if name is None:
        if bytes(raw)[:1] != b"[":
            raise BadRecord("GF-01", f"{kind_of(raw)}, not a list", at)
        for position, item in enumerate(_ITEMS.decode(raw)):
            yield from _walk(item, f"{at}/{position}", rest)
        return
    members = members_of(raw) if bytes(raw)[:1] == b"{" else {}
    if name not in members:
        raise BadRecord("GF-01", f"'{name}' is missing", at)
    yield from _walk(members[name], at + pointer(name), rest)
