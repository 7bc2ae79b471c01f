"""Talkhouse: a SQL warehouse of dialogue corpora. In Python: ``talkhouse.open()`` returns a read-only connection."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

__all__ = ["open"]


def open(path: "str | Path | None" = None) -> "duckdb.DuckDBPyConnection":  # noqa: A001 - read as talkhouse.open
    """Open a warehouse read-only; without a path ``$TALKHOUSE_DB``, then ``talkhouse.duckdb``.

    Raises a ``schema.errors.TalkhouseError`` that says what to do: the file is missing, held by a writer, open
    in this process with other settings, of another schema revision, or not a warehouse.
    """
    import migrations
    from schema.warehouse import open_warehouse
    from talkhouse.settings import database

    return open_warehouse(database(path), migrations.head())
