"""What DuckDB says of the SQL in a file: an error with the file's name and line, and the names that come closest."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from talkhouse.queries.heads import Query, broken

_OF_THE_SQL = (duckdb.ProgrammingError, duckdb.DataError, duckdb.IntegrityError, duckdb.NotSupportedError)
"""Errors that the SQL is to blame for; others are of the disk, the memory or the connection."""

_KIND = re.compile(r"^[\w ]+ Error: ")
_LINE = re.compile(r"^LINE (\d+): ", re.MULTILINE)
_CANDIDATES = re.compile(r"(?:Candidate bindings|Did you mean)[: ]+(.*)")


@contextmanager
def sql_of(query: Query) -> Iterator[None]:
    """Raise CatalogueError with file and line for what DuckDB says of a file's SQL.

    The statement has to have the SQL after its own first words without a line end between, as in ``f"from ({sql})"``.
    """
    try:
        yield
    except _OF_THE_SQL as error:
        raise sql_error(error, query.path, query.sql_line) from error


def sql_error(error: Exception, path: Path, sql_line: int) -> Exception:
    """Return the error of a file for one of DuckDB; ``sql_line``: the line of the file where the statement begins."""
    message = str(error)
    line = _LINE.search(message)
    names = _CANDIDATES.search(message)
    expected = f"one of: {names[1].rstrip('?').replace(chr(34), '')}" if names else None
    found = _KIND.sub("", message).partition("\n")[0].rstrip("!")
    return broken(path, found, sql_line + int(line[1]) - 1 if line else sql_line, expected)
