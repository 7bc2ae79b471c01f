"""Damage to files that breaks a common rule: each way of it, as a change of a file's bytes."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

Damage: TypeAlias = Callable[[bytes], Iterator[bytes]]
"""Takes a file's bytes, yields the file with one thing wrong in it, in one way after the other; none where it can't."""

_MEMBER = re.compile(r'"(?:[^"\\]|\\.)*"\s*:\s*')
"""A key, its colon and the blanks."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def malformed(raw: bytes) -> Iterator[bytes]:
    """Cut JSON off, as a download that ends too early; leave out the colon behind a key."""
    for text, (*_, (start, _)) in _with_members(raw):
        yield raw[: len(raw) // 2]
        colon = text.index(":", _STRING.match(text, start).end())  # type: ignore[union-attr]
        yield (text[:colon] + " " + text[colon + 1 :]).encode()


def not_utf8(raw: bytes) -> Iterator[bytes]:
    """Put a byte of Latin-1 into a text; write half of a surrogate pair in JSON."""
    is_json = False
    for text, members in _with_members(raw):
        is_json = True
        strings = [value for value in map(_value_of(text), members) if text[value[0]] == '"']
        for _, end in strings[-1:]:
            before, after = text[: end - 1].encode(), text[end - 1 :].encode()
            yield before + b"\xe9" + after
            yield before + rb"\ud800" + after
    if not is_json and raw:
        middle = len(raw) // 2
        while middle and raw[middle] & 0xC0 == 0x80:
            middle -= 1
        yield raw[:middle] + b"\xe9\xff" + raw[middle:]


def key_twice(raw: bytes) -> Iterator[bytes]:
    """Write a member of an object twice: the first one in the file, and the last."""
    for text, members in _with_members(raw):
        for start, _ in dict.fromkeys((members[0], members[-1])):
            end = _value_of(text)((start, _))[1]
            yield (text[:start] + text[start:end] + ", " + text[start:]).encode()


def no_number(raw: bytes) -> Iterator[bytes]:
    """Put NaN, or Infinity, in the place of the first value that is no list and no object, and of the last."""
    for text, members in _with_members(raw):
        plain = [value for value in map(_value_of(text), members) if text[value[0]] not in "[{"]
        for start, end in dict.fromkeys((*plain[:1], *plain[-1:])):
            yield from ((text[:start] + word + text[end:]).encode() for word in ("NaN", "Infinity"))


DAMAGES: Mapping[str, Damage] = {"TH-01": malformed, "TH-02": not_utf8, "TH-03": key_twice, "TH-04": no_number}
"""By the rule that is broken."""


def _with_members(raw: bytes) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the text of a JSON file, or of one of JSON lines, and where each member's key and value begin.

    Nothing for other files, and for JSON without an object that has a member.
    """
    try:
        text = raw.decode()
        for line in [text] if _is_json(text) else text.splitlines():
            json.loads(line)
    except ValueError:
        return
    members, position = [], 0
    while match := _STRING.search(text, position):
        member = _MEMBER.match(text, match.start())
        position = match.end()
        if member:
            members.append((member.start(), member.end()))
    if members:
        yield text, members


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _value_of(text: str) -> Callable[[tuple[int, int]], tuple[int, int]]:
    """Return a function that finds where the value of a member begins and ends."""
    decoder = json.JSONDecoder()
    return lambda member: (member[1], decoder.raw_decode(text, member[1])[1])
