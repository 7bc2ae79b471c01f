"""The turns of a dialogue as people read them: each with its labels, personas, candidates and parts."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any, NamedTuple, TypeAlias

_Row: TypeAlias = dict[str, Any]

_FEW = 5
"""Up to so many annotators are named; of more, the distribution is shown."""

_DEEPEST = 8

_FIRST_PERSONAS = 5
_FIRST_CANDIDATES = 3


@dataclass(frozen=True)
class Labelled:
    """One label with its span, its annotator and its facts."""

    label: str
    annotator: str
    span: tuple[int, int] | None
    """Where it is in the turn's text, in code points, its end exclusive."""
    words: str
    """The text there."""
    facts: tuple[tuple[str, str], ...]
    """What only this corpus has, such as a slot and its values."""


@dataclass(frozen=True)
class Votes:
    """What annotators say of one thing in one scheme."""

    scheme: str
    persona_set: str | None
    persona_position: int | None
    annotators: int
    counts: tuple[tuple[str, int], ...]
    """Each label and how often it was given, in the order of the labels."""
    named: tuple[tuple[str, tuple[str, ...]], ...]
    """Each annotator's name, empty where there is none to tell, and labels; empty where there are more than a few."""
    detailed: tuple[Labelled, ...] = ()
    """Each of these labels, where one of them has a span or facts."""

    @property
    def name(self) -> str:
        """The scheme without its corpus, and the persona that it is about."""
        about = "" if self.persona_set is None else f" of {self.persona_set}[{self.persona_position}]"
        return f"{self.scheme.partition('.')[2]}{about}"

    @property
    def summary(self) -> str:
        """Who gave which labels, or of many how often each was given."""
        if self.named:
            return "; ".join(", ".join(labels) + (f" ({name})" if name else "") for name, labels in self.named)
        counts = "  ".join(f"{label} {count}" for label, count in self.counts)
        total = sum(count for _, count in self.counts)
        number = f"{total:,} labels, " if total != self.annotators else ""
        return f"{counts} ({number}{self.annotators:,} annotators)"


