"""Words that were put in, taken out or kept between two texts."""

import re
from itertools import groupby

_PIECE = re.compile(r"[^\W_]+|\s+|.", re.DOTALL)
"""A run of letters and digits, a run of blanks, or a single other character."""

_MOST = 4_000_000
"""The product of the numbers of pieces up to which two texts are compared."""

Words = list[tuple[str, str]]
"""Runs of a text: ``=`` for what is in both, ``-`` for what the first alone has, ``+`` the second."""


def words(before: str | None, after: str | None) -> Words | None:
    """Return the runs of two texts; None where there is one text only, or where both are too long.

    What is in both is a longest common subsequence of their pieces. Joining ``=`` and ``-`` gives the first text,
    ``=`` and ``+`` the second.
    """
    if before is None or after is None:
        return None
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    if len(old) * len(new) > _MOST:
        return None
    begin = _common(old, new)
    end = _common(old[begin:][::-1], new[begin:][::-1])
    steps = [("=", piece) for piece in old[:begin]]
    steps += _steps(old[begin : len(old) - end], new[begin : len(new) - end])
    steps += [("=", piece) for piece in old[len(old) - end :]]
    return _runs(steps)


def _common(old: list[str], new: list[str]) -> int:
    """Count the pieces with which both begin."""
    for index, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return index
    return min(len(old), len(new))


def _steps(old: list[str], new: list[str]) -> Words:
    """Return the pieces of both in order, by Hyyrö's bit-parallel longest common subsequence.

    A row of the table of lengths is one number: bit i is 0 where the length grows at piece i of ``old``.
    """
    places: dict[str, int] = {}
    for index, piece in enumerate(old):
        places[piece] = places.get(piece, 0) | 1 << index
    full = (1 << len(old)) - 1
    row, rows = full, []
    for piece in new:
        met = row & places.get(piece, 0)
        row = ((row + met) | (row - met)) & full
        rows.append(row)
    steps: Words = []
    at, other = len(old), len(new)
    while at and other:
        if rows[other - 1] >> (at - 1) & 1:
            at -= 1
            steps.append(("-", old[at]))
        elif other > 1 and not rows[other - 2] >> (at - 1) & 1:
            other -= 1
            steps.append(("+", new[other]))
        else:
            at, other = at - 1, other - 1
            steps.append(("=", old[at]))
    steps += [("+", piece) for piece in new[:other][::-1]]
    steps += [("-", piece) for piece in old[:at][::-1]]
    return steps[::-1]


def _runs(steps: Words) -> Words:
    """Join neighbours of one sign; between two pieces that are in both, what went comes before what came."""
    runs = []
    for is_kept, group in groupby(steps, key=lambda step: step[0] == "="):
        stretch = list(group)
        for sign in "=" if is_kept else "-+":
            if text := "".join(piece for its, piece in stretch if its == sign):
                runs.append((sign, text))
    return runs
