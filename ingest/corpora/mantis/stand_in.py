"""Bare NaN, which Python's json writes for a missing name or id and JSON does not have: a number stands in for it."""

import re
from itertools import product

import polars as pl

from ingest.held import Held

NAN = b"NaN"
_BLANK = b" \t\r\n"
_LOOK_BEHIND = 256
"""Bytes before a place that tell what it is; a key and the blanks behind it are never so long."""

_STEP, _TOGETHER = 1 << 14, 1 << 20
"""Bytes of a piece of a file, and of the pieces that are searched at once."""

_WORD = re.compile(rb'"\w+"$')


class StandIn:
    """The number that stands for NaN in one file, if it has any; it occurs nowhere else in it as a number."""

    def __init__(self, held: Held) -> None:
        """Overwrite every bare NaN behind a key of word characters, in the held memory; a NaN in a text stays.

        In JSON a quote that closes a word and is followed by a colon ends a key: in a text it would be escaped.
        """
        self.number = b""
        nans, firsts = _places(held.view, NAN, _NUMBERS[0])
        places = [place for place in nans if _is_bare(held.view, place)]
        if not places:
            return
        if not any(_may_be_number(held.view, place) for place in firsts):
            self.number = _NUMBERS[0]
        else:
            self.number = next((number for number in _NUMBERS[1:] if _is_free(held.view, number)), b"")
        for place in places if self.number else ():
            held.view[place : place + len(NAN)] = self.number

    def decoded(self, literal: str) -> bytes:
        """Give the literal of a float as it was published."""
        return NAN if self.number == (raw := literal.encode()) else raw

    def restored(self, raw: bytes) -> bytes:
        """Give a part of the file as it was published."""
        if not self.number or self.number not in raw:
            return raw
        return re.sub(rb'("\w+"[ \t\r\n]*:[ \t\r\n]*)' + self.number, rb"\1" + NAN, raw)


_NUMBERS = [f"{first}{letter}{last}".encode() for letter, first, last in product("Ee", range(10), range(10))]


def _places(view: memoryview, *texts: bytes) -> list[list[int]]:
    """Find texts in the memory of a file: quickly the pieces that hold one, then where."""
    found: list[list[int]] = [[] for _ in texts]
    for first in range(0, len(view), _TOGETHER):
        starts = range(first, min(first + _TOGETHER, len(view)), _STEP)
        pieces = [bytes(view[start : start + _STEP + len(NAN) - 1]) for start in starts]
        column = pl.Series(pieces)
        for text, places in zip(texts, found, strict=True):
            for index in column.bin.contains(text).arg_true():
                place = pieces[index].find(text)
                while place >= 0:
                    places.append(starts[index] + place)
                    place = pieces[index].find(text, place + 1)
    return found


def _before(view: memoryview, place: int) -> bytes:
    return bytes(view[max(0, place - _LOOK_BEHIND) : place]).rstrip(_BLANK)


def _is_bare(view: memoryview, place: int) -> bool:
    """Whether a whole value stands here, behind a key."""
    before = _before(view, place)
    is_whole = bytes(view[place + len(NAN) : place + len(NAN) + 1]) in (b"", b",", b"}", b"]", *_BLANKS)
    return is_whole and before.endswith(b":") and _WORD.search(before[:-1].rstrip(_BLANK)) is not None


_BLANKS = tuple(bytes([blank]) for blank in _BLANK)


def _may_be_number(view: memoryview, place: int) -> bool:
    """Whether a value could begin here."""
    return _before(view, place)[-1:] in (b"", b":", b",", b"[")


def _is_free(view: memoryview, number: bytes) -> bool:
    """Whether a number stands nowhere in the file where a value could begin."""
    (places,) = _places(view, number)
    return not any(_may_be_number(view, place) for place in places)
