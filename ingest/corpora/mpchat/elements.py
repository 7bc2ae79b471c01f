"""Persona elements: each distinct one is decoded once, however often its bytes occur, and becomes one persona."""

from collections.abc import Mapping
from hashlib import blake2b, sha1
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Raw

from ingest import decode
from ingest.corpora.mpchat.envelope import check_unknown
from ingest.corpora.mpchat.files import ElementList
from ingest.corpora.mpchat.format import CORPUS, Element
from ingest.corpora.mpchat.odd_elements import Oddity, label_oddities, persona_oddities
from ingest.keys import Keys
from ingest.rows import Persona, Row, Speaker

_COLUMNS = {"id", "author", "title", "direct_url", "file_name"}
_FIELDS = frozenset(field.name for field in msgspec.structs.fields(Element))
_IDENTITY = 4
"""Bytes of a content's hash that tell whether title, picture and author are the same; compared within one id only."""

_MASK = (1 << 8 * _IDENTITY) - 1
_LABELS = {"label_overall", "label_per_worker"}
_OTHERS = _FIELDS - _COLUMNS - _LABELS


class Vote(NamedTuple):
    """One worker's vote, and what its columns can't give back."""

    worker: str | None
    label: str
    value: float | None
    extra: str | None


class Labels(NamedTuple):
    """What workers say of an element and a message."""

    overall: str | None
    votes: tuple[Vote, ...]


class Use(NamedTuple):
    """What a list says by naming an element: the persona, and what belongs to this mention of it alone."""

    persona_id: str
    native_id: str
    extra: str | None
    """Order of keys where it is another than the persona's, and labels that are null or empty."""
    title_length: int
    labels: Labels | None


class UsedList(NamedTuple):
    """A list of persona elements that is not empty, with the use of each."""

    elements: ElementList
    uses: list[Use]

    @property
    def native_ids(self) -> list[str]:
        """The publisher's ids of the elements."""
        return [use.native_id for use in self.uses]


Lists: TypeAlias = Mapping[tuple[str, int | None], UsedList]
"""The lists of a dialogue that are not empty, by name and turn."""


class _Fresh(NamedTuple):
    """An element that was not seen before, decoded."""

    element: Element
    pieces: dict[str, Raw]
    place: ElementList
    number: int


class People:
    """Everybody who was named so far; gives the row of each once."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def id(self, name: str, rows: list[Row]) -> str:
        """Give the key of a person, and add the row where it is the first time."""
        key = f"{CORPUS}:{name}"
        if key not in self._known:
            self._known.add(key)
            rows.append(Speaker(key, CORPUS, name, name, "human", is_anonymous=False))
        return key


class Elements:
    """All persona elements of a build: a hash of each one's bytes, and the persona that it is."""

    def __init__(self, people: People) -> None:
        self.orders: dict[tuple[str, ...], int] = {}
        """Every order of keys that occurs, numbered as they come."""
        self._people = people
        self._known: dict[bytes, Use] = {}
        self._orders_of: dict[str, int] = {}
        self._keys = Keys()

    def check(self, lists: list[ElementList]) -> dict[bytes, _Fresh]:
        """Hash every element and decode those that are new; raises BadRecord for the first that is broken."""
        fresh: dict[bytes, _Fresh] = {}
        for one in lists:
            # The fastest hash that the standard library has, since a file names a million elements.
            one.marks = [sha1(raw, usedforsecurity=False).digest() for raw in one.raws]
            if None not in map(self._known.get, one.marks):
                continue
            for number, mark in enumerate(one.marks):
                if mark not in self._known and mark not in fresh:
                    fresh[mark] = _decoded(bytes(one.raws[number]), one, number)
        return fresh

    def settle(self, fresh: dict[bytes, _Fresh], rows: list[Row]) -> list[Oddity]:
        """Give the new elements their personas: rows are added, and what is unusual is given."""
        found: list[Oddity] = []
        for mark, one in fresh.items():
            natural, order = f"{CORPUS}:{one.element.id}", self._order(one)
            persona_id, is_new = self._keys.assign(natural, _content(one.element, one.pieces))
            odd = label_oddities(one.element)
            if is_new:
                rows.append(self._persona(persona_id, one, order, rows))
                odd += persona_oddities(one.element)
                odd += self._disagreement(natural, persona_id)
            self._known[mark] = self._use(persona_id, one, order)
            found += [Oddity(rule, what, one.place.pointer(one.number), one.element.id) for rule, what in odd]
        return found

    def used(self, one: ElementList) -> "UsedList":
        """Give a list with the use of every element of it."""
        return UsedList(one, list(map(self._known.__getitem__, one.marks)))

    def _persona(self, persona_id: str, one: _Fresh, order: int, rows: list[Row]) -> Persona:
        """Give the row of a persona; its owner's comes before it."""
        element = one.element
        if order:
            self._orders_of[persona_id] = order
        return Persona(
            persona_id=persona_id,
            corpus_id=CORPUS,
            native_id=element.id,
            speaker_id=self._people.id(element.author, rows) if isinstance(element.author, str) else None,
            text=element.title,
            image_file=element.file_name,
            image_url=element.direct_url if isinstance(element.direct_url, str) else None,
            extra=_extra(one.pieces, order),
        )

    def _disagreement(self, natural: str, persona_id: str) -> list[tuple[str, str]]:
        """Tell whether a new persona has another title, picture or author than the first one of its id."""
        if persona_id == natural:
            return []
        first, own = self._keys.content(natural), self._keys.content(persona_id)
        if first[-_IDENTITY:] == own[-_IDENTITY:]:
            return []
        return [("MP-12", "another title, picture or author under an id that is taken")]

    def _use(self, persona_id: str, one: _Fresh, order: int) -> Use:
        element, labels, extra = one.element, None, None
        is_labelled = not _LABELS.isdisjoint(one.pieces)
        if is_labelled:
            labels = _labels(element)
        if is_labelled or order != self._orders_of.get(persona_id, 0):
            no_votes = {"label_per_worker": element.label_per_worker} if element.label_per_worker in (None, []) else {}
            extra = decode.dump({"fields": order} | no_votes)
        return Use(persona_id, element.id, extra, len(element.title), labels)

    def _order(self, one: _Fresh) -> int:
        return self.orders.setdefault(tuple(one.pieces), len(self.orders))


