"""CSV told apart by Polars: a block at a time, and only where the cells, written again, are the very text."""

import re

import polars as pl

from talkhouse.ingest.declared.record_files.csv_cells import Cells
from talkhouse.ingest.declared.record_files.record import RowChunk, RowTable

_FIELD = "x{}".format
_MOST_COLUMNS = 1_000
"""Of more, each costs Polars more than its cells do."""


def laid_out(chunk: RowChunk) -> RowTable:
    """Lay rows out as columns."""
    columns = zip(*chunk.rows, strict=True)
    cells = pl.DataFrame([pl.Series(_FIELD(number), column, pl.String) for number, column in enumerate(columns)])
    return RowTable(cells, pl.Series("line", chunk.lines, pl.Int64), chunk.cells)


def table_of(text: str, columns: int, cells: Cells, line_end: str) -> pl.DataFrame | None:
    """Tell whole rows apart into columns of texts, ``x0``, ``x1`` ...; None where the dialect would write others.

    Nothing rests on how Polars reads CSV: a dialect writes no two tables alike, so the cells are right if they give the
    text.
    """
    if (
        columns > _MOST_COLUMNS
        or len(cells.delimiter.encode()) > 1
        or len(cells.quote.encode()) > 1
        or (cells.escape and cells.quote in text)
    ):
        return None
    schema = {_FIELD(number): pl.String() for number in range(columns)}
    try:
        table = pl.read_csv(
            text.encode(),
            has_header=False,
            schema=schema,
            separator=cells.delimiter,
            quote_char=cells.quote or None,
            empty_string_is_null=False,
            raise_if_empty=False,
        )
    except pl.exceptions.PolarsError:
        return None
    return table if len(table) and _written(table, cells, line_end) == text else None


def lines_of(table: pl.DataFrame, text: str, begin: int) -> pl.Series:
    """Number the lines on which the rows of a text begin."""
    height = len(table)
    if text.count("\n") == height:
        return pl.int_range(begin, begin + height, dtype=pl.Int64, eager=True).alias("line")
    breaks = table.select(pl.sum_horizontal(pl.all().str.count_matches("\n", literal=True)).cast(pl.Int64) + 1)
    return (breaks.to_series().cum_sum().shift(1, fill_value=0) + begin).alias("line")


def _written(table: pl.DataFrame, cells: Cells, line_end: str) -> str:
    """Write a table as ``Cells.row`` writes its rows."""
    written = [_cell(table[name], column, cells, table.width) for column, name in enumerate(table.columns)]
    rows = table.with_columns(written).select(pl.concat_str(pl.all(), separator=cells.delimiter) + line_end)
    return str(rows.to_series().str.join("").item())


def _cell(values: pl.Series, column: int, cells: Cells, columns: int) -> pl.Series:
    if not cells.quote:
        return values
    is_special = values.str.contains(f"[{re.escape(cells.delimiter + cells.quote)}\r\n]")
    if columns == 1:
        is_special |= values == ""  # a blank line would be no row
    if column not in cells.quoted and not is_special.any():
        return values
    quoted = cells.quote + values.str.replace_all(cells.quote, cells.quote * 2, literal=True) + cells.quote
    if column in cells.quoted:
        return quoted.alias(values.name)
    return pl.select(pl.when(is_special).then(quoted).otherwise(values).alias(values.name)).to_series()
