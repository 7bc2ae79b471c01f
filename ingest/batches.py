"""Rows to columns: gathers rows per table and hands them on as Polars frames of several row groups."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import polars as pl
from sqlalchemy import JSON, TIMESTAMP, BigInteger, Boolean, Double, Integer, LargeBinary, Text
from sqlalchemy.types import TypeEngine

from ingest.rows import AS_THEY_ARE, Block, Row
from schema.tables import metadata
from schema.tables.base import LongText
from schema.warehouse import ROW_GROUP

_BATCH_ROWS = 12 * ROW_GROUP
"""Rows of one table in a batch."""

_BATCH_BYTES = 8_000_000
"""Bytes of source records in a batch; what they become takes several times that for each batch under way."""

_FEW = 4_096
"""A table with fewer rows waits for a later batch: an insert costs a millisecond before its first row."""

_UNDER_WAY = 3
"""Batches that are inserted or wait for it, one for each lane and one for the next."""

_LONGEST_WAIT = 64_000_000
"""Bytes of source records after which no table waits any longer."""

_Shape: TypeAlias = tuple[Any, ...]
"""What blocks have in common that are joined: the table's name, the SELECT, the names and kinds of the columns."""

_TYPES: dict[type[TypeEngine[Any]], pl.DataType] = {
    Text: pl.String(),
    LongText: pl.String(),
    JSON: pl.String(),
    Integer: pl.Int32(),
    BigInteger: pl.Int64(),
    Double: pl.Float64(),
    Boolean: pl.Boolean(),
    TIMESTAMP: pl.Datetime("us"),
    LargeBinary: pl.Binary(),
}


def frame(table: str, rows: Iterable[Row]) -> pl.DataFrame:
    """Lay rows of one table out as columns, typed as the table is."""
    columns = metadata.tables[table].columns
    names = [column.name for column in columns]
    schema = {column.name: _TYPES[type(column.type)] for column in columns}
    values = zip(*map(attrgetter(*names), rows), strict=True)
    return pl.DataFrame([pl.Series(name, column, schema[name]) for name, column in zip(names, values, strict=True)])


def block_frame(table: str, blocks: list[Block]) -> pl.DataFrame:
    """Lay blocks of one table out as columns; all of them have lists for the same columns."""
    if blocks[0].select != AS_THEY_ARE:
        return pl.DataFrame([_joined(name, [block.columns[name] for block in blocks]) for name in blocks[0].columns])
    columns = metadata.tables[table].columns
    schema = {column.name: _TYPES[type(column.type)] for column in columns}
    own = [_joined(name, [block.columns[name] for block in blocks], schema[name]) for name in blocks[0].columns]
    shared = pl.DataFrame(
        [
            pl.Series(name, [block.shared.get(name) for block in blocks], kind)
            for name, kind in schema.items()
            if name not in blocks[0].columns
        ]
    )
    owners = list(chain.from_iterable(repeat(number, len(block)) for number, block in enumerate(blocks)))
    laid_out = shared.select(pl.all().gather(pl.Series(owners, dtype=pl.UInt32))).to_dict()
    laid_out |= {series.name: series for series in own}
    return pl.DataFrame([laid_out[name] for name in schema])


def _joined(name: str, parts: list[Any], kind: pl.DataType | None = None) -> pl.Series:
    """Join a column of several blocks: lists, or series of the right type already."""
    if isinstance(parts[0], pl.Series):
        series: pl.Series = pl.concat(parts, rechunk=True) if len(parts) > 1 else parts[0]
        return series.alias(name)
    return pl.Series(name, list(chain.from_iterable(parts)), kind)


