"""Records back to their files."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import chain
from tempfile import TemporaryFile
from typing import IO, Any

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest.corpora.mpchat import format as layout
from talkhouse.ingest.corpora.mpchat.read import seconds_since, write_images
from talkhouse.ingest.decode import last_name
from talkhouse.ingest.rows import Annotation, Candidate, Persona, PersonaUse, Turn
from talkhouse.ingest.stored_record import StoredRecord, as_published, file_by_file

_BETWEEN = b", "
_COPIED = 1 << 20
"""Bytes that are copied from a temporary file at once."""


class _TaskFileExtra(Struct):
    """What ``source_files.extra`` holds."""

    fields: list[str] = []
    orders: list[list[str]] = []
    unknown: dict[str, Raw] = {}


class ElementWriter:
    """Writes the persona elements of one file; ``orders`` are the orders of keys that occur in it."""

    def __init__(self, orders: list[list[str]]) -> None:
        self._orders = orders
        self._plain: dict[str, Raw] = {}

    def element(self, persona: Persona, use_extra: str | None, labels: list[Annotation]) -> Raw:
        """Return the JSON of one element; without anything of its own, the same for every mention."""
        if use_extra is not None:
            return self._written(persona, msgspec.json.decode(use_extra), labels)
        if persona.persona_id not in self._plain:
            if len(self._plain) >= _REMEMBERED:
                self._plain.clear()
            self._plain[persona.persona_id] = self._written(persona, {}, labels)
        return self._plain[persona.persona_id]

    def _written(self, persona: Persona, use_extra: dict[str, Any], labels: list[Annotation]) -> Raw:
        extra = msgspec.json.decode(persona.extra or "{}", type=_PersonaExtra)
        order = self._orders[use_extra.pop("fields", extra.fields)]
        values = _persona_fields(persona) | extra.unknown | layout.label_fields(labels) | use_extra
        return Raw(msgspec.json.encode({name: values.get(name) for name in order}))


def write_record(stored: StoredRecord) -> bytes:
    """Return one loaded record as its file has it: the JSON of a dialogue, or a whole file of image addresses."""
    return _record(stored, ElementWriter(_file_extra(stored).orders))


def _file(first: StoredRecord, records: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write one file: a list of images, or what its envelope and its dialogues say."""
    return iter((write_record(first),)) if first.record else _task_file(_file_extra(first), records)


write = file_by_file(_file)


def _record(stored: StoredRecord, elements: ElementWriter) -> bytes:
    task_file = _TASK_FILES.get(stored.loaded.subset or "")
    return as_published(stored, write_dialogue(task_file, stored, elements) if task_file else write_images(stored))


_TASK_FILES = {task_file.subset: task_file for task_file in layout.TASK_FILES.values()}


def _file_extra(stored: StoredRecord) -> _TaskFileExtra:
    return msgspec.json.decode(stored.file.extra or "{}", type=_TaskFileExtra)


def _task_file(extra: _TaskFileExtra, records: Iterable[StoredRecord]) -> Iterator[bytes]:
    """Write the dialogues of a file, quarantined ones as they came, in the order of its fields.

    Records come in the order of their indexes, so that the splits alternate: the first split is written as it
    comes, the others wait in temporary files, for together they can be larger than memory.
    """
    unknown = {last_name(pointer): value for pointer, value in extra.unknown.items()}
    streamed, *later = [name for name in extra.fields if name in layout.SPLITS]
    with ExitStack() as stack:
        waiting = {name: stack.enter_context(TemporaryFile()) for name in later}
        for position, name in enumerate(extra.fields):
            yield (_BETWEEN if position else b"{") + msgspec.json.encode(name) + b": "
            if name == streamed:
                yield from _list(_streamed(streamed, waiting, records, ElementWriter(extra.orders)))
            elif name in waiting:
                waiting[name].seek(0)
                yield from _list(iter(partial(waiting[name].read, _COPIED), b""))
            else:
                yield bytes(unknown[name])
    yield b"}"


def _streamed(
    streamed: str, waiting: Mapping[str, IO[bytes]], records: Iterable[StoredRecord], elements: ElementWriter
) -> Iterator[bytes]:
    """Write the dialogues of one split with what stands between them; put those of the others where they wait."""
    is_first = True
    for stored in records:
        split = stored.pointer.split("/")[1]
        piece = stored.raw if stored.raw is not None else _record(stored, elements)
        if split == streamed:
            yield piece if is_first else _BETWEEN + piece
            is_first = False
        else:
            stream = waiting[split]
            stream.write(_BETWEEN + piece if stream.tell() else piece)


def _list(pieces: Iterable[bytes]) -> Iterator[bytes]:
    return chain((b"[",), pieces, (b"]",))


_REMEMBERED = 20_000
"""Written elements that are remembered; beyond, all are forgotten and written again."""


class _TaskRecordExtra(Struct):
    """What ``records.extra`` holds."""

    fields: list[str] = []
    lists: dict[str, Any] = {}
    differs: dict[str, Any] = {}
    unknown: dict[str, Raw] = {}
    nan: list[int] = []


class _PersonaExtra(Struct):
    """The content of ``personas.extra`` other than plain fields."""

    fields: int = 0
    unknown: dict[str, Raw] = {}


