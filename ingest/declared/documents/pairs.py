"""The format ``pairs``: instructions with their answers, in one object, a list of them, or two lists side by side."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared import shapes as json_shapes
from talkhouse.ingest.declared.declaration.keys import PAIR_ROLES
from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.documents.document_format import FallbackReaders, has_fallbacks, own_keys
from talkhouse.ingest.declared.documents.messages import CHAT, SYSTEM, items_of, read_system, required
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.documents.transcript import Answers
from talkhouse.ingest.declared.parsed_dialogue import ParsedDialogue, ParsedTurn, set_aside
from talkhouse.ingest.decode import BadRecord, literals, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Turn
from talkhouse.ingest.stored_record import StoredRecord

_REQUIRED = frozenset({"prompt", "response"})
_TURNS = re.compile(r"(turns|messages)\[(-?\d+)(:?)(-?\d*)\]")


@dataclass
class ParsedPair:
    """What a pair says."""

    turns: list[ParsedTurn] = field(default_factory=list)
    taken: dict[str, str | None] = field(default_factory=dict)
    findings: list[ReaderFinding] = field(default_factory=list)
    response: int | None = None
    """Where its response begins, or None if it is empty."""


class PairReader:
    """Reads and writes the pairs of one corpus.

    ``in_list``: they are the items of a list, each other's history; then they have texts only.
    """

    def __init__(self, declaration: Declaration, *, in_list: bool) -> None:
        pair = declaration.pair
        self._roles = {**PAIR_ROLES, **declaration.roles}
        self._paths: Mapping[str, JsonPath] = {
            placeholder: getattr(pair, placeholder) or () for placeholder in PAIR_ROLES
        }
        self._places = {placeholder: pointer(*path) for placeholder, path in self._paths.items()}
        self._history: JsonPath = () if in_list else pair.history or ()
        self._answers = None if in_list else Answers(replace(declaration, roles={}), CHAT)
        self.wanted: json_shapes.Wanted = json_shapes.wanted({**self._paths, "history": self._history})

    @property
    def columns(self) -> frozenset[str] | None:
        """The keys of the texts, if all are members of the record itself, each another."""
        keys = own_keys((*self._paths.values(), self._history))
        return None if keys is None else keys - {*self._history}

    def read(self, record: json_shapes.SplitObject, at: str = "") -> ParsedPair:
        """Read the object at a pointer; BadRecord GF-01 without prompt or response, or where a type is another."""
        pair = ParsedPair()
        spoken = {placeholder: self._turns_of(record, placeholder, at, pair) for placeholder in PAIR_ROLES}
        history = self._read_history(record, pair)
        system = spoken.pop("system")
        if system:
            pair.taken["system"] = "turns[0]"
        end = -sum(map(len, spoken.values()))
        if history is not None and all(turn.text for turn in history):
            pair.taken["history"] = f"turns[{len(system)}:{end or ''}]"
        pair.turns = system + [turn for turn in history or () if turn.text]
        for placeholder, turns in spoken.items():
            if turns:
                is_list = bytes(record.find(self._paths[placeholder]) or b"")[:1] == b"["
                messages = f"messages[{end}:{end + len(turns) or ''}]"
                pair.taken[placeholder] = messages if is_list else f"turns[{end}]"
                end += len(turns)
                pair.turns += turns
        response = spoken["response"]
        if response:
            pair.response = len(pair.turns) - len(response)
        if not any(turn.text or turn.parts for turn in response):
            place = at + self._places["response"]
            pair.findings.append(ReaderFinding("GF-03", "the response is empty", pointer=place))
        return pair

    def _turns_of(
        self, record: json_shapes.SplitObject, placeholder: str, at: str, pair: ParsedPair
    ) -> list[ParsedTurn]:
        """Return the turns of a member; none where it is empty or missing, which ``taken`` records."""
        path = self._paths[placeholder]
        raw = required(record, path, at) if placeholder in _REQUIRED else record.find(path)
        if raw is None:
            return []
        if json_shapes.is_null(raw):
            pair.taken[placeholder] = None
            return []
        at += self._places[placeholder]
        if self._answers is not None and placeholder in _REQUIRED and self._answers.has_messages(raw):
            return self._answers.read(raw, at, self._roles[placeholder], pair.findings).turns
        if placeholder == "system" and bytes(raw)[:1] != b'"':
            pair.findings.append(set_aside(f"the system's text is {json_shapes.kind_of(raw)}, not a text", at))
            return []
        text = json_shapes.string_of(raw, at, f"the {placeholder}")
        if not text:
            pair.taken[placeholder] = placeholder + json_shapes.EMPTY
        return [ParsedTurn(self._roles[placeholder], text, at)] if text else []

    def _read_history(self, record: json_shapes.SplitObject, pair: ParsedPair) -> list[ParsedTurn] | None:
        """Return the turns of the history, empty ones too, or None if there is none, or something else."""
        raw = record.find(self._history)
        if raw is None:
            return None
        if json_shapes.is_null(raw):
            pair.taken["history"] = None
            return None
        try:
            return self._history_of(raw)
        except BadRecord as bad:
            pair.findings.append(set_aside(bad.detail, bad.pointer))
            return None

    def _history_of(self, raw: Raw) -> list[ParsedTurn]:
        at = pointer(*self._history)
        turns = []
        for place, item in enumerate(items_of(raw, at, "the history")):
            texts = items_of(item, f"{at}/{place}", "an item of the history")
            if len(texts) != 2:
                detail = f"an item of the history has {len(texts):,} texts, not a question and its answer"
                raise BadRecord("GF-01", detail, f"{at}/{place}")
            for which, (text, role) in enumerate(zip(texts, ("prompt", "response"), strict=True)):
                where = f"{at}/{place}/{which}"
                content = (
                    "" if json_shapes.is_null(text) else json_shapes.string_of(text, where, "a text of the history")
                )
                turns.append(ParsedTurn(self._roles[role], content, where))
        return turns

    def write(
        self, placeholder: str, turns: Sequence[Turn], stored: StoredRecord, shapes: json_shapes.KnownShapes
    ) -> bytes:
        """Return the JSON text of a placeholder, which is filled from some of the pair's turns."""
        match = _TURNS.fullmatch(placeholder)
        if match is None:
            return b'""'  # EMPTY
        kind, start, is_slice, end = match.groups()
        if not is_slice:
            return msgspec.json.encode(turns[int(start)].text)
        some = turns[int(start) : int(end) if end else None]
        if kind == "messages" and self._answers is not None:
            return self._answers.write("list", some, stored, shapes)
        texts = [turn.text for turn in some]
        return msgspec.json.encode(list(zip(texts[::2], texts[1::2], strict=True)))


