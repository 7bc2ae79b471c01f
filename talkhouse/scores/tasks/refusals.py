"""Errors about rows: how many there are, the first five, and what to do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from talkhouse.schema.errors import UsageError

_SHOWN = 5
_LONGEST = 160
"""Characters of what is shown of a row."""


class BadPredictions(UsageError):
    """The predictions can't be scored as they are."""


@contextmanager
def of_files(paths: Sequence[Path]) -> Iterator[None]:
    """Let errors about predictions name the files that these come from."""
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
    """Return the error about so many rows, of which these are the first."""
    more = "" if count <= len(first) else f"; and {count - len(first):,} more"
    return BadPredictions(
        f"{problem}: {count:,}", expected=expected, found="; ".join(first) + more, next_step=next_step
    )


def first_rows(con: duckdb.DuckDBPyConnection, rows: str) -> tuple[int, list[str]]:
    """Return how many rows a query of texts has, and the first of them."""
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
    cut = f"case when len(row) > {_LONGEST} then row[:{_LONGEST}] || ' ...' else row end"
    return f"select {cut} as row, row_number() over () as place from ({rows}) as found(row)"
