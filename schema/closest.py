"""Which of the known names come closest to one that does not exist."""

from collections.abc import Iterable
from difflib import SequenceMatcher

_SHOWN = 8
_CLOSE = 0.75
"""Likeness from which on a name is worth showing: a letter or two are wrong."""


def closest(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that come closest, the nearest first; all of them where none does."""
    names = sorted(known, key=lambda other: (not other.startswith("main."), other))
    likeness = {other: _likeness(name, other) for other in names}
    near = [other for other in sorted(names, key=lambda other: -likeness[other]) if likeness[other] >= _CLOSE]
    return near[:_SHOWN] or names


def _likeness(name: str, other: str) -> float:
    """Compare names with and without their schema, from 0 to 1; one that holds the other is close to it."""
    wanted, plain = name.rpartition(".")[2], other.rpartition(".")[2]
    ratio = max(SequenceMatcher(None, name, other).ratio(), SequenceMatcher(None, wanted, plain).ratio())
    return max(ratio, _CLOSE) if wanted and wanted in plain else ratio
