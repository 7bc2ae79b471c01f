"""Places boxes in columns, each right of all that it points at, so that the lines between them are short.

The libraries for this need a binary (Graphviz), are no longer kept (grandalf), or take boxes for points and place them
otherwise in each process (fast-sugiyama). A schema has few enough tables to try every exchange of two boxes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

Line = tuple[str, str]
"""From a box to one in a column left of it."""

_BEND = 10
"""Height of the place that a line takes in a column that it crosses."""


@dataclass(frozen=True)
class Placed:
    """The columns of boxes from left to right, and the upper end of each box and of each place that a line crosses."""

    columns: list[list[str]]
    tops: Mapping[str, float]
    heights: Mapping[str, float]
    routes: Mapping[Line, list[str]]
    """Line -> its two boxes, from right to left, and between them the places in the columns that it crosses."""


def place(heights: Mapping[str, float], lines: Iterable[Line], gap: float) -> Placed:
    """Place boxes of these heights, ``gap`` apart within a column; the same input always has the same places."""
    wanted = sorted(set(lines))
    depth = _depths(sorted(heights), wanted)
    sizes, routes = dict(heights), {}
    columns: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for box in sorted(heights):
        columns[depth[box]].append(box)
    for right, left in wanted:
        crossed = [f"{right} {left} {column}" for column in range(depth[right] - 1, depth[left], -1)]
        for column, bend in zip(range(depth[right] - 1, depth[left], -1), crossed, strict=True):
            columns[column].append(bend)
            sizes[bend] = _BEND
        routes[right, left] = [right, *crossed, left]
    tops = _shorten(columns, sizes, [pair for route in routes.values() for pair in pairwise(route)], gap)
    return Placed(columns, tops, sizes, routes)


def _depths(boxes: list[str], lines: list[Line]) -> dict[str, int]:
    """Return the column of each box: right of all that it points at, and as near as it can be to what points at it."""
    depth = dict.fromkeys(boxes, 0)
    for _ in boxes:
        for right, left in lines:
            depth[right] = max(depth[right], depth[left] + 1)
    for _ in boxes:
        for box in boxes:
            nearest = [depth[right] for right, left in lines if left == box]
            if nearest and not any(right == box for right, _ in lines):
                depth[box] = min(nearest) - 1
    return depth


def _shorten(
    columns: list[list[str]], sizes: Mapping[str, float], lines: list[Line], gap: float
) -> Mapping[str, float]:
    """Exchange boxes of a column as long as that makes the lines shorter, and return the upper ends."""
    best = _length(tops := _tops(columns, sizes, gap), sizes, lines)
    improved = True
    while improved:
        improved = False
        for column in columns:
            for one, other in combinations(range(len(column)), 2):
                column[one], column[other] = column[other], column[one]
                length = _length(tried := _tops(columns, sizes, gap), sizes, lines)
                if length < best:
                    best, tops, improved = length, tried, True
                else:
                    column[one], column[other] = column[other], column[one]
    return tops


def _tops(columns: list[list[str]], sizes: Mapping[str, float], gap: float) -> dict[str, float]:
    """Stack the boxes of each column, all columns around one middle line."""
    tall = [sum(sizes[box] + gap for box in column) - gap for column in columns]
    tops = {}
    for column, height in zip(columns, tall, strict=True):
        top = (max(tall) - height) / 2
        for box in column:
            tops[box] = top
            top += sizes[box] + gap
    return tops


def _length(tops: Mapping[str, float], sizes: Mapping[str, float], lines: list[Line]) -> float:
    """Add up the squared heights of the lines, so that none is very long."""
    middles = {box: top + sizes[box] / 2 for box, top in tops.items()}
    return sum((middles[right] - middles[left]) ** 2 for right, left in lines)
