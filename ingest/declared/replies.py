"""Replies: which turn of a dialogue the id means that another turn gives."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Replies(NamedTuple):
    """What replies came to; turns are indexes."""

    to: Mapping[int, int]
    """Turn -> the turn that it replies to."""
    problems: Mapping[int, str]
    """Turn -> why its reply is none (GF-07)."""


def first_by_id(ids: Sequence[str | None]) -> tuple[dict[str, int], list[int]]:
    """Return the first turn of each id, and the later turns whose id is taken (GF-06)."""
    first: dict[str, int] = {}
    later = [
        turn
        for turn, native_id in enumerate(ids)
        if native_id is not None and first.setdefault(native_id, turn) != turn
    ]
    return first, later


def resolve(given: Mapping[int, str], first: Mapping[str, int]) -> Replies:
    """Find the turns that replies mean (``given``: turn -> id); one to nothing, or in a loop, is a problem."""
    to: dict[int, int] = {}
    problems: dict[int, str] = {}
    for turn, native_id in given.items():
        if native_id in first:
            to[turn] = first[native_id]
        else:
            problems[turn] = f"a reply to {native_id!r:.100}, which is no turn of the dialogue"
    for turn in list(_in_loops(to)):
        del to[turn]
        problems[turn] = f"a reply to {given[turn]!r:.100}, which replies to this turn in the end"
    return Replies(to, problems)


def _in_loops(to: Mapping[int, int]) -> Iterator[int]:
    """Yield the turns from which replies lead back to themselves."""
    walk_of: dict[int, int] = {}
    for start in to:
        turn = start
        while turn in to and turn not in walk_of:
            walk_of[turn] = start
            turn = to[turn]
        if walk_of.get(turn) == start:
            yield turn
            other = to[turn]
            while other != turn:
                yield other
                other = to[other]
