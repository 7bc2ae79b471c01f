"""The formats ``chat``, ``sharegpt``, ``dialogue`` and ``tree``: a record has messages, in a list, object or tree."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared import shapes as json_shapes
from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath, TurnFields
from talkhouse.ingest.declared.documents.document_format import ListColumns, last_answer
from talkhouse.ingest.declared.documents.messages import (
    SYSTEM,
    Message,
    MessageFormat,
    missing,
    read_system,
    results_without_calls,
    step_text,
)
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.parsed_dialogue import (
    ParsedDialogue,
    ParsedTurn,
    in_loops,
    places_behind,
    set_aside,
    text_or_aside,
)
from talkhouse.ingest.declared.speakers import NO_ROLE
from talkhouse.ingest.decode import BadRecord, check, decoder, last_name, literals, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Turn
from talkhouse.ingest.stored_record import StoredRecord

_TURNS = "turns"
_AFTERSYSTEM = "turns[1:]"
"""The same placeholder in the shape of a record whose first turn is the system's text."""

_ITEMS = decoder(list[Raw])


class DialogueFormat:
    """A list of messages, or an object whose members they are, as ``[dialogue]`` and ``[turn]`` map them."""

    def __init__(self, declaration: Declaration) -> None:
        path: JsonPath = declaration.dialogue.turns or ()
        self._are_members = path[-1:] == (...,)
        """Whether messages can only be members of an object."""
        self._path = path[:-1] if self._are_members else path
        self._system = declaration.dialogue.system
        self._is_bare = declaration.dialogue.are_bare
        self._has_bare_turns = declaration.turn.text == ()
        self._is_reversed = declaration.turn.is_reversed
        self._beside = declaration.turn.beside
        self._messages = MessageFormat(declaration, with_parts=declaration.format != "dialogue")
        self._is_one_list = all(isinstance(step, str) for step in self._path) and not self._messages.are_lists
        self._at = pointer(*self._path)
        self.wanted: json_shapes.Wanted = json_shapes.wanted(
            {SYSTEM: self._system, **({_TURNS: self._path} if self._is_one_list else {})}
        )

    @property
    def columns(self) -> ListColumns | None:
        """The list of turns."""
        is_plain = len(self._path) == 1 and not (self._are_members or self._is_bare)
        fields = (
            None if self._has_bare_turns or not is_plain or self._has_order or self._beside else self._messages.columns
        )
        of = self._messages
        if fields is None or "reply_to" in fields:
            return None
        return ListColumns(str(self._path[0]), fields, of.parts, of.is_plain, of.null_is_text)

    @property
    def _has_order(self) -> bool:
        return self._is_reversed or self._messages.turn.order is not None

    def read(self, record: json_shapes.SplitObject) -> ParsedDialogue:
        """Read the turns of a record; raises BadRecord GF-01."""
        dialogue = ParsedDialogue([])
        read_system(record, self._system, dialogue)
        if self._is_one_list:
            self._read_list(record, dialogue)
        else:
            self._read_far(record, dialogue)
        dialogue.response = last_answer([turn.role for turn in dialogue.turns])
        return dialogue

    def _read_list(self, record: json_shapes.SplitObject, dialogue: ParsedDialogue) -> None:
        raw = record.find(self._path)
        if raw is None:
            raise missing(record, self._path)
        first, is_cell = len(dialogue.turns), bytes(raw)[:1] == b'"'
        items, keys = self._items(json_in_cell(raw))
        names = range(len(items)) if keys is None else keys
        places = self._read_items(items, [f"{self._at}{pointer(name)}" for name in names], keys, dialogue)
        self._read_beside(record, len(items), places, dialogue.turns[first:], dialogue.findings)
        if is_cell:
            _keep_whole(dialogue.turns[first:])
            return
        dialogue.taken[_TURNS] = _AFTERSYSTEM if first else _TURNS
        if keys is not None:
            members = {key: Raw(b"[" + bytes(item) + b"]") for key, item in zip(keys, items, strict=True)}
            members |= {keys[item]: Raw(str(place).encode()) for place, item in enumerate(places)}
            dialogue.extra[_LINES] = Raw(msgspec.json.encode(members))
        elif self._has_order and places != list(names):
            written = _REVERSED if places == [*names][::-1] else places
            dialogue.extra[_LINES] = Raw(msgspec.json.encode(written))

    def _items(self, raw: Raw) -> tuple[Sequence[Raw], Sequence[str] | None]:
        """Return the messages, with their names where they are members of an object; BadRecord GF-01 for neither.

        Where the path does not say so (``.*``), an object has messages only if all of its members are objects.
        """
        opening = bytes(raw)[:1]
        if opening == b"[" and not self._are_members:
            return _ITEMS.decode(raw), None
        members = json_shapes.members_of(raw) if opening == b"{" else {}
        if members and (self._are_members or all(bytes(member)[:1] == b"{" for member in members.values())):
            return list(members.values()), list(members)
        if opening == b"{" and self._are_members:
            return [], []
        expected = "an object" if self._are_members else "a list"
        raise BadRecord("GF-01", f"{step_text(self._path[-1])} is {json_shapes.kind_of(raw)}, not {expected}", self._at)

    def _read_far(self, record: json_shapes.SplitObject, dialogue: ParsedDialogue) -> None:
        """Read lists inside lists, and messages that are lists; all of it stays as it is."""
        steps = enumerate(self._path)
        head = self._path[: next((place for place, step in steps if step is None or step is ...), len(self._path))]
        raw = record.find(head)
        if raw is None:
            raise missing(record, head)
        last = ... if self._are_members else None
        places = list(_walk(raw, pointer(*head), (*self._path[len(head) :], last)))
        first = len(dialogue.turns)
        items, pointers = [item for item, _ in places], [at for _, at in places]
        keys = [last_name(at) for at in pointers] if self._are_members else None
        order = self._read_items(items, pointers, keys, dialogue)
        self._read_beside(record, len(items), order, dialogue.turns[first:], dialogue.findings)
        _keep_whole(dialogue.turns[first:])

    def _read_beside(
        self,
        record: json_shapes.SplitObject,
        count: int,
        places: Sequence[int],
        turns: Sequence[ParsedTurn],
        findings: list[ReaderFinding],
    ) -> None:
        """Read who speaks of lists beside the turns; ``places``: those of the turns among the ``count`` items."""
        for key, path in self._beside.items():
            list_path, inside = path[: path.index(None)], path[path.index(None) + 1 :]
            raw, at = record.find(list_path), pointer(*list_path)
            items = None if raw is None else json_shapes.members_of_any(json_in_cell(raw))
            if items is None or len(items) != count:
                found = "there is none" if items is None else f"it has {len(items):,} items"
                findings.append(
                    set_aside(f"{step_text(list_path[-1])} is to have an item for each turn, and {found}", at)
                )
                continue
            for place, turn in zip(places, turns, strict=True):
                item = json_shapes.value_at(items[place], inside)
                if item is None or json_shapes.is_null(item):
                    continue
                word, _ = text_or_aside(item, f"{at}/{place}{pointer(*inside)}", f"the {key}", findings) or (None, "")
                if key == "speaker":
                    turn.speaker = word or None
                elif word:
                    turn.role = self._messages.roles.role_of(word)

    def _read_items(
        self, items: Sequence[Raw], pointers: Sequence[str], keys: Sequence[str] | None, dialogue: ParsedDialogue
    ) -> list[int]:
        """Add the turns; return the place among the items of each. ``keys``: their names in the object."""
        first = len(dialogue.turns)
        if self._has_bare_turns:
            order = list(range(len(items)))[:: -1 if self._is_reversed else 1]
            for place in order:
                text = json_shapes.string_of(items[place], pointers[place], "a turn")
                native_id = None if keys is None else keys[place]
                dialogue.turns.append(ParsedTurn(NO_ROLE, text, pointers[place], native_id=native_id))
            return order
        messages: list[Message] = []
        above: dict[str, str | None] = {}
        order = []
        for place, (item, at) in enumerate(zip(items, pointers, strict=True)):
            if keys is not None and self._messages.is_none(item):
                if self._messages.is_said(item):
                    dialogue.left_out.append(at)
                above |= self._messages.reply_of(item, keys[place])
                continue
            message = self._messages.open(item, at, dialogue.findings)
            if keys is not None and self._messages.turn.id is None:
                message.turn.native_id = keys[place]
            messages.append(message)
            order.append(place)
        ids = {message.turn.native_id: None for message in messages if message.turn.native_id is not None}
        skipped = nearest_turns(above, ids) if above else {}
        if (by := self._in_order(messages, skipped, are_members=keys is not None)) is not None:
            messages, order = [messages[place] for place in by], [order[place] for place in by]
        dialogue.turns += [message.turn for message in messages]
        by_index = dict(enumerate(messages, first))
        if self._messages.turn.id is not None or keys is not None:
            find_replies(by_index, self._messages.turn, dialogue, skipped)
        for message in messages:
            message.close()
        dialogue.messages = {index: message.split.members for index, message in by_index.items()}
        dialogue.findings += results_without_calls(dialogue.turns)
        return order

    def _in_order(
        self, messages: Sequence[Message], skipped: Mapping[str, str | None], *, are_members: bool
    ) -> Sequence[int] | None:
        """Return the messages in the order of turns, or None if it is that of the file.

        One without a place stays behind the one before it.
        """
        if self._is_reversed:
            return range(len(messages))[::-1]
        if self._messages.turn.order is not None:
            last, places = Decimal("-Infinity"), list[Decimal]()
            for message in messages:
                last = last if message.place is None else message.place
                places.append(last)
            return sorted(range(len(messages)), key=places.__getitem__)
        return in_order_of_replies(messages, skipped) if are_members else None

    def write(self, placeholder: str, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> bytes:
        """Return the JSON text of the turns, or of the system's text."""
        if placeholder.startswith(SYSTEM):
            return (
                b'""'
                if placeholder.endswith(json_shapes.EMPTY)
                else json_shapes.write_text(placeholder, stored.turns[0].text)
            )
        turns = stored.turns[1:] if placeholder == _AFTERSYSTEM else stored.turns
        lines = literals(stored.loaded.extra).get(_LINES)
        return _in_lines([self._write_turn(turn, stored, shapes) for turn in turns], lines)

    def _write_turn(self, turn: Turn, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> bytes:
        if self._has_bare_turns:
            return json_shapes.write_text("", turn.text)
        return self._messages.write(
            turn,
            shapes,
            parts=stored.parts_by_turn[turn.turn_index],
            speaker=stored.speakers.get(turn.speaker_id or ""),
            turns=stored.turns,
        )


def _keep_whole(turns: Iterable[ParsedTurn]) -> None:
    """Leave to the record how turns are written."""
    for turn in turns:
        turn.shape = turn.extra = None
        for piece in turn.parts or ():
            piece.shape = piece.extra = None


def json_in_cell(raw: Raw) -> Raw:
    """Return the list or object that a text has as JSON, such as a cell of CSV; anything else as it is."""
    if bytes(raw)[:1] != b'"':
        return raw
    inner = json_shapes.string_of(raw, "", "").strip().encode()
    try:
        check(inner)
    except BadRecord:
        return raw
    return Raw(inner) if inner[:1] in (b"[", b"{") else raw


_LINES = "lines"
"""In a record's ``extra``: the place in the list of each turn, where turns are in another order; of an object with the
names of its members, the turn of each, or in a list what is no turn."""
_REVERSED = "reversed"


def _in_lines(texts: list[bytes], lines: Raw | None) -> bytes:
    """Write turns as the file has them."""
    written = None if lines is None else msgspec.json.decode(lines, type=dict[str, Raw] | list[int] | str)
    match written:
        case None:
            return write_list(texts)
        case str():
            return write_list(texts[::-1])
        case list():
            by_place = dict(zip(written, texts, strict=True))
            return write_list([by_place[place] for place in range(len(texts))])
    pieces = []
    for key, raw in written.items():
        text = bytes(raw)
        member = text[1:-1] if text.startswith(b"[") else texts[int(text)]
        pieces.append(msgspec.json.encode(key) + b":" + member)
    return b"{" + b",".join(pieces) + b"}"


def _walk(raw: Raw, at: str, path: JsonPath) -> Iterator[tuple[Raw, str]]:
    """Yield what stands at a path, in order, each with its pointer; raises BadRecord GF-01."""
    if not path:
        yield raw, at
        return
    name, rest = path[0], path[1:]
    if name is None or name is ...:
        opening, what = (b"[", "a list") if name is None else (b"{", "an object")
        if bytes(raw)[:1] != opening:
            raise BadRecord("GF-01", f"{json_shapes.kind_of(raw)}, not {what}", at)
        for key, item in json_shapes.members_of_any(raw).items():
            yield from _walk(item, at + pointer(key), rest)
        return
    members = json_shapes.members_of_any(raw)
    if name not in members:
        raise BadRecord("GF-01", f"{step_text(name)} is missing", at)
    yield from _walk(members[name], at + pointer(name), rest)


_ROOT = "root"
_ROOTS = "root[*]"
"""The same placeholder in the shape of a record that has a list of first messages."""
_REPLIES = "replies"
"""The placeholder, and the key of ``[turn]``."""
_PARENT = ("parent_id",)
"""Where a message names the one above it, unless ``[turn] reply_to`` says otherwise."""


class TreeFormat:
    """A message and its replies, each with its own: a message comes first, then each reply with all below it."""

    def __init__(self, declaration: Declaration) -> None:
        self._path: JsonPath = declaration.dialogue.turns or ()
        turn = replace(declaration.turn, reply_to=declaration.turn.reply_to or _PARENT)
        self._messages = MessageFormat(declaration, turn, with_parts=False, others=[_REPLIES])
        self.wanted: json_shapes.Wanted = json_shapes.wanted({_ROOT: self._path})
        self._has_labels = bool(declaration.annotations)

    @property
    def columns(self) -> ListColumns | None:
        """The turns as a list, unless labels are inside them."""
        fields, of = self._messages.columns, self._messages
        path, replies = self._path, of.turn.replies or ()
        if fields is None or self._has_labels or of.turn.order or not len(path) == len(replies) == 1:
            return None
        return ListColumns(str(path[0]), fields, of.parts, of.is_plain, of.null_is_text, str(replies[0]))

    def read(self, record: json_shapes.SplitObject) -> ParsedDialogue:
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
        waiting: list[tuple[int | None, list[tuple[Raw, str]]]] = [(None, roots[::-1])]
        messages: list[Message] = []
        while waiting:
            parent, left = waiting[-1]
            if not left:
                waiting.pop()
                continue
            raw, at = left.pop()
            message = self._messages.open(raw, at, dialogue.findings)
            index = len(messages)
            messages.append(message)
            message.turn.reply_to = parent
            above = None if parent is None else messages[parent].turn.native_id
            if message.reply is not None and message.reply[0] == above:
                message.taken["reply_to"] = "reply_to" + message.reply[1]
            waiting.append((index, self._replies(message)[::-1]))
            dialogue.turns.append(message.close())
        return messages

    def _replies(self, message: Message) -> list[tuple[Raw, str]]:
        path = (message.fields or self._messages.turn).replies
        raw = message.split.find(path)
        if path is None or raw is None:
            return []
        at = message.turn.pointer + pointer(*path)
        if json_shapes.is_null(raw):
            message.taken[_REPLIES] = None
            return []
        if bytes(raw)[:1] != b"[":
            raise BadRecord("GF-01", f"{step_text(path[-1])} is {json_shapes.kind_of(raw)}, not a list", at)
        message.taken[_REPLIES] = _REPLIES
        return [(item, f"{at}/{position}") for position, item in enumerate(_ITEMS.decode(raw))]

    def write(self, placeholder: str, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> bytes:
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


def find_replies(
    messages: Mapping[int, Message], turn: TurnFields, dialogue: ParsedDialogue, skipped: Mapping[str, str | None] = {}
) -> None:
    """Set the turns that messages reply to, by the ids of turns; ``messages``: turn index -> a turn's message.

    ``skipped``: ids of what is no turn -> the id of the next above that is; a reply to one is to that.
    """
    first = find_same_ids(turn, dialogue)
    asked = {
        index: message.reply
        for index, message in messages.items()
        if message.reply is not None and message.reply[0] != message.turn.native_id
    }
    meant = {index: skipped.get(to, to) if to not in first else to for index, (to, _) in asked.items()}
    targets = [first.get(to) if (to := meant.get(turn)) is not None else None for turn in range(len(dialogue.turns))]
    is_in_loop = in_loops(targets)

    def report(rule: str, index: int, detail: str) -> None:
        at = dialogue.turns[index].pointer + pointer(*(messages[index].fields or turn).reply_to or ())
        dialogue.findings.append(ReaderFinding(rule, detail, pointer=at))

    for index, (to, suffix) in asked.items():
        target = targets[index]
        if target is None and meant[index] is None:
            continue
        if target is None:
            report("GF-07", index, f"a reply to {to!r:.100}, which is not a turn of the dialogue")
        elif is_in_loop[index]:
            report("GF-07", index, f"a reply to {to!r:.100}, which replies to this turn in the end")
        else:
            messages[index].turn.reply_to = target
            if meant[index] == to:
                messages[index].taken["reply_to"] = "reply_to" + suffix
            if target > index:
                report("GF-19", index, f"a reply to the turn {target}")


def in_order_of_replies(messages: Sequence[Message], skipped: Mapping[str, str | None]) -> Sequence[int] | None:
    """Return messages in an order in which each follows what it replies to, or None if they already are."""
    first: dict[str, int] = {}
    for place, message in enumerate(messages):
        if message.turn.native_id is not None:
            first.setdefault(message.turn.native_id, place)
    asked = [None if message.reply is None else message.reply[0] for message in messages]
    meant = [skipped.get(to, to) if to is not None and to not in first else to for to in asked]
    targets = [None if to is None else first.get(to) for to in meant]
    if all(target is None or target < place for place, target in enumerate(targets)):
        return None
    is_in_loop = in_loops(targets)
    places = places_behind([None if is_in_loop[place] else target for place, target in enumerate(targets)])
    return sorted(range(len(messages)), key=places.__getitem__)


def nearest_turns(above: Mapping[str, str | None], turns: Collection[str]) -> dict[str, str | None]:
    """Return, for the ids of what is no turn, the nearest turn above, or None if there is none.

    ``above``: the id of each -> the id of the one above it.
    """
    nearest: dict[str, str | None] = {}
    for start in above:
        way = dict[str, None]()
        at: str | None = start
        while at is not None and at in above and at not in turns and at not in nearest and at not in way:
            way[at] = None
            at = above[at]
        end = None if at is None or at in way else nearest.get(at, at if at in turns else None)
        nearest |= dict.fromkeys(way, end)
    return nearest


def find_same_ids(turn: TurnFields, dialogue: ParsedDialogue) -> Mapping[str, int]:
    """Return the first turn of each id; GF-06 where another has the same."""
    first: dict[str, int] = {}
    for index, parsed in enumerate(dialogue.turns):
        if parsed.native_id is not None and first.setdefault(parsed.native_id, index) != index:
            detail = f"the id {parsed.native_id!r:.100} is that of an earlier turn"
            dialogue.findings.append(ReaderFinding("GF-06", detail, pointer=parsed.pointer + pointer(*turn.id or ())))
    return first
