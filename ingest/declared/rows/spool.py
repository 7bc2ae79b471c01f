"""A file's rows, set aside until its end was read, and given back dialogue by dialogue, in the order of their first rows.

Only at its end it is known that a file can be read, and whether a dialogue goes on further below.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

import polars as pl

from talkhouse.ingest.declared.rows.columns import ID

SCATTERED = "scattered"
"""In a file's envelope: some record's rows don't stand together, in order."""

_IN_MEMORY = 32_000_000
"""Bytes of rows that are kept in memory; more go to a temporary file."""

_SLICE = 60_000
"""Rows that are given back at once, and the rest of their last dialogue."""

NUMBER, POSITION = "dialogue.number", "position"
"""Columns of what is given back: a dialogue's place in the file by its first row, and a row's; both from 0."""


class Spool:
    """The rows of one file; use it in a ``with``."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []
        self._size = 0
        self._runs: list[pl.DataFrame] = []
        self._paths: list[Path] = []
        self._folder: TemporaryDirectory[str] | None = None
        self.height = 0

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was set aside."""
        self._frames.clear()
        if self._folder is not None:
            self._folder.cleanup()

    def add(self, frame: pl.DataFrame) -> None:
        """Set rows aside; they are grouped by the dialogue's id, where they have that column."""
        self.height += len(frame)
        if ID in frame.columns:
            self._runs.append(frame[ID].rle().struct.unnest())
        self._frames.append(frame)
        self._size += int(frame.estimated_size())
        if self._size > _IN_MEMORY:
            self._write()

    def _write(self) -> None:
        """Move what is in memory to the temporary folder."""
        self._folder = self._folder or TemporaryDirectory()
        path = Path(self._folder.name) / f"{len(self._paths)}.arrow"
        pl.concat(self._frames).write_ipc(path)
        self._paths.append(path)
        self._frames.clear()
        self._size = 0

    def dialogues(self) -> Iterator[pl.DataFrame]:
        """Yield all rows, whole dialogues at a time; memory: a slice, and 16 bytes for each row."""
        if not self.height:
            return
        frames = [pl.read_ipc(path, memory_map=True) for path in self._paths] + self._frames
        rows = pl.concat(frames)
        order = _order(self._runs, self.height)
        starts = order.select(pl.arg_where(pl.col(NUMBER) != pl.col(NUMBER).shift(1, fill_value=-1))).to_series()
        for first, end in _slices(starts, self.height):
            piece = order[first:end]
            yield rows[piece[POSITION]].hstack(piece)


def _order(runs: list[pl.DataFrame], height: int) -> pl.DataFrame:
    """Number the dialogues by their first rows, and order all rows by that."""
    position = pl.int_range(height, dtype=pl.Int64, eager=True).alias(POSITION)
    if not runs:
        return pl.DataFrame([pl.repeat(0, height, dtype=pl.Int64, eager=True).alias(NUMBER), position])
    parts = pl.concat(runs)
    first = parts.select(pl.col("value").unique(maintain_order=True)).with_row_index(NUMBER)
    numbers = parts.join(first, on="value", how="left", maintain_order="left")
    row_numbers = numbers.select(pl.col(NUMBER).cast(pl.Int64).repeat_by("len").explode())
    return row_numbers.with_columns(position).sort(NUMBER, maintain_order=True)


def _slices(starts: pl.Series, height: int) -> Iterator[tuple[int, int]]:
    """Cut at the beginnings of dialogues, behind so many rows each."""
    first = 0
    while first < height:
        index = starts.search_sorted(first + _SLICE, side="left")
        end = int(starts[index]) if index < len(starts) else height
        yield first, end
        first = end