def _persona_fields(persona: Persona) -> dict[str, Any]:
    """Return the fields of a persona by their published names; what is null may be missing."""
    fields: dict[str, Any] = msgspec.json.decode(persona.extra or "{}", type=dict[str, Raw])
    return fields | {
        "id": persona.native_id,
        "title": persona.text,
        "file_name": persona.image_file,
        "author": _name(persona.speaker_id) if persona.speaker_id else None,
        "direct_url": persona.image_url,
    }


def write_dialogue(task_file: layout.TaskFile, stored: StoredRecord, elements: ElementWriter) -> bytes:
    """Return a dialogue's JSON: first as the tables have it, then with what its record states differently."""
    extra = msgspec.json.decode(stored.loaded.extra or "{}", type=_TaskRecordExtra)
    values = _messages(stored) | {"main_author": _name(stored.loaded.main_speaker_id)}
    values |= _Lists(task_file, stored, elements, extra.lists).fields()
    for pointer, value in {**extra.differs, **extra.lists, **extra.unknown}.items():
        name, *index = map(last_name, pointer.split("/")[1:])
        if index:
            values[name][int(index[0])] = value
        else:
            values[name] = value
    for turn in extra.nan:
        values["created_utcs"][turn] = Raw(b"NaN")
    return msgspec.json.encode({name: values.get(name) for name in extra.fields})


def _messages(stored: StoredRecord) -> dict[str, Any]:
    turns, dialogue = stored.turns, stored.dialogue
    assert dialogue is not None  # noqa: S101 - every such record is a dialogue
    facts: dict[str, Any] = msgspec.json.decode(dialogue.extra or "{}")
    return facts | {
        "subreddit": dialogue.domain,
        "messages": [turn.text for turn in turns],
        "message_ids": [turn.native_id for turn in turns],
        "authors": [_name(turn.speaker_id) if turn.speaker_id else None for turn in turns],
        "created_utcs": [_seconds(turn) for turn in turns],
    }


class _Lists:
    """The lists of one dialogue."""

    def __init__(
        self, task_file: layout.TaskFile, stored: StoredRecord, elements: ElementWriter, empty: Mapping[str, Any]
    ) -> None:
        self._task_file, self._stored, self._elements, self._empty = task_file, stored, elements, empty
        self._labels = defaultdict(list)
        for row in stored.annotations:
            self._labels[row.persona_set, row.turn_index, row.persona_position].append(row)

    def fields(self) -> dict[str, Any]:
        """Return every list by its field."""
        lists: dict[str, Any] = {field.name: self._list(field) for field in self._task_file.lists}
        return {self._task_file.candidates: self._responses()} | lists

    def _list(self, field: layout.ListField) -> list[Any]:
        """Build one list of persona elements."""
        rows: list[Any] = list(self._rows(field))
        if field.nesting is layout.Nesting.FLAT:
            return [self._element(field, row, index) for index, row in enumerate(rows)]
        inner: defaultdict[int, list[Raw]] = defaultdict(list)
        counted: defaultdict[int | None, int] = defaultdict(int)
        for row in rows:
            position = row.position if field.nesting is layout.Nesting.PER_AUTHOR else row.turn_index
            inner[position].append(self._element(field, row, counted[row.turn_index]))
            counted[row.turn_index] += 1
        if field.nesting is layout.Nesting.ONE_PER_TURN:
            return [next(iter(inner[turn]), None) for turn in range(len(self._stored.turns))]
        size = len(self._stored.turns) if field.nesting is layout.Nesting.PER_TURN else self._authors(inner)
        return [inner[position] for position in range(size)]

    def _rows(self, field: layout.ListField) -> Iterable[PersonaUse | Candidate]:
        if field.is_candidates:
            return (row for row in self._stored.candidates if row.candidate_set == field.set_name)
        return (row for row in self._stored.persona_uses if row.persona_set == field.set_name)

    def _element(self, field: layout.ListField, row: PersonaUse | Candidate, index: int) -> Raw:
        persona = self._stored.personas[row.persona_id or ""]
        return self._elements.element(persona, row.extra, self._labels[field.set_name, row.turn_index, index])

    def _authors(self, inner: Iterable[int]) -> int:
        """Count the candidate authors, those without elements too."""
        start = f"/{layout.SPEAKER.candidates}/"
        empty = (int(pointer.removeprefix(start)) for pointer in self._empty if pointer.startswith(start))
        return max([*inner, *empty], default=-1) + 1

    def _responses(self) -> list[list[str]]:
        texts: list[list[str]] = [[] for _ in self._stored.turns]
        for row in self._stored.candidates:
            if row.candidate_set == layout.RESPONSES:
                texts[row.turn_index or 0].append(self._stored.texts[row.text_id or ""])
        return texts


def _name(speaker_id: str | None) -> str:
    return (speaker_id or "").partition(":")[2]


def _seconds(turn: Turn) -> Any:
    """Return a message's time as it was published; a time that the column does not reproduce is in ``extra``."""
    if turn.extra is not None:
        return msgspec.json.decode(turn.extra)["created_utc"]
    return seconds_since(turn.said_at) if turn.said_at else None
