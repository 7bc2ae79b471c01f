"""Talkhouse: a SQL warehouse of dialogue corpora. In Python: ``talkhouse.open()`` returns a read-only connection."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from talkhouse.schema.guard import Settings

__all__ = ["open"]


def open(  # noqa: A001 - read as talkhouse.open
    path: "str | Path | None" = None, *, settings: "Settings | None" = None, unsafe: bool = False
) -> "duckdb.DuckDBPyConnection":
    """Open a warehouse read-only; without a path ``$TALKHOUSE_DB``, then ``talkhouse.duckdb``.

    Whoever made the file, its views can't reach other files, the network or Python's variables; nor can your queries.
    ``settings`` of DuckDB are made before it takes no others, except memory_limit, threads and TimeZone. ``unsafe``
    leaves all that open, for a file that you trust: to copy rows to a file, or to query a data frame by its name.

    Raises a ``talkhouse.schema.errors.TalkhouseError`` that says what to do: the file is missing, held by a writer,
    open for writing in this process, of another schema revision, or not a warehouse.
    """
    from talkhouse import migrations
    from talkhouse.schema.warehouse import open_warehouse
    from talkhouse.settings import database

    return open_warehouse(database(path), migrations.head(), settings=settings or {}, unsafe=unsafe)
