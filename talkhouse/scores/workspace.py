"""A run's database in memory: its tables, the SQL files that run in it, and errors about their rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import NewType

import duckdb
from pyarrow import lib as pa

from talkhouse.ingest.files.limits import Limits
from talkhouse.queries.heads import Query, broken, line_of
from talkhouse.queries.sql_errors import OF_THE_SQL, read_error
from talkhouse.schema.errors import CatalogueError, UsageError
from talkhouse.schema.sql import column_types, literal
from talkhouse.user_files import Rows, bounded

ScoringTable = NewType("ScoringTable", str)
"""The name of a table of a workspace, as SQL writes it."""

_NUMBERS = count(1)


class ScoringWorkspace:
    """The tables of one run, next to the warehouse that ``con`` has open; they are gone when it is closed."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        # The connections of a process to one file see each other's databases.
        self._database = f"talkhouse_scores_{next(_NUMBERS)}"
        self._numbers: Counter[str] = Counter()
        self._attach()

    def __enter__(self) -> "ScoringWorkspace":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(duckdb.InterruptException):  # what was interrupted ends, and the connection with it
            self.con.execute(f"detach {self._database}")

    def _attach(self) -> None:
        # Also next to a file that is opened read-only, and where no other file can be reached.
        self.con.execute(f"attach ':memory:' as {self._database} (read_write)")

    def clear(self) -> None:
        """Drop all tables."""
        self.con.execute(f"detach {self._database}")
        self._attach()

    def create(self, name: str, select: str) -> ScoringTable:
        """Create a table of the rows of a query; one that has the same name stays, for its number is another."""
        self._numbers[name] += 1
        table = ScoringTable(f"{self._database}.main.{name}_{self._numbers[name]}")
        self.con.execute(f"create table {table} as {select}")
        return table

    def create_arrow(self, name: str, rows: pa.Table | pa.RecordBatchReader, columns: str = "*") -> ScoringTable:
        """Create a table of Arrow's rows; ``columns`` is what is selected of them."""
        self.con.register("arrow_rows", rows)
        table = self.create(name, f"select {columns} from arrow_rows")
        self.con.unregister("arrow_rows")
        return table

    def load(self, name: str, rows: Rows, limits: Limits, most: int, columns: str = "*") -> ScoringTable:
        """Create a table of the rows of a file; ``columns`` is what is selected from them.

        Raises BadPredictions for more rows than ``most``, SourceError for more bytes than a file may have.
        """
        table = self.create_arrow(name, pa.Table.from_batches([], rows.schema), columns)
        for batch in bounded(rows.batches, limits, partial(check_rows, most=most)):
            self.con.register("arrow_rows", pa.Table.from_batches([batch]))
            self.con.execute(f"insert into {table} select {columns} from arrow_rows")
            self.con.unregister("arrow_rows")
        return table

    def drop(self, tables: Iterable[ScoringTable]) -> None:
        """Drop tables that no step needs any more."""
        for table in tables:
            self.con.execute(f"drop table {table}")

    def columns(self, table: ScoringTable) -> dict[str, str]:
        """Return the columns of a table, by name, with their types."""
        return column_types(self.con, table)

    def count(self, table: ScoringTable) -> int:
        """Return the number of rows of a table."""
        ((rows,),) = self.con.execute(f"select count(*) from {table}").fetchall()
        return int(rows)

    def tables(self) -> list[str]:
        """Return the names of all tables that are there."""
        query = f"select table_name from duckdb_tables() where database_name = {literal(self._database)}"
        return [name for (name,) in self.con.execute(query).fetchall()]


_READS = {
    "scores": ("predicted", "gold"),
    "metrics": ("sliced", "scored"),
    "layouts": ("keys", "other_keys", "documents", "lines", "score_rows"),
    "printed": ("results",),
}
"""The names that the SQL files of each folder may read in addition to the warehouse: the interface of these files."""


