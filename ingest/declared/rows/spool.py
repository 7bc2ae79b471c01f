"""A file's rows, set aside until its end was read, and given back dialogue by dialogue.

Dialogues come in the order of their first rows.

Only at its end it is known that a file can be read, and whether a dialogue goes on further below.
"""

from array import array
from collections.abc import Iterator
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import Self

import polars as pl

from talkhouse.ingest.declared.identity import joined_ids
from talkhouse.ingest.declared.rows.columns import BEGUN, ID, REPLY_TO, SPLIT, TURN_ID

HAS_DEFAULT = "has_default_id"
"""Column of rows: whether the file doesn't say of which dialogue a turn is."""

SAID = (ID, TURN_ID, REPLY_TO)

_BEGIN = "__default_conversation__"
"""Of the ids that ConvoKit gives."""


def with_defaults(frame: pl.DataFrame) -> pl.Series:
    """Return the dialogue of each turn: its own, else that of what it replies to, in the end of the first turn."""
    ids, turns, replied = (frame[name].to_list() for name in SAID)
    first: dict[str | None, int] = {}
    for row, turn in enumerate(turns):
        first.setdefault(turn, row)
    for start in frame[ID].is_null().arg_true():
        path: dict[int, None] = {}
        row, above = start, start
        while above is not None and above not in path:
            row = above
            if ids[row] is not None:
                break
            path[row] = None
            above = first.get(replied[row]) if replied[row] is not None else None
        found = ids[row] if ids[row] is not None else f"{_BEGIN}{turns[row]}"
        for below in path:
            ids[below] = found
    return pl.Series(ID, ids, pl.String)


class SetAside:
    """Pieces of bytes in a temporary file, by their numbers; use it in a ``with``. Memory: 8 bytes for each."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed by __exit__
        self._ends = array("q", [0])

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the temporary file."""
        self._file.close()

    def add(self, piece: bytes | memoryview) -> int:
        """Write a piece, and return its number."""
        self._file.seek(self._ends[-1])
        self._file.write(piece)
        self._ends.append(self._ends[-1] + len(piece))
        return len(self._ends) - 2

    def read(self, number: int) -> bytes:
        """Read a piece again."""
        begin, end = self._ends[number : number + 2]
        self._file.seek(begin)
        return self._file.read(end - begin)


REFUSED = "refused"
"""In a file's envelope: of each record in quarantine with several rows, by its pointer, their lines and bytes."""

SCATTERED = "scattered"
"""In a file's envelope: some record's rows don't stand together, in order."""

_IN_MEMORY = 16_000_000
"""Bytes that are kept in memory; more are set aside in a temporary file."""

_SLICE = 30_000
"""Rows that are given back at once, and the rest of their last dialogue."""

_BUCKETS = 64
"""Groups of neighbours into which scattered dialogues are sorted, at most."""

NUMBER, POSITION = "dialogue.number", "position"
"""Columns of what is given back: a dialogue's place in the file by its first row, and a row's; both from 0."""


def are_apart(rows: pl.DataFrame) -> bool:
    """Whether rows of other dialogues stand between those of one."""
    positions = rows[POSITION]
    return bool(positions[-1] - positions[0] >= len(positions))


