"""Bare NaN, which Python's json writes for a missing name or id and JSON does not have: a number stands in for it."""

import re
from itertools import product

from ingest.corpora.mantis.shapes import NAN

_NUMBERS = [f"{first}{letter}{last}".encode() for letter, first, last in product("Ee", range(10), range(10))]
"""Numbers as long as NaN, which hardly anybody writes."""

_BLANK = b" \t\r\n"
_BLANKS = tuple(bytes([blank]) for blank in _BLANK)
_LOOK_BEHIND = 256
"""Bytes before a place that tell what it is; a key and the blanks behind it are never so long."""

_WORD = re.compile(rb'"\w+"$')


def replaced(raw: bytes) -> tuple[bytes, bytes]:
    """Give a text with a number for each bare NaN, and that number, which stands nowhere else; empty if there is none.

    Bare is a NaN behind a key of word characters; one in a text stays. In JSON a quote that closes a word and is
    followed by a colon ends a key: in a text it would be escaped.
    """
    number = next((one for one in _NUMBERS if one not in raw), b"") if NAN in raw else b""
    if not number:
        return raw, b""
    text = bytearray(raw)
    for place in [match.start() for match in re.finditer(NAN, raw)]:
        if _is_bare(raw, place):
            text[place : place + len(NAN)] = number
    return bytes(text), number


def _is_bare(text: bytes, place: int) -> bool:
    """Whether a whole value stands here, behind a key."""
    before = text[max(0, place - _LOOK_BEHIND) : place].rstrip(_BLANK)
    is_whole = text[place + len(NAN) : place + len(NAN) + 1] in (b"", b",", b"}", b"]", *_BLANKS)
    return is_whole and before.endswith(b":") and _WORD.search(before[:-1].rstrip(_BLANK)) is not None
