"""The dialogues of a file, some megabytes at a time, so that no file is in memory as a whole.

Each part is proven to be JSON by itself, and so are all of them together. A file of which that can't be said is read
again in memory, where it is split member by member, so that those that are malformed don't hide the others.
"""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from ingest import decode, split
from ingest.corpora.mantis.shapes import NAN
from ingest.corpora.mantis.stand_in import NUMBERS, put
from ingest.corpus import ReadAgain
from ingest.decode import BadRecord
from ingest.sources import SourceFile

Texts = list[tuple[str, bytes]]
"""Dialogues that follow one another: their keys and their JSON."""

_SIZE = 8_000_000
"""Bytes of dialogues that are worked through at once, and whose rows are handed on together."""

_END = 64_000
"""Bytes at the end of what was read in which a cut is looked for first; few dialogues are longer."""

_CUT = re.compile(rb'\}[ \t\r\n]*(,)[ \t\r\n]*"[0-9]+"[ \t\r\n]*:[ \t\r\n]*\{')
"""What stands between two dialogues. In a text its quotes would be escaped; and inside of a dialogue it would cut that
in two, of which neither is JSON."""


def parts(file: SourceFile) -> Iterator[Texts]:
    """Give the dialogues of a file that is one JSON object without a key twice; ReadAgain as soon as it is not."""
    buffer, pieces, seen = bytearray(), file.chunks(), set[str]()
    is_first, is_all, wanted = True, False, _SIZE
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
        if not is_first:
            buffer[:1] = b"{"
        if not is_all:
            buffer[end : end + 1] = b"}"
        with memoryview(buffer) as view:
            found = _dialogues(view[: end if is_all else end + 1])
        keys = {key for key, _ in found}
        if len(keys) < len(found) or not seen.isdisjoint(keys):
            raise ReadAgain
        seen |= keys
        yield found
        del buffer[:end]
        is_first, wanted = False, _SIZE


def whole(file: SourceFile) -> list[tuple[str, Raw]]:
    """Split a file in memory, also where members are malformed or keys stand twice; BadRecord if it is no object."""
    text = file.read()
    if text.lstrip()[:1] != b"{":
        try:
            decode.decoder(Raw).decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise decode.json_problem(text, error) from error
        raise BadRecord("MA-01", "not an object of dialogues")
    return list(split.views(text))


def _cut(text: bytearray) -> int:
    """Find the comma between the last two dialogues that begin in a text; 0 where there is none."""
    for start in (max(0, len(text) - _END), 0):
        cuts = [cut.start(1) for cut in _CUT.finditer(text, start)]
        if cuts:
            return cuts[-1]
    return 0


def _dialogues(text: memoryview) -> Texts:
    """Split an object; ReadAgain if it is none."""
    pieces, nans = _members(text), list[int]()
    if pieces is None:
        nans = put(text, NUMBERS[0])
        pieces = _members(text)
    starts = None if pieces is None else split.starts(text, pieces)
    if pieces is None or starts is None:
        raise ReadAgain
    for place in nans:
        text[place : place + len(NAN)] = NAN
    return [
        (key, bytes(text[start : start + len(memoryview(piece))]))
        for start, (key, piece) in zip(starts, pieces.items(), strict=True)
    ]


def _members(text: memoryview) -> dict[str, Raw] | None:
    try:
        pieces: dict[str, Raw] = decode.decoder(dict[str, Raw]).decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return pieces
