"""Which of the known names come closest to one that does not exist."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

_SHOWN = 8
MOST_LISTED = 10
"""Names in a message."""
_FEW = 10
"""So many names are all shown: which is meant is seen at a glance."""
_CLOSE = 0.75
"""Likeness from which on a name is worth showing: a letter or two are wrong."""


def closest(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that come closest, the nearest first; all of them where none does, or there are few."""
    names = sorted(known, key=lambda other: (not other.startswith("main."), other))
    likeness = {other: _likeness(name, other) for other in names}
    near = [other for other in sorted(names, key=lambda other: -likeness[other]) if likeness[other] >= _CLOSE]
    if not near:
        return names
    return near + [other for other in names if other not in near] if len(names) <= _FEW else near[:_SHOWN]


def listed(names: Sequence[str]) -> str:
    """Write names for a message: of many the first, and how many more there are."""
    more = f", ... ({len(names) - MOST_LISTED:,} more)" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def _likeness(name: str, other: str) -> float:
    """Compare names with and without their schema, from 0 to 1; one that holds the other is close to it."""
    wanted, plain = name.rpartition(".")[2], other.rpartition(".")[2]
    ratio = max(SequenceMatcher(None, name, other).ratio(), SequenceMatcher(None, wanted, plain).ratio())
    return max(ratio, _CLOSE) if wanted and wanted in plain else ratio
