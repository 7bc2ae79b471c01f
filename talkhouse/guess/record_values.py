"""The values of a sample's records: by path, by the names of fields, and field by field in words."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import msgspec

from talkhouse.ingest.declared.declaration.model import JsonPath

Record: TypeAlias = dict[str, Any]
Fits: TypeAlias = Callable[[list[Any]], bool]

_DEEPEST = 3
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN = re.compile(r"[^a-z0-9]+")

ALMOST_ALL = 0.9
"""Share of the records that must have what a format has: some may be damaged."""


def as_words(name: str) -> str:
    """Write a field's name as names are compared: ``conversationId`` and ``Conversation-ID`` are conversation_id."""
    return _BETWEEN.sub("_", _HUMP.sub("_", name).lower()).strip("_")


def path_words(path: JsonPath) -> str:
    """Write a path as names are compared: ``author.id``."""
    return ".".join(as_words(name) if isinstance(name, str) else "*" for name in path)


def at(value: Any, path: JsonPath) -> Any:
    """Return the value at a path of names; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) and name is not None else None
    return value


def walk(record: Record, above: JsonPath = ()) -> Iterator[tuple[JsonPath, Any]]:
    """Yield the paths of names in a record, with what is there."""
    for name, value in record.items():
        path = (*above, name)
        yield path, value
        if isinstance(value, dict) and len(path) < _DEEPEST and not is_keyed(value):
            yield from walk(value, path)


def texts_of(value: Any) -> Iterator[str]:
    """Yield all texts in a value, but not the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_of(item)


def is_keyed(value: dict[str, Any]) -> bool:
    """Whether an object holds others under their ids, so that its names are no fields."""
    return len(value) > 1 and all(isinstance(item, dict) and item.get("id") == name for name, item in value.items())


def column(records: Iterable[Record], path: JsonPath) -> list[Any]:
    """Return the value of each record at a path, None where there is nothing."""
    return [at(record, path) for record in records]


class Records(list[Record]):
    """Objects that are looked at together: records, rows, turns or items of lists; not changed once they are here."""

    @cached_property
    def leaves(self) -> list[JsonPath]:
        """The paths of names to whatever is no object, in the order of their first occurrence."""
        return self._paths(to_objects=False)

    @cached_property
    def objects(self) -> list[JsonPath]:
        """The paths of names to objects."""
        return self._paths(to_objects=True)

    def _paths(self, *, to_objects: bool) -> list[JsonPath]:
        found = (path for record in self for path, value in walk(record) if isinstance(value, dict) == to_objects)
        return list(dict.fromkeys(found))

    @cached_property
    def values(self) -> dict[JsonPath, list[Any]]:
        """What the records have at each path of names, but null, an empty text and an empty list."""
        gathered: dict[JsonPath, list[Any]] = {}
        for record in self:
            for path, value in walk(record):
                if value not in (None, "", []):
                    gathered.setdefault(path, []).append(value)
        return gathered

    @cached_property
    def lists(self) -> dict[JsonPath, list[list[Any]]]:
        """The lists at each path, one for each record that has one; ``dialog[*]`` for a list of lists."""
        gathered: dict[JsonPath, list[list[Any]]] = {}
        for record in self:
            for path, value in walk(record):
                if isinstance(value, list):
                    gathered.setdefault(path, []).append(value)
        for path, values in list(gathered.items()):
            if any(values) and all(isinstance(item, list) for value in values for item in value):
                gathered[*path, None] = [list(chain.from_iterable(value)) for value in values]
        return gathered

    @cached_property
    def _words(self) -> list[tuple[str, JsonPath]]:
        return [(path_words(path), path) for path in self.leaves]

    def named(
        self, names: Sequence[str], but: Iterable[JsonPath | None] = (), *, objects_too: bool = False
    ) -> list[JsonPath]:
        """Return the paths of these names, as words, in their order; of objects only where these are wanted."""
        objects = [(path_words(path), path) for path in self.objects] if objects_too else []
        taken = set(but)
        by_words = {words: path for words, path in reversed([*self._words, *objects]) if path not in taken}
        return [by_words[name] for name in names if name in by_words]

    def pick(self, names: Sequence[str], fits: Fits, but: Iterable[JsonPath | None] = ()) -> JsonPath | None:
        """Return the path of the first of these names, as words, whose values fit; None where there is none."""
        return next((path for path in self.named(names, but) if fits(column(self, path))), None)


class Dialogues(list[Sequence[Record]]):
    """The turns of some dialogues."""

    @cached_property
    def turns(self) -> Records:
        """The turns of all dialogues."""
        return Records(chain.from_iterable(self))


def are_texts(values: list[Any]) -> bool:
    """Whether almost all are texts, some may be null, and one is not empty."""
    texts = [value for value in values if isinstance(value, str)]
    return any(texts) and len(texts) + values.count(None) >= ALMOST_ALL * len(values)


def are_texts_or_parts(values: list[Any]) -> bool:
    """Whether almost all are texts, or lists of texts and of objects that have one."""
    parts = [
        value for value in values if isinstance(value, list) and all(isinstance(part, str | dict) for part in value)
    ]
    texts = [value for value in values if isinstance(value, str)]
    return any((*texts, *parts)) and len(texts) + len(parts) + values.count(None) >= ALMOST_ALL * len(values)


_QUERY = re.compile(r"\s*(?:select|with|insert|update|delete|create)\s", re.IGNORECASE)


def are_queries(values: list[Any]) -> bool:
    """Whether most texts are SQL, which nobody says."""
    texts = [value for value in values if isinstance(value, str)]
    return sum(_QUERY.match(text) is not None for text in texts) * 2 > len(texts)