def count_turns(shape: Mapping[str, object]) -> int:
    """Count the turns of a pair of texts of this shape."""
    inner = (item for item in shape.values() if isinstance(item, Mapping))
    own = sum(isinstance(item, str) and _TURNS.fullmatch(item) is not None for item in shape.values())
    return own + sum(map(count_turns, inner))


_EACH = "each"


class Pairs:
    """Reads and writes the records of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        each = declaration.pair.each or ()
        self._each: JsonPath = each[:-1] if each[-1:] == (None,) else each
        self._pairs = PairReader(declaration, in_list=bool(each))
        others = {key: paths for key, paths in declaration.pair.fallbacks.items() if key != _EACH}
        inside = {"pair": replace(declaration.pair, fallbacks=others)}
        self._of_paths = (
            FallbackReaders(inside, lambda chosen: PairReader(replace(declaration, **chosen), in_list=True))
            if each and has_fallbacks(inside)
            else None
        )
        self.wanted: json_shapes.Wanted = json_shapes.wanted({_EACH: self._each}) if each else self._pairs.wanted
        self.columns = None if each else self._pairs.columns

    def read(self, record: json_shapes.SplitObject) -> ParsedDialogue:
        """Make the turns; BadRecord GF-01 where prompt or response is missing, or anything is of another type."""
        if self._each:
            return self._read_each(record)
        pair = self._pairs.read(record)
        return ParsedDialogue(pair.turns, taken=pair.taken, findings=pair.findings, response=pair.response)

    def _read_each(self, record: json_shapes.SplitObject) -> ParsedDialogue:
        """Read a list of pairs; the first turn of each has what else its object says."""
        at = pointer(*self._each)
        dialogue = ParsedDialogue([])
        messages: dict[int, json_shapes.Members] = {}
        is_whole = True
        for place, raw in enumerate(items_of(required(record, self._each), at, "the list of pairs")):
            here = f"{at}/{place}"
            if bytes(raw)[:1] != b"{":
                raise BadRecord("GF-01", f"a pair is {json_shapes.kind_of(raw)}, not an object", here)
            members_of_pair = json_shapes.members_of(raw)
            pairs = self._pairs if self._of_paths is None else self._of_paths.reader(members_of_pair)
            item = json_shapes.SplitObject(members_of_pair, pairs.wanted)
            pair = pairs.read(item, here)
            dialogue.findings += pair.findings
            rest: dict[str, Raw] = {}
            shape = item.shape(pair.taken, rest)
            is_whole = is_whole and bool(pair.turns) and count_turns(shape) == len(pair.turns)
            if pair.turns:
                head = pair.turns[0]
                head.pointer, head.shape, head.extra = here, shape, rest
                messages[len(dialogue.turns)] = item.members
            if pair.response is not None:
                dialogue.response = len(dialogue.turns) + pair.response
            dialogue.turns += pair.turns
        dialogue.messages = messages
        if is_whole:
            dialogue.taken[_EACH] = _EACH
        else:  # no turn can hold what a pair without words says: the list stays as it is
            for turn in dialogue.turns:
                turn.shape = turn.extra = None
        return dialogue

    def write(self, placeholder: str, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> bytes:
        """Return a text, a history or messages, or the list of all pairs."""
        if placeholder == _EACH:
            return write_list(list(self._write_each(stored, shapes)))
        return self._pairs.write(placeholder, stored.turns, stored, shapes)

    def _write_each(self, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> Iterator[bytes]:
        place = 0
        while place < len(stored.turns):
            extra = literals(stored.turns[place].extra)
            shape = shapes.shape("message", extra)
            turns = stored.turns[place : place + count_turns(shape)]
            place += len(turns)
            yield json_shapes.join(shape, extra, partial(self._pairs.write, turns=turns, stored=stored, shapes=shapes))


_LISTS = {"prompts": "prompt", "responses": "response"}
_TEXT = "text"


class ZippedPairs:
    """Reads and writes the records of one corpus."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        pair, lists = declaration.pair, declaration.pair.zip
        if lists is None:
            raise ValueError("no lists of pairs are declared")
        self._system = pair.system
        self._roles = {name: {**PAIR_ROLES, **declaration.roles}[key] for name, key in _LISTS.items()}
        self._lists: dict[str, JsonPath] = {"prompts": lists.prompts, "responses": lists.responses}
        self._inner: dict[str, JsonPath] = {"prompts": pair.prompt or (), "responses": pair.response or ()}
        self._of_item = {name: json_shapes.wanted({_TEXT: path}) for name, path in self._inner.items()}
        self.wanted: json_shapes.Wanted = json_shapes.wanted({SYSTEM: self._system, **self._lists})

    def read(self, record: json_shapes.SplitObject) -> ParsedDialogue:
        """Make the turns; BadRecord GF-01 for a list that is none, more responses than prompts, and an odd item."""
        dialogue = ParsedDialogue([], messages={})
        read_system(record, self._system, dialogue)
        lists = {
            name: items_of(required(record, path), pointer(*path), f"the list of {name}")
            for name, path in self._lists.items()
        }
        count, answers = (len(items) for items in lists.values())
        at = pointer(*self._lists["responses"])
        if answers > count:
            raise BadRecord("GF-01", f"{answers:,} responses for {count:,} prompts", f"{at}/{count}")
        is_whole = True
        messages: dict[int, json_shapes.Members] = {}
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
                        if name == "responses":
                            empty = turn.pointer + pointer(*self._inner[name])
                            dialogue.findings.append(ReaderFinding("GF-03", "the response is empty", pointer=empty))
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

    def _turn(self, name: str, raw: Raw, place: int) -> tuple[ParsedTurn, json_shapes.Members | None]:
        path, at = self._inner[name], f"{pointer(*self._lists[name])}/{place}"
        if not path:
            return ParsedTurn(self._roles[name], json_shapes.string_of(raw, at, f"an item of the {name}"), at), None
        if bytes(raw)[:1] != b"{":
            raise BadRecord("GF-01", f"an item of the {name} is {json_shapes.kind_of(raw)}, not an object", at)
        item = json_shapes.SplitObject(json_shapes.members_of(raw), self._of_item[name])
        text = json_shapes.string_of(required(item, path, at), at + pointer(*path), f"an item of the {name}")
        extra: dict[str, Raw] = {}
        shape = item.shape({_TEXT: _TEXT}, extra)
        return ParsedTurn(self._roles[name], text, at, shape=shape, extra=extra or None), item.members

    def write(self, placeholder: str, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> bytes:
        """Return the system's text, or one of the lists."""
        if placeholder.startswith(SYSTEM):
            return b'""' if placeholder.endswith(json_shapes.EMPTY) else msgspec.json.encode(stored.turns[0].text)
        return write_list(list(self._write_items(placeholder, stored, shapes)))

    def _write_items(self, name: str, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> Iterator[bytes]:
        for turn in stored.turns:
            if turn.role == self._roles[name]:
                yield self._item(turn, shapes) if self._inner[name] else msgspec.json.encode(turn.text)

    def _item(self, turn: Turn, shapes: json_shapes.KnownShapes) -> bytes:
        extra = literals(turn.extra)
        return json_shapes.join(shapes.shape("message", extra), extra, lambda _: msgspec.json.encode(turn.text))
