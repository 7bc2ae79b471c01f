"""human_annotations.json: its layout is not documented, so any JSON is kept whole, and what names a mode is mapped.

A mode is found by its name in any spelling; a turn by its number, as the key of an object, by its place in a list or by
its words; its dialogue by its number in the validation file, or by words that only it has. Keys that say none of this
are named in a finding.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.blended_skill_talk.format import CORPUS, SEEDS
from talkhouse.ingest.corpora.blended_skill_talk.records import UniqueTexts, extra_of, record_at
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.keys import digest
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding
from talkhouse.ingest.rows import Annotation, Record, Row, Turn
from talkhouse.ingest.stored_record import StoredRecord

MODES = ("knowledge", "empathy", "personal situations", "personal background")

_STEMS = {"know": MODES[0], "empath": MODES[1], "situation": MODES[2], "background": MODES[3]}
"""How the word begins that tells a mode."""

_BESIDE = {"personal", "mode", "skill", "label", "is", "has", "use", "uses", "used", "shows", "contains", "of", "the"}
"""Words that may stand beside it in a name."""

_TURN = {"turn", "turns", "utterance", "utterances", "utt", "message"}
_DIALOGUE = {
    "dialogue",
    "dialogues",
    "dialog",
    "dialogs",
    "episode",
    "episodes",
    "conversation",
    "conversations",
    "conv",
}
_NUMBER = {"index", "idx", "id", "number", "num", "no", "nr", "i"}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_DEPTH = 6
_SHOWN = 20


class _Extra(Struct):
    """What ``records.extra`` holds."""

    value: Raw = Raw(b"null")


def scheme_of(mode: str) -> str:
    """Name the annotation scheme of a mode."""
    return f"{CORPUS}.{mode.replace(' ', '_')}"


class ValidationTurns:
    """The turns of the validation file, to be found by number or by their words; hashes are held, never texts."""

    def __init__(self) -> None:
        self._dialogues: dict[int, str] = {}
        self._sizes: dict[str, int] = {}
        self._places: defaultdict[bytes, set[tuple[str, int]]] = defaultdict(set)

    def add(self, number: int, dialogue_id: str, rows: Sequence[Row]) -> None:
        """Remember a dialogue by its 0-based place in the file."""
        turns = [row for row in rows if isinstance(row, Turn)]
        self._dialogues[number] = dialogue_id
        self._sizes.setdefault(dialogue_id, len(turns))
        for turn in turns[SEEDS:]:
            self._places[digest(turn.text)].add((dialogue_id, turn.turn_index))

    def __len__(self) -> int:
        """How many dialogues there are."""
        return len(self._dialogues)

    def places(self, text: str) -> set[tuple[str, int]]:
        """Return the dialogue and the index of each turn that has these words."""
        return self._places.get(digest(text), set())

    def numbered(self, number: int | None) -> str | None:
        """Return the key of a dialogue by its place in the file."""
        return None if number is None else self._dialogues.get(number)

    def has(self, dialogue_id: str, turn_index: int) -> bool:
        """Whether a dialogue has a turn of its own at an index."""
        return SEEDS <= turn_index < self._sizes[dialogue_id]


def read_human_annotations(
    input_file: InputFile, raw: bytes, _: UniqueTexts, turns: ValidationTurns
) -> Iterator[Outcome]:
    """Read the file: a record for each member of the outermost list or object."""
    decode.check_depth(raw)
    try:
        whole = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise decode.json_problem(raw, error) from error
    pieces = [("", raw.strip())]
    if isinstance(whole, dict | list):
        pieces = [(pointer(token), bytes(piece)) for token, piece in json_members.views(raw)]
    yield FileEnvelope(input_file.file, _envelope(whole, raw), len(pieces))
    is_aligned = isinstance(whole, list) and len(whole) == len(turns) and len(whole) > 1
    mapped, linked, unknown = 0, 0, Counter[str]()
    for index, (at, piece) in enumerate(pieces):
        input_file.file.check_record(len(piece), at)
        location = input_file.record_location(index, at, len(piece))
        start = _Place(dialogue=index if is_aligned else None)
        start = start.inside(at.removeprefix("/")) if isinstance(whole, dict) else start
        record = record_at(location, input_file, {"value": Raw(piece)})
        labels = list(_labels_of(record, msgspec.json.decode(piece), start, turns, unknown))
        mapped += len(labels)
        linked += sum(label.dialogue_id is not None and label.turn_index is not None for label in labels)
        yield Loaded(location, [record, *labels])
    detail = f"{mapped} labels of modes found, {linked} of them on turns of the validation file, in {_shape(whole)}"
    if unknown:
        detail += f"; not understood, and kept: {', '.join(map(repr, list(unknown)[:_SHOWN]))}"
    yield ReaderFinding("BS-11", detail, input_file.file, "")


def _envelope(whole: Any, raw: bytes) -> dict[str, Any]:
    if isinstance(whole, dict):
        return {"shape": "object", "fields": [token for token, _ in json_members.views(raw)]}
    return {"shape": "list" if isinstance(whole, list) else "value"}


def write_human_annotations(stored: StoredRecord) -> bytes:
    """Return a member as it was published."""
    return bytes(extra_of(stored, _Extra).value)


def _shape(value: Any, depth: int = 0) -> str:
    """Describe a JSON value by its types and keys."""
    if isinstance(value, dict):
        some = list(value.items())[:_SHOWN]
        inner = "..." if depth >= _DEPTH else ", ".join(f"{key}: {_shape(one, depth + 1)}" for key, one in some)
        return f"object {{{inner}}}"
    if isinstance(value, list):
        kinds = " or ".join(dict.fromkeys(_shape(one, depth + 1) for one in value[:100])) if depth < _DEPTH else "..."
        return f"list of {len(value) if depth == 0 else ''} {kinds or 'nothing'}".replace("  ", " ")
    return "null" if value is None else type(value).__name__


@dataclass(frozen=True)
class _Place:
    """What is known of the turn that is spoken of, from outside to inside."""

    dialogue: int | None = None
    turn: int | None = None
    key: int | None = None
    """The number that is an object's key: a turn's, or a dialogue's where another is in it."""
    position: int | None = None
    """The place in a list."""
    words: frozenset[tuple[str, int]] = frozenset()
    """The turns that have the words beside it."""

    def inside(self, key: str) -> "_Place":
        """Return what is known inside a member of an object, by its key."""
        *words, last = _words(key) or [""]
        number = _whole(last)
        if number is None:
            return self
        if _TURN & {*words}:
            return replace(self, turn=number)
        if _DIALOGUE & {*words}:
            return replace(self, dialogue=number)
        if words:
            return self
        if self.key is not None and self.dialogue is None:
            return replace(self, dialogue=self.key, key=number)
        return replace(self, key=number)

    @property
    def number(self) -> int | None:
        """The number of the turn, the surest first."""
        return next((one for one in (self.turn, self.key, self.position) if one is not None), None)


