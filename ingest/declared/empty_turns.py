"""Counts turns that have no text, such as pictures and calls: one finding a corpus says how many, not one each."""

from collections.abc import Iterator

from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.sources import SourceFile

NO_TEXT = "GF-22"
"""The rule that such a turn breaks."""


class EmptyTurns:
    """The turns of one corpus that have no text, or null; an empty text is one."""

    def __init__(self, path: str) -> None:
        """``path``: where the text should be, as the declaration says it."""
        self._path = path
        self._turns = self._empty = 0
        self._first: tuple[SourceFile, str] | None = None

    def add(self, file: SourceFile, turns: int, empty: int, pointer: str = "") -> None:
        """Count some turns of a file; ``pointer`` is where the first of those without a text stands."""
        self._turns += turns
        self._empty += empty
        if empty and self._first is None:
            self._first = file, pointer

    def findings(self) -> Iterator[ReaderFinding]:
        """Yield one finding if there are any."""
        if self._first is None:
            return
        file, pointer = self._first
        if self._empty == self._turns:
            detail = f"none of {self._turns:,} turns has a text at {self._path}: is that where it is?"
        else:
            detail = f"{self._empty:,} of {self._turns:,} turns have no text at {self._path}; here the first"
        yield ReaderFinding(NO_TEXT, detail, file, pointer)
