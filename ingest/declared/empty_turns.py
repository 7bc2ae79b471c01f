"""Counts turns that have no text, such as pictures and calls: one finding a corpus says how many, not one each."""

from collections.abc import Iterable, Iterator

from talkhouse.ingest.keys import Tallies
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.sources import SourceFile

NO_TEXT = "GF-22"
"""The rule that such a turn breaks."""


class EmptyTurns:
    """The turns of one corpus that have no text, or null; an empty text is one."""

    def __init__(self, tallies: Tallies) -> None:
        self._tally = tallies[NO_TEXT]

    def add(self, file: SourceFile, turns: int, empty: int, pointer: str = "") -> None:
        """Count some turns of a file; ``pointer`` is where the first of those without a text stands."""
        self._tally.all += turns
        self._tally.some += empty
        if empty and self._tally.first is None:
            self._tally.first = file.id, pointer

    def findings(self, path: str, files: Iterable[SourceFile]) -> Iterator[ReaderFinding]:
        """Yield one finding if there are any; ``path``: where the text should be, as the declaration says it."""
        if self._tally.first is None:
            return
        file_id, pointer = self._tally.first
        if self._tally.some == self._tally.all:
            detail = f"none of {self._tally.all:,} turns has a text at {path}: is that where it is?"
        else:
            detail = f"{self._tally.some:,} of {self._tally.all:,} turns have no text at {path}; here the first"
        yield ReaderFinding(NO_TEXT, detail, next(file for file in files if file.id == file_id), pointer)
