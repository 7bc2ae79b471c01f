"""What a file of records is read as, and written back from, whatever its form."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
import polars as pl
from msgspec import Raw, Struct

from talkhouse.ingest.decode import BadRecord


class RawRecord(Struct, gc=False):
    """One record as JSON text: an item of a list, a line, a member of an object, or the file.

    A Parquet or CSV row is an object of its cells.
    """

    record_index: int
    """Among the file's records, from 0; blank lines are none."""
    pointer: str
    """``/3``: the item, or the line, from 0; ``/name``: the member; empty: the file."""
    raw: bytes
    key: str | None = None
    """The name of a member."""
    cells: Mapping[str, str] | None = None
    """Of CSV: cells that the dialect would write otherwise, by column, as the file has them, quotes included."""
    verbatim: bytes | None = None
    """Of CSV: the row as the file has it, without its line end."""

    @property
    def quarantined(self) -> bytes:
        """What goes to the quarantine where the record is refused: its text as the file has it."""
        return self.raw if self.verbatim is None else self.verbatim


class BadRawRecord(Struct, gc=False):
    """A record that can't be read as JSON or as a row, verbatim."""

    record_index: int
    pointer: str
    raw: bytes
    problem: BadRecord


class RecordFile(Protocol):
    """A file on its way in: iterate it once, or take its texts and check them one by one."""

    def __iter__(self) -> Iterator[RawRecord | BadRawRecord]:
        """Yield the records in order, each checked."""

    def check(self, record: RawRecord) -> RawRecord | BadRawRecord:
        """Check one of ``texts``; BadRecord where the first says that the file is not what its ending says."""

    def texts(self) -> Iterator[RawRecord]:
        """Yield the records in order, unchecked; BadRecord where the file as a whole is not what it has to be.

        Memory: a piece of the file, not the file, but for a JSON list or object. A record that is larger than the
        limit raises SourceError (``SourceFile.refuse_record``).
        """

    @property
    def envelope(self) -> dict[str, Any]:
        """What the file is beside its records, once they were read; empty where there is nothing to say.

        It is merged into ``meta.source_files.extra``.
        """


class WrittenRecord(Struct, gc=False):
    """One record on its way back: the JSON text of what was read, or a quarantined one verbatim."""

    record_index: int
    pointer: str
    raw: bytes
    cells: Mapping[str, str] | None = None
    is_verbatim: bool = False


class RowChunk(Struct, gc=False):
    """Some rows of a CSV file, a list of cells for each."""

    columns: list[str]
    rows: list[list[str]]
    lines: list[int]
    """The line of the file, from 0, on which each row begins."""
    cells: dict[int, dict[str, str]] = {}
    """Position in ``rows`` -> cells that the dialect would write otherwise, by column."""


@dataclass(frozen=True)
class RowTable:
    """Some rows of a CSV file as columns of texts, ``x0``, ``x1`` ..."""

    cells: pl.DataFrame
    lines: pl.Series
    """The line of the file, from 0, on which each row begins."""
    as_written: Mapping[int, Mapping[str, str]]
    """Row -> cells that the dialect would write otherwise, by column, as ``RowChunk.cells``."""


class RowFile(Protocol):
    """A CSV file on its way in, chunk by chunk: iterate it once."""

    columns: list[str]
    """The header; known before the first chunk."""

    def __iter__(self) -> Iterator[RowChunk]:
        """Yield the rows in order; BadRecord GF-13 or TH-02 where the file can't be told apart into cells."""

    def tables(self) -> Iterator[RowTable]:
        """Yield the same as columns."""

    def with_texts(self) -> Iterator[tuple[RowChunk, list[str]]]:
        """Yield the same, and the text of each row with its line end."""

    @property
    def envelope(self) -> dict[str, Any]:
        """What the file is beside its rows, once they were read."""


@dataclass(frozen=True)
class WrittenRow:
    """One row on its way back."""

    cells: Iterable[str]
    """In the order of the file's columns."""
    as_written: Mapping[str, str] = field(default_factory=dict)
    verbatim: bytes | None = None
    """The row itself, of a record in quarantine; it has no cells then."""


Envelope = Mapping[str, Raw]
"""``meta.source_files.extra`` as ``decode.literals`` reads it."""


LINE_END = "\n"


class Gaps:
    """Gaps on their way in: one before each record, and one behind the last. Equal ones in a row are kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._runs: list[int] = []
        """The number of a gap, and how many of it there are, in turns."""
        self._last: str | None = None

    def add(self, gap: str, count: int = 1) -> None:
        """Add a gap, or several that are the same."""
        if gap == self._last:
            self._runs[-1] += count
        elif count:
            self._runs += (self._numbers.setdefault(gap, len(self._numbers)), count)
            self._last = gap

    def layout(self) -> dict[str, Any]:
        """Return them as JSON; empty where each record is a line that ends in a line feed, and nothing stands before.

        ``gaps`` are texts and runs: the number of a text and how often it stands there.
        """
        count = sum(self._runs[1::2])
        ordinary = ["", LINE_END] if count > 1 else []
        if list(self._numbers) == ordinary and self._runs == [0, 1, 1, count - 1]:
            return {}
        return {"gaps": {"texts": list(self._numbers), "runs": self._runs}}


def gaps_of(layout: Mapping[str, Raw]) -> Iterator[bytes]:
    """Yield the gaps on their way back: the first, and then as many as there are, and ordinary ones without end."""
    raw = layout.get("gaps")
    if raw is None:
        yield b""
    else:
        gaps = msgspec.json.decode(raw)
        texts = [text.encode() for text in gaps["texts"]]
        runs = iter(gaps["runs"])
        for number, count in zip(runs, runs, strict=True):
            for _ in range(count):
                yield texts[number]
    while True:
        yield LINE_END.encode()
