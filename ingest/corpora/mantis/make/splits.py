"""Where a site's dialogues are cut into train, dev and test: 70, 15 and 15 %, by time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple


class Boundaries(NamedTuple):
    """Dialogues before ``dev`` are train, those from ``test`` on are test."""

    dev: int
    test: int
    walked: tuple[int, int]
    """Dialogues by which each boundary was moved, since they have one time."""


def boundaries(times: Sequence[Any]) -> Boundaries:
    """Return where the splits of the dialogues of one site begin, given their questions' times in order.

    A boundary moves to the last of a run of equal times, which then opens the next split, while the rest of the run
    stays in the split before (as in the authors' code, which stops with an error where the run reaches the end).
    Where 15 % are not one dialogue, dev takes all that is left.
    """
    count = len(times)
    first = int(0.7 * count)
    dev = _last_equal(times, first)
    share = int(0.15 * count)
    if not share:
        return Boundaries(dev, count, (dev - first, 0))
    second = min(dev + share, count)
    test = _last_equal(times, second)
    return Boundaries(dev, test, (dev - first, test - second))


def _last_equal(times: Sequence[Any], index: int) -> int:
    while index + 1 < len(times) and times[index] == times[index + 1]:
        index += 1
    return index


def slices(cut: Boundaries, count: int) -> dict[str, range]:
    """Return the dialogues of each split, by their number."""
    edges = (0, cut.dev, cut.test, count)
    return {split: range(*edge) for split, edge in zip(("train", "dev", "test"), pairwise(edges), strict=True)}
