"""Runs the SQL files of the scores: binds the names that they read, and turns DuckDB's errors into the house's."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import duckdb

from talkhouse.queries.heads import Query, broken, line_of
from talkhouse.queries.sql_errors import OF_THE_SQL, read_error
from talkhouse.schema.errors import CatalogueError

READS = {
    "scores": ("predicted", "gold"),
    "metrics": ("sliced", "scored"),
    "layouts": ("keys", "other_keys", "documents", "lines", "score_rows"),
    "printed": ("results",),
}
"""The names that the SQL files of each folder may read beside the warehouse: the interface of these files."""


class Bound:
    """The SQL of a file, with what it reads bound to these relations: each the text of a SELECT."""

    def __init__(self, query: Query, folder: str, relations: Mapping[str, str]) -> None:
        if not relations.keys() <= {*READS[folder]}:
            raise ValueError(f"a file of {folder} reads {READS[folder]}, not {[*relations]}")
        self.query, self.relations = query, relations
        # Not materialized, for that would be another plan than that of the table itself.
        names = ", ".join(f"{name} as not materialized ({select})" for name, select in relations.items())
        self.sql = f"with {names} from ({query.sql}\n)"

    def columns(self, con: duckdb.DuckDBPyConnection) -> dict[str, str]:
        """Return the columns of its rows, by name, with their types; CatalogueError where the SQL can't be run."""
        with self.errors(con):
            return {row[0]: row[1] for row in con.execute(f"describe {self.sql}").fetchall()}

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
                    next_step="select it: docs/scores.md says what the files of a task give",
                )
        return columns

    @contextmanager
    def errors(self, con: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Turn what DuckDB raises for this SQL into CatalogueError: file, line, and the columns that there are."""
        try:
            yield
        except OF_THE_SQL as error:
            raise sql_error(self.query, self.sql, error, expected=self._there(con, error)) from error

    def _there(self, con: duckdb.DuckDBPyConnection, error: duckdb.Error) -> str | None:
        """List the columns of what the file reads, where it names one that is not there."""
        if isinstance(error, duckdb.CatalogException):
            return f"a table or view of the warehouse, {' or '.join(self.relations)}" if "Table" in str(error) else None
        if not isinstance(error, duckdb.BinderException):
            return None
        described = {name: con.execute(f"describe {select}").fetchall() for name, select in self.relations.items()}
        return "; ".join(f"{name} has {', '.join(row[0] for row in rows)}" for name, rows in described.items())


def sql_error(query: Query, statement: str, error: duckdb.Error, *, expected: str | None = None) -> CatalogueError:
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