def are_words(values: list[Any]) -> bool:
    """Whether they are short texts of which there are a few."""
    words = {value for value in values if isinstance(value, str)}
    texts = all(isinstance(value, str | None) for value in values)
    return texts and are_texts(values) and len(words) <= 12 and all(len(word) <= 40 for word in words)


def are_ids(values: list[Any]) -> bool:
    """Whether each is a text or a whole number, and none stands twice."""
    return are_keys(values) and len(set(map(str, values))) == len(values)


def are_keys(values: list[Any]) -> bool:
    """Whether each is a text that is not empty, or a whole number."""
    return bool(values) and all(
        (isinstance(value, str) and value != "") or (isinstance(value, int) and not isinstance(value, bool))
        for value in values
    )


def whole_numbers(values: list[Any]) -> list[int] | None:
    """Return the values as whole numbers; None where one is none."""
    try:
        return [
            int(value) if isinstance(value, str | int) and not isinstance(value, bool) else int("") for value in values
        ]
    except ValueError:
        return None


MOST_WORDS = 6
"""Different values of a member that are listed; with more, or longer ones, it is no list of words."""
_LONGEST_WORD = 20
_LONGEST_EXAMPLE = 200
_MOST_ITEMS = 5_000
"""Items of lists that are looked into, for each field."""


@dataclass
class FieldProfile:
    """One field of the records, or of the items of a list in them."""

    name: str
    types: Counter[str] = field(default_factory=Counter)
    """``text``, ``number``, ``boolean``, ``time``, ``bytes``, ``list``, ``object``, ``null``, with how often."""
    count: int = 0
    """Records that have it, and not null."""
    distinct: int = 0
    """Different values of texts, numbers, booleans and times."""
    low: Any = None
    """The least number; of lists, items of the shortest."""
    high: Any = None
    example: Any = None
    words: tuple[str, ...] = ()
    """All values, where these are a few short texts."""
    members: list["FieldProfile"] = field(default_factory=list)
    """Of objects, and of the objects in a list."""


def fields_of(records: Iterable[dict[str, Any]]) -> list[FieldProfile]:
    """Describe the fields of records in the order of their first occurrence."""
    return _profiles(records, levels=2)


def type_of(value: Any) -> str:
    """Name the type of a decoded value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "text"
        case list() | tuple():
            return "list"
        case dict():
            return "object"
        case bytes():
            return "bytes"
        case date():  # a datetime is one
            return "time"
        case _:
            return "number"


def _profiles(records: Iterable[dict[str, Any]], levels: int) -> list[FieldProfile]:
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, []).append(value)
    return [_profile(name, items, levels) for name, items in values.items()]


def _profile(name: str, values: Sequence[Any], levels: int) -> FieldProfile:
    present = [value for value in values if value is not None]
    profile = FieldProfile(name, Counter(map(type_of, values)), len(present))
    scalars = [value for value in present if not isinstance(value, list | tuple | dict)]
    profile.distinct = len({(type(value), value) for value in scalars})
    profile.example = next((value for value in scalars if value != ""), None)
    sizes = [len(value) for value in present if isinstance(value, list | tuple)]
    sizes = sizes or [value for value in present if type_of(value) in ("number", "time")]
    with suppress(TypeError):  # numbers and times in one field
        profile.low, profile.high = (min(sizes), max(sizes)) if sizes else (None, None)
    texts = dict.fromkeys(value for value in scalars if isinstance(value, str))
    if len(texts) <= MOST_WORDS and all(len(text) <= _LONGEST_WORD for text in texts):
        profile.words = tuple(texts)
    if levels:
        profile.members = _profiles(_objects_in(present), levels - 1)
    return profile


def _objects_in(values: Iterable[Any]) -> list[dict[str, Any]]:
    objects: list[dict[str, Any]] = []
    for value in values:
        if isinstance(value, dict):
            objects += value.values() if is_keyed(value) else [value]
        elif isinstance(value, list | tuple):
            objects += [item for item in value if isinstance(item, dict)]
        if len(objects) >= _MOST_ITEMS:
            break
    return objects


def described(profile: FieldProfile) -> tuple[str, ...]:
    """Return the cells of a line about a field, behind its name: types, count, range, example or members."""
    types = ", ".join(name for name in profile.types if name != "null") or "null"
    return types, f"{profile.count:,}", _range(profile), _example(profile)


def _range(profile: FieldProfile) -> str:
    if profile.types["list"]:
        items = f"{profile.low:,}" if profile.low == profile.high else f"{profile.low:,} to {profile.high:,}"
        return f"{items} item{'s' * (profile.high != 1)}"
    if not profile.distinct:
        return ""
    if profile.distinct == profile.count > 1:
        return "all different"
    return f"{profile.distinct:,} value{'s' * (profile.distinct != 1)}"


def _example(profile: FieldProfile) -> str:
    if profile.members:
        return ", ".join(map(_member, profile.members))
    if profile.example is None:
        return ""
    text = str(profile.example) if isinstance(profile.example, bytes | date) else _json(profile.example)
    return text if len(text) <= _LONGEST_EXAMPLE else text[:_LONGEST_EXAMPLE] + "..."


def _json(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


def _member(member: FieldProfile) -> str:
    about = tuple(member.types) if len(member.types) > 1 else ()
    about = about or (member.words if 1 < len(member.words) <= member.count // 2 else ())
    return f"{member.name} ({', '.join(about)})" if about else member.name
