"""What all formats of documents share: how one reads and writes, what every record may say, and lists of paths."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from msgspec import Raw, Struct

from talkhouse.ingest.declared import shapes as json_shapes
from talkhouse.ingest.declared.declaration.model import ISO, Annotations, Declaration, JsonPath
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.identity import id_part, joined_id
from talkhouse.ingest.declared.parsed_dialogue import ParsedDialogue, set_aside, text_or_aside
from talkhouse.ingest.declared.times import not_a_time, read_time, write_time
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.stored_record import StoredRecord

T = TypeVar("T")


def own_keys(paths: Iterable[JsonPath]) -> frozenset[str] | None:
    """Return the keys of texts at some paths, empty ones aside, if each is another member of the record itself."""
    there = [path for path in paths if path]
    keys = frozenset(path[0] for path in there if len(path) == 1 and isinstance(path[0], str))
    return keys if len(keys) == len(there) else None


def last_answer(roles: Sequence[str]) -> int | None:
    """Return the turn of a list of messages that is the response: the assistant's last, or None if there is none."""
    return next((index for index in reversed(range(len(roles))) if roles[index] == "assistant"), None)


class ListColumns(NamedTuple):
    """Where the turns of a format are that are columns: a list of objects."""

    list_key: str
    fields: Mapping[str, str]
    """Column of a turn -> key."""
    parts: frozenset[str]
    """Keys of what becomes parts of a turn."""
    is_plain: Callable[[str], bool]
    """Whether a role's word says no more than the role does."""
    null_is_text: bool
    """Whether a text of null is one, and empty."""
    replies: str = ""
    """The key of a list of messages in each of them, if there is one; then the turns are a tree."""


