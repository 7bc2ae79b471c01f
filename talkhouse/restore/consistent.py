"""Rows of a warehouse that somebody has changed: whatever the code that writes them back raises is one clear error."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import msgspec

from talkhouse.schema.errors import WarehouseDamaged

_RAISED = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    StopIteration,
    RuntimeError,  # also where that ends a generator, and for JSON that is nested too deep
    struct.error,
    msgspec.MsgspecError,
    duckdb.ProgrammingError,
    duckdb.DataError,
)
"""What comes of rows that are missing, of JSON of another shape, and of columns of other types."""


@contextmanager
def consistent(what: str) -> Iterator[None]:
    """Raise WarehouseDamaged where the rows of a corpus or record are not such as Talkhouse writes."""
    try:
        yield
    except _RAISED as error:
        raise WarehouseDamaged(
            "rows of the warehouse don't fit together, so this can't be written back",
            where=what,
            expected="tables as Talkhouse has written them",
            found=f"{type(error).__name__}: {error}",
            next_step="build the warehouse again from the publisher's files; if nobody has changed it, report this "
            "message",
        ) from error
