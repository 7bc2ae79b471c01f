"""What the fields of a sample hold: types, how many values and how many different ones, a range, an example."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import msgspec

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
    return _fields(records, levels=2)


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


def _fields(records: Iterable[dict[str, Any]], levels: int) -> list[FieldProfile]:
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, []).append(value)
    return [_field(name, items, levels) for name, items in values.items()]


def _field(name: str, values: Sequence[Any], levels: int) -> FieldProfile:
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
        described.members = _fields(_objects(given), levels - 1)
    return described


def _measure(described: FieldProfile, given: Sequence[Any]) -> None:
    lists = [len(value) for value in given if isinstance(value, list | tuple)]
    numbers = [value for value in given if type_of(value) in ("number", "time")]
    sizes = lists or numbers
    try:
        described.low, described.high = (min(sizes), max(sizes)) if sizes else (None, None)
    except TypeError:  # numbers and times in one field
        described.low = described.high = None


def _objects(values: Iterable[Any]) -> list[dict[str, Any]]:
    objects: list[dict[str, Any]] = []
    for value in values:
        if isinstance(value, dict):
            objects.append(value)
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
    """Name a member; with its types where they are several, else with its words where a few recur."""
    about = tuple(member.types) if len(member.types) > 1 else ()
    about = about or (member.words if 1 < len(member.words) <= member.count // 2 else ())
    return f"{member.name} ({', '.join(about)})" if about else member.name
