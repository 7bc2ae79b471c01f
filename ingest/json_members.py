"""Splits a JSON object or list of any size into its members, without decoding what is in them.

Around the members stands what JSON wants and nothing else, or BadRecord names the rule and the place. A member that is
malformed in itself does not hide the others: each of them is judged later, one by one.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import Raw

from talkhouse.ingest.decode import BadRecord, check_depth, decoder, json_problem, pointer, unique

Text: TypeAlias = bytes | memoryview | Raw


def views(raw: Text, within: Text | None = None, *, with_nan: bool = False) -> Iterator[tuple[str, Raw]]:
    """Split one JSON object or list into its members (pointer token, text as published), in order, without copying.

    A duplicate key is there each time; ``decode.unique`` answers it with TH-03.
    ``within`` is the text of which this one is a part: what is wrong is looked for there, and named by its lines.
    ``with_nan``: objects may have the bare NaN that Python's json writes; ``raw`` is memory that can be written.
    """
    text = memoryview(raw)
    if _opening(text) == b"{":
        yield from _object_members(text, within, with_nan=with_nan)
    elif _opening(text) == b"[":
        yield from ((str(position), piece) for position, piece in enumerate(items(raw, within)))
    else:
        raise _other_value(text, "neither a JSON object nor a JSON list")


def items(raw: Text, within: Text | None = None) -> list[Raw]:
    """Split one JSON list into views of its items; BadRecord TH-01 where it is none (``within``: see ``views``)."""
    text = memoryview(raw)
    if _opening(text) != b"[":
        raise _other_value(text, "not a JSON list")
    try:
        pieces: list[Raw] = decoder(list[Raw]).decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return [piece for _, piece in _scan(text, _LIST, within)]
    return pieces


def last_values(text: Text, at: str = "") -> tuple[bytes, list[str]]:
    """Write each key of an object once, with its last value, as Python's json reads it; add those that stood twice.

    These are JSON pointers. Numbers keep their spelling. Raises BadRecord where the JSON is malformed.
    """
    if not at:
        check_depth(bytes(text))
    if (opening := _opening(memoryview(text))) not in (b"{", b"["):
        return bytes(text), []
    members = list(views(text))
    inner = {key: last_values(value, at + pointer(key)) for key, value in dict(members).items()}
    twice = [at + pointer(key) for key, times in Counter(key for key, _ in members).items() if times > 1]
    twice += [place for _, places in inner.values() for place in places]
    if opening == b"[":
        return b"[%b]" % b",".join(value for value, _ in inner.values()), twice
    return b"{%b}" % b",".join(msgspec.json.encode(key) + b":" + value for key, (value, _) in inner.items()), twice


def fields(raw: bytes) -> dict[str, Raw]:
    """Split one JSON object into its fields, in published order.

    Raises BadRecord: TH-03 where a key stands twice, TH-01 to TH-04 where the JSON is malformed or not an object.
    """
    try:
        pieces: dict[str, Raw] = decoder(dict[str, Raw]).decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise json_problem(raw, error) from error
    return unique(_scan(memoryview(raw), _OBJECT)) if _has_duplicate_key(raw, pieces) else pieces


class _Syntax(NamedTuple):
    """What stands before the first member of a list or object, between two, behind the last, and where there is none.

    Before a member of an object that includes its key, which is a group.
    """

    first: re.Pattern[bytes]
    between: re.Pattern[bytes]
    last: re.Pattern[bytes]
    empty: re.Pattern[bytes]


def _syntax(opening: str, key: str, closing: str) -> _Syntax:
    blank = r"[ \t\r\n]*"
    patterns = (f"{opening}{blank}{key}", f",{blank}{key}", f"{closing}{blank}", f"{opening}{blank}{closing}{blank}")
    return _Syntax(*(re.compile((blank + pattern).encode(), re.DOTALL) for pattern in patterns))


_LIST = _syntax(r"\[", "", r"\]")
# Possessive, since a search that gives nothing back takes no memory for each letter of a text.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_OBJECT = _syntax(r"\{", rf"({_STRING})[ \t\r\n]*:[ \t\r\n]*", r"\}")
_OPENING = re.compile(rb"[ \t\r\n]*(.)", re.DOTALL)
_TOKEN = re.compile(rf'{_STRING}|(".*)|[\[\]{{}}]'.encode(), re.DOTALL)
"""The group: a quote that nothing closes, with all that follows."""
_SCALAR = re.compile(rb"[^,\]}\s]+")
_NAN = re.compile(rb"NaN(?=[ \t\r\n,}])")
_WORD_KEY = re.compile(rb'"\w+"[ \t\r\n]*:[ \t\r\n]*\Z')
_LONGEST_KEY = 256
"""Bytes of a key and the blanks behind it; an object with a longer one before a NaN is split in another, slower way."""


def _opening(text: memoryview) -> bytes:
    match = _OPENING.match(text)
    return match[1] if match else b""


def _other_value(text: memoryview, detail: str) -> BadRecord:
    """Return the error for a text that does not begin as it should: malformed, or ``detail``."""
    try:
        decoder(Raw).decode(text)
        str(text, "utf-8")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return json_problem(bytes(text), error)
    return BadRecord("TH-01", detail)


def _object_members(text: memoryview, within: Text | None, *, with_nan: bool) -> Iterator[tuple[str, Raw]]:
    try:
        with _numbers_for_nan(text) if with_nan else nullcontext():
            pieces: dict[str, Raw] = decoder(dict[str, Raw]).decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _scan(text, _OBJECT, within)
    return _scan(text, _OBJECT, within) if _has_duplicate_key(text, pieces) else iter(pieces.items())


@contextmanager
def _numbers_for_nan(text: memoryview) -> Iterator[None]:
    """Write a number over each bare NaN behind a key of word characters, and NaN back when a decoder is done with it.

    In JSON a quote that closes a word and is followed by a colon ends a key: in a text it would be escaped.
    """
    starts = [match.start() for match in _NAN.finditer(text)]
    bare = [start for start in starts if _WORD_KEY.search(text[max(0, start - _LONGEST_KEY) : start])]
    for start in bare:
        text[start : start + 3] = b"0.0"
    try:
        yield
    finally:
        for start in bare:
            text[start : start + 3] = b"NaN"


def _has_duplicate_key(text: bytes | memoryview, pieces: dict[str, Raw]) -> bool:
    """Whether an object has a key twice: walk over it by the lengths of the members that were found.

    A decoder keeps the first place and the last value of such a key, so the walk leaves the text's own keys.
    """
    position, before = 0, _OBJECT.first
    for key, piece in pieces.items():
        match = before.match(text, position)
        if match is None or not _is_same(match[1], key):
            return True
        position, before = match.end() + len(memoryview(piece)), _OBJECT.between
    return bool(pieces) and _OBJECT.last.match(text, position) is None


def _is_same(text: bytes, key: str) -> bool:
    """Whether a JSON string, its quotes included, is this key."""
    return text[1:-1] == key.encode() if b"\\" not in text else json.loads(text) == key


def _scan(text: memoryview, syntax: _Syntax, within: Text | None = None) -> Iterator[tuple[str, Raw]]:
    """Split an object or list by its brackets alone, for texts in which a member is malformed or stands twice."""
    if syntax.empty.fullmatch(text):
        return
    position, index, before = 0, 0, syntax.first
    while match := before.match(text, position):
        end = _value_end(text, match.end())
        if end is None:
            break
        token = _key(match[1], within or text) if syntax is _OBJECT else str(index)
        yield token, Raw(text[match.end() : end])
        position, index, before = end, index + 1, syntax.between
    if not index or syntax.last.fullmatch(text, position) is None:
        raise json_problem(bytes(within or text), ValueError("something else than a comma stands between two members"))


def _key(text: bytes, within: Text) -> str:
    """Decode a key, its quotes included; raises BadRecord."""
    try:
        key: str = json.loads(text.decode())
        key.encode()
    except UnicodeEncodeError as error:
        raise BadRecord("TH-02", "half of a surrogate pair in a key") from error
    except ValueError as error:
        raise json_problem(bytes(within), error) from error
    return key


def _value_end(text: memoryview, start: int) -> int | None:
    """Find the end of the value that begins at ``start``, or None if there is none."""
    depth, position = 0, start
    if bytes(text[start : start + 1]) not in (b"{", b"[", b'"'):
        scalar = _SCALAR.match(text, start)
        return scalar.end() if scalar else None
    while (token := _TOKEN.search(text, position)) is not None and token[1] is None:
        position = token.end()
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
        if depth == 0:
            return position
    return None
