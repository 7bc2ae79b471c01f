"""The column of turns' places in their dialogue."""

from collections.abc import Iterator

import polars as pl

from talkhouse.ingest.declared.rows.columns import ORDER, RowColumns
from talkhouse.ingest.decode import BadRecord, pointer

VALUE, WHOLE = f"{ORDER}.value", f"{ORDER}.whole"
"""Columns of the places as numbers, and as whole numbers, which alone tell those above 2^53 apart."""


def with_order(frames: Iterator[pl.DataFrame], columns: RowColumns) -> Iterator[pl.DataFrame]:
    """Read the places, where there are some; BadRecord GF-01 for one that is no number."""
    for frame in frames:
        if ORDER not in columns.holes:
            yield frame
            continue
        places = frame[ORDER].cast(pl.Float64, strict=False)
        is_number = places.is_finite().fill_null(value=False)
        for row in (~is_number).arg_true().head(1):
            found = frame[ORDER][row]
            detail = "the place of a turn is missing" if found is None else f"{found!r:.100} is no number"
            raise BadRecord("GF-01", detail, pointer(frame["line"][row], *columns.path(ORDER)))
        whole = frame[ORDER].cast(pl.Int64, strict=False)
        yield frame.with_columns(places.alias(VALUE), whole.alias(WHOLE))
