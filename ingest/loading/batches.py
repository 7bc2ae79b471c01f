"""Rows to columns: collects rows per table and passes them on as Polars frames of several row groups."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import polars as pl
from sqlalchemy import JSON, TIMESTAMP, BigInteger, Boolean, Double, Integer, LargeBinary
from sqlalchemy.types import TypeEngine

from talkhouse.ingest.contract.validation import LENIENT, check_column_batch, check_rows
from talkhouse.ingest.rows import ColumnBatch, Row
from talkhouse.schema.tables import metadata
from talkhouse.schema.tables.base import LongText, Text
from talkhouse.schema.warehouse import ROW_GROUP

_BATCH_ROWS = 12 * ROW_GROUP
"""Rows of one table in a batch."""

_BATCH_BYTES = 8_000_000
"""Bytes of source records in a batch; what they become takes several times that for each batch under way."""

_FEW = 4_096
"""A table with fewer rows waits for a later batch: an insert costs a millisecond before its first row."""

_UNDER_WAY = 3
"""Batches that are inserted or wait for it, one for each transaction and one for the next."""

_LONGEST_WAIT = 64_000_000
"""Bytes of source records after which no table waits any longer."""

_REFUSED = (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError)
"""What Polars raises for a value of another type than its column's."""

_Shape: TypeAlias = tuple[Any, ...]
"""What column batches that are joined have in common: table, and the names and types of the columns."""

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
    """Return rows of one table as columns, typed as the table is; ContractBroken for a value of another type."""
    schema = _schema(table)
    waiting = list(rows)
    try:
        columns = dict(zip(schema, zip(*map(attrgetter(*schema), waiting), strict=True), strict=True))
    except AttributeError as error:
        raise RuntimeError(f"main.{table} has a column that no row has: migrations/README.md says why") from error
    try:
        return pl.DataFrame([_series(table, name, columns[name], kind) for name, kind in schema.items()])
    except _REFUSED:
        check_rows(table, waiting)
        raise


def column_batch_frame(table: str, parts: list[ColumnBatch]) -> pl.DataFrame:
    """Return column batches of one table as columns; all of them have lists for the same columns.

    Raises ContractBroken for a value of another type than its column's.
    """
    try:
        return _laid_out(table, parts)
    except _REFUSED:
        for part in parts:
            check_column_batch(part)
        raise


def _laid_out(table: str, parts: list[ColumnBatch]) -> pl.DataFrame:
    schema = _schema(table)
    own = [_joined(table, name, [part.columns[name] for part in parts], schema[name]) for name in parts[0].columns]
    shared = pl.DataFrame(
        [
            pl.Series(name, [part.shared.get(name) for part in parts], kind)
            for name, kind in schema.items()
            if name not in parts[0].columns
        ]
    )
    owners = list(chain.from_iterable(repeat(number, len(part)) for number, part in enumerate(parts)))
    laid_out = shared.select(pl.all().gather(pl.Series(owners, dtype=pl.UInt32))).to_dict()
    laid_out |= {series.name: series for series in own}
    return pl.DataFrame([laid_out[name] for name in schema])


def _schema(table: str) -> dict[str, pl.DataType]:
    """Return the types of a table's columns."""
    return {column.name: _TYPES[type(column.type)] for column in metadata.tables[table].columns}


def _joined(table: str, name: str, parts: list[Any], kind: pl.DataType) -> pl.Series:
    """Join a column of several column batches: lists or series."""
    if isinstance(parts[0], pl.Series):
        series: pl.Series = pl.concat(parts, rechunk=True) if len(parts) > 1 else parts[0]
        return series.alias(name).cast(kind)
    return _series(table, name, list(chain.from_iterable(parts)), kind)


def _series(table: str, name: str, values: Sequence[Any], kind: pl.DataType) -> pl.Series:
    """Return a column; raises TypeError for values that Polars would convert in silence."""
    taken = LENIENT.get(type(metadata.tables[table].columns[name].type))
    if taken is not None and not set(map(type, values)) <= taken:
        raise TypeError(name)
    series = pl.Series(name, values, kind)
    if series.dtype != kind:  # a time zone
        raise TypeError(name)
    return series


class Batch(NamedTuple):
    """Rows of one table that are inserted together."""

    table: str
    frame: pl.DataFrame