def leading(counts: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """Return the label that was given most often; on a tie, all of these."""
    counted = tuple(counts)
    most = max((count for _, count in counted), default=0)
    return tuple(label for label, count in counted if count == most)


@dataclass(frozen=True)
class MessagePart:
    """A text or persona in a list; ``source``: who made it, where that is known."""

    text: str
    image_file: str | None
    source: str | None


@dataclass(frozen=True)
class Item:
    """One item of a list; it has several parts where it is itself a list."""

    position: int
    is_gold: bool
    parts: tuple[MessagePart, ...]


@dataclass(frozen=True)
class ItemList:
    """A list of personas or candidates."""

    kind: str
    name: str
    owner: str | None
    """The speaker described by a list of personas."""
    items: tuple[Item, ...]
    states_gold: bool

    @property
    def summary(self) -> str:
        """How many there are, and which is the gold one."""
        if self.kind == "personas":
            return f"{len(self.items):,}"
        gold = ", ".join(str(item.position) for item in self.items if item.is_gold)
        state = f"gold at {gold}" if gold else "none is gold" if self.states_gold else "gold is not stated"
        return f"{len(self.items):,}, {state}"

    @property
    def shown(self) -> tuple[Item, ...]:
        """The first items, and the gold ones."""
        first = _FIRST_PERSONAS if self.kind == "personas" else _FIRST_CANDIDATES
        return tuple(item for index, item in enumerate(self.items) if index < first or item.is_gold)


def _votes(rows: Iterable[_Row], text: str = "") -> Iterator[Votes]:
    """Yield the labels scheme by scheme, from the ``annotations`` of a record that belong to one turn.

    ``text``: what the turn says.
    """
    for (scheme, persona_set, position), group in _grouped(rows, "scheme", "persona_set", "persona_position"):
        annotators = _grouped(group, "annotator_index")
        counts = tuple(sorted(Counter(map(_label, group)).items()))
        few = annotators if len(annotators) <= _FEW else []
        names = [row[0]["annotator_id"] or (f"#{index}" if len(annotators) > 1 else "") for (index,), row in few]
        named = tuple((name, tuple(map(_label, labels))) for name, (_, labels) in zip(names, few, strict=True))
        every = [_labelled(row, name, text) for name, (_, labels) in zip(names, few, strict=True) for row in labels]
        detailed = tuple(every) if any(vote.span or vote.facts for vote in every) else ()
        yield Votes(scheme, persona_set, position, len(annotators), counts, named, detailed)


def _personas(rows: Iterable[_Row]) -> Iterator[ItemList]:
    """Yield the lists of personas, from the ``personas`` of a record that belong to one turn."""
    for (name, owner), group in _grouped(rows, "persona_set", "speaker"):
        items = tuple(Item(row["position"], is_gold=False, parts=(_part(row),)) for row in group)
        yield ItemList("personas", name, owner, items, states_gold=False)


def _candidates(rows: Iterable[_Row]) -> Iterator[ItemList]:
    """Yield the lists of candidates, from the ``candidates`` of a record that belong to one turn."""
    for (name,), group in _grouped(rows, "candidate_set"):
        items = tuple(
            Item(position, is_gold=any(row["is_gold"] for row in members), parts=tuple(map(_part, members)))
            for (position,), members in _grouped(group, "position")
        )
        stated = any(row["is_gold"] is not None for row in group)
        yield ItemList("candidates", name, None, items, states_gold=stated)


def _part(row: _Row) -> MessagePart:
    text = row["text"] if row["text"] is not None else f"({row['persona_id'] or row.get('text_id')})"
    return MessagePart(text, row.get("image_file"), row.get("source"))


def _labelled(row: _Row, annotator: str, text: str) -> Labelled:
    span = None if row["start_index"] is None or row["end_index"] is None else (row["start_index"], row["end_index"])
    words = text[slice(*span)] if span else ""
    return Labelled(_label(row), annotator, span, words, tuple(facts(row["extra"])))


def _label(row: _Row) -> str:
    label, value = row["label"], row["value"]
    if label is None:
        return "null" if value is None else str(value)
    is_in_label = value is None or label in (str(value), f"{value:g}")
    return (label or '""') + ("" if is_in_label else f" {value}")


def _grouped(rows: Iterable[_Row], *names: str) -> list[tuple[tuple[Any, ...], list[_Row]]]:
    """Group rows by some columns, in the order of their first rows."""
    groups: defaultdict[tuple[Any, ...], list[_Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return list(groups.items())


_KINDS: dict[str, Callable[..., Iterator[Votes | ItemList]]] = {
    "personas": _personas,
    "candidates": _candidates,
    "annotations": _votes,
}
"""What a record of ``show`` has, by name, and how it is shown."""


Items: TypeAlias = list[tuple[str, Votes | ItemList]]
"""What belongs to a turn or to the whole dialogue, each with its record's name."""


def by_content(items: Items) -> Iterator[tuple[Votes | ItemList, list[str]]]:
    """Yield what several records have alike once, with their names."""
    found: defaultdict[Votes | ItemList, list[str]] = defaultdict(list)
    for record, shown in items:
        found[shown].append(record)
    yield from found.items()


class NamedSpan(NamedTuple):
    """A part of a text, in code points, its end exclusive."""

    begin: int
    end: int
    name: str


def pieces(text: str, spans: Collection[NamedSpan]) -> Iterator[tuple[str, list[str]]]:
    """Yield a text in pieces, each with the names of the spans that it is in; these may overlap."""
    cuts = {0, len(text), *(cut for span in spans for cut in (span.begin, span.end))}
    for begin, end in pairwise(sorted(cuts)):
        yield text[begin:end], [span.name for span in spans if span.begin <= begin and end <= span.end]


@dataclass(frozen=True)
class DialogueTurn:
    """A turn with what belongs to it; without ``row``, records label a turn that the dialogue does not have."""

    turn_index: int
    row: _Row | None = None
    """The turn, as ``show`` has it."""
    items: Items = field(default_factory=list)
    parts: "list[TurnPart]" = field(default_factory=list)
    level: int = 0
    """In a tree: how many turns with several answers lead to it."""
    rival: str = ""
    """Which it is of several answers to a turn of a tree: ``2 of 3``."""

    @property
    def indent(self) -> int:
        """How many levels it is moved in: a deep tree would leave no room for words."""
        return min(self.level, _DEEPEST)

    @property
    def speaker(self) -> str | None:
        """The name or id of the speaker, or of all who speak together."""
        row = self.row or {}
        return ", ".join(row["speakers"]) if row.get("speakers") else row.get("speaker")

    @property
    def who(self) -> str:
        """Who says it: the speaker's name, or else the role; empty where there is no turn."""
        return str(self.speaker or (self.row or {}).get("role") or "")

    @property
    def text(self) -> str:
        """What the turn says."""
        return str(self.row["text"] or "") if self.row else ""

    @property
    def votes(self) -> list[Votes]:
        """The labels."""
        return [shown for _, shown in self.items if isinstance(shown, Votes)]

    @cached_property
    def spans(self) -> list[NamedSpan]:
        """The spans of its labels that lie in its text, named by scheme and label."""
        labelled = ((shown, vote) for shown in self.votes for vote in shown.detailed)
        found = {NamedSpan(*vote.span, f"{shown.name}: {vote.label}") for shown, vote in labelled if vote.span}
        return sorted(span for span in found if 0 <= span.begin < span.end <= len(self.text))

    @property
    def pieces(self) -> Iterator[tuple[str, list[str]]]:
        """Its text in pieces, each with the names of the spans that it is in; these may overlap."""
        return pieces(self.text, self.spans)

    @property
    def in_recording(self) -> str:
        """Where it is in its recording, in seconds, such as `` 1.000-1.900 s``; empty where it is in none."""
        ends = [(self.row or {}).get(name) for name in ("start_ms", "end_ms")]
        if ends == [None, None]:
            return ""
        begin, end = ("" if at is None else f"{at / 1000:,.3f}" for at in ends)
        return f" {begin}-{end} s"


@dataclass(frozen=True)
class ReadableDialogue:
    """A dialogue or record, turn by turn."""

    whole: Items
    """What belongs to all of it."""
    turns: list[DialogueTurn]

    def around(self, turn_index: int, before: int, after: int) -> list[DialogueTurn]:
        """Return a turn with so many before and after it: in a tree, that lead to it and that follow from it."""
        place = next((place for place, turn in enumerate(self.turns) if turn.turn_index == turn_index), 0)
        above, below = self.turns[:place], self.turns[place + 1 :]
        if any(turn.rival for turn in self.turns):
            replies = {turn.turn_index: (turn.row or {}).get("reply_to") for turn in self.turns}
            path, at = set[int | None](), replies[turn_index]
            while at is not None:
                path.add(at)
                at = replies[at]
            above = [turn for turn in above if turn.turn_index in path]
            level = self.turns[place].level
            below = [*takewhile(lambda turn: turn.level > level or not turn.rival, below)]
        return [*above[max(len(above) - before, 0) :], *self.turns[place : place + 1], *below[:after]]


def readable(found: _Row, records: list[_Row] | None = None) -> ReadableDialogue:
    """Return the result of ``show`` turn by turn, with the labels of these ``records``, or of all."""
    records = found["records"] if records is None else records
    texts = {turn["turn_index"]: turn["text"] for turn in found["turns"]}
    items: defaultdict[int | None, Items] = defaultdict(list)
    names = _record_names([record for record in records if any(record[kind] for kind in _KINDS)])
    for record in records:
        for kind, shown in _KINDS.items():
            for (turn_index,), rows in _grouped(record[kind], "turn_index"):
                text = (texts.get(turn_index, ""),) if shown is _votes else ()
                items[turn_index] += [(names[record["record_id"]], item) for item in shown(rows, *text)]
    whole, parts = items.pop(None, []), _parts_by_turn(found["turns"], found["parts"])
    turns = [
        DialogueTurn(index, at.row, items.pop(index, []), parts.get(index, []), at.level, at.rival)
        for index, at in ((at.row["turn_index"], at) for at in _in_branches(found["turns"]))
    ]
    return ReadableDialogue(whole, turns + [DialogueTurn(index or 0, None, rest) for index, rest in items.items()])


class _Placed(NamedTuple):
    """A turn with its level and its place among rivals, as ``DialogueTurn`` has them."""

    row: _Row
    level: int = 0
    rival: str = ""


def _in_branches(turns: list[_Row]) -> list[_Placed]:
    """Return turns with their places: of a tree each before what answers it, else as they are.

    A tree is what ``bi.turn_paths`` calls one; without a turn that several answer, it is read like any dialogue.
    """
    answers: defaultdict[int | None, list[_Row]] = defaultdict(list)
    for row in turns:
        answers[row["reply_to"]].append(row)
    placed: list[_Placed] = []
    ahead = [*map(_Placed, answers[None])]
    is_branched = len(ahead) == 1 and any(len(several) > 1 for several in answers.values())
    while ahead and is_branched:
        placed.append(turn := ahead.pop())
        below = answers[turn.row["turn_index"]]
        many = len(below) > 1
        ahead += [
            _Placed(row, turn.level + many, f"{place} of {len(below)}" * many)
            for place, row in reversed([*enumerate(below, start=1)])
        ]
    return placed if len(placed) == len(turns) else [*map(_Placed, turns)]


def facts(extra: str | None) -> Iterator[tuple[str, str]]:
    """Yield each key of a row's ``extra`` with its value: a text as it is, several with commas, all else as JSON."""
    import msgspec

    for key, value in msgspec.json.decode(extra or "{}", type=dict[str, msgspec.Raw]).items():
        text = bytes(value).decode()
        found = msgspec.json.decode(text) if text.startswith(('"', "[")) else None
        if isinstance(found, str):
            text = found
        elif found and all(isinstance(item, str) and item and "," not in item for item in found):
            text = ", ".join(found)
        yield key, text


_NAMING = (("release",), ("subset",), ("split",), ("release", "subset"), ("subset", "split"), ("release", "split"))


def _record_names(records: list[_Row]) -> dict[str, str]:
    """Name records by what distinguishes them: publisher's release, subset, split, or ids; one alone needs none."""
    if len(records) < 2:
        return {record["record_id"]: "" for record in records}
    for columns in _NAMING:
        values = [tuple(record[column] for column in columns) for record in records]
        if len(set(values)) == len(records) and not any(None in value for value in values):
            return {record["record_id"]: " ".join(value) for record, value in zip(records, values, strict=True)}
    return {record["record_id"]: record["record_id"] for record in records}


_Place: TypeAlias = tuple[int, int]
"""turn_index and part_index."""

CALL, RESPONSE, _TEXT = "tool_call", "tool_call_response", "text"


@dataclass(frozen=True)
class TurnPart:
    """A part of a turn."""

    kind: str
    name: str
    """Of the tool or file; of a response, that of the tool that was called."""
    content: str
    """The arguments of a call, the words of anything else; empty for what is only an address."""
    address: str
    """Where it is, and its media type, as far as published."""
    other_turn: int | None = None
    """Of a call, the turn with its response; of a response, the turn with its call."""
    response: str | None = None
    """Of a call that is answered in another turn: the words of the response."""


def _parts_by_turn(turns: Iterable[_Row], parts: Iterable[_Row]) -> dict[int, list[TurnPart]]:
    """Return the parts shown below each turn, without those that are parts of its text.

    ``turns`` and ``parts`` are those of one dialogue, in order, with all columns of their tables.
    """
    texts = {turn["turn_index"]: turn["text"] for turn in turns}
    rows = {(row["turn_index"], row["part_index"]): row for row in parts}
    pairs = _pairs(rows)
    shown: defaultdict[int, list[TurnPart]] = defaultdict(list)
    for place, row in rows.items():
        if row["kind"] != _TEXT or row["start_index"] is None:
            shown[row["turn_index"]].append(_turn_part(row, texts, rows.get(pairs.get(place, place))))
    return dict(shown)


def _pairs(rows: Mapping[_Place, _Row]) -> dict[_Place, _Place]:
    """Pair calls with responses, both ways, as ``bi.parts`` does: the second call of an id has the second response."""
    calls: defaultdict[str, list[_Place]] = defaultdict(list)
    responses: defaultdict[str, list[_Place]] = defaultdict(list)
    for place, row in rows.items():
        if row["call_id"] is not None and row["kind"] in (CALL, RESPONSE):
            (calls if row["kind"] == CALL else responses)[row["call_id"]].append(place)
    found = [pair for call_id in calls for pair in zip(calls[call_id], responses[call_id], strict=False)]
    return dict(found) | {response: call for call, response in found}


def _turn_part(row: _Row, texts: Mapping[int, str], other: _Row | None) -> TurnPart:
    is_paired = other is not None and other is not row
    name = row["name"] or (other["name"] if other and is_paired and row["kind"] == RESPONSE else None)
    is_elsewhere = other is not None and is_paired and other["turn_index"] != row["turn_index"]
    return TurnPart(
        kind=row["kind"],
        name=name or "",
        content=_words(row, texts),
        address=" ".join(filter(None, (row["uri"], row["mime_type"]))),
        other_turn=other["turn_index"] if other and is_paired else None,
        response=_words(other, texts) if other and is_elsewhere and row["kind"] == CALL else None,
    )


def _words(row: _Row, texts: Mapping[int, str]) -> str:
    if row["arguments"] is not None:
        return str(row["arguments"])
    if row["text"] is not None:
        return str(row["text"])
    if row["start_index"] is None or row["end_index"] is None:
        return ""
    return texts.get(row["turn_index"], "")[row["start_index"] : row["end_index"]]
