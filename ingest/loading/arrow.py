"""Rows between DuckDB and Polars, as streams of Arrow data."""

from typing import Protocol


class _Rows(Protocol):
    """What gives its rows as a stream of Arrow data: a frame of Polars, a relation of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule."""


class Stream:
    """Rows as a stream of Arrow data, whose texts DuckDB reads where they lie; of a frame it would copy them."""

    def __init__(self, rows: _Rows) -> None:
        """Wrap rows, to be read once."""
        self._capsule = rows.__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the capsule (the Arrow PyCapsule interface)."""
        return self._capsule