class Bound:
    """The SQL of a file, with what it reads bound to these relations: each the text of a SELECT."""

    def __init__(self, query: Query, folder: str, relations: Mapping[str, str]) -> None:
        if not relations.keys() <= {*_READS[folder]}:
            raise ValueError(f"a file of {folder} reads {_READS[folder]}, not {[*relations]}")
        self.query, self.relations = query, relations
        # Not materialized, for that would be another plan than that of the table itself.
        names = ", ".join(f"{name} as not materialized ({select})" for name, select in relations.items())
        self.sql = f"with {names} from ({query.sql}\n)"

    def columns(self, con: duckdb.DuckDBPyConnection) -> dict[str, str]:
        """Return the columns of its rows, by name, with their types; CatalogueError where the SQL can't be run."""
        with self.errors(con):
            return column_types(con, self.sql)

    def check(self, con: duckdb.DuckDBPyConnection, *names: str) -> dict[str, str]:
        """Return the columns of its rows; CatalogueError where one of these is not among them."""
        columns = self.columns(con)
        for name in names:
            if name not in columns:
                raise CatalogueError(
                    f"the SQL file gives no column '{name}'",
                    where=self.query.path,
                    expected=f"the columns {', '.join(names)}",
                    found=f"the columns {', '.join(columns)}",
                    next_step="select it: docs/score-metrics.md says what the files of a task give",
                )
        return columns

    @contextmanager
    def errors(self, con: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Turn what DuckDB raises for this SQL into CatalogueError: file, line, and the columns that there are."""
        try:
            yield
        except OF_THE_SQL as error:
            raise _sql_error(self.query, self.sql, error, expected=self._there(con, error)) from error

    def _there(self, con: duckdb.DuckDBPyConnection, error: duckdb.Error) -> str | None:
        """List the columns of what the file reads, where it names one that is not there."""
        if isinstance(error, duckdb.CatalogException):
            return f"a table or view of the warehouse, {' or '.join(self.relations)}" if "Table" in str(error) else None
        if not isinstance(error, duckdb.BinderException):
            return None
        described = {name: column_types(con, select) for name, select in self.relations.items()}
        return "; ".join(f"{name} has {', '.join(columns)}" for name, columns in described.items())


def _sql_error(query: Query, statement: str, error: duckdb.Error, *, expected: str | None = None) -> CatalogueError:
    """Return the error about the SQL of a file that a statement holds, with the line of the file."""
    problem = read_error(error)
    line = problem.line - statement.partition(query.sql)[0].count("\n")
    return broken(query.path, problem.found, query.sql_line + max(line, 1) - 1, expected or problem.expected)


@contextmanager
def head_errors(query: Query, key: str) -> Iterator[None]:
    """Turn what DuckDB raises for the SQL in a line of a file's head into CatalogueError."""
    try:
        yield
    except OF_THE_SQL as error:
        found = f"{key}: {read_error(error).found}"
        raise broken(query.path, found, line_of(query, key), "SQL over the columns of the task's view") from error


_SHOWN = 5
MOST_LETTERS = 160
"""Characters of what is shown of a row."""


class BadPredictions(UsageError):
    """The predictions can't be scored as they are."""


def check_rows(rows: int, most: int) -> None:
    """Raise BadPredictions where there are far more rows than there can be predictions."""
    if rows > most:
        raise BadPredictions(
            "there are far more rows than the task has predictions",
            expected=f"at most {most:,}: two for each, and a million",
            found=f"{rows:,} or more",
            next_step="give each example one row",
        )


@contextmanager
def naming_files(paths: Sequence[Path]) -> Iterator[None]:
    """Add the names of the files to errors about predictions."""
    try:
        yield
    except BadPredictions as error:
        if not paths or error.where is not None:
            raise
        where = ", ".join(map(str, paths))
        raise BadPredictions(
            error.what, where=where, expected=error.expected, found=error.found, next_step=error.next_step
        ) from error


def refuse(
    con: duckdb.DuckDBPyConnection, rows: str, problem: str, *, expected: str | None = None, next_step: str
) -> None:
    """Raise BadPredictions where a query of texts, one per offending row, has rows; their number follows."""
    count, first = first_rows(con, rows)
    if count:
        raise refusal(count, first, problem, expected=expected, next_step=next_step)


def refusal(
    count: int, first: list[str], problem: str, *, expected: str | None = None, next_step: str
) -> BadPredictions:
    """Return the error about so many rows, starting with these."""
    more = "" if count <= len(first) else f"; and {count - len(first):,} more"
    return BadPredictions(
        f"{problem}: {count:,}", expected=expected, found="; ".join(first) + more, next_step=next_step
    )


def first_rows(con: duckdb.DuckDBPyConnection, rows: str) -> tuple[int, list[str]]:
    """Return the number of rows of a query of texts, and the first of them."""
    ((count, first),) = con.execute(
        f"select count(*), list(row order by place)[:{_SHOWN}] from ({_numbered(rows)})"
    ).fetchall()
    return count, first or []


def key_text(table: str = "") -> str:
    """Return the SQL that names a row by its key; ``table`` is empty, or ``given.``."""
    parts = ("{0}release", "{0}split", "'example_index ' || {0}example_index", "{0}record_id")
    below = ("'turn_index ' || {0}turn_index", "'item_index ' || {0}item_index")
    names = ", ".join((*parts, *below)).format(table)
    return f"concat_ws(' ', {names})"


def row_text(table: str = "") -> str:
    """Return the SQL that names a row of ``given``: by what its layout calls it, or by its key."""
    return f"coalesce({table}key, {key_text(table)})"


def rows_text(count: int) -> str:
    """Return a number of rows in words."""
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def _numbered(rows: str) -> str:
    cut = f"case when len(row) > {MOST_LETTERS} then row[:{MOST_LETTERS}] || ' ...' else row end"
    return f"select {cut} as row, row_number() over () as place from ({rows}) as found(row)"
