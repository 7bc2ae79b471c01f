"""Rows of any query as a table: texts as they are, numbers with all their digits, null apart from the empty text."""

import json
from pathlib import Path
from typing import BinaryIO

import polars as pl
import streamlit as st
from pyarrow import parquet
from pyarrow.lib import RecordBatch, Table

from schema.errors import QueryFailed

MOST_BYTES = 20_000_000
"""Of the rows of a table: the browser gets all of them."""

_EXACT = 2**53
"""From here on a browser's numbers are not exact."""

_BATCH_ROWS = 16


def read(source: Path | BinaryIO) -> pl.DataFrame:
    """Read the first rows of a Parquet file, as many as a table can have; QueryFailed where one value is too large."""
    with parquet.ParquetFile(source) as file:  # type: ignore[no-untyped-call]
        groups = [file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups)]
        if max(groups, default=0) > 4 * MOST_BYTES:
            raise QueryFailed(
                "the rows are too large for a table",
                expected=f"at most {4 * MOST_BYTES // 1_000_000} MB",
                found=f"{max(groups) // 1_000_000:,} MB",
                next_step="select fewer columns or rows, or download the rows as a file",
            )
        batches: list[RecordBatch] = []
        size = 0
        for batch in file.iter_batches(_BATCH_ROWS):
            size += batch.nbytes
            if batches and size > MOST_BYTES:
                break
            batches.append(batch)
        table = Table.from_batches(batches, file.schema_arrow)
    frame = pl.from_arrow(table.rename_columns(_unique(table.column_names)))
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table has columns
    return frame


def put(rows: pl.DataFrame) -> None:
    """Draw rows as a table that can be sorted and searched."""
    shown = exact(rows)
    # By Arrow: of a Polars frame Streamlit makes a Pandas one, in which null and NaN are the same.
    exactly = st.column_config.NumberColumn(format="plain")
    config = {column.name: exactly for column in shown if column.dtype.is_float()}
    st.dataframe(shown.to_arrow(), hide_index=True, column_config=config)


def exact(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows whose values a browser's table shows as they are: numbers and texts stay, all others become texts."""
    numbers = rows.with_columns(_as_float(column) for column in rows if column.dtype.is_decimal())
    return numbers.with_columns(_as_text(column) for column in numbers if not _is_exact(column))


def _as_float(column: pl.Series) -> pl.Series:
    """Return decimal numbers as floats, which a table can sort, unless that loses digits."""
    floats = column.cast(pl.Float64)
    return floats if (floats.cast(column.dtype, strict=False) == column).all() else column


def _is_exact(column: pl.Series) -> bool:
    """Whether a browser's table shows the values as they are."""
    if column.dtype.is_integer() or column.dtype.is_float():
        return column.cast(pl.Float64).is_between(-_EXACT, _EXACT, closed="none").all()
    return column.dtype in (pl.String, pl.Null)


def _as_text(column: pl.Series) -> pl.Series:
    """Return the values as texts: lists and structs as JSON, bytes as Python writes them."""
    if column.dtype.is_nested():
        return column.map_elements(_json, pl.String)
    if column.dtype == pl.Binary:
        return column.map_elements(repr, pl.String)
    return column.cast(pl.String)


def _json(value: object) -> str:
    return json.dumps(value.to_list() if isinstance(value, pl.Series) else value, ensure_ascii=False, default=str)


def counted(count: int, what: str = "row") -> str:
    """Write a number of things as people do: 1 row, 1,000 rows."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _unique(names: list[str]) -> list[str]:
    """Number the names that a query gives to several of its columns."""
    found: list[str] = []
    for name in names:
        number, unique = 0, name
        while unique in found:
            number += 1
            unique = f"{name}_{number}"
        found.append(unique)
    return found
