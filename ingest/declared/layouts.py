"""Layouts: where the members of objects go that have the same keys, of which columns take the same ones."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Raw

from talkhouse.ingest.declared.shapes import MOST_SHAPES, Split


class Layout(NamedTuple):
    """Where the members of an object go."""

    shape: Mapping[str, object]
    rest: list[tuple[str, str]]
    """Names in extra, each with the key that it is for."""


class Layouts:
    """The layouts of objects, one object for each; none for those with objects of which columns take a part."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, ...], tuple[tuple[str, str | None], ...]], Layout] = {}

    def of(self, split: Split, taken: Mapping[str, str | None], extra: dict[str, Raw]) -> Mapping[str, object]:
        """Return the shape of an object, and add the rest to ``extra``, as ``Split.shape`` does."""
        key = (split.keys, tuple(taken.items()))
        layout = self._known.get(key)
        if layout is not None:
            for name, member in layout.rest:
                extra[name] = split.members[member]
            return layout.shape
        rest: dict[str, Raw] = {}
        shape = split.shape(taken, rest)
        extra |= rest
        if split.is_flat:
            if len(self._known) >= MOST_SHAPES:
                self._known.clear()
            left = [name for name, item in shape.items() if item is None]
            self._known[key] = Layout(shape, list(zip(rest, left, strict=True)))
        return shape
