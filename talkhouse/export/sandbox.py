"""The sandbox of the console: a query sees the warehouse and nothing else; its rows go to the screen or to a file.

What each setting was seen to stop, and what none of them stops, is in docs/decisions/0007-sandbox.md.
"""

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, TextIO

import duckdb

from talkhouse.export.formats import TEXTS, QueryFormat
from talkhouse.export.row_stream import QueryRows
from talkhouse.export.writers import check_formulas, write
from talkhouse.schema.errors import QueryFailed, UsageError, check_unicode, closest, listed
from talkhouse.schema.guard import Settings
from talkhouse.schema.sql import identifier
from talkhouse.system.memory import has_run_out, out_of_memory

_SANDBOX: Settings = {
    # Without external access DuckDB still lets a query overwrite the database's own file, its log and its temporary
    # folder, which it puts on the list of allowed paths: copy (select 1) to 'w.duckdb' (use_tmp_file false).
    # Only a disabled file system closes that; it also stops spilling, so there is no temporary folder to name.
    "temp_directory": "",
    "disabled_filesystems": "LocalFileSystem",
    "allowed_configs": (),
}
"""Settings of the sandbox besides those that guard every warehouse."""

READING = ("SELECT", "EXPLAIN", "MULTI")
"""Statements that are allowed in the sandbox; a pivot is a MULTI, as it first looks for its columns."""

_UNSAFE = "if you trust the query, add --unsafe (the warehouse stays open read-only)"

_READS = r"(?:select|from|with|values|table|pivot|unpivot|describe|desc|show|summarize)\b"
_EXPLAINED = re.compile(
    rf"explain\s+(?:analy[sz]e\s+)?(?:\((?:analy[sz]e|format\s+\w+|\s|,)*\)\s*)?(?:\(\s*)*{_READS}", re.IGNORECASE
)
"""What an EXPLAIN begins with; ``explain analyze`` runs what follows, which may be anything."""

_REFUSAL = re.compile(
    r"disabled (by|through) configuration|configuration has been locked|it exists in the \w+ extension"
    r"|by this name exists in the \w+ extension"
)
_LONGEST = 2000
"""Characters of DuckDB's message that are shown: it may quote a value of any length."""


def settings(*, sandboxed: bool = True, memory: str | None = None) -> Settings:
    """Return the settings with which a warehouse is opened for the console.

    ``memory`` is a size or a share of the machine's, as DuckDB reads it; without it DuckDB's own limit holds.
    """
    chosen: Settings = {} if memory is None else {"memory_limit": memory}
    # DuckDB draws its bar on standard output, among the rows. A query can't read the variables of this program as
    # tables, outside of the sandbox too.
    chosen = {**chosen, "enable_progress_bar": False, "python_enable_replacements": False}
    return {**chosen, **_SANDBOX} if sandboxed else chosen


def parse(con: duckdb.DuckDBPyConnection, query: str) -> list[duckdb.Statement]:
    """Split a text into its statements; UsageError where there is none, or where it is not Unicode."""
    check_unicode(query, "the query")
    statements = con.extract_statements(query)
    if not statements:
        raise UsageError(
            "the query is empty",
            expected="a SQL statement",
            found="nothing, or only comments",
            next_step="list the views with: talkhouse views",
        )
    return statements


def check_statements(statements: list[duckdb.Statement]) -> None:
    """Refuse everything but one statement that reads."""
    kinds = [_what(statement) for statement in statements]
    if len(kinds) == 1 and kinds[0] in READING:
        return
    expected = "one statement that reads: select, from, with, values, pivot, describe, show, summarize, explain"
    raise QueryFailed(
        "the console is sandboxed: a query may only read, and the warehouse is open read-only",
        expected=expected,
        found=kinds[0] if len(kinds) == 1 else f"{len(kinds)} statements: {', '.join(kinds)}",
        next_step=_UNSAFE,
    )


def _what(statement: duckdb.Statement) -> str:
    kind = statement_type(statement)
    if kind == "EXPLAIN" and not _EXPLAINED.match(_without_comments(statement.query)):
        return "EXPLAIN of a statement that does not read"
    return kind


def _without_comments(query: str) -> str:
    text = query.encode()
    tokens = duckdb.tokenize(query)
    ends = [begin for begin, _ in tokens[1:]] + [len(text)]
    parts = [
        b" " if kind == duckdb.token_type.comment else text[begin:end]
        for (begin, kind), end in zip(tokens, ends, strict=True)
    ]
    return b"".join(parts).decode()


