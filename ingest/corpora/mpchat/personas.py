"""Persona elements to personas, each distinct one decoded once; and the rows of the lists that they stand in."""

from collections.abc import Iterator
from hashlib import blake2b, sha1
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.mpchat import format as layout
from talkhouse.ingest.corpora.mpchat.warnings import ElementWarning, label_problems, persona_problems
from talkhouse.ingest.keys import Keys
from talkhouse.ingest.rows import Annotation, Candidate, ColumnBatch, Persona, PersonaUse, Record, Row, Speaker


class MpchatPeople:
    """Everybody who was named so far."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def id(self, name: str, rows: list[Row]) -> str:
        """Return the key of a person; the first time, add the row."""
        key = f"{layout.CORPUS}:{name}"
        if key not in self._known:
            self._known.add(key)
            rows.append(Speaker(key, layout.CORPUS, name, name, "human", is_anonymous=False))
        return key


_COLUMNS = {"id", "author", "title", "direct_url", "file_name"}
_FIELDS = frozenset(field.name for field in msgspec.structs.fields(layout.PersonaElement))
_LABELS = {"label_overall", "label_per_worker"}
_OTHERS = _FIELDS - _COLUMNS - _LABELS
_IDENTITY = 4
"""Bytes of a content's hash that tell whether title, picture and author are the same; compared within one id only."""

_MASK = (1 << 8 * _IDENTITY) - 1


class _NewElement(NamedTuple):
    """An element that was not seen before, decoded, and where it was."""

    element: layout.PersonaElement
    pieces: dict[str, Raw]
    found_in: layout.PersonaList
    number: int


class PersonaElements:
    """All persona elements of a build: a fingerprint of each one's bytes, and the persona that it is."""

    def __init__(self, people: MpchatPeople) -> None:
        self.orders: dict[tuple[str, ...], int] = {}
        """Every order of keys that occurs, numbered as they come."""
        self._people = people
        self._known: dict[bytes, layout.Use] = {}
        self._orders_of: dict[str, int] = {}
        self._keys = Keys()

    def decode_new(self, lists: list[layout.PersonaList]) -> dict[bytes, _NewElement]:
        """Fingerprint every element and decode those that are new; raises BadRecord for the first that is broken."""
        new: dict[bytes, _NewElement] = {}
        for listed in lists:
            # The fastest hash that the standard library has, since a file names a million elements.
            listed.fingerprints = [sha1(raw, usedforsecurity=False).digest() for raw in listed.raws]
            if None not in map(self._known.get, listed.fingerprints):
                continue
            for index, fingerprint in enumerate(listed.fingerprints):
                if fingerprint not in self._known and fingerprint not in new:
                    new[fingerprint] = _decoded(bytes(listed.raws[index]), listed, index)
        return new

    def add(self, new: dict[bytes, _NewElement], rows: list[Row]) -> list[ElementWarning]:
        """Make personas of new elements and add their rows; returns what is unusual about them."""
        warnings: list[ElementWarning] = []
        for fingerprint, element in new.items():
            natural = f"{layout.CORPUS}:{element.element.id}"
            order = self.orders.setdefault(tuple(element.pieces), len(self.orders))
            persona_id, is_new = self._keys.assign(natural, _content(element.element, element.pieces))
            problems = list(label_problems(element.element))
            if is_new:
                rows.append(self._persona(persona_id, element, order, rows))
                problems += persona_problems(element.element)
                if self._is_other_persona(natural, persona_id):
                    problems.append(("MP-12", "another title, picture or author under an id that is taken"))
            self._known[fingerprint] = self._use(persona_id, element, order)
            warnings += [
                ElementWarning(rule, detail, element.found_in.pointer(element.number), element.element.id)
                for rule, detail in problems
            ]
        return warnings

    def fill_uses(self, personas: layout.PersonaList) -> None:
        """Name the persona of every element of a list."""
        personas.uses = list(map(self._known.__getitem__, personas.fingerprints))

    def _persona(self, persona_id: str, new: _NewElement, order: int, rows: list[Row]) -> Persona:
        """Return the row of a persona; its owner's comes before it."""
        element = new.element
        if order:
            self._orders_of[persona_id] = order
        return Persona(
            persona_id=persona_id,
            corpus_id=layout.CORPUS,
            native_id=element.id,
            speaker_id=self._people.id(element.author, rows) if isinstance(element.author, str) else None,
            text=element.title,
            image_file=element.file_name,
            image_url=element.direct_url if isinstance(element.direct_url, str) else None,
            extra=_extra(new.pieces, order),
        )

    def _is_other_persona(self, natural: str, persona_id: str) -> bool:
        """Whether a persona has another title, picture or author than the first one of its id."""
        return self._keys.content(natural)[-_IDENTITY:] != self._keys.content(persona_id)[-_IDENTITY:]

    def _use(self, persona_id: str, new: _NewElement, order: int) -> layout.Use:
        element, is_labelled, extra = new.element, not _LABELS.isdisjoint(new.pieces), None
        if is_labelled or order != self._orders_of.get(persona_id, 0):
            no_votes = {"label_per_worker": element.label_per_worker} if element.label_per_worker in (None, []) else {}
            extra = decode.dump({"fields": order} | no_votes)
        labels = layout.labels_of(element) if is_labelled else ()
        return layout.Use(persona_id, element.id, extra, len(element.title), labels)


