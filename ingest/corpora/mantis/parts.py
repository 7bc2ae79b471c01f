"""The dialogues of a file, some megabytes at a time, so that no file is in memory as a whole.

It is read twice: first its JSON is proven and the places of its dialogues are noted, then they are given out. A file
of which not enough can be proven like this goes the long way: it is split in memory, which tells what is wrong.
"""

import re
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec
from msgspec import Raw

from ingest import decode, split
from ingest.corpora.mantis.stand_in import NUMBERS, put
from ingest.decode import BadRecord
from ingest.sources import SourceFile

_SIZE = 8_000_000
"""Bytes of dialogues that are worked through at once, and whose rows are handed on together."""

_END = 64_000
"""Bytes at the end of what was read in which a cut is looked for first; few dialogues are longer."""

_CUT = re.compile(rb'\}[ \t\r\n]*(,)[ \t\r\n]*"[0-9]+"[ \t\r\n]*:[ \t\r\n]*\{')
"""What stands between two dialogues. In a text its quotes would be escaped; and inside of a dialogue it would cut that
in two, of which neither is JSON."""


class _Part(NamedTuple):
    """Where some dialogues are: counted from the comma before them, or from the beginning of the file."""

    size: int
    keys: list[str]
    starts: "array[int]"
    ends: "array[int]"


def dialogues(file: SourceFile) -> tuple[list[str], Iterator[list[bytes]]]:
    """Give the keys of a file's dialogues, and then their texts, some at a time; BadRecord if it is no object."""
    parts = _parts(file)
    if parts is None:
        return _whole(file)
    return [key for part in parts for key in part.keys], _again(file, parts)


def _parts(file: SourceFile) -> list[_Part] | None:
    """Cut a file between dialogues; None where that can't be, or where a part is no JSON by itself."""
    buffer, pieces = bytearray(), file.chunks()
    found: list[_Part] = []
    is_all, wanted = False, _SIZE
    while not is_all:
        while len(buffer) < wanted and not is_all:
            piece = next(pieces, b"")
            buffer += piece
            is_all = not piece
        end = len(buffer) if is_all else _cut(buffer)
        if not end and not is_all:
            wanted = 2 * len(buffer)
            continue
        # Brackets in the place of the commas around it make a part an object of its own.
        if found:
            buffer[:1] = b"{"
        if not is_all:
            buffer[end : end + 1] = b"}"
        with memoryview(buffer) as view:
            part = _part(view[: end if is_all else end + 1], end)
        if part is None:
            return None
        found.append(part)
        del buffer[:end]
        wanted = _SIZE
    return found


def _cut(text: bytearray) -> int:
    """Find the comma between the last two dialogues that begin in a text; 0 where there is none."""
    for start in (max(0, len(text) - _END), 0):
        cuts = [cut.start(1) for cut in _CUT.finditer(text, start)]
        if cuts:
            return cuts[-1]
    return 0


def _part(text: memoryview, size: int) -> _Part | None:
    """Find the dialogues of an object; None if it is none, or has a key twice."""
    pieces = _pieces(text)
    if pieces is None:
        put(text, NUMBERS[0])
        pieces = _pieces(text)
    starts = split.starts(text, pieces) if pieces else None
    if pieces is None or starts is None:
        return None
    ends = [start + len(memoryview(piece)) for start, piece in zip(starts, pieces.values(), strict=True)]
    return _Part(size, list(pieces), array("Q", starts), array("Q", ends))


def _pieces(text: memoryview) -> dict[str, Raw] | None:
    try:
        pieces: dict[str, Raw] = decode.decoder(dict[str, Raw]).decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return pieces


def _again(file: SourceFile, parts: list[_Part]) -> Iterator[list[bytes]]:
    """Read a file again and give the dialogues of its parts; SourceError if it changed meanwhile."""
    buffer, pieces = bytearray(), file.chunks(is_again=True)
    for part in parts:
        while len(buffer) < part.size and (piece := next(pieces, b"")):
            buffer += piece
        with memoryview(buffer) as view:
            raws = [bytes(view[start:end]) for start, end in zip(part.starts, part.ends, strict=True)]
        yield raws
        del buffer[: part.size]
    for _ in pieces:  # to the end, where a change is found out
        pass


def _whole(file: SourceFile) -> tuple[list[str], Iterator[list[bytes]]]:
    """Split a file in memory, also where members are malformed or keys stand twice."""
    text = file.read()
    if text.lstrip()[:1] != b"{":
        try:
            decode.decoder(Raw).decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise decode.json_problem(text, error) from error
        raise BadRecord("MA-01", "not an object of dialogues")
    pieces = list(split.views(text))
    return [key for key, _ in pieces], _in_turn(piece for _, piece in pieces)


def _in_turn(pieces: Iterable[Raw]) -> Iterator[list[bytes]]:
    raws: list[bytes] = []
    size = 0
    for piece in pieces:
        raws.append(bytes(piece))
        size += len(raws[-1])
        if size >= _SIZE:
            yield raws
            raws, size = [], 0
    yield raws