@dataclass
class _ModeLabel:
    """A label: where, which mode, and by which of several annotators."""

    place: _Place
    mode: str
    label: str
    annotator: int = 0


@dataclass
class _Walk:
    """A walk over one record."""

    turns: ValidationTurns
    unknown: Counter[str]
    dialogues: Counter[str] = field(default_factory=Counter)
    """How many texts of the record each dialogue has."""

    def run(self, value: Any, place: _Place) -> Iterator[_ModeLabel]:
        """Find every mode that is named, as a key, as the text of a member or as an item of a list."""
        if isinstance(value, dict):
            place = self._stated(value, place)
            for key, inner in value.items():
                mode = _mode(key)
                found = list(self._labels(inner, place, mode) if mode else self._member(key, inner, place))
                yield from found
                if not found and not self._is_understood(key, inner):
                    self.unknown[key] += 1
        elif isinstance(value, list):
            for position, inner in enumerate(value):
                if isinstance(inner, str):
                    self._texts(inner)
                    if mode := _mode(inner):
                        yield _ModeLabel(place, mode, "true")
                else:
                    yield from self.run(
                        inner, replace(place, position=position, key=None) if place.turn is None else place
                    )

    def _member(self, key: str, inner: Any, place: _Place) -> Iterator[_ModeLabel]:
        if isinstance(inner, str):
            if mode := _mode(inner):
                yield _ModeLabel(place, mode, "true")
        else:
            yield from self.run(inner, place.inside(key))

    def _labels(self, value: Any, place: _Place, mode: str) -> Iterator[_ModeLabel]:
        """Find the labels of one mode: a value, or a list with one for each annotator."""
        for annotator, one in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(one, dict | list):
                yield from self.run(one, place)
            elif one is not None:
                yield _ModeLabel(
                    place, mode, one if isinstance(one, str) else msgspec.json.encode(one).decode(), annotator
                )

    def _stated(self, value: dict[str, Any], place: _Place) -> _Place:
        """Return what the members of an object say of the place: numbers, and the words of a turn."""
        words: set[tuple[str, int]] = set()
        for key, inner in value.items():
            named = {*_words(key)}
            if (number := _whole(inner)) is not None:
                if named & _DIALOGUE and named <= _DIALOGUE | _NUMBER:
                    place = replace(place, dialogue=number)
                elif named & _TURN and named <= _TURN | _NUMBER:
                    place = replace(place, turn=number)
            elif isinstance(inner, str):
                words |= self._texts(inner)
        return replace(place, words=frozenset(words)) if words else place

    def _texts(self, text: str) -> set[tuple[str, int]]:
        places = self.turns.places(text)
        self.dialogues.update({dialogue_id for dialogue_id, _ in places})
        return places

    def _is_understood(self, key: str, inner: Any) -> bool:
        named = {*_words(key)}
        is_number = _whole(inner) is not None and bool(named & (_DIALOGUE | _TURN))
        return (
            is_number
            or inner is None
            or inner in ([], {})
            or (isinstance(inner, str) and bool(self.turns.places(inner)))
        )


