"""The format ``pairs``: instructions with their answers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, Fallbacks, JsonPath
from talkhouse.ingest.declared.documents.fallback_readers import FallbackReaders, has_fallbacks
from talkhouse.ingest.declared.documents.messages import CHAT, items_of, required
from talkhouse.ingest.declared.documents.parsed_record import ParsedDialogue, ParsedTurn, set_aside
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.documents.transcript import (
    Answers,
)
from talkhouse.ingest.declared.shapes import (
    EMPTY,
    KnownShapes,
    Members,
    SplitObject,
    Wanted,
    is_null,
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

_ROLES = {"system": "system", "prompt": "user", "query": "user", "response": "assistant"}
"""The placeholders in the order of their turns; the history comes behind the first."""

_REQUIRED = frozenset({"prompt", "response"})
_TURNS = re.compile(r"(turns|messages)\[(-?\d+)(:?)(-?\d*)\]")


@dataclass
class ParsedPair:
    """What a pair says."""

    turns: list[ParsedTurn] = field(default_factory=list)
    taken: dict[str, str | None] = field(default_factory=dict)
    findings: list[ReaderFinding] = field(default_factory=list)
    response: int | None = None
    """Where its response begins; None where it is empty."""


class PairReader:
    """Reads and writes the pairs of one corpus.

    ``in_list``: they are the items of a list, each other's history; then they have texts only.
    """

    def __init__(self, declaration: Declaration, *, in_list: bool) -> None:
        pair = declaration.pair
        self._paths: Mapping[str, JsonPath] = {placeholder: getattr(pair, placeholder) or () for placeholder in _ROLES}
        self._places = {placeholder: pointer(*path) for placeholder, path in self._paths.items()}
        self._history: JsonPath = () if in_list else pair.history or ()
        self._answers = None if in_list else Answers(declaration, CHAT)
        self.wanted: Wanted = wanted({**self._paths, "history": self._history})

    def read(self, record: SplitObject, at: str = "") -> ParsedPair:
        """Read the object at a pointer; BadRecord GF-01 without prompt or response, or where a type is another."""
        pair = ParsedPair()
        spoken = {placeholder: self._turns_of(record, placeholder, at, pair) for placeholder in _ROLES}
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
                pair.taken[placeholder] = _messages(end, len(turns)) if is_list else f"turns[{end}]"
                end += len(turns)
                pair.turns += turns
        response = spoken["response"]
        if response:
            pair.response = len(pair.turns) - len(response)
        if not any(turn.text or turn.parts for turn in response):
            place = at + self._places["response"]
            pair.findings.append(ReaderFinding("GF-03", "the response is empty", pointer=place))
        return pair

    def _turns_of(self, record: SplitObject, placeholder: str, at: str, pair: ParsedPair) -> list[ParsedTurn]:
        """Return the turns of a member; none where it is empty or missing, which ``taken`` records."""
        path = self._paths[placeholder]
        raw = required(record, path, at) if placeholder in _REQUIRED else record.find(path)
        if raw is None:
            return []
        if is_null(raw):
            pair.taken[placeholder] = None
            return []
        at += self._places[placeholder]
        if self._answers is not None and placeholder in _REQUIRED and self._answers.has_messages(raw):
            return self._answers.read(raw, at, _ROLES[placeholder], pair.findings).turns
        if placeholder == "system" and bytes(raw)[:1] != b'"':
            pair.findings.append(set_aside(f"the system's text is {kind_of(raw)}, not a text", at))
            return []
        text = string_of(raw, at, f"the {placeholder}")
        if not text:
            pair.taken[placeholder] = placeholder + EMPTY
        return [ParsedTurn(_ROLES[placeholder], text, at)] if text else []

    def _read_history(self, record: SplitObject, pair: ParsedPair) -> list[ParsedTurn] | None:
        """Return the turns of the history, empty ones too; None where there is none, or something else."""
        raw = record.find(self._history)
        if raw is None:
            return None
        if is_null(raw):
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
            for which, (text, role) in enumerate(zip(texts, ("user", "assistant"), strict=True)):
                where = f"{at}/{place}/{which}"
                said = "" if is_null(text) else string_of(text, where, "a text of the history")
                turns.append(ParsedTurn(role, said, where))
        return turns

    def write(self, placeholder: str, turns: Sequence[Turn], stored: StoredRecord, shapes: KnownShapes) -> bytes:
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


def _messages(start: int, length: int) -> str:
    return f"messages[{start}:{start + length or ''}]"


def count_turns(shape: Mapping[str, object]) -> int:
    """Count the turns of a pair of texts of this shape."""
    inner = (item for item in shape.values() if isinstance(item, Mapping))
    own = sum(isinstance(item, str) and _TURNS.fullmatch(item) is not None for item in shape.values())
    return own + sum(map(count_turns, inner))


_EACH = "each"


def _without_each(fallbacks: Fallbacks) -> Fallbacks:
    return {key: others for key, others in fallbacks.items() if key != _EACH}


class Pairs:
    """Reads and writes the records of one corpus."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        each = declaration.pair.each or ()
        self._each: JsonPath = each[:-1] if each[-1:] == (None,) else each
        self._pairs = PairReader(declaration, in_list=bool(each))
        inside = {"pair": replace(declaration.pair, fallbacks=_without_each(declaration.pair.fallbacks))}
        self._of_paths = (
            FallbackReaders(inside, lambda chosen: PairReader(replace(declaration, **chosen), in_list=True))
            if each and has_fallbacks(inside)
            else None
        )
        self.wanted: Wanted = wanted({_EACH: self._each}) if each else self._pairs.wanted

    def read(self, record: SplitObject) -> ParsedDialogue:
        """Make the turns; BadRecord GF-01 where prompt or response is missing, or anything is of another type."""
        if self._each:
            return self._read_each(record)
        pair = self._pairs.read(record)
        return ParsedDialogue(pair.turns, taken=pair.taken, findings=pair.findings, response=pair.response)

    def _read_each(self, record: SplitObject) -> ParsedDialogue:
        """Read a list of pairs; the first turn of each has what else its object says."""
        at = pointer(*self._each)
        dialogue = ParsedDialogue([])
        messages: dict[int, Members] = {}
        is_whole = True
        for place, raw in enumerate(items_of(required(record, self._each), at, "the list of pairs")):
            here = f"{at}/{place}"
            if bytes(raw)[:1] != b"{":
                raise BadRecord("GF-01", f"a pair is {kind_of(raw)}, not an object", here)
            members_of_pair = members_of(raw)
            pairs = self._pairs if self._of_paths is None else self._of_paths.reader(members_of_pair)
            item = SplitObject(members_of_pair, pairs.wanted)
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

    def write(self, placeholder: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return a text, a history or messages, or the list of all pairs."""
        if placeholder == _EACH:
            return write_list(list(self._write_each(stored, shapes)))
        return self._pairs.write(placeholder, stored.turns, stored, shapes)

    def _write_each(self, stored: StoredRecord, shapes: KnownShapes) -> Iterator[bytes]:
        place = 0
        while place < len(stored.turns):
            extra = literals(stored.turns[place].extra)
            shape = shapes.shape("message", extra)
            turns = stored.turns[place : place + count_turns(shape)]
            place += len(turns)
            yield join(shape, extra, partial(self._pairs.write, turns=turns, stored=stored, shapes=shapes))
