"""Runs a query and writes its rows to the screen or to a file."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TextIO

import duckdb

from talkhouse.query import sandbox
from talkhouse.query.formats import TEXTS, QueryFormat
from talkhouse.query.row_stream import Rows
from talkhouse.query.writers import check_formulas, write
from talkhouse.schema.errors import UsageError


def run_query(
    con: duckdb.DuckDBPyConnection,
    query: str,
    file_format: str,
    output: Path | None,
    *,
    limit: int | None = None,
    sandboxed: bool = True,
    escape_formulas: bool = False,
    check_complete: Callable[[], None] = lambda: None,
) -> None:
    """Run a query and write its rows, at most ``limit``; a line on standard error says that there were more.

    ``file_format`` is a QueryFormat or ``TEXTS``. A sandboxed query is one statement that reads. ``check_complete`` is
    called before an output file appears under its name and raises where rows are missing. Raises QueryFailed with
    DuckDB's own message, UsageError where the format needs a file or the query is empty.
    """
    check_formulas(file_format, escape_formulas=escape_formulas)
    if file_format in (QueryFormat.PARQUET, TEXTS) and output is None:
        raise UsageError("parquet can't be printed", next_step="name a file with --output FILE")
    try:
        statements = sandbox.parse(con, query)
        if sandboxed:
            sandbox.check_statements(statements)
        relation = con.sql(query)
        if relation is None or _returns_nothing(statements[-1]):
            print("done; the query returns no rows", file=sys.stderr)
            return
        rows = Rows(con, relation, limit)
        _write(partial(write, rows, file_format, escape_formulas=escape_formulas), output, check_complete)
    except (duckdb.Error, MemoryError, RecursionError) as error:
        raise sandbox.failure(error, con) from error
    if rows.has_more:
        print(f"only the first {limit:,} rows are returned (--limit); there are more", file=sys.stderr)


def _returns_nothing(statement: duckdb.Statement) -> bool:
    """Whether a statement does something and returns no rows, as ``create`` and ``set``."""
    kind = sandbox.statement_type(statement)
    return kind not in sandbox.READING and duckdb.ExpectedResultType.NOTHING in statement.expected_result_type


def _write(write_to: Callable[[TextIO], None], output: Path | None, check_complete: Callable[[], None]) -> None:
    if output is None:
        write_to(sys.stdout)
        check_complete()
        sys.stdout.flush()
        return
    from talkhouse.system.atomic_output import atomic_file

    with atomic_file(output) as path:
        with path.open("w", encoding="utf-8", newline="") as stream:
            write_to(stream)
        check_complete()