class Sink(Protocol):
    """Where batches go, such as a transaction in a connection of its own; one thread uses it."""

    def write(self, batch: Batch) -> None:
        """Insert or write a batch."""

    def finish(self) -> None:
        """Make what was written count."""

    def close(self) -> None:
        """Undo what does not count."""


class Batches:
    """Collects rows until a batch is worth an insert; then they go to one sink after the other, in turns.

    Use it in a ``with``. What goes where depends on the rows alone, so that a table has the same order each time.
    """

    def __init__(self, sinks: Sequence[Sink]) -> None:
        # DuckDB works without Python's lock, so that reading and inserting use a core each.
        self._sinks = deque((sink, ThreadPoolExecutor(max_workers=1)) for sink in sinks)
        self._busy: deque[Future[None]] = deque()
        self._rows: defaultdict[str, list[Row]] = defaultdict(list)
        self._column_batches: defaultdict[_Shape, list[ColumnBatch]] = defaultdict(list)
        self._column_rows: Counter[_Shape] = Counter()
        self._frames: defaultdict[str, list[pl.DataFrame]] = defaultdict(list)
        self._frame_rows: Counter[str] = Counter()
        self._bytes = self._waited = 0

    def add(self, rows: Iterable[Row], size: int, parts: Iterable[ColumnBatch] = ()) -> None:
        """Add the rows of one source record of ``size`` bytes; insert all tables when there is enough to insert."""
        largest = 0
        for part in parts:
            shape = (part.kind.TABLE, *part.columns, *map(type, part.columns.values()))
            self._column_batches[shape].append(part)
            self._column_rows[shape] += len(part)
            largest = max(largest, self._column_rows[shape])
        waiting = self._rows
        for row in rows:
            waiting[row.TABLE].append(row)
        self._waits(max(largest, *map(len, waiting.values()), 0), size)

    def _waits(self, largest: int, size: int) -> None:
        """Hand over where the largest table or the bytes are enough."""
        self._bytes += size
        self._waited += size
        if self._waited >= _LONGEST_WAIT:
            self.flush()
        elif largest >= _BATCH_ROWS or self._bytes >= _BATCH_BYTES:
            self._hand_over(_FEW)

    def add_frame(self, batch: Batch, size: int) -> None:
        """Add rows that are columns already, of source records of ``size`` bytes."""
        self._frames[batch.table].append(batch.frame)
        self._frame_rows[batch.table] += len(batch.frame)
        self._waits(self._frame_rows[batch.table], size)

    def flush(self) -> None:
        """Hand over all rows that wait."""
        self._hand_over(0)
        self._waited = 0

    def _hand_over(self, fewest: int) -> None:
        """Hand over the tables with so many rows; they are inserted while the next rows are collected."""
        batches = list(self._drain(fewest))
        self._bytes = 0
        self._wait_until(_UNDER_WAY - 1)
        sink, thread = self._sinks[0]
        self._sinks.rotate(-1)
        self._busy.append(thread.submit(_write, sink, batches))

    def finish(self) -> None:
        """Finish all sinks, once everything is written; raises what went wrong there."""
        # The one whose turn it is has the least to do still, and its rows come first.
        (first, its_thread), *others = self._sinks
        committed = its_thread.submit(first.finish)
        self._wait_until(0)
        committed.result()
        for sink, thread in others:
            thread.submit(sink.finish).result()

    def _wait_until(self, most: int) -> None:
        """Wait until no more batches than these are under way."""
        while len(self._busy) > most:
            self._busy.popleft().result()

    def __enter__(self) -> Self:
        """Return itself; the threads start with the first batch."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the threads when their work is done, and close the sinks."""
        for sink, thread in self._sinks:
            thread.shutdown()
            sink.close()

    def _drain(self, fewest: int) -> Iterator[Batch]:
        for table in [table for table, rows in self._rows.items() if len(rows) >= fewest]:
            yield Batch(table, frame(table, self._rows.pop(table)))
        for shape in [shape for shape in self._column_batches if self._column_rows[shape] >= fewest]:
            del self._column_rows[shape]
            yield Batch(shape[0], column_batch_frame(shape[0], self._column_batches.pop(shape)))
        for table in [table for table, rows in self._frame_rows.items() if rows >= fewest]:
            del self._frame_rows[table]
            yield Batch(table, pl.concat(self._frames.pop(table), rechunk=False))


def _write(sink: Sink, batches: list[Batch]) -> None:
    for batch in batches:
        sink.write(batch)
