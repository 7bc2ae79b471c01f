"""One pair: an instruction and its answer, and what was said before.

What is said comes in the order system, history, prompt, query, response, whatever that of the keys is; an empty text is
no turn. A hole's name in the shape says which turns it is filled from, as Python would: ``turns[-1]`` is the text of
the last; ``turns[1:-2]`` a history; ``messages[-2:-1]`` a list of messages.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.documents.answers import Answers
from talkhouse.ingest.declared.documents.messages import CHAT
from talkhouse.ingest.declared.documents.required import items_of, required
from talkhouse.ingest.declared.documents.talk import Said
from talkhouse.ingest.declared.shapes import KnownShapes, Split, Wanted, wanted
from talkhouse.ingest.declared.values import EMPTY, is_null, string_of
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Turn
from talkhouse.ingest.stored_record import StoredRecord

_ROLES = {"system": "system", "prompt": "user", "query": "user", "response": "assistant"}
"""The holes in the order in which they are said, but that the history comes behind the first."""

_REQUIRED = frozenset({"prompt", "response"})
_TURNS = re.compile(r"(turns|messages)\[(-?\d+)(:?)(-?\d*)\]")


@dataclass
class Pair:
    """What a pair says."""

    said: list[Said] = field(default_factory=list)
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
        self._paths: Mapping[str, JsonPath] = {hole: getattr(pair, hole) or () for hole in _ROLES}
        self._places = {hole: pointer(*path) for hole, path in self._paths.items()}
        self._history: JsonPath = () if in_list else pair.history or ()
        self._answers = None if in_list else Answers(declaration, CHAT)
        self.wanted: Wanted = wanted({**self._paths, "history": self._history})

    def read(self, record: Split, at: str = "") -> Pair:
        """Read the object at a pointer; BadRecord GF-01 without prompt or response, or where a type is another."""
        pair = Pair()
        spoken = {hole: self._said(record, hole, at, pair) for hole in _ROLES}
        history = self._read_history(record, pair)
        system = spoken.pop("system")
        if system:
            pair.taken["system"] = "turns[0]"
        end = -sum(map(len, spoken.values()))
        if history is not None and all(said.text for said in history):
            pair.taken["history"] = f"turns[{len(system)}:{end or ''}]"
        pair.said = system + [said for said in history or () if said.text]
        for hole, said in spoken.items():
            if said:
                is_list = bytes(record.find(self._paths[hole]) or b"")[:1] == b"["
                pair.taken[hole] = _messages(end, len(said)) if is_list else f"turns[{end}]"
                end += len(said)
                pair.said += said
        response = spoken["response"]
        if response:
            pair.response = len(pair.said) - len(response)
        if not any(said.text or said.parts for said in response):
            place = at + self._places["response"]
            pair.findings.append(ReaderFinding("GF-03", "the response is empty", pointer=place))
        return pair

    def _said(self, record: Split, hole: str, at: str, pair: Pair) -> list[Said]:
        """Return what is said in a member; nothing where it is empty or not there, which ``taken`` says."""
        path = self._paths[hole]
        raw = required(record, path, at) if hole in _REQUIRED else record.find(path)
        if raw is None:
            return []
        if is_null(raw) and hole not in _REQUIRED:
            pair.taken[hole] = None
            return []
        at += self._places[hole]
        if self._answers is not None and hole in _REQUIRED and self._answers.has_messages(raw):
            return self._answers.read(raw, at, _ROLES[hole], pair.findings).said
        text = string_of(raw, at, f"the {hole}")
        if not text:
            pair.taken[hole] = hole + EMPTY
        return [Said(_ROLES[hole], text, at)] if text else []

    def _read_history(self, record: Split, pair: Pair) -> list[Said] | None:
        """Return what was said before, empty texts too; None where there is no history."""
        raw = record.find(self._history)
        if raw is None:
            return None
        if is_null(raw):
            pair.taken["history"] = None
            return None
        at = pointer(*self._history)
        said = []
        for place, item in enumerate(items_of(raw, at, "the history")):
            texts = items_of(item, f"{at}/{place}", "an item of the history")
            if len(texts) != 2:
                detail = f"an item of the history has {len(texts):,} texts, not a question and its answer"
                raise BadRecord("GF-01", detail, f"{at}/{place}")
            for which, (text, role) in enumerate(zip(texts, ("user", "assistant"), strict=True)):
                where = f"{at}/{place}/{which}"
                said.append(Said(role, string_of(text, where, "a text of the history"), where))
        return said

    def write(self, hole: str, turns: Sequence[Turn], stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return the JSON text of a hole, which is filled from some of the pair's turns."""
        match = _TURNS.fullmatch(hole)
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