def statement_type(statement: duckdb.Statement) -> str:
    """Return the type of a statement; DuckDB has types that its Python package can't name."""
    try:
        return statement.type.name
    except ValueError:
        return "a statement of another type"


def failure(error: Exception, con: duckdb.DuckDBPyConnection | None = None) -> QueryFailed:
    """Return the error of a query in DuckDB's words, and whether the sandbox stopped it; with ``con``, what exists."""
    text = _shortened(str(error))
    if con and has_run_out(error):
        return out_of_memory(
            QueryFailed,
            "the query",
            error,
            note="; a sandboxed query can't use the disk for it",
            next_step=f"read fewer rows or columns, raise --memory-limit, or, {_UNSAFE}",
        )
    if isinstance(error, RecursionError):
        return QueryFailed(
            "the query has a type that is nested too deeply", found=text, next_step="cast the column to varchar or json"
        )
    if _REFUSAL.search(text):
        return QueryFailed(
            "the console is sandboxed: a query can't reach files, the network, extensions or settings",
            found=text,
            next_step=_UNSAFE,
        )
    expected, next_step = suggest(con, text) if con else (None, "list the views with: talkhouse views")
    return QueryFailed("the query failed", expected=expected, found=text, next_step=next_step)


def _shortened(text: str) -> str:
    left = len(text) - _LONGEST
    return text if left <= 0 else f"{text[:_LONGEST]} ... ({left:,} more characters)"


_TABLE = re.compile(r'Table with name "?([^"\s]+)"? does not exist')
_COLUMN = re.compile(r'Referenced column "([^"]+)" not found|does not have a column named "([^"]+)"')

_RELATIONS = """
select distinct schema_name || '.' || table_name
from duckdb_columns()
where not internal and database_name = current_database()
"""
_COLUMNS = "select distinct column_name from duckdb_columns() where not internal"
_HOLDERS = f"{_RELATIONS} and column_name = ? order by all"


class Suggestion(NamedTuple):
    """What was expected instead, and what to type next."""

    expected: str | None
    next_step: str


def suggest(con: duckdb.DuckDBPyConnection, message: str) -> Suggestion:
    """Parse DuckDB's message about a query, and return the names that exist instead."""
    if table := _TABLE.search(message):
        names = (relation for (relation,) in con.execute(_RELATIONS).fetchall())
        near = listed([*map(_in_sql, closest(table[1], names))])
        return Suggestion(f"one of: {near}", "list the views with: talkhouse views")
    if column := _COLUMN.search(message):
        return _for_column(con, column[1] or column[2])
    if "syntax error" in message:
        return Suggestion(None, "fix the query at the mark; text stands in single quotes, odd names in double quotes")
    return Suggestion(None, "list the views with: talkhouse views   and their columns with: talkhouse views NAME")


def _for_column(con: duckdb.DuckDBPyConnection, name: str) -> Suggestion:
    """Return the tables that have the column, since many are in an unexpected one, or the closest names."""
    step = "see the columns of a table or view with: talkhouse views NAME"
    holders = [holder for (holder,) in con.execute(_HOLDERS, [name]).fetchall()]
    holders.sort(key=lambda holder: not holder.startswith("main."))
    if holders:
        return Suggestion(
            f"a column of the tables in the query; '{name}' is in: {listed([*map(_in_sql, holders)])}", step
        )
    known = [column for (column,) in con.execute(_COLUMNS).fetchall()]
    near = closest(name, known)
    return Suggestion(f"a column such as: {', '.join(near)}" if len(near) < len(known) else None, step)


def _in_sql(relation: str) -> str:
    return identifier(*relation.split(".", 1))


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
        statements = parse(con, query)
        if sandboxed:
            check_statements(statements)
        relation = con.sql(query)
        if relation is None or _returns_nothing(statements[-1]):
            print("done; the query returns no rows", file=sys.stderr)
            return
        rows = QueryRows(con, relation, limit)
        _write(partial(write, rows, file_format, escape_formulas=escape_formulas), output, check_complete)
    except (duckdb.Error, MemoryError, RecursionError) as error:
        raise failure(error, con) from error
    if rows.has_more:
        print(f"only the first {limit:,} rows are returned (--limit); there are more", file=sys.stderr)


def _returns_nothing(statement: duckdb.Statement) -> bool:
    """Whether a statement does something and returns no rows, as ``create`` and ``set``."""
    kind = statement_type(statement)
    return kind not in READING and duckdb.ExpectedResultType.NOTHING in statement.expected_result_type


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
