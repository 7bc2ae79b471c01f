"""The rows of a query as they come: row by row or as Arrow batches, at most so many, never all in memory."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import duckdb

from schema.sql import quoted

_CHUNK = 2048
"""Rows that are fetched at once: one of DuckDB's vectors."""

_BLOCK = 512
"""Rows of an Arrow batch: small enough that a batch of the widest views (100 kB a row) is 50 MB."""

_GROUP_ROWS = 122_880
"""Rows of a group at most, as DuckDB writes row groups."""

_GROUP_BYTES = 64_000_000
"""Bytes at which a group ends, uncompressed: viewers refuse row groups above 300 MB (286 MiB)."""

_STORED_AS = {
    "HUGEINT": "double",
    "UHUGEINT": "double",
    "BIT": "varchar",
    "INTERVAL": "varchar",
    "TIME WITH TIME ZONE": "varchar",
}
"""Types that Parquet has not; a sum of integers is a HUGEINT, which DuckDB's own writer makes a double too."""


class Rows:
    """The rows of a query, read as they come and at most ``limit`` of them; ``more`` says that there were others."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, limit: int | None = None
    ) -> None:
        self._con, self._limit, self.more = con, limit, False
        # One row above the limit tells whether there are more, without running the whole query.
        self.relation = relation if limit is None else relation.limit(limit + 1)
        self.columns, self.types = relation.columns, relation.types

    def read(self, relation: duckdb.DuckDBPyRelation | None = None) -> Iterator[tuple[Any, ...]]:
        """Give the rows, or those of a relation that was made of them, row by row."""
        # Not "or": whether a relation is true is how many rows it has, for which DuckDB runs it.
        for index, row in enumerate(self._all(self.relation if relation is None else relation)):
            if index == self._limit:
                self.more = True
                return
            yield row

    def shaped(self, shape: Callable[[str, str], str]) -> duckdb.DuckDBPyRelation:
        """Give the rows with every column as an expression that is made of a name for it and its type."""
        return self._selected(
            ", ".join(f"{shape(name, kind)} as {quoted(column)}" for name, kind, column in self._fields)
        )

    def joined(self, join: Callable[[list[tuple[str, str, str]]], str]) -> duckdb.DuckDBPyRelation:
        """Give every row as one value: an expression that is made of a name, the type and the title of each column."""
        return self._selected(join(self._fields))

    def batches(self, relation: duckdb.DuckDBPyRelation | None = None) -> tuple[Any, Iterator[Any]]:
        """Give the Arrow schema and the rows, or those of a relation that was made of them, as record batches.

        All batches but the last have the same number of rows, whatever DuckDB's threads did.
        """
        if relation is None:
            casts = any(str(kind) in _STORED_AS for kind in self.types)
            relation = self.shaped(_storable) if casts else self.relation
        reader = relation.to_arrow_reader(_BLOCK)
        return reader.schema, _even(self._cut(reader))

    @property
    def _fields(self) -> list[tuple[str, str, str]]:
        # Names of our own: a query may name two columns alike, or "default".
        kinds = enumerate(zip(self.types, self.columns, strict=True))
        return [(f"column_{index}", str(kind), column) for index, (kind, column) in kinds]

    def _selected(self, expressions: str) -> duckdb.DuckDBPyRelation:
        names = ", ".join(name for name, _, _ in self._fields)
        selected = self.relation.query("rows", f"select {expressions} from rows as rows({names})")
        assert selected is not None  # noqa: S101 - a select gives rows
        return selected

    def _cut(self, batches: Iterable[Any]) -> Iterator[Any]:
        left = self._limit
        for batch in batches:
            if left is None:
                yield batch
                continue
            self.more = self.more or batch.num_rows > left
            yield batch.slice(0, left)
            left = max(left - batch.num_rows, 0)

    def _all(self, relation: duckdb.DuckDBPyRelation) -> Iterator[tuple[Any, ...]]:
        if relation.type == "MATERIALIZED_RELATION":
            yield from relation.iter_rows()
            return
        # A relation's own iterator holds all rows before it gives the first (3 GB for 3 million rows of 1 kB).
        result = self._con.execute(relation.sql_query())
        while chunk := result.fetchmany(_CHUNK):
            yield from chunk


def groups(batches: Iterable[Any]) -> Iterator[Any]:
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
        if rows + _BLOCK > _GROUP_ROWS or size >= _GROUP_BYTES:
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
        while rows + left.num_rows >= _BLOCK:
            taken = _BLOCK - rows
            yield concat_batches([*held, left.slice(0, taken)])
            held, rows, left = [], 0, left.slice(taken)
        if left.num_rows:
            held.append(left)
            rows += left.num_rows
    if held:
        yield concat_batches(held)


def _storable(name: str, kind: str) -> str:
    return f"{name}::{_STORED_AS[kind]}" if kind in _STORED_AS else name
