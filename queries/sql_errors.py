"""What DuckDB says of the SQL in a file: an error with the file's name and line, and the names that come closest."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import duckdb

from talkhouse.queries.heads import Query, broken

OF_THE_SQL = (duckdb.ProgrammingError, duckdb.DataError, duckdb.IntegrityError, duckdb.NotSupportedError)
"""Errors that the SQL is to blame for; others are of the disk, the memory or the connection."""

_KIND = re.compile(r"^[\w ]+ Error: ")
_LINE = re.compile(r"^LINE (\d+): ", re.MULTILINE)
_CANDIDATES = re.compile(r"(?:Candidate bindings|Did you mean)[: ]+(.*)")


class SqlError(NamedTuple):
    """What DuckDB says of a statement."""

    found: str
    expected: str | None
    """The names that come closest."""
    line: int
    """Of the statement, from 1; 1 where DuckDB names none."""


def read_error(error: Exception) -> SqlError:
    """Split an error of DuckDB into its parts."""
    message = str(error)
    line, names = _LINE.search(message), _CANDIDATES.search(message)
    return SqlError(
        found=_KIND.sub("", message).partition("\n")[0].rstrip("!"),
        expected=f"one of: {names[1].rstrip('?').replace(chr(34), '')}" if names else None,
        line=int(line[1]) if line else 1,
    )


@contextmanager
def sql_of(query: Query) -> Iterator[None]:
    """Raise CatalogueError with file and line for what DuckDB says of a file's SQL.

    The statement has no line end before the SQL, as in ``f"from ({query.sql})"``: so DuckDB counts the file's lines.
    """
    try:
        yield
    except OF_THE_SQL as error:
        found, expected, line = read_error(error)
        raise broken(query.path, found, query.sql_line + line - 1, expected) from error