class DocumentFormat(Protocol):
    """One format: takes a record apart, and writes its placeholders again."""

    wanted: json_shapes.Wanted
    """The members of a record that the format takes, in addition to those of ``[dialogue]`` that all formats have."""

    @property
    def columns(self) -> ListColumns | frozenset[str] | None:
        """Where turns are columns, if that is where they are; or the keys of texts that are a turn or a candidate."""

    def read(self, record: json_shapes.SplitObject) -> ParsedDialogue:
        """Make the turns of a record from what is in its placeholders.

        Raises BadRecord GF-01 and others with the pointer inside the record.
        """

    def write(self, placeholder: str, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> bytes:
        """Return the JSON text of one of its placeholders, by its name in the shape.

        ``shapes`` are those of the record's file: of a turn at the level "message", of a part at "part", each by the
        row's ``extra`` (``shapes.shape("message", literals(turn.extra))``), where the engine has put the number.
        """


_TEXTS = {"native_id": "id", "title": "title", "domain": "domain", "language": "language", "split": "split"}
"""Placeholder, named like the column -> field of ``[dialogue]``."""

_STARTED = "started_at"
_OF_RECORDS = frozenset({"native_id", "split"})
_NO_ID = (b"n", b"[", b"{")
"""What a text begins with that is no id: null, a list, an object."""
ID_PART = "native_id:"
"""Before a number: one of the placeholders that are the id together."""
_LABEL = "label:"
"""Before the scheme's name: a placeholder that a label of the record fills."""


class RecordFields(Struct, gc=False):
    """What one record says of its dialogue."""

    native_id: str | None = None
    title: str | None = None
    domain: str | None = None
    language: str | None = None
    split: str | None = None
    started_at: datetime | None = None


def paths_of(declaration: Declaration) -> dict[str, JsonPath | None]:
    """Return the placeholders of a record that all formats have, with their paths."""
    dialogue = declaration.dialogue
    paths = {placeholder: getattr(dialogue, field) for placeholder, field in _TEXTS.items()}
    paths |= {f"{ID_PART}{number}": path for number, path in enumerate(dialogue.id_parts)}
    paths[_STARTED] = dialogue.started_at
    return paths | {label_placeholder(spec): spec.label for spec in declaration.annotations if is_whole_member(spec)}


def label_placeholder(spec: Annotations) -> str:
    """Return the name of the placeholder that a label of the record fills."""
    return _LABEL + spec.scheme


def is_whole_member(spec: Annotations) -> bool:
    """Whether a label is a member of the record that the annotation gives back."""
    is_plain = spec.on != "turn" and not (spec.by or spec.each or spec.from_file or spec.columns)
    return is_plain and spec.label is not None and all(isinstance(step, str) for step in spec.label)


class RecordFieldsReader:
    """Reads these fields of records of one corpus."""

    def __init__(self, declaration: Declaration) -> None:
        self._paths = [
            (placeholder, path, pointer(*path))
            for placeholder, path in paths_of(declaration).items()
            if path and (placeholder in _TEXTS or placeholder.startswith(ID_PART))
        ]
        self._may_lack_id = declaration.dialogue.may_lack_id
        self._started = declaration.dialogue.started_at
        self._form = declaration.times.get(_STARTED, ISO)
        self._language = declaration.languages[0] if len(declaration.languages) == 1 else None

    def read(
        self, record: json_shapes.SplitObject, taken: dict[str, str | None], findings: list[ReaderFinding]
    ) -> RecordFields:
        """Read them, and add to ``taken`` which of them columns give back; BadRecord GF-01 for one of another type."""
        fields = RecordFields(language=self._language)
        parts: list[str] = []
        for placeholder, path, at in self._paths:
            raw = record.find(path)
            is_id = placeholder.startswith("native_id")
            if placeholder == "native_id" and self._may_lack_id and (raw is None or bytes(raw)[:1] in _NO_ID):
                continue
            if raw is not None and not is_id and bytes(raw)[:1] in (b"{", b"["):
                findings.append(set_aside(f"the {placeholder} is {json_shapes.kind_of(raw)}, not a text", at))
            elif raw is not None and (is_id or not json_shapes.is_null(raw)):
                text, suffix = json_shapes.text_of(raw, at, f"the {'id' if is_id else placeholder}")
                if placeholder in _TEXTS:
                    setattr(fields, placeholder, text)
                else:
                    parts.append(text)
                taken[placeholder] = placeholder + suffix
            elif raw is not None:
                taken[placeholder] = None
            elif is_id:
                name = path_text(path).removeprefix("['']").removeprefix(".")
                raise BadRecord("GF-01", f"the id, {name}, is missing", pointer(*path[: record.depth(path)]))
        if parts:
            fields.native_id = joined_id(parts)
        raw = record.find(self._started)
        if raw is not None and self._started is not None:
            self._read_start(raw, pointer(*self._started), fields, taken, findings)
        return fields

    def _read_start(
        self, raw: Raw, at: str, fields: RecordFields, taken: dict[str, str | None], findings: list[ReaderFinding]
    ) -> None:
        if json_shapes.is_null(raw):
            taken[_STARTED] = None
            return
        if (found := text_or_aside(raw, at, "the time", findings)) is None:
            return
        text, suffix = found
        fields.started_at, how = read_time(text, self._form, is_number=suffix == json_shapes.LITERAL)
        if how is not None:
            taken[_STARTED] = str(json_shapes.Spelling(_STARTED, form=how))
        elif fields.started_at is None:
            findings.append(ReaderFinding("GF-09", not_a_time(text, self._form), pointer=at))


def write_field(placeholder: str, stored: StoredRecord, shapes: json_shapes.KnownShapes) -> bytes | None:
    """Return the JSON text of a placeholder that all formats have; None for another."""
    spelling = json_shapes.Spelling.read(placeholder)
    column = spelling.column
    if spelling.form and column == _STARTED and stored.dialogue and stored.dialogue.started_at is not None:
        return spelling.write(write_time(stored.dialogue.started_at, spelling.form, is_utc=shapes.is_utc))
    if column in _TEXTS:
        owner = stored.record if column in _OF_RECORDS else stored.dialogue
        return spelling.write(getattr(owner, column))
    if column.startswith(ID_PART):
        return spelling.write(id_part(stored.loaded.native_id or "", int(column.removeprefix(ID_PART))))
    if column.startswith(_LABEL):
        scheme = f"{stored.loaded.corpus_id}.{column.removeprefix(_LABEL)}"
        return spelling.write(next(row.label or "" for row in stored.annotations if row.scheme == scheme))
    return None


def take_label(spec: Annotations, record: json_shapes.SplitObject, taken: dict[str, str | None]) -> None:
    """Note that a label of the record gives its member back: a text or a literal that is a label."""
    raw = record.find(spec.label)
    if raw is None or not is_whole_member(spec):
        return
    if bytes(raw)[:1] not in (b"{", b"[", b"n"):
        text, suffix = json_shapes.text_of(raw, "", "the label")
        if text not in spec.missing_values:
            taken[label_placeholder(spec)] = label_placeholder(spec) + suffix


def given_back_by_records(taken: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return, of what columns take, only what the record's own rows hold, not its dialogue's."""
    return {
        placeholder: name
        for placeholder, name in taken.items()
        if placeholder in _OF_RECORDS or placeholder.startswith((ID_PART, _LABEL))
    }


class FallbackReaders(Generic[T]):
    """The readers of objects in which a key may have several paths, one for each choice of paths that occurs."""

    def __init__(self, tables: Mapping[str, Any], make: Callable[[Mapping[str, Any]], T]) -> None:
        """``tables``: those of the declaration by their fields; ``make`` gets them with one path a key."""
        self._tables, self._make = tables, make
        self._paths = {
            (name, key): (getattr(table, key), *others)
            for name, table in tables.items()
            for key, others in table.fallbacks.items()
        }
        self._cache: dict[tuple[JsonPath, ...], T] = {}

    def reader(self, members: Mapping[Any, Any]) -> T:
        """Return the reader of an object with these members."""
        split = json_shapes.SplitObject(members, {})
        chosen = tuple(_first(split, paths) for paths in self._paths.values())
        if chosen not in self._cache:
            fields: dict[str, dict[str, Any]] = {name: {"fallbacks": {}} for name in self._tables}
            for (name, key), path in zip(self._paths, chosen, strict=True):
                fields[name][key] = path
            self._cache[chosen] = self._make({name: replace(self._tables[name], **own) for name, own in fields.items()})
        return self._cache[chosen]


def has_fallbacks(tables: Mapping[str, Any]) -> bool:
    """Whether any key of these tables has several paths."""
    return any(table.fallbacks for table in tables.values())


_NOTHING = (b"null", b'""', b"[]")


def _first(split: json_shapes.SplitObject, paths: tuple[JsonPath, ...]) -> JsonPath:
    """Return the first path that leads to something but null or nothing; else the first that is there, or of all."""
    there = [(path, raw) for path in paths if (raw := split.find(path)) is not None]
    return next((path for path, raw in there if bytes(raw) not in _NOTHING), there[0][0] if there else paths[0])
