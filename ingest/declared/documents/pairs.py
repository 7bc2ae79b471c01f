"""Format ``pairs``: a record has an instruction and its answer, or a list of such pairs (``each``).

What is said comes in the order system, history, prompt, query, response, whatever that of the keys is; an empty text is
no turn. A hole's name in the shape says which turns it is filled from, as Python would: ``turns[-1]``, ``turns[1:-2]``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.documents.required import required
from talkhouse.ingest.declared.documents.talk import Said, Talk
from talkhouse.ingest.declared.shapes import KnownShapes, Members, Split, join, members_of, wanted
from talkhouse.ingest.declared.values import EMPTY, is_null, kind_of, string_of
from talkhouse.ingest.decode import BadRecord, literals, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Turn
from talkhouse.ingest.stored_record import StoredRecord

_ROLES = {"system": "system", "prompt": "user", "query": "user", "response": "assistant"}
"""The texts, in the order in which they are said, but that the history comes behind the first."""

_REQUIRED = frozenset({"prompt", "response"})
_TURNS = re.compile(r"turns\[(-?\d+)(:?)(-?\d*)\]")


@dataclass
class _Pair:
    """What one pair says."""

    said: list[Said] = field(default_factory=list)
    taken: dict[str, str | None] = field(default_factory=dict)
    findings: list[ReaderFinding] = field(default_factory=list)
    has_response: bool = False


class Pairs:
    """Reads and writes the records of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        pair = declaration.pair
        each = pair.each or ()
        self._each = each[:-1] if each[-1:] == (None,) else each
        self._paths: dict[str, JsonPath | None] = {hole: getattr(pair, hole) for hole in _ROLES}
        # The pairs of a list are each other's history.
        self._history = pair.history if not self._each else None
        self._places = {hole: pointer(*path) for hole, path in self._paths.items() if path}
        self._of_pair = wanted(self._paths | {"history": self._history})
        self.wanted = wanted({"each": self._each}) if self._each else self._of_pair

    def read(self, record: Split) -> Talk:
        """Make the turns; BadRecord GF-01 where prompt or response is missing, or anything is of another type."""
        if self._each:
            return self._read_each(record)
        pair = self._read_pair(record, "")
        response = len(pair.said) - 1 if pair.has_response else None
        return Talk(pair.said, taken=pair.taken, findings=pair.findings, response=response)

    def _read_pair(self, record: Split, at: str) -> _Pair:
        pair = _Pair()
        texts = {hole: self._text(record, hole, at, pair) for hole in _ROLES}
        history = self._read_history(record, pair)
        spoken = [(hole, text) for hole, text in texts.items() if text]
        pair.said = [Said(_ROLES[hole], text, at + self._places[hole]) for hole, text in spoken]
        first = 1 if texts["system"] else 0
        for place, (hole, _) in enumerate(spoken):
            pair.taken[hole] = f"turns[{place - len(spoken) if hole != 'system' else 0}]"
        if history is not None:
            if all(said.text for said in history):
                pair.taken["history"] = f"turns[{first}:{first - len(spoken) or ''}]"
            pair.said[first:first] = [said for said in history if said.text]
        pair.has_response = bool(texts["response"])
        if not pair.has_response:
            pair.findings.append(ReaderFinding("GF-03", "the response is empty", pointer=at + self._places["response"]))
        return pair

    def _text(self, record: Split, hole: str, at: str, pair: _Pair) -> str:
        """Return a text; empty where there is none, and why is noted."""
        path, what = self._paths[hole], f"the {hole}"
        raw = required(record, path, at) if hole in _REQUIRED else record.find(path)
        if raw is None:
            return ""
        if is_null(raw) and hole not in _REQUIRED:
            pair.taken[hole] = None
            return ""
        text = string_of(raw, at + self._places[hole], what)
        if not text:
            pair.taken[hole] = hole + EMPTY
        return text

    def _read_history(self, record: Split, pair: _Pair) -> list[Said] | None:
        """Return what was said before, empty texts too; None where there is no history."""
        raw = record.find(self._history)
        if raw is None or self._history is None:
            return None
        if is_null(raw):
            pair.taken["history"] = None
            return None
        at = pointer(*self._history)
        said = []
        for place, item in enumerate(_items(raw, at, "the history")):
            texts = _items(item, f"{at}/{place}", "an item of the history")
            if len(texts) != 2:
                count = f"an item of the history has {len(texts):,} texts, not a question and its answer"
                raise BadRecord("GF-01", count, f"{at}/{place}")
            for which, (text, role) in enumerate(zip(texts, ("user", "assistant"), strict=True)):
                where = f"{at}/{place}/{which}"
                said.append(Said(role, string_of(text, where, "a text of the history"), where))
        return said

    def _read_each(self, record: Split) -> Talk:
        at = pointer(*self._each)
        talk = Talk([])
        messages: dict[int, Members] = {}
        is_whole = True
        for place, raw in enumerate(_items(required(record, self._each), at, "the list of pairs")):
            here = f"{at}/{place}"
            if bytes(raw)[:1] != b"{":
                raise BadRecord("GF-01", f"a pair is {kind_of(raw)}, not an object", here)
            item = Split(members_of(raw), self._of_pair)
            pair = self._read_pair(item, here)
            talk.findings += pair.findings
            rest: dict[str, Raw] = {}
            shape = item.shape(pair.taken, rest)
            is_whole = is_whole and bool(pair.said) and _turns_of(shape) == len(pair.said)
            if pair.said:  # the first turn of a pair has what else its object says
                head = pair.said[0]
                head.pointer, head.shape, head.extra = here, shape, rest
                messages[len(talk.said)] = item.members
            talk.said += pair.said
            talk.response = len(talk.said) - 1 if pair.has_response else talk.response
        talk.messages = messages
        if is_whole:
            talk.taken["each"] = "each"
        else:  # no turn can hold what a pair without words says: the list stays as it is
            for said in talk.said:
                said.shape = said.extra = None
        return talk

    def write(self, hole: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the text of a turn, the list of a history, or that of all pairs."""
        return _write_each(stored.turns, shapes) if hole == "each" else _fill(hole, stored.turns)


def _items(raw: Raw, at: str, what: str) -> list[Raw]:
    """Return the items of a list; BadRecord GF-01 where it is none."""
    if bytes(raw)[:1] != b"[":
        raise BadRecord("GF-01", f"{what} is {kind_of(raw)}, not a list", at)
    return msgspec.json.decode(raw, type=list[Raw])


def _fill(hole: str, turns: Sequence[Turn]) -> bytes:
    match = _TURNS.fullmatch(hole)
    if match is None:
        return b'""'  # EMPTY
    start, is_slice, end = match.groups()
    if not is_slice:
        return msgspec.json.encode(turns[int(start)].text)
    texts = [turn.text for turn in turns[int(start) : int(end) if end else None]]
    return msgspec.json.encode(list(zip(texts[::2], texts[1::2], strict=True)))


def _write_each(turns: Sequence[Turn], shapes: KnownShapes) -> bytes:
    pieces = []
    place = 0
    while place < len(turns):
        extra = literals(turns[place].extra)
        shape = shapes.of("message", extra)
        pair = turns[place : place + _turns_of(shape)]
        place += len(pair)
        pieces.append(join(shape, extra, partial(_fill, turns=pair)))
    return b"[" + b",".join(pieces) + b"]"


def _turns_of(shape: Mapping[str, object]) -> int:
    """Count the turns that a pair of this shape has."""
    inner = (item for item in shape.values() if isinstance(item, Mapping))
    own = sum(isinstance(item, str) and _TURNS.fullmatch(item) is not None for item in shape.values())
    return own + sum(map(_turns_of, inner))