def _labels_of(
    record: Record, value: Any, start: _Place, turns: ValidationTurns, unknown: Counter[str]
) -> Iterator[Annotation]:
    """Find the labels of a record, and its dialogue if they all are about one."""
    walk = _Walk(turns, unknown)
    found = list(walk.run(value, start))
    record.dialogue_id = _dialogue(walk.dialogues, [one.place.dialogue for one in found], turns)
    for item, one in enumerate(found):
        turn, extra = one.place.number, None
        if record.dialogue_id is not None:
            said = [index for dialogue_id, index in one.place.words if dialogue_id == record.dialogue_id]
            index = said[0] if len(said) == 1 else None if turn is None else turn + SEEDS
            if index is not None and not turns.has(record.dialogue_id, index):
                extra, index = decode.dump({"turn": turn}), None
            turn = index
        yield record.annotation(
            turn, scheme_of(one.mode), one.label, annotator_index=one.annotator, item_index=item, extra=extra
        )


def _dialogue(texts: Counter[str], numbers: list[int | None], turns: ValidationTurns) -> str | None:
    """Return the dialogue that a record is about: the one that has most of its texts, or the one that it names."""
    first, second = (texts.most_common(2) + [("", 0)] * 2)[:2]
    if first[1] > second[1]:
        return first[0]
    return turns.numbered(numbers[0]) if len({*numbers}) == 1 else None


def _words(name: str) -> list[str]:
    """Split a name into words, lower case: personalSituation_2 -> personal, situation, 2."""
    return [word.lower() for word in _WORD.findall(name)]


def _whole(value: Any) -> int | None:
    """Return a whole number that is published as a number or as digits, and that a column can hold."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if type(value) is int and abs(value) < 2**31 else None


def _mode(name: str) -> str | None:
    """Return the mode that a name names, however it is spelled; None where it says something else too."""
    words = [word for word in _words(name) if not word.isdecimal()]
    modes = {mode for word in words for stem, mode in _STEMS.items() if word.startswith(stem)}
    others = [word for word in words if word not in _BESIDE and not any(map(word.startswith, _STEMS))]
    return modes.pop() if len(modes) == 1 and not others else None