class Spool:
    """The rows of one file; use it in a ``with``."""

    def __init__(self, split: str | None = None) -> None:
        """``split``: where ids begin again in each split that a row may name, that of a row that names none."""
        self._split = split
        self._frames: list[pl.DataFrame] = []
        self._size = 0
        self._runs: list[pl.DataFrame] = []
        self._written: list[int] = []
        self._disk: SetAside | None = None
        self._ids: pl.Series | None = None
        self._lacks_ids = False
        self.height = 0

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was set aside."""
        self.clear()

    def clear(self) -> None:
        """Remove what was set aside, to begin anew."""
        for store in (self._frames, self._runs, self._written):
            store.clear()
        if self._disk is not None:
            self._disk.__exit__()
        self._disk, self._size, self.height, self._lacks_ids = None, 0, 0, False

    def add(self, frame: pl.DataFrame) -> None:
        """Set rows aside; they are grouped by the dialogue's id, where they have that column."""
        self.height += len(frame)
        if ID in frame.columns:
            self._runs.append(_runs(self._ids_of(frame)))
            self._lacks_ids |= frame[ID].has_nulls()
        elif BEGUN in frame.columns:
            self._runs.append(_runs(frame[BEGUN]))
        self._frames.append(frame)
        self._size += int(frame.estimated_size())
        if self._size > _IN_MEMORY:
            self._write()

    def _ids_of(self, frame: pl.DataFrame) -> pl.Series:
        if self._split is None:
            return frame[ID]
        return joined_ids([frame[SPLIT].fill_null(self._split), frame[ID]])

    def _write(self) -> None:
        self._disk = self._disk or SetAside()
        self._written.append(self._disk.add(_packed(pl.concat(self._frames))))
        self._frames.clear()
        self._size = 0

    def dialogues(self) -> Iterator[pl.DataFrame]:
        """Yield all rows, whole dialogues at a time; memory: what is kept there, and 4 bytes for each row."""
        if not self.height:
            return
        if self._lacks_ids:
            self._ids = with_defaults(pl.concat(part.select(SAID) for part in self._frames_in_order()))
            self._runs = [_runs(self._ids)]
        numbers = _numbers(self._runs, self.height)
        self._runs.clear()
        left: pl.DataFrame | None = None
        for rows in self._sorted(numbers):
            rest = rows if left is None else pl.concat([left, rows])
            *pieces, left = _pieces(rest)
            yield from pieces
        if left is not None:
            yield left

    def _sorted(self, numbers: pl.Series) -> Iterator[pl.DataFrame]:
        if numbers.is_sorted():
            yield from self._parts(numbers)
        elif self._disk is None:
            for rows in self._parts(numbers):
                yield rows.sort(NUMBER, maintain_order=True)
        else:
            yield from self._buckets(numbers, self._disk)

    def _parts(self, numbers: pl.Series) -> Iterator[pl.DataFrame]:
        begin = 0
        for part in self._frames_in_order():
            end = begin + len(part)
            added = [pl.int_range(begin, end, dtype=pl.Int64, eager=True).alias(POSITION)]
            if self._ids is not None:
                added += [part[ID].is_null().alias(HAS_DEFAULT), self._ids[begin:end]]
            yield part.with_columns(numbers[begin:end].cast(pl.Int64).alias(NUMBER), *added)
            begin = end

    def _frames_in_order(self) -> Iterator[pl.DataFrame]:
        frames = (pl.concat(self._frames) for _ in self._frames[:1])
        written = (pl.read_ipc(self._disk.read(number)) for number in self._written if self._disk is not None)
        return chain(written, frames)

    def _buckets(self, numbers: pl.Series, disk: SetAside) -> Iterator[pl.DataFrame]:
        """Yield all rows by dialogue: they are sorted into groups of neighbouring dialogues first."""
        count = min(_BUCKETS, len(self._written) + 1)
        ends = numbers.sort().gather([(number + 1) * self.height // count - 1 for number in range(count)]).to_list()
        buckets: list[list[int]] = [[] for _ in ends]
        for part in self._parts(numbers):
            begin = -1
            for bucket, end in zip(buckets, ends, strict=True):
                is_there = (pl.col(NUMBER) > begin) & (pl.col(NUMBER) <= end)
                bucket.append(disk.add(_packed(part.filter(is_there))))
                begin = end
        for bucket in buckets:
            yield pl.concat([pl.read_ipc(disk.read(number)) for number in bucket]).sort(NUMBER, maintain_order=True)


def _packed(frame: pl.DataFrame) -> memoryview:
    return frame.write_ipc(None).getbuffer()


def _runs(ids: pl.Series) -> pl.DataFrame:
    return ids.rle().struct.unnest()


def _numbers(runs: list[pl.DataFrame], height: int) -> pl.Series:
    """Number the dialogue of each row by the first rows of dialogues."""
    if not runs:
        return pl.repeat(0, height, dtype=pl.UInt32, eager=True)
    parts = pl.concat(runs)
    first = parts.select(pl.col("value").unique(maintain_order=True)).with_row_index(NUMBER)
    numbers = parts.join(first, on="value", how="left", maintain_order="left")
    return numbers.select(pl.col(NUMBER).cast(pl.UInt32).repeat_by("len").explode()).to_series()


def _pieces(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Cut at the beginnings of dialogues, behind so many rows each; the last piece may go on in the next part."""
    number = rows[NUMBER]
    starts = (number != number.shift(1, fill_value=-1)).arg_true()
    first = 0
    while True:
        index = starts.search_sorted(first + _SLICE, side="left")
        if index >= len(starts):
            break
        end = int(starts[index])
        yield rows[first:end]
        first = end
    yield rows[first:]
