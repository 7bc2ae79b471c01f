"""The rows of a query as a Polars frame whose numbers every chart library can draw."""

from collections.abc import Callable, Mapping

import duckdb
import polars as pl
from polars.selectors import by_name

Rows = Callable[[str], pl.DataFrame]
"""Runs a query and returns all of its rows."""


def frame(con: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, object] | None = None) -> pl.DataFrame:
    """Run a query and return all of its rows; sums, which DuckDB makes wider than 64 bits, are integers here."""
    rows = pl.from_arrow(con.sql(sql, params=dict(values) if values else None).to_arrow_table())
    assert isinstance(rows, pl.DataFrame)  # noqa: S101 - a table has columns
    sums = {name: kind.scale for name, kind in rows.schema.items() if isinstance(kind, pl.Decimal)}
    return rows.with_columns(rows[name].cast(pl.Float64 if scale else pl.Int64) for name, scale in sums.items())


def column(name: str) -> pl.Expr:
    """Return the column of this name; ``pl.col`` takes a name for a pattern that looks like one, as ``*`` does."""
    return by_name(name).as_expr()
