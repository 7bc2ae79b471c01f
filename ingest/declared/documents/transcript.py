"""Format ``transcript``: a record has a dialogue as one text, with marks of who speaks."""

import re
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.message_fields import required
from talkhouse.ingest.declared.documents.talk import Said, Talk
from talkhouse.ingest.declared.shapes import KnownShapes, Split, string_of, wanted
from talkhouse.ingest.decode import BadRecord, literals, pointer
from talkhouse.ingest.rows import Turn
from talkhouse.ingest.stored_record import StoredRecord

MARK = "mark"
"""In a turn's ``extra``: its mark, where that is not the first that ``[markers]`` has for the role."""

MOST_TURNS = 1_000_000
"""A text has no more turns; each takes memory, however short it is."""

_SHOWN = 60
"""Letters of a text that a message shows."""


class Markers:
    """Cuts texts at their marks, and puts them together again.

    At one place the longest marker counts. One that begins with a line break begins a turn wherever it stands; any
    other only at the beginning of the text, so that words inside a line are no mark. Where no marker begins with a line
    break, they begin turns at the beginning of every line. A cut takes time in proportion to the text.
    """

    def __init__(self, markers: Mapping[str, str]) -> None:
        self._roles = markers
        self._first: dict[str, str] = {}
        for mark, role in markers.items():
            self._first.setdefault(role, mark)
        self._at_start = _any_of(markers)
        with_break = [mark for mark in markers if mark.startswith(("\n", "\r"))]
        self._within = _any_of(with_break) if with_break else _any_of(markers, before=r"(?<=[\r\n])")

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._roles)

    def begin(self, text: str) -> bool:
        """Whether a text begins with a mark."""
        return self._at_start.match(text) is not None

    def cut(self, text: str, pointer: str) -> list[Said]:
        """Cut a text into turns, each verbatim from its mark to the next; an empty text has none.

        Raises BadRecord GF-10 at ``pointer``, which is the text's, where it begins with no mark or has too many.
        """
        if not text:
            return []
        mark = self._at_start.match(text)
        if mark is None:
            raise BadRecord("GF-10", f"the text begins with no marker, but with {text[:_SHOWN]!r}", pointer)
        said: list[Said] = []
        for following in self._within.finditer(text, mark.end()):
            if len(said) == MOST_TURNS:
                raise BadRecord("GF-10", f"the text has more than {MOST_TURNS:,} marks, such as {mark[0]!r}", pointer)
            said.append(self._turn(mark[0], text[mark.end() : following.start()], pointer))
            mark = following
        said.append(self._turn(mark[0], text[mark.end() :], pointer))
        return said

    def _turn(self, mark: str, text: str, pointer: str) -> Said:
        role = self._roles[mark]
        extra = None if self._first[role] == mark else {MARK: Raw(msgspec.json.encode(mark))}
        return Said(role, text, pointer, extra=extra)

    def mark_of(self, role: str, extra: Mapping[str, Raw]) -> str:
        """Return the mark of a turn, by its role and its ``extra``."""
        raw = extra.get(MARK)
        return self._first[role] if raw is None else msgspec.json.decode(raw, type=str)

    def join(self, turns: Iterable[Turn]) -> str:
        """Put turns together to the text that they were cut from."""
        return "".join(self.mark_of(turn.role, literals(turn.extra)) + turn.text for turn in turns)


def _any_of(marks: Iterable[str], before: str = "") -> re.Pattern[str]:
    """Compile a search for the longest of some literal texts; without any it finds nothing."""
    longest_first = sorted(marks, key=len, reverse=True)
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, longest_first))})" if longest_first else "(?!)")


_TEXT = "text"


class Transcript:
    """Reads and writes the records of one corpus."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        self._path = declaration.dialogue.text or ()
        self._at = pointer(*self._path)
        self._markers = Markers(declaration.markers)
        self.wanted = wanted({_TEXT: self._path})

    def read(self, record: Split) -> Talk:
        """Cut the text at its marks; BadRecord GF-01 where there is none, GF-10 where it begins with no marker."""
        text = string_of(required(record, self._path), self._at, "the text")
        return Talk(self._markers.cut(text, self._at), taken={_TEXT: _TEXT})

    def write(self, hole: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:  # noqa: ARG002  as all formats
        """Return the text."""
        return msgspec.json.encode(self._markers.join(stored.turns))
