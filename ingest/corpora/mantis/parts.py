"""The dialogues of a file, some megabytes at a time, so that no file is in memory as a whole.

It is cut wherever one dialogue seems to end and the next to begin. If each of the pieces is JSON, the cuts were right,
and so is the file. A file of which that can't be said is read again in memory, where it is split member by member, so
that those that are malformed don't hide the others.
"""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from ingest import decode, json_members
from ingest.corpora.mantis.stand_in import replaced
from ingest.decode import BadRecord
from ingest.outcomes import RereadRequested
from ingest.sources import SourceFile

Texts = list[tuple[str, bytes]]
"""Dialogues that follow one another: their keys and their JSON."""

_SIZE = 8_000_000
"""Bytes of dialogues that are worked through at once, and whose rows are handed on together."""

_BLANK = b" \t\r\n"
_FIRST = re.compile(rb'[ \t\r\n]*\{[ \t\r\n]*"([0-9]+)"[ \t\r\n]*:[ \t\r\n]*\{')
_CUT = re.compile(rb'\}[ \t\r\n]*,[ \t\r\n]*"([0-9]+)"[ \t\r\n]*:[ \t\r\n]*\{')
"""What stands between two dialogues. In a text its quotes would be escaped, and of an object that it cuts in two the
first half is no JSON."""
_LONGEST = 1_000
"""Bytes of it; one that is longer is not found, and its two dialogues together are no JSON."""


def parts(file: SourceFile) -> Iterator[Texts]:
    """Cut a file into dialogues; RereadRequested where it is no object of dialogues, or has a key twice.

    ``is_json`` is to be asked of each: if one is not, no cut is to be trusted.
    """
    text = _Text()
    for piece in file.chunks():
        text.buffer += piece
        if len(text.buffer) >= text.wanted:
            yield text.cut()
    yield text.cut() + text.last()


def is_json(raw: bytes) -> bool:
    """Whether a dialogue is JSON, but for bare NaN."""
    try:
        decode.decoder(Raw).decode(replaced(raw)[0])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


class _Text:
    """What was read of a file and not cut yet; from the first cut on, it begins with a dialogue."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.wanted = _SIZE
        self._key = b""
        self._keys = set[bytes]()
        self._searched = 0

    def cut(self) -> Texts:
        """Take the dialogues that are followed by another one."""
        found: Texts = []
        if not self._key and not self._begin():
            return found
        start = 0
        with memoryview(self.buffer) as view:
            for cut in _CUT.finditer(view, self._searched):
                found.append((self._key.decode(), bytes(view[start : cut.start() + 1])))
                start = cut.end() - 1
                self._next(cut[1])
        del self.buffer[:start]
        self._searched = max(0, len(self.buffer) - _LONGEST)
        self.wanted = len(self.buffer) + _SIZE
        return found

    def last(self) -> Texts:
        """Take the last dialogue: what is left but for the object's own bracket."""
        rest = self.buffer.rstrip(_BLANK)
        if not self._key or rest[-1:] != b"}":
            raise RereadRequested
        return [(self._key.decode(), bytes(rest[:-1].rstrip(_BLANK)))]

    def _begin(self) -> bool:
        """Drop what stands before the first dialogue; False where that is not all there."""
        first = _FIRST.match(self.buffer)
        if first is not None:
            self._next(first[1])
            del self.buffer[: first.end() - 1]
        return first is not None

    def _next(self, key: bytes) -> None:
        if key in self._keys:
            raise RereadRequested
        self._keys.add(key)
        self._key = key


def whole(file: SourceFile) -> list[tuple[str, Raw]]:
    """Split a file in memory, also where members are malformed or keys stand twice; BadRecord if it is no object."""
    text = file.read()
    if text.lstrip()[:1] != b"{":
        try:
            decode.decoder(Raw).decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise decode.json_problem(text, error) from error
        raise BadRecord("MA-01", "not an object of dialogues")
    return list(json_members.views(text))