class Stream:
    """A frame as a stream of Arrow data, whose texts DuckDB reads where they lie; of a frame it would copy them."""

    def __init__(self, frame: pl.DataFrame) -> None:
        """Take a frame, to be read once."""
        self._capsule = frame.__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the capsule (the Arrow PyCapsule interface)."""
        return self._capsule


class Batch(NamedTuple):
    """Rows of one table that are inserted together."""

    table: str
    frame: pl.DataFrame
    select: str = AS_THEY_ARE
    """How DuckDB makes the rows of the frame, which it has as ``stream``."""


class Lane(Protocol):
    """Where batches go: each lane has its own transaction and its own thread."""

    def write(self, batch: Batch) -> None:
        """Insert a batch."""

    def finish(self) -> None:
        """Make everything last that was inserted."""

    def close(self) -> None:
        """Forget what does not last."""


class Batches:
    """Collects rows until a batch is worth an insert; then they go to one lane after the other, in turns.

    Use it in a ``with``. What goes where depends on the rows alone, so that a table has the same order each time.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        # DuckDB works without Python's lock, so that reading and inserting use a core each.
        self._lanes = deque((lane, ThreadPoolExecutor(max_workers=1)) for lane in lanes)
        self._busy: deque[Future[None]] = deque()
        self._rows: defaultdict[str, list[Row]] = defaultdict(list)
        self._blocks: defaultdict[_Shape, list[Block]] = defaultdict(list)
        self._in_blocks: Counter[_Shape] = Counter()
        self._bytes = self._waited = 0

    def add(self, rows: Iterable[Row], size: int, blocks: Iterable[Block] = ()) -> None:
        """Take the rows of one source record of ``size`` bytes; insert all tables when enough has gathered."""
        largest = 0
        for block in blocks:
            shape = (block.kind.TABLE, block.select, *block.columns, *map(type, block.columns.values()))
            self._blocks[shape].append(block)
            self._in_blocks[shape] += len(block)
            largest = max(largest, self._in_blocks[shape])
        for row in rows:
            gathered = self._rows[row.TABLE]
            gathered.append(row)
            largest = max(largest, len(gathered))
        self._bytes += size
        self._waited += size
        if self._waited >= _LONGEST_WAIT:
            self.flush()
        elif largest >= _BATCH_ROWS or self._bytes >= _BATCH_BYTES:
            self._hand_over(_FEW)

    def flush(self) -> None:
        """Hand over all that has gathered."""
        self._hand_over(0)
        self._waited = 0

    def _hand_over(self, fewest: int) -> None:
        """Hand over the tables with so many rows; they are inserted while the next rows gather."""
        batches = list(self._drain(fewest))
        self._bytes = 0
        self._wait_until(_UNDER_WAY - 1)
        lane, thread = self._lanes[0]
        self._lanes.rotate(-1)
        self._busy.append(thread.submit(_write, lane, batches))

    def finish(self) -> None:
        """Make everything last, once it is inserted; raises what went wrong there."""
        # The lane whose turn it is has the least to do still, and its rows come first.
        (first, its_thread), *others = self._lanes
        committed = its_thread.submit(first.finish)
        self._wait_until(0)
        committed.result()
        for lane, thread in others:
            thread.submit(lane.finish).result()

    def _wait_until(self, most: int) -> None:
        """Wait until no more batches than these are under way."""
        while len(self._busy) > most:
            self._busy.popleft().result()

    def __enter__(self) -> Self:
        """Give itself; the threads start with the first batch."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the threads when they have done what they are at, and the lanes."""
        for lane, thread in self._lanes:
            thread.shutdown()
            lane.close()

    def _drain(self, fewest: int) -> Iterator[Batch]:
        for table in [table for table, rows in self._rows.items() if len(rows) >= fewest]:
            yield Batch(table, frame(table, self._rows.pop(table)))
        for shape in [shape for shape in self._blocks if self._in_blocks[shape] >= fewest]:
            del self._in_blocks[shape]
            table, select, *_ = shape
            yield Batch(table, block_frame(table, self._blocks.pop(shape)), select)


def _write(lane: Lane, batches: list[Batch]) -> None:
    for batch in batches:
        lane.write(batch)