def _decoded(raw: bytes, personas: layout.PersonaList, index: int) -> _NewElement:
    """Decode one element; a defect is named with its pointer inside the dialogue."""
    try:
        element, unknown = decode.record(raw, layout.PersonaElement, rule="MP-06")
        for at, piece in unknown.items():
            layout.check_unknown(at, bytes(piece))
    except decode.BadRecord as bad:
        raise decode.BadRecord(bad.rule, bad.detail, personas.pointer(index) + bad.pointer) from bad
    return _NewElement(element, decode.decoder(dict[str, Raw]).decode(raw), personas, index)


def _content(element: layout.PersonaElement, pieces: dict[str, Raw]) -> bytes:
    """Hash what an element says of its persona; the last bytes are of title, picture and author alone."""
    plain = element
    if element.label_overall is not UNSET or element.label_per_worker is not UNSET:
        plain = msgspec.structs.replace(element, label_overall=UNSET, label_per_worker=UNSET)
    stated = msgspec.json.encode(plain)
    if not pieces.keys() <= _FIELDS:
        stated += msgspec.json.encode({name: pieces[name] for name in sorted(pieces.keys() - _FIELDS)})
    identity = hash((element.title, element.file_name, element.direct_url, element.author)) & _MASK
    return blake2b(stated, digest_size=16 - _IDENTITY).digest() + identity.to_bytes(_IDENTITY)


def _extra(pieces: dict[str, Raw], order: int) -> str | None:
    """Keep the fields that have no column, under their own names; ``fields`` is the number of the order of keys."""
    extra: dict[str, Any] = {name: piece for name, piece in pieces.items() if name in _OTHERS}
    if order:
        extra["fields"] = order
    if not pieces.keys() <= _FIELDS:
        extra["unknown"] = {name: piece for name, piece in pieces.items() if name not in _FIELDS}
    return decode.dump(extra)


NULL = b"null"


def persona_lists(task_file: layout.TaskFile, dialogue: layout.SourceDialogue) -> Iterator[layout.PersonaList]:
    """List the lists of persona elements that a dialogue has, but for empty ones."""
    for field in task_file.lists:
        value = getattr(dialogue, field.name) or []
        match field.nesting:
            case layout.Nesting.FLAT if value:
                yield layout.PersonaList(field, None, value)
            case layout.Nesting.PER_TURN:
                yield from (layout.PersonaList(field, turn, items) for turn, items in enumerate(value) if items)
            case layout.Nesting.ONE_PER_TURN:
                yield from (
                    layout.PersonaList(field, turn, [raw]) for turn, raw in enumerate(value) if bytes(raw) != NULL
                )
            case layout.Nesting.PER_AUTHOR if value:
                sizes = [len(items or ()) for items in value]
                raws = list(chain.from_iterable(items or () for items in value))
                if raws:
                    yield layout.PersonaList(field, len(dialogue.messages) - 1, raws, sizes)


def persona_use_batch(record: Record, personas: layout.PersonaList) -> ColumnBatch:
    """Return the uses of a list that describes the main author."""
    shared = {
        "record_id": record.record_id,
        "turn_index": personas.turn_index,
        "persona_set": personas.field.set_name,
        "dialogue_id": record.dialogue_id,
        "speaker_id": record.main_speaker_id,
    }
    return ColumnBatch(PersonaUse, shared, {"position": list(range(len(personas.uses))), **_columns(personas)})


def candidate_batch(record: Record, personas: layout.PersonaList, *, is_answer_first: bool) -> ColumnBatch:
    """Return the candidates of a list of personas, or of authors with a list of personas each."""
    sizes = personas.sizes or [1] * len(personas.uses)
    indexes = {
        "position": list(chain.from_iterable(repeat(position, size) for position, size in enumerate(sizes))),
        "item_index": list(chain.from_iterable(map(range, sizes))),
    }
    shared = _candidate(record, personas.turn_index, personas.field.set_name)
    gold = _gold(sizes[0], len(personas.uses), is_answer_first=is_answer_first)
    return ColumnBatch(Candidate, shared, indexes | _columns(personas) | {"is_gold": gold})


def response_batch(record: Record, turn: int, text_ids: list[str], *, is_answer_first: bool) -> ColumnBatch:
    """Return the candidates of a list of responses."""
    gold = _gold(1, len(text_ids), is_answer_first=is_answer_first)
    columns: dict[str, list[Any]] = {"position": list(range(len(text_ids))), "text_id": text_ids, "is_gold": gold}
    return ColumnBatch(Candidate, _candidate(record, turn, layout.RESPONSES) | {"item_index": 0}, columns)


def annotations(record: Record, personas: layout.PersonaList) -> Iterator[Annotation]:
    """List the labels of the personas of a list."""
    for position, use in enumerate(personas.uses):
        for label in use.labels:
            yield record.annotation(
                personas.turn_index,
                persona_set=personas.field.set_name,
                persona_position=position,
                persona_id=use.persona_id,
                **label._asdict(),
            )


def _columns(personas: layout.PersonaList) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"persona_id": list(map(_PERSONA_ID, personas.uses))}
    if any(map(_EXTRA, personas.uses)):
        columns["extra"] = list(map(_EXTRA, personas.uses))
    return columns


_PERSONA_ID, _EXTRA = attrgetter("persona_id"), attrgetter("extra")


def _candidate(record: Record, turn: int | None, name: str) -> dict[str, Any]:
    return {"record_id": record.record_id, "turn_index": turn, "candidate_set": name, "dialogue_id": record.dialogue_id}


def _gold(first: int, count: int, *, is_answer_first: bool) -> list[bool | None]:
    """Mark the items of the first candidate as right; None for all where that is not the answer."""
    if not is_answer_first or not first:
        return [None] * count
    return [position < first for position in range(count)]
