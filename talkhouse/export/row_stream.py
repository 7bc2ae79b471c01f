"""The rows of a query as they come, at most so many and never all in memory: as texts, or as Arrow batches.

Texts come from DuckDB's own cursor: to import PyArrow takes as long as 250 MB of them take more than from Arrow.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from time import sleep
from typing import Any, TypeVar

import duckdb

from talkhouse.export.expressions import QueryColumn
from talkhouse.schema.sql import quoted

OnRows = Callable[[int], None]
"""Is called with the number of rows that were written since the last call."""

Result = TypeVar("Result")

Describe = Callable[[Any], Any]
"""Returns an Arrow schema that says more of the same columns."""

_BATCH_ROWS = 512
"""Rows of an Arrow batch: small enough that a batch of the widest views (100 kB a row) is 50 MB."""

_GROUP_ROWS = 122_880
"""Rows of a group at most, as DuckDB writes row groups."""

_GROUP_BYTES = 64_000_000
"""Bytes at which a group ends, uncompressed: viewers refuse row groups above 300 MB (286 MiB)."""


class QueryRows:
    """The rows of a query, at most ``limit``; ``count`` is how many were read, ``has_more`` says there were others."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        relation: duckdb.DuckDBPyRelation,
        limit: int | None = None,
        on_rows: OnRows = lambda _: None,
        describe: Describe = lambda schema: schema,
    ) -> None:
        self._con, self._limit, self._on_rows, self._describe = con, limit, on_rows, describe
        self.count, self.has_more = 0, False
        # One row above the limit tells whether there are more, without running the whole query.
        self._relation = relation if limit is None else relation.limit(limit + 1)
        titles, keys = self._relation.columns, self._relation.select("*").columns
        self.columns = [
            QueryColumn(f"column_{index}", kind, title, key)
            for index, (kind, title, key) in enumerate(zip(self._relation.types, titles, keys, strict=True))
        ]

    def batches(self, expression: Callable[[QueryColumn], str]) -> tuple[Any, Iterator[Any]]:
        """Return the Arrow schema and the record batches of the rows, every column as an SQL expression of it."""
        named = ", ".join(f"{expression(column)} as {quoted(column.title)}" for column in self.columns)
        reader = self._select(named).to_arrow_reader(_BATCH_ROWS)
        return self._describe(reader.schema), self._counted(_even(self._limited(reader)))

    def texts(self) -> Iterator[tuple[str | None, ...]]:
        """Run the query, and return every row as the texts of its values."""
        return chain.from_iterable(self._tuples(", ".join(column.as_text() for column in self.columns)))

    def values(self, expression: Callable[[list[QueryColumn]], str]) -> Iterator[Any]:
        """Run the query, and return every row as the value of one SQL expression of its columns."""
        return (value for rows in self._tuples(expression(self.columns)) for (value,) in rows)

    def lines(self, expression: Callable[[list[QueryColumn]], str]) -> Iterator[bytes]:
        """Run the query, and return the bytes of many rows at a time, each as a line: an SQL expression, never null."""
        lines = self._tuples(f"{expression(self.columns)} || chr(10)")
        return ("".join([line for (line,) in rows]).encode() for rows in lines)

    def _select(self, expressions: str) -> duckdb.DuckDBPyRelation:
        names = ", ".join(column.name for column in self.columns)
        selected = self._relation.query("rows", f"select {expressions} from rows as rows({names})")
        assert selected is not None  # noqa: S101 - a select returns rows
        return selected

    def _tuples(self, expressions: str) -> Iterator[list[tuple[Any, ...]]]:
        # A relation reads all of its rows into memory before it gives the first ones to Python; a cursor does not.
        query = self._select(expressions).sql_query()
        _signals_first(lambda: self._con.execute(query))
        return self._fetched()

    def _fetched(self) -> Iterator[list[tuple[Any, ...]]]:
        while rows := _signals_first(lambda: self._con.fetchmany(_BATCH_ROWS)):
            if self._limit is not None and self.count + len(rows) > self._limit:
                self.has_more, rows = True, rows[: self._limit - self.count]
            yield rows
            self.count += len(rows)
            self._on_rows(len(rows))

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


def _signals_first(run: Callable[[], Result]) -> Result:
    """Call DuckDB; where it fails, as at Ctrl-C, let Python handle signals before it unwinds.

    Else their handler would run, and raise, where the next context manager begins to end, and break that off.
    """
    try:
        return run()
    except Exception:
        sleep(0)
        raise


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


def cut(batches: Iterable[Any], sizes: Iterable[int]) -> Iterator[Iterator[Any]]:
    """Yield the batches of the first so many rows, then those of the next; each are read before the next begin."""
    following, left = iter(batches), list[Any]()

    def piece(rows: int) -> Iterator[Any]:
        while rows and (batch := left.pop() if left else next(following, None)) is not None:
            if batch.num_rows > rows:
                left.append(batch.slice(rows))
            yield batch.slice(0, rows)
            rows -= min(rows, batch.num_rows)

    return map(piece, sizes)


def _even(batches: Iterable[Any]) -> Iterator[Any]:
    """Cut and join batches so that each has as many rows; how DuckDB cuts them depends on its threads."""
    from pyarrow.lib import concat_batches

    for piece in cut(batches, repeat(_BATCH_ROWS)):
        if not (held := [*piece]):
            return
        yield concat_batches(held)
