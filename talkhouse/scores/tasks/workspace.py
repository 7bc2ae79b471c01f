"""A database in memory with the tables of one run: a step makes a table in it and returns its name."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from typing import NewType

import duckdb
from pyarrow import lib as pa

from talkhouse.schema.sql import literal

Table = NewType("Table", str)
"""The name of a table of a workspace, as SQL writes it."""

_NUMBERS = count(1)


class Workspace:
    """The tables of one run, beside the warehouse that ``con`` has open; they are gone when it is closed."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        # The connections of a process to one file see each other's databases.
        self._database = f"talkhouse_scores_{next(_NUMBERS)}"
        self._made: Counter[str] = Counter()
        self._attach()

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(duckdb.InterruptException):  # what was interrupted ends, and the connection with it
            self.con.execute(f"detach {self._database}")

    def _attach(self) -> None:
        # Also beside a file that is opened read-only, and where no other file can be reached.
        self.con.execute(f"attach ':memory:' as {self._database} (read_write)")

    def clear(self) -> None:
        """Drop all tables."""
        self.con.execute(f"detach {self._database}")
        self._attach()

    def create(self, name: str, select: str) -> Table:
        """Create a table of the rows of a query; one that has the same name stays, for its number is another."""
        self._made[name] += 1
        table = Table(f"{self._database}.main.{name}_{self._made[name]}")
        self.con.execute(f"create table {table} as {select}")
        return table

    def create_arrow(self, name: str, rows: pa.Table | pa.RecordBatchReader, columns: str = "*") -> Table:
        """Create a table of Arrow's rows; ``columns`` is what is selected of them."""
        self.con.register("arrow_rows", rows)
        table = self.create(name, f"select {columns} from arrow_rows")
        self.con.unregister("arrow_rows")
        return table

    def insert_arrow(self, table: Table, rows: pa.Table, columns: str = "*") -> None:
        """Add Arrow's rows to a table."""
        self.con.register("arrow_rows", rows)
        self.con.execute(f"insert into {table} select {columns} from arrow_rows")
        self.con.unregister("arrow_rows")

    def drop(self, tables: Iterable[Table]) -> None:
        """Drop tables that no step needs any more."""
        for table in tables:
            self.con.execute(f"drop table {table}")

    def columns(self, table: Table) -> dict[str, str]:
        """Return the columns of a table, by name, with their types."""
        return {row[0]: row[1] for row in self.con.execute(f"describe {table}").fetchall()}

    def count(self, table: Table) -> int:
        """Return the number of rows of a table."""
        ((rows,),) = self.con.execute(f"select count(*) from {table}").fetchall()
        return int(rows)

    def tables(self) -> list[str]:
        """Return the names of all tables that are there."""
        query = f"select table_name from duckdb_tables() where database_name = {literal(self._database)}"
        return [name for (name,) in self.con.execute(query).fetchall()]
