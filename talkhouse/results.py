"""The rows of a query as they come: row by row or as Arrow batches, at most so many, never all in memory."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import duckdb

_CHUNK = 2048
"""Rows that are fetched at once: one of DuckDB's vectors."""

_ROW_GROUP = 122_880
"""Rows of a row group in Parquet, as DuckDB writes them."""

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
        # Names of our own: a query may name two columns alike, or "default".
        names = [f"column_{index}" for index in range(len(self.columns))]
        shapes = [
            f"{shape(name, str(kind))} as {_quoted(column)}"
            for name, kind, column in zip(names, self.types, self.columns, strict=True)
        ]
        shaped = self.relation.query("rows", f"select {', '.join(shapes)} from rows as rows({', '.join(names)})")
        assert shaped is not None  # noqa: S101 - a select gives rows
        return shaped

    def batches(self) -> tuple[Any, Iterator[Any]]:
        """Give the Arrow schema, and the rows as Arrow record batches."""
        casts = any(str(kind) in _STORED_AS for kind in self.types)
        relation = self.shaped(_storable) if casts else self.relation
        reader = relation.to_arrow_reader(_ROW_GROUP)
        return reader.schema, self._cut(reader)

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


def _storable(name: str, kind: str) -> str:
    return f"{name}::{_STORED_AS[kind]}" if kind in _STORED_AS else name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
