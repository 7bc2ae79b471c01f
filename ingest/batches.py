"""Rows to columns: gathers rows per table and hands them on as Polars frames of several row groups."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any

import polars as pl
from sqlalchemy import JSON, TIMESTAMP, BigInteger, Boolean, Double, Integer, LargeBinary, Text
from sqlalchemy.types import TypeEngine

from ingest.rows import Row
from schema.tables import metadata
from schema.tables.base import LongText

ROW_GROUP = 122_880
"""Rows in a row group of DuckDB: an insert of several compresses on all cores."""

_BATCH_ROWS = 2 * ROW_GROUP
_BATCH_BYTES = 64_000_000

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


class Batches:
    """Collects rows until a batch is worth an insert; ``write`` takes the table's name and the frame."""

    def __init__(self, write: Callable[[str, pl.DataFrame], None]) -> None:
        self._write = write
        self._rows: defaultdict[str, list[Row]] = defaultdict(list)
        self._bytes = 0

    def add(self, rows: Iterable[Row], size: int) -> None:
        """Take the rows of one source record of ``size`` bytes; insert all tables when enough has gathered."""
        largest = 0
        for row in rows:
            gathered = self._rows[row.TABLE]
            gathered.append(row)
            largest = max(largest, len(gathered))
        self._bytes += size
        if largest >= _BATCH_ROWS or self._bytes >= _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Insert what has gathered."""
        for table, rows in self._drain():
            self._write(table, frame(table, rows))
        self._bytes = 0

    def _drain(self) -> Iterator[tuple[str, list[Row]]]:
        for table in list(self._rows):
            yield table, self._rows.pop(table)
