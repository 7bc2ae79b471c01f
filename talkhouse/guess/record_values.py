"""The values of a sample's records: by path, by the names of fields, and field by field in words."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, TypeAlias

import msgspec

from talkhouse.ingest.declared.declaration.model import JsonPath

Record: TypeAlias = dict[str, Any]
Fits: TypeAlias = Callable[[list[Any]], bool]

_DEEPEST = 3
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN = re.compile(r"[^a-z0-9]+")

MOST = 0.9
"""Share of the records that must have what a format has: some may be damaged."""


def as_words(name: str) -> str:
    """Write a field's name as names are compared: ``conversationId`` and ``Conversation-ID`` are conversation_id."""
    return _BETWEEN.sub("_", _HUMP.sub("_", name).lower()).strip("_")


def path_words(path: JsonPath) -> str:
    """Write a path as names are compared: ``author.id``."""
    return ".".join(as_words(name) if isinstance(name, str) else "*" for name in path)


def at(value: Any, path: JsonPath) -> Any:
    """Return what is at a path of names; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) and name is not None else None
    return value


def leaves(records: Iterable[Record], *, are_objects: bool = False) -> dict[JsonPath, int]:
    """Count the paths of names to whatever is no object, or to objects, in the order of their first occurrence."""
    found = (path for record in records for path, value in walk(record) if isinstance(value, dict) == are_objects)
    return dict(Counter(found))


def walk(record: Record, above: JsonPath = ()) -> Iterator[tuple[JsonPath, Any]]:
    """Yield the paths of names in a record, with what is there."""
    for name, value in record.items():
        path = (*above, name)
        yield path, value
        if isinstance(value, dict) and len(path) < _DEEPEST and not is_keyed(value):
            yield from walk(value, path)


def is_keyed(value: dict[str, Any]) -> bool:
    """Whether an object holds others under their ids, so that its names are no fields."""
    return len(value) > 1 and all(isinstance(one, dict) and one.get("id") == name for name, one in value.items())


def lists(records: Sequence[Record]) -> dict[JsonPath, list[list[Any]]]:
    """Return the lists at each path, one for each record that has one; ``dialog[*]`` for a list of lists."""
    gathered: dict[JsonPath, list[list[Any]]] = {}
    for record in records:
        for path, value in walk(record):
            if isinstance(value, list):
                gathered.setdefault(path, []).append(value)
    for path, values in list(gathered.items()):
        if any(values) and all(isinstance(item, list) for value in values for item in value):
            gathered[*path, None] = [[item for inner in value for item in inner] for value in values]
    return gathered


def column(records: Iterable[Record], path: JsonPath) -> list[Any]:
    """Return what each record has at a path, None where there is nothing."""
    return [at(record, path) for record in records]


def pick(records: Sequence[Record], names: Sequence[str], fits: Fits, but: Iterable[JsonPath | None] = ()) -> Any:
    """Return the path of the first of these names, as words, whose values fit; None where there is none."""
    by_words: dict[str, JsonPath] = {}
    taken = set(but)
    for path in leaves(records):
        if path not in taken:
            by_words.setdefault(path_words(path), path)
    return next((by_words[name] for name in names if name in by_words and fits(column(records, by_words[name]))), None)


def named(
    records: Sequence[Record],
    names: Sequence[str],
    but: Sequence[JsonPath | None] = (),
    *,
    objects_too: bool = False,
) -> list[JsonPath]:
    """Return the paths of these names, as words, in the order of the names; of objects only where these are wanted."""
    paths = [*leaves(records), *(leaves(records, are_objects=True) if objects_too else ())]
    by_words = {path_words(path): path for path in reversed(paths) if path not in but}
    return [by_words[name] for name in names if name in by_words]


def are_texts(values: list[Any]) -> bool:
    """Whether almost all are texts, some may be null, and one is not empty."""
    texts = [value for value in values if isinstance(value, str)]
    return any(texts) and len(texts) + values.count(None) >= MOST * len(values)


def are_texts_or_parts(values: list[Any]) -> bool:
    """Whether almost all are texts, or lists of texts and of objects that have one."""
    parts = [
        value for value in values if isinstance(value, list) and all(isinstance(part, str | dict) for part in value)
    ]
    texts = [value for value in values if isinstance(value, str)]
    return any((*texts, *parts)) and len(texts) + len(parts) + values.count(None) >= MOST * len(values)


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
        case datetime() | date():
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
    given = [value for value in values if value is not None]
    described = FieldProfile(name, Counter(map(type_of, values)), len(given))
    scalars = [value for value in given if not isinstance(value, list | tuple | dict)]
    described.distinct = len({(type(value), value) for value in scalars})
    described.example = next((value for value in scalars if value != ""), None)
    _measure(described, given)
    texts = {value for value in scalars if isinstance(value, str)}
    if 0 < len(texts) <= MOST_WORDS and all(len(text) <= _LONGEST_WORD for text in texts):
        described.words = tuple(dict.fromkeys(value for value in scalars if isinstance(value, str)))
    if levels:
        described.members = _profiles(_objects_in(given), levels - 1)
    return described


def _measure(described: FieldProfile, given: Sequence[Any]) -> None:
    lists = [len(value) for value in given if isinstance(value, list | tuple)]
    numbers = [value for value in given if type_of(value) in ("number", "time")]
    sizes = lists or numbers
    try:
        described.low, described.high = (min(sizes), max(sizes)) if sizes else (None, None)
    except TypeError:  # numbers and times in one field
        described.low = described.high = None


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


def described(one: FieldProfile) -> tuple[str, str, str, str]:
    """Return what a line about a field says behind its name: types, count, range, example or members."""
    types = ", ".join(name for name in one.types if name != "null") or "null"
    return types, f"{one.count:,}", _range(one), _example(one)


def _range(one: FieldProfile) -> str:
    if one.types["list"]:
        items = f"{one.low:,}" if one.low == one.high else f"{one.low:,} to {one.high:,}"
        return f"{items} item{'s' * (one.high != 1)}"
    if not one.distinct:
        return ""
    if one.distinct == one.count > 1:
        return "all different"
    return f"{one.distinct:,} value{'s' * (one.distinct != 1)}"


def _example(one: FieldProfile) -> str:
    if one.members:
        return ", ".join(map(_member, one.members))
    if one.example is None:
        return ""
    text = str(one.example) if isinstance(one.example, bytes | datetime | date) else _json(one.example)
    return text if len(text) <= _LONGEST_EXAMPLE else text[:_LONGEST_EXAMPLE] + "..."


def _json(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


def _member(member: FieldProfile) -> str:
    about = tuple(member.types) if len(member.types) > 1 else ()
    about = about or (member.words if 1 < len(member.words) <= member.count // 2 else ())
    return f"{member.name} ({', '.join(about)})" if about else member.name
