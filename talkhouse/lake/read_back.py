"""Reads a lake back into a warehouse that nobody keeps, with the catalogue's own views."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

import migrations
from ingest.registry import corpora
from queries.catalogue import catalogue
from queries.views import create_split_views, create_views
from schema import warehouse
from schema.sql import literal, quoted
from talkhouse.lake.manifest import Manifest, Table


@contextmanager
def warehouse_of(found: Manifest, lake: Path, private: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Make a warehouse of a lake in a private folder, and yield a connection that reads it.

    It takes as much room as the one that the lake was written from.
    """
    path = private / "read_back.duckdb"
    with warehouse.create(path) as con:
        migrations.make(con)
        create_views(con, catalogue())
        for table in found.tables:
            _fill(con, table, lake)
        create_split_views(con, catalogue(), {name: corpus.splits for name, corpus in corpora().items()})
    with warehouse.connect(path) as con:
        yield con


def _fill(con: duckdb.DuckDBPyConnection, table: Table, lake: Path) -> None:
    """Copy a table's files, whose folders say nothing that is not in them."""
    paths = ", ".join(literal(str(lake / file.path)) for file in table.files)
    if paths:
        con.execute(
            f"insert into {quoted(table.schema)}.{quoted(table.name)} by name "
            f"select * from read_parquet([{paths}], hive_partitioning = false)"
        )
