"""The cage of the console: a query sees the warehouse and nothing else, and it can be stopped.

What each switch was seen to stop, and what none of them stops, is in docs/decisions/0007-console.md.
"""

import re

import duckdb

from schema.errors import QueryFailed, UsageError
from talkhouse.query.suggestions import hint

ALWAYS = {
    # The variables of our own code are no tables.
    "python_enable_replacements": "false",
    # JSON and UUID stay what they are in Parquet; here because nothing can be set in the cage.
    "arrow_lossless_conversion": "true",
    # DuckDB draws its bar on standard output, among the rows.
    "enable_progress_bar": "false",
}
"""What is set in the cage and out of it."""

SWITCHES = {
    # Without external access DuckDB still lets a query overwrite the database's own file, its log and its temporary
    # folder, which it puts on the list of allowed paths: copy (select 1) to 'w.duckdb' (use_tmp_file false).
    # Only a disabled file system closes that; it also stops spilling, so there is no temporary folder to name.
    "temp_directory": "''",
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_extension_repositories": "'forbidden'",
    "allow_persistent_secrets": "false",
    "disabled_filesystems": "'LocalFileSystem'",
    # The last one: nothing can be set after it.
    "lock_configuration": "true",
}
"""DuckDB's own switches, in the order in which they are turned."""

READING = ("SELECT", "EXPLAIN", "MULTI")
"""Statements that a caged query may be; a pivot is a MULTI, as it first looks for its columns."""

LIFT = "if you trust the query, give --unsafe (the warehouse stays open read-only)"

_REFUSAL = re.compile(
    r"disabled (by|through) configuration|configuration has been locked|it exists in the \w+ extension"
    r"|by this name exists in the \w+ extension"
)
_NO_DISK = "no temporary directory is specified"


def settle(con: duckdb.DuckDBPyConnection, *, caged: bool = True) -> None:
    """Set a connection up for the console: caged, it loses files, network, extensions and settings for good."""
    for name, value in (ALWAYS | SWITCHES if caged else ALWAYS).items():
        con.execute(f"set {name} = {value}")


def parse(con: duckdb.DuckDBPyConnection, query: str) -> list[duckdb.Statement]:
    """Split a text into its statements; UsageError where there is none."""
    statements = con.extract_statements(query)
    if not statements:
        raise UsageError(
            "the query is empty",
            expected="a SQL statement",
            found="nothing, or only comments",
            next_step="list the views with: talkhouse views",
        )
    return statements


def check(statements: list[duckdb.Statement]) -> None:
    """Refuse everything but one statement that reads."""
    kinds = [kind(statement) for statement in statements]
    if len(kinds) == 1 and kinds[0] in READING:
        return
    one = "one statement that reads: select, from, with, values, pivot, describe, show, summarize, explain"
    raise QueryFailed(
        "the console is caged: a query may only read, and the warehouse is open read-only",
        expected=one,
        found=f"{kinds[0]}" if len(kinds) == 1 else f"{len(kinds)} statements: {', '.join(kinds)}",
        next_step=LIFT,
    )


def kind(statement: duckdb.Statement) -> str:
    """Name the kind of a statement; DuckDB has kinds that its Python package can't name."""
    try:
        return statement.type.name
    except ValueError:
        return "a statement of another kind"


def failure(error: Exception, con: duckdb.DuckDBPyConnection | None = None) -> QueryFailed:
    """Say why a query failed, with DuckDB's own message, and whether it was the cage; with ``con``, what there is."""
    text = str(error)
    if _NO_DISK in text:
        return QueryFailed(
            "the query needs more memory than there is; a caged query can't use the disk for it",
            found=text.splitlines()[0],
            next_step=f"read fewer rows or columns, or {LIFT}",
        )
    if _REFUSAL.search(text):
        return QueryFailed(
            "the console is caged: a query can't reach files, the network, extensions or settings",
            found=text,
            next_step=LIFT,
        )
    expected, next_step = hint(con, text) if con else (None, "list the views with: talkhouse views")
    return QueryFailed("the query failed", expected=expected, found=text, next_step=next_step)
