"""Values of records by path, and names of fields as words."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

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
    return ".".join(as_words(name or "*") for name in path)


def at(value: Any, path: JsonPath) -> Any:
    """Return what is at a path of names; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) and name is not None else None
    return value


def leaves(records: Iterable[Record]) -> dict[JsonPath, int]:
    """Count the paths of names to whatever is no object, in the order of their first occurrence."""
    counted: dict[JsonPath, int] = {}
    for record in records:
        for path, value in walk(record):
            if not isinstance(value, dict):
                counted[path] = counted.get(path, 0) + 1
    return counted


def objects(records: Iterable[Record]) -> dict[JsonPath, int]:
    """Count the paths of names to objects."""
    counted: dict[JsonPath, int] = {}
    for record in records:
        for path, value in walk(record):
            if isinstance(value, dict):
                counted[path] = counted.get(path, 0) + 1
    return counted


def walk(record: Record, above: JsonPath = ()) -> Iterator[tuple[JsonPath, Any]]:
    """Yield the paths of names in a record, with what is there."""
    for name, value in record.items():
        path = (*above, name)
        yield path, value
        if isinstance(value, dict) and len(path) < _DEEPEST:
            yield from walk(value, path)


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


def named(records: Sequence[Record], names: Sequence[str], but: Sequence[JsonPath | None] = ()) -> list[JsonPath]:
    """Return the paths of these names, as words, in the order of the names."""
    by_words = {path_words(path): path for path in reversed(leaves(records)) if path not in but}
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
    return any(texts) and len(texts) + len(parts) + values.count(None) >= MOST * len(values)


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
