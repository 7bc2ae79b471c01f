"""Lists of paths: each object is read by the paths that lead to something in it, so that its reader knows one a key."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, TypeVar

from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.shapes import SplitObject, is_null

T = TypeVar("T")


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
        self._made: dict[tuple[JsonPath, ...], T] = {}

    def reader(self, members: Mapping[Any, Any]) -> T:
        """Return the reader of an object with these members."""
        split = SplitObject(members, {})
        chosen = tuple(_first(split, paths) for paths in self._paths.values())
        if chosen not in self._made:
            fields: dict[str, dict[str, Any]] = {name: {"fallbacks": {}} for name in self._tables}
            for (name, key), path in zip(self._paths, chosen, strict=True):
                fields[name][key] = path
            self._made[chosen] = self._make({name: replace(self._tables[name], **own) for name, own in fields.items()})
        return self._made[chosen]


def has_fallbacks(tables: Mapping[str, Any]) -> bool:
    """Whether any key of these tables has several paths."""
    return any(table.fallbacks for table in tables.values())


def _first(split: SplitObject, paths: tuple[JsonPath, ...]) -> JsonPath:
    """Return the first path that leads to something but null; else the first that leads to null, or of all."""
    there = [(path, raw) for path in paths if (raw := split.find(path)) is not None]
    return next((path for path, raw in there if not is_null(raw)), there[0][0] if there else paths[0])
