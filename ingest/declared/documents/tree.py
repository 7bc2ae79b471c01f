"""The format ``tree``: messages with their replies inside."""

from collections import defaultdict
from dataclasses import replace

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.message_fields import Message, list_path, missing
from talkhouse.ingest.declared.documents.messages import Messages
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.documents.replies_and_calls import find_same_ids, results_without_calls
from talkhouse.ingest.declared.documents.talk import Talk
from talkhouse.ingest.declared.shapes import KnownShapes, Split, Wanted, is_null, kind_of, wanted
from talkhouse.ingest.decode import BadRecord, decoder, pointer
from talkhouse.ingest.stored_record import StoredRecord

_ROOT = "root"
_ROOTS = "root[*]"
"""The same hole in the shape of a record that has a list of first messages."""
_REPLIES = "replies"
_PARENT = ("parent_id",)
"""Where a message names the one above it, unless ``[turn] reply_to`` says otherwise."""

_ITEMS = decoder(list[Raw])


class TreeFormat:
    """A message and its replies, each with its own: a message comes first, then each reply with all below it."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        self._path = list_path(declaration.dialogue.turns)
        turn = replace(declaration.turn, reply_to=declaration.turn.reply_to or _PARENT)
        self._messages = Messages(declaration, turn, with_parts=False, others={_REPLIES: turn.replies})
        self.wanted: Wanted = wanted({_ROOT: self._path})

    def read(self, record: Split) -> Talk:
        """Read the turns of a record; raises BadRecord GF-01."""
        raw, at = record.find(self._path), pointer(*self._path)
        if raw is None:
            raise missing(record, self._path)
        talk = Talk([])
        if bytes(raw)[:1] == b"[":
            talk.taken[_ROOT] = _ROOTS
            roots = [(item, f"{at}/{position}") for position, item in enumerate(_ITEMS.decode(raw))]
        else:
            talk.taken[_ROOT] = _ROOT
            roots = [(raw, at)]
        messages = self._read_all(roots, talk)
        talk.messages = {index: message.split.members for index, message in enumerate(messages)}
        find_same_ids(self._messages.turn, talk)
        talk.findings += results_without_calls(talk.said)
        return talk

    def _read_all(self, roots: list[tuple[Raw, str]], talk: Talk) -> list[Message]:
        """Read messages and all below them, without a call for each level."""
        waiting: list[tuple[Raw, str, int | None]] = [(raw, at, None) for raw, at in reversed(roots)]
        messages: list[Message] = []
        while waiting:
            raw, at, parent = waiting.pop()
            message = self._messages.open(raw, at, talk.findings)
            index = len(messages)
            messages.append(message)
            message.said.reply_to = parent
            above = None if parent is None else messages[parent].said.native_id
            if message.reply is not None and message.reply.to == above:
                message.taken["reply_to"] = "reply_to" + message.reply.suffix
            replies = self._replies(message)
            waiting += [(reply, place, index) for reply, place in reversed(replies)]
            talk.said.append(message.close())
        return messages

    def _replies(self, message: Message) -> list[tuple[Raw, str]]:
        """Return the replies to a message, with their pointers."""
        path = self._messages.turn.replies
        raw = message.split.find(path)
        if path is None or raw is None:
            return []
        at = message.said.pointer + pointer(*path)
        if is_null(raw):
            message.taken[_REPLIES] = None
            return []
        if bytes(raw)[:1] != b"[":
            raise BadRecord("GF-01", f"'{path[-1]}' is {kind_of(raw)}, not a list", at)
        message.taken[_REPLIES] = _REPLIES
        return [(item, f"{at}/{position}") for position, item in enumerate(_ITEMS.decode(raw))]

    def write(self, hole: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
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
        return write_list(below[None][::-1]) if hole == _ROOTS else below[None][0]
