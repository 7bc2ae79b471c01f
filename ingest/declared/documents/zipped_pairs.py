"""The format ``pairs`` where prompts and responses are two lists side by side."""

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.documents.messages import SYSTEM, items_of, read_system, required
from talkhouse.ingest.declared.documents.parsed_record import ParsedDialogue, ParsedTurn
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.shapes import (
    EMPTY,
    KnownShapes,
    Members,
    SplitObject,
    Wanted,
    join,
    kind_of,
    members_of,
    string_of,
    wanted,
)
from talkhouse.ingest.decode import BadRecord, literals, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Turn
from talkhouse.ingest.stored_record import StoredRecord

_ROLES = {"prompts": "user", "responses": "assistant"}
_TEXT = "text"


class ZippedPairs:
    """Reads and writes the records of one corpus."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        pair, lists = declaration.pair, declaration.pair.zip
        if lists is None:
            raise ValueError("no lists of pairs are declared")
        self._system = pair.system
        self._lists: dict[str, JsonPath] = {"prompts": lists.prompts, "responses": lists.responses}
        self._inner: dict[str, JsonPath] = {"prompts": pair.prompt or (), "responses": pair.response or ()}
        self._of_item = {name: wanted({_TEXT: path}) for name, path in self._inner.items()}
        self.wanted: Wanted = wanted({SYSTEM: self._system, **self._lists})

    def read(self, record: SplitObject) -> ParsedDialogue:
        """Make the turns; BadRecord GF-01 for a list that is none, more responses than prompts, and an odd item."""
        dialogue = ParsedDialogue([], messages={})
        read_system(record, self._system, dialogue)
        lists = {name: self._items(record, name) for name in self._lists}
        count, answers = (len(items) for items in lists.values())
        at = pointer(*self._lists["responses"])
        if answers > count:
            raise BadRecord("GF-01", f"{answers:,} responses for {count:,} prompts", f"{at}/{count}")
        is_whole = True
        messages: dict[int, Members] = {}
        for place in range(count):
            for name, items in lists.items():
                if place < answers or name == "prompts":
                    turn, members = self._turn(name, items[place], place)
                    if turn.text:
                        messages |= {len(dialogue.turns): members} if members else {}
                        dialogue.response = dialogue.response if name == "prompts" else len(dialogue.turns)
                        dialogue.turns.append(turn)
                    else:
                        is_whole = False
                        self._note_empty(name, turn.pointer, dialogue)
        if answers < count:
            detail = f"{count - answers:,} prompts have no response"
            dialogue.findings.append(ReaderFinding("GF-03", detail, pointer=at))
        dialogue.messages = messages
        if is_whole:
            dialogue.taken |= {name: name for name in self._lists}
        else:  # no turn can hold what an item without words says: the lists stay as they are
            for turn in dialogue.turns:
                turn.shape = turn.extra = None
        return dialogue

    def _items(self, record: SplitObject, name: str) -> list[Raw]:
        path = self._lists[name]
        return items_of(required(record, path), pointer(*path), f"the list of {name}")

    def _turn(self, name: str, raw: Raw, place: int) -> tuple[ParsedTurn, Members | None]:
        path, at = self._inner[name], f"{pointer(*self._lists[name])}/{place}"
        if not path:
            return ParsedTurn(_ROLES[name], string_of(raw, at, f"an item of the {name}"), at), None
        if bytes(raw)[:1] != b"{":
            raise BadRecord("GF-01", f"an item of the {name} is {kind_of(raw)}, not an object", at)
        item = SplitObject(members_of(raw), self._of_item[name])
        text = string_of(required(item, path, at), at + pointer(*path), f"an item of the {name}")
        extra: dict[str, Raw] = {}
        shape = item.shape({_TEXT: _TEXT}, extra)
        return ParsedTurn(_ROLES[name], text, at, shape=shape, extra=extra or None), item.members

    def _note_empty(self, name: str, at: str, dialogue: ParsedDialogue) -> None:
        if name == "responses":
            place = at + pointer(*self._inner[name])
            dialogue.findings.append(ReaderFinding("GF-03", "the response is empty", pointer=place))

    def write(self, placeholder: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the system's text, or one of the lists."""
        if placeholder.startswith(SYSTEM):
            return b'""' if placeholder.endswith(EMPTY) else msgspec.json.encode(stored.turns[0].text)
        return write_list(list(self._write_items(placeholder, stored, shapes)))

    def _write_items(self, name: str, stored: StoredRecord, shapes: KnownShapes) -> Iterator[bytes]:
        for turn in stored.turns:
            if turn.role == _ROLES[name]:
                yield self._item(turn, shapes) if self._inner[name] else msgspec.json.encode(turn.text)

    def _item(self, turn: Turn, shapes: KnownShapes) -> bytes:
        extra = literals(turn.extra)
        return join(shapes.shape("message", extra), extra, lambda _: msgspec.json.encode(turn.text))
