"""Decodes the beginning of a JSON text: of a list or object that is cut off, the members that are there."""

import json
import re
from typing import Any

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")
_DEEPEST = 4
"""Levels at which a value that is cut off is looked into; each costs a pass over the text."""


def start_of(text: str, most: int) -> tuple[Any, bool]:
    """Decode the beginning of a text: the value, at most so many of its members, and whether that is all of it.

    None where not even a beginning can be read.
    """
    value, end = _start(text, _after_blank(text, 0), most, _DEEPEST)
    return value, end is not None and _after_blank(text, end) == len(text)


def _start(text: str, at: int, most: int, levels: int) -> tuple[Any, int | None]:
    """Decode the value that begins here; its end is None where it is cut off, malformed, or has more members."""
    match text[at : at + 1]:
        case "[":
            return _items(text, at + 1, most, levels)
        case "{":
            return _members(text, at + 1, most, levels)
        case _:
            return _whole(text, at)


def _whole(text: str, at: int) -> tuple[Any, int | None]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, None


def _items(text: str, at: int, most: int, levels: int) -> tuple[list[Any], int | None]:
    items: list[Any] = []
    at = _after_blank(text, at)
    if text[at : at + 1] == "]":
        return items, at + 1
    while len(items) < most:
        value, end = _whole(text, at)
        if end is None:
            if not items and levels:
                value, _ = _start(text, at, most, levels - 1)
            return [*items, value] if value is not None else items, None
        items.append(value)
        at = _after_blank(text, end)
        if text[at : at + 1] == "]":
            return items, at + 1
        if text[at : at + 1] != ",":
            return items, None
        at = _after_blank(text, at + 1)
    return items, None


def _members(text: str, at: int, most: int, levels: int) -> tuple[dict[str, Any], int | None]:
    members: dict[str, Any] = {}
    at = _after_blank(text, at)
    if text[at : at + 1] == "}":
        return members, at + 1
    while len(members) < most:
        key, end = _whole(text, at)
        if end is None or not isinstance(key, str):
            return members, None
        at = _after_blank(text, end)
        if text[at : at + 1] != ":":
            return members, None
        at = _after_blank(text, at + 1)
        value, end = _whole(text, at)
        if end is None:
            value, _ = _start(text, at, most, levels - 1) if levels else (None, None)
            return members if value is None else {**members, key: value}, None
        members[key] = value
        at = _after_blank(text, end)
        if text[at : at + 1] == "}":
            return members, at + 1
        if text[at : at + 1] != ",":
            return members, None
        at = _after_blank(text, at + 1)
    return members, None


def _after_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
