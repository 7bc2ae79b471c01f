"""Labels inside documents, by ``[[annotations]]``: which members are labels, their targets and annotators."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, JsonPath
from talkhouse.ingest.declared.parsed_dialogue import ParsedDialogue, set_aside, text_or_aside
from talkhouse.ingest.declared.shapes import Members, is_null, kind_of, members_of, members_of_any, rounded, text_of
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.rows import Annotation


def span_of(start: str, end: str, text: str, *, is_utf16: bool) -> tuple[int, int] | None:
    """Return a span in code points, its end exclusive, or None if it is not inside the text.

    Half of a pair of UTF-16 units is no place in a text.
    """
    first, last = (_index(offset, text, is_utf16=is_utf16) for offset in (start, end))
    return (first, last) if first is not None and last is not None and 0 <= first <= last <= len(text) else None


def _index(offset: str, text: str, *, is_utf16: bool) -> int | None:
    if not (offset.isascii() and offset.isdigit() and len(offset) < 10):
        return None
    index = int(offset)
    if not is_utf16 or text.isascii():
        return index
    units = text.encode("utf-16-le")
    try:
        return len(units[: 2 * index].decode("utf-16-le")) if 2 * index <= len(units) else None
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True)
class _Item:
    """Something that may have a label: an object, where it is, and its place in the list that it is of."""

    members: Members
    at: str
    position: int = 0


class ParsedLabel(NamedTuple):
    """One label, or number, as the file gives it."""

    scheme: str
    turn_index: int | None
    label: str | None
    value: float | None
    annotator: int
    annotator_id: str | None
    item: int
    start: int | None
    end: int | None

    def row(self, record_id: str, dialogue_id: str | None) -> Annotation:
        """Make its row."""
        return Annotation(
            record_id,
            self.turn_index,
            None,
            None,
            self.scheme,
            self.annotator,
            self.item,
            dialogue_id,
            None,
            self.annotator_id,
            self.label,
            self.value,
            start_index=self.start,
            end_index=self.end,
        )


class _FoundLabel(NamedTuple):
    label: str | None
    value: float | None
    turn_index: int | None
    start: int | None
    end: int | None


class Labels:
    """The labels of one scheme in a record."""

    def __init__(self, spec: Annotations, declaration: Declaration) -> None:
        self.spec = spec
        self._scheme = declaration.scheme(spec.scheme)
        self._by_id = declaration.turn.id is not None
        self._only = {name: msgspec.json.encode(value) for name, value in spec.only.items()}

    def read(
        self, members: Members, dialogue: ParsedDialogue, findings: list[ReaderFinding], at: str = ""
    ) -> Iterator[ParsedLabel]:
        """Yield the labels of a record, whose members are at ``at``.

        What is no label, or one for a turn that is not there, stays in ``extra``: GF-01 or GF-15 as a warning.
        """
        whole = _Item(members, at)
        items = Counter[tuple[int | None, int]]()
        if self.spec.on != "turn" or self.spec.by_record or self.spec.each_by_record:
            turn = dialogue.response if self.spec.on == "response" else None
            things = [(whole, turn)]
        else:
            things = [
                (_Item(inner, dialogue.turns[index].pointer), index) for index, inner in dialogue.messages.items()
            ]
        for thing, turn in things:
            for source in [thing] if self.spec.by is None else _objects(thing, self.spec.by):
                if self.spec.by is not None and _read(source.members, self.spec.skip) == b"true":
                    continue
                annotator, annotator_id = source.position, self._annotator_id(source, findings)
                for label, value, turn_index, start, end in self._found(source, turn, dialogue, findings):
                    item = items[turn_index, annotator]
                    items[turn_index, annotator] += 1
                    yield ParsedLabel(self._scheme, turn_index, label, value, annotator, annotator_id, item, start, end)

    def _annotator_id(self, item: _Item, findings: list[ReaderFinding]) -> str | None:
        raw = _read(item.members, self.spec.annotator)
        if raw is None or is_null(Raw(raw)):
            return None
        found = text_or_aside(Raw(raw), item.at + pointer(*self.spec.annotator or ()), "the annotator", findings)
        return found and found[0]

    def _found(
        self, source: _Item, turn: int | None, dialogue: ParsedDialogue, findings: list[ReaderFinding]
    ) -> Iterator[_FoundLabel]:
        for item in [source] if self.spec.each is None else _objects(source, self.spec.each):
            if any(bytes(item.members.get(name, b"")) != value for name, value in self._only.items()):
                continue
            try:
                place = self._turn(item, turn, dialogue)
            except BadRecord as bad:
                findings.append(ReaderFinding(bad.rule, bad.detail, pointer=bad.pointer, severity="warn"))
                continue
            start, end = self._span(item, place, dialogue, findings)
            for raw, at in _values(item, self.spec.label):
                found = None if is_null(raw) else text_or_aside(raw, at, "the label", findings)
                if found is not None and found[0] not in self.spec.missing_values:
                    yield _FoundLabel(found[0], self._number(item, findings), place, start, end)
            if self.spec.label is None and (value := self._number(item, findings)) is not None:
                yield _FoundLabel(None, value, place, start, end)

    def _number(self, item: _Item, findings: list[ReaderFinding]) -> float | None:
        for raw, at in _values(item, self.spec.value):
            if is_null(raw):
                return None
            try:
                value = float(msgspec.json.decode(raw, type=float))
            except msgspec.ValidationError:
                findings.append(set_aside(f"the value is {kind_of(raw)}, not a number", at))
                return None
            if detail := rounded(bytes(raw).decode(), value):
                findings.append(ReaderFinding("GF-21", detail, pointer=at))
            return value
        return None

    def _turn(self, item: _Item, turn: int | None, dialogue: ParsedDialogue) -> int | None:
        if self.spec.turn_is_position:
            return self._there(str(item.position), item.position, item.at, dialogue)
        raw = _read(item.members, self.spec.turn)
        if raw is None:
            return turn
        at = item.at + pointer(*self.spec.turn or ())
        text, _ = text_of(Raw(raw), at, "the turn")
        if self._by_id:
            by_id = (index for index, other in enumerate(dialogue.turns) if other.native_id == text)
            return self._there(text, next(by_id, -1), at, dialogue)
        return self._there(
            text, int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1, at, dialogue
        )

    def _there(self, text: str, index: int, at: str, dialogue: ParsedDialogue) -> int:
        if not 0 <= index < len(dialogue.turns):
            kind = "id" if self._by_id else "index"
            raise BadRecord("GF-15", f"a label of {self._scheme} is for a turn of the {kind} {text!r:.100}", at)
        return index

    def _span(
        self, item: _Item, turn: int | None, dialogue: ParsedDialogue, findings: list[ReaderFinding]
    ) -> tuple[int | None, int | None]:
        ends = [_read(item.members, path) for path in (self.spec.start, self.spec.end)]
        if turn is None or None in ends or b"null" in ends:
            return None, None
        at = item.at + pointer(*self.spec.start or ())
        found = [text_or_aside(Raw(raw), at, "an offset", findings) for raw in ends if raw is not None]
        texts = [text for text, _ in filter(None, found)]
        if len(texts) < len(ends):
            return None, None
        start, end = texts
        span = span_of(start, end, dialogue.turns[turn].text, is_utf16=self.spec.offsets == "utf-16")
        if span is None:
            detail = f"the span {start:.20} to {end:.20} is not inside its text"
            findings.append(ReaderFinding("GF-08", detail, pointer=at))
        return span or (None, None)


def _objects(item: _Item, path: JsonPath) -> Iterator[_Item]:
    """Yield the items of the list that a path names, which ends in ``[*]``, with their positions among all of them.

    An item that is no object has one member without a name.
    """
    for position, (raw, at) in enumerate(_walk(Raw(b""), item.at, path, item.members)):
        if bytes(raw)[:1] == b"{":
            yield _Item(members_of(raw), at, position)
        elif path[-1:] in ((None,), (...,)) and not is_null(raw):
            yield _Item({"": raw}, at, position)


def _values(item: _Item, path: JsonPath | None) -> Iterator[tuple[Raw, str]]:
    if path is None:
        return
    if path:
        yield from _walk(Raw(b""), item.at, path, item.members)
    elif "" in item.members:
        yield item.members[""], item.at


def _walk(raw: Raw, at: str, path: JsonPath, members: Mapping[Any, Raw] | None = None) -> Iterator[tuple[Raw, str]]:
    """Yield what stands at a path: several values where it goes over lists; nothing where something is missing."""
    if not path:
        yield raw, at
        return
    name, rest = path[0], path[1:]
    inner = members_of_any(raw) if members is None else members
    if name is None or name is ...:
        kind = int if name is None else str
        for key in (key for key in inner if isinstance(key, kind)):
            yield from _walk(inner[key], at + pointer(key), rest)
    elif name in inner:
        yield from _walk(inner[name], at + pointer(name), rest)


def _read(members: Members, path: JsonPath | None) -> bytes | None:
    for raw, _ in _walk(Raw(b""), "", path or (), members) if path else ():
        return bytes(raw)
    return None


def labels_of(declaration: Declaration) -> list[Labels]:
    """Return the schemes whose labels are inside the documents."""
    return [Labels(spec, declaration) for spec in declaration.annotations if spec.from_file is None]