def _decoded(raw: bytes, place: ElementList, index: int) -> _Fresh:
    """Decode one element; a defect is named with its place in the dialogue."""
    try:
        element, unknown = decode.record(raw, Element, rule="MP-06")
        for at, piece in unknown.items():
            check_unknown(at, bytes(piece))
    except decode.BadRecord as bad:
        raise decode.BadRecord(bad.rule, bad.detail, place.pointer(index) + bad.pointer) from bad
    return _Fresh(element, decode.decoder(dict[str, Raw]).decode(raw), place, index)


def _content(element: Element, pieces: dict[str, Raw]) -> bytes:
    """Hash what an element says of its persona; the last bytes are of title, picture and author alone."""
    plain = element
    if element.label_overall is not UNSET or element.label_per_worker is not UNSET:
        plain = msgspec.structs.replace(element, label_overall=UNSET, label_per_worker=UNSET)
    said = msgspec.json.encode(plain)
    if not pieces.keys() <= _FIELDS:
        said += msgspec.json.encode({name: pieces[name] for name in sorted(pieces.keys() - _FIELDS)})
    identity = hash((element.title, element.file_name, element.direct_url, element.author)) & _MASK
    return blake2b(said, digest_size=16 - _IDENTITY).digest() + identity.to_bytes(_IDENTITY)


def _extra(pieces: dict[str, Raw], order: int) -> str | None:
    """Keep the fields that have no column, under their own names; ``fields`` is the number of the order of keys."""
    extra: dict[str, Any] = {name: piece for name, piece in pieces.items() if name in _OTHERS}
    if order:
        extra["fields"] = order
    if not pieces.keys() <= _FIELDS:
        extra["unknown"] = {name: piece for name, piece in pieces.items() if name not in _FIELDS}
    return decode.dump(extra)


def _labels(element: Element) -> Labels:
    votes = element.label_per_worker
    overall = element.label_overall if isinstance(element.label_overall, str) else None
    return Labels(overall, tuple(map(_vote, votes)) if isinstance(votes, list) else ())


def _vote(vote: tuple[str | int | None, int | float | bool | None]) -> Vote:
    """Lay out one worker's vote; the label is its JSON text."""
    worker, said = vote
    extra = None if isinstance(worker, str) else decode.dump({"worker": worker})
    return Vote(worker if isinstance(worker, str) else None, msgspec.json.encode(said).decode(), _value(said), extra)


def _value(said: float | bool | None) -> float | None:
    """Give a vote as a number; None for one that is too great for a double, whose label says it all the same."""
    try:
        return None if said is None else float(said)
    except OverflowError:
        return None
