"""The rows of a query as Arrow batches, as they come and at most so many, never all in memory."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import duckdb

from talkhouse.query.expressions import Column
from talkhouse.schema.sql import quoted

OnRows = Callable[[int], None]
"""Is called with the number of rows that were written since the last call."""

Describe = Callable[[Any], Any]
"""Returns an Arrow schema that says more of the same columns."""

_BATCH_ROWS = 512
"""Rows of an Arrow batch: small enough that a batch of the widest views (100 kB a row) is 50 MB."""

_GROUP_ROWS = 122_880
"""Rows of a group at most, as DuckDB writes row groups."""

_GROUP_BYTES = 64_000_000
"""Bytes at which a group ends, uncompressed: viewers refuse row groups above 300 MB (286 MiB)."""


class Rows:
    """The rows of a query, at most ``limit``; ``count`` is how many were read, ``has_more`` says there were others."""

    def __init__(
        self,
        relation: duckdb.DuckDBPyRelation,
        limit: int | None = None,
        on_rows: OnRows = lambda _: None,
        describe: Describe = lambda schema: schema,
    ) -> None:
        self._limit, self._on_rows, self._describe = limit, on_rows, describe
        self.count, self.has_more = 0, False
        # One row above the limit tells whether there are more, without running the whole query.
        self._relation = relation if limit is None else relation.limit(limit + 1)
        titles, keys = self._relation.columns, self._relation.select("*").columns
        self.columns = [
            Column(f"column_{index}", kind, title, key)
            for index, (kind, title, key) in enumerate(zip(self._relation.types, titles, keys, strict=True))
        ]

    def batches(self, expression: Callable[[Column], str]) -> tuple[Any, Iterator[Any]]:
        """Return the Arrow schema and the record batches of the rows, every column as an SQL expression of it."""
        named = ", ".join(f"{expression(column)} as {quoted(column.title)}" for column in self.columns)
        schema, batches = self._read(named)
        return self._describe(schema), batches

    def values(self, expression: Callable[[list[Column]], str]) -> Iterator[Any]:
        """Run the query, and return every row as the value of one SQL expression of its columns."""
        _, batches = self._read(expression(self.columns))
        return (value for batch in batches for value in batch.column(0).to_pylist())

    def lines(self, expression: Callable[[list[Column]], str]) -> Iterator[memoryview]:
        """Run the query, and return the bytes of many rows at a time, each as a line: an SQL expression, never null."""
        _, batches = self._read(f"{expression(self.columns)} || chr(10)")
        return (text_bytes(batch.column(0)) for batch in batches)

    def _read(self, expressions: str) -> tuple[Any, Iterator[Any]]:
        names = ", ".join(column.name for column in self.columns)
        selected = self._relation.query("rows", f"select {expressions} from rows as rows({names})")
        assert selected is not None  # noqa: S101 - a select returns rows
        reader = selected.to_arrow_reader(_BATCH_ROWS)
        return reader.schema, self._counted(_even(self._limited(reader)))

    def _limited(self, batches: Iterable[Any]) -> Iterator[Any]:
        left = self._limit
        for batch in batches:
            if left is None:
                yield batch
                continue
            self.has_more = self.has_more or batch.num_rows > left
            yield batch.slice(0, left)
            left = max(left - batch.num_rows, 0)

    def _counted(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            self.count += batch.num_rows
            self._on_rows(batch.num_rows)


def text_bytes(texts: Any) -> memoryview:
    """Return the bytes of all texts of an Arrow array, one after the other, without a copy."""
    from pyarrow.lib import large_string

    _, offsets, data = texts.buffers()
    ends = memoryview(offsets).cast("B").cast("q" if texts.type == large_string() else "i")
    return memoryview(data)[ends[texts.offset] : ends[texts.offset + len(texts)]]


def row_groups(batches: Iterable[Any]) -> Iterator[Any]:
    """Join record batches to larger ones, at most 122,880 rows or about 64 MB: the row groups of a file."""
    from pyarrow.ipc import get_record_batch_size  # type: ignore[attr-defined]
    from pyarrow.lib import concat_batches

    held: list[Any] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        # Not nbytes: that counts bitmaps of nulls which may or may not be there.
        size += get_record_batch_size(batch)
        if rows + _BATCH_ROWS > _GROUP_ROWS or size >= _GROUP_BYTES:
            yield concat_batches(held)
            held, rows, size = [], 0, 0
    if held:
        yield concat_batches(held)


def _even(batches: Iterable[Any]) -> Iterator[Any]:
    """Cut and join batches so that each has as many rows; how DuckDB cuts them depends on its threads."""
    from pyarrow.lib import concat_batches

    held: list[Any] = []
    rows = 0
    for batch in batches:
        left = batch
        while rows + left.num_rows >= _BATCH_ROWS:
            taken = _BATCH_ROWS - rows
            yield concat_batches([*held, left.slice(0, taken)])
            held, rows, left = [], 0, left.slice(taken)
        if left.num_rows:
            held.append(left)
            rows += left.num_rows
    if held:
        yield concat_batches(held)
