"""The rows of a query as a Polars frame whose numbers every chart library can draw."""

from collections.abc import Callable, Mapping

import duckdb
import polars as pl

Rows = Callable[[str], pl.DataFrame]
"""Runs a query and returns all of its rows."""


def frame(con: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, object] | None = None) -> pl.DataFrame:
    """Run a query and return all of its rows; sums, which DuckDB makes wider than 64 bits, are integers here."""
    rows = pl.from_arrow(con.sql(sql, params=dict(values) if values else None).to_arrow_table())
    assert isinstance(rows, pl.DataFrame)  # noqa: S101 - a table has columns
    whole = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Decimal) and not kind.scale]
    parts = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Decimal) and kind.scale]
    return rows.with_columns(pl.col(whole).cast(pl.Int64), pl.col(parts).cast(pl.Float64))
