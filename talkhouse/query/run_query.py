"""Query results on a screen or in a file: table, CSV, JSON, JSON Lines, Parquet, Markdown."""

import csv
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import duckdb
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from schema.errors import UsageError
from talkhouse.atomic_output import replaced
from talkhouse.query import sandbox
from talkhouse.query.formats import Format
from talkhouse.query.row_stream import Rows

_NESTED = ("[", "STRUCT", "MAP", "UNION")
_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "DOUBLE",
    "FLOAT",
    "DECIMAL",
)


def write(
    con: duckdb.DuckDBPyConnection,
    query: str,
    form: Format,
    output: Path | None,
    *,
    limit: int | None = None,
    caged: bool = True,
    whole: Callable[[], None] = lambda: None,
) -> None:
    """Run a query and give its rows, at most ``limit``; a note on standard error says that there were more.

    A caged query is one statement that reads. ``whole`` is called before an output file appears under its name and
    raises where the rows are not all. Raises QueryFailed with DuckDB's own message, UsageError where the format needs
    a file or the query is empty.
    """
    if form is Format.PARQUET and output is None:
        raise UsageError("parquet is no text", next_step="name a file with --output FILE")
    try:
        statements = sandbox.parse(con, query)
        if caged:
            sandbox.check(statements)
        relation = con.sql(query)
        if relation is None or _is_silent(statements[-1]):
            print("done; the query gives no rows", file=sys.stderr)
            return
        rows = Rows(con, relation, limit)
        _give(rows, form, output, whole)
    except duckdb.Error as error:
        raise sandbox.failure(error, con) from error
    if rows.more:
        print(f"only the first {limit:,} rows are given (--limit); there are more", file=sys.stderr)


def _is_silent(statement: duckdb.Statement) -> bool:
    """Whether a statement does something and has no rows to give, as ``create`` and ``set``."""
    kind = sandbox.kind(statement)
    return kind not in sandbox.READING and duckdb.ExpectedResultType.NOTHING in statement.expected_result_type


def _give(rows: Rows, form: Format, output: Path | None, whole: Callable[[], None]) -> None:
    if output is None:
        _WRITERS[form](rows, sys.stdout)
        whole()
        sys.stdout.flush()
        return
    with replaced(output) as path:
        if form is Format.PARQUET:
            from talkhouse.query.writers import to_parquet

            # DuckDB's own writer may not write in the sandbox.
            to_parquet(rows, path)
        else:
            with path.open("w", encoding="utf-8", newline="") as stream:
                _WRITERS[form](rows, stream)
        whole()


def _table(rows: Rows, stream: TextIO) -> None:
    """Draw a table that fits the terminal; elsewhere nothing is cut off."""
    console = Console(file=stream, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(file=stream, highlight=False, emoji=False, width=10_000)
    console.print(_grid(rows, box.ROUNDED if console.is_terminal else box.ASCII))


def _markdown(rows: Rows, stream: TextIO) -> None:
    """Draw a Markdown table; bars and line ends inside a cell are escaped."""
    head = [tuple(rows.columns), ("---",) * len(rows.columns)]
    for line in chain(head, rows.read(rows.shaped(_flat))):
        cells = [_cell(cell).replace("\\", "\\\\").replace("|", "\\|").replace("\n", "<br>") for cell in line]
        print("| " + " | ".join(cells) + " |", file=stream)


def _csv(rows: Rows, stream: TextIO) -> None:
    """Write CSV; lists and structs are JSON, null is an empty cell."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(rows.columns)
    writer.writerows(rows.read(rows.shaped(_flat)))


def _jsonl(rows: Rows, stream: TextIO) -> None:
    """Write one JSON object a line, as DuckDB renders its types."""
    for (line,) in _json_lines(rows):
        print(line, file=stream)


def _json(rows: Rows, stream: TextIO) -> None:
    """Write one JSON array of objects."""
    separator = "["
    for (line,) in _json_lines(rows):
        print(separator, line, sep="\n", end="", file=stream)
        separator = ","
    print("[]" if separator == "[" else "\n]", file=stream)


_WRITERS = {
    Format.TABLE: _table,
    Format.MARKDOWN: _markdown,
    Format.CSV: _csv,
    Format.JSON: _json,
    Format.JSONL: _jsonl,
}


def _json_lines(rows: Rows) -> Iterator[tuple[Any, ...]]:
    has_floats = any(str(kind) in ("DOUBLE", "FLOAT") for kind in rows.types)
    relation = rows.shaped(_finite) if has_floats else rows.relation
    lines = relation.query("rows", "select to_json(rows)::varchar from rows")
    return iter(()) if lines is None else rows.read(lines)


def _grid(rows: Rows, style: box.Box) -> Table:
    table = Table(box=style, header_style="bold")
    for name, kind in zip(rows.columns, rows.types, strict=True):
        is_number = str(kind).startswith(_NUMBERS) and "[" not in str(kind)
        table.add_column(Text(name), justify="right" if is_number else "left", overflow="fold")
    for row in rows.read(rows.shaped(_flat)):
        table.add_row(*(Text(_cell(value)) for value in row))
    return table


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _flat(name: str, kind: str) -> str:
    """Give a value as text, as DuckDB spells it: JSON for lists and structs; numbers stay numbers."""
    if any(word in kind for word in _NESTED):
        return f"to_json({name})::varchar"
    return name if kind.startswith(_NUMBERS) else f"{name}::varchar"


def _finite(name: str, kind: str) -> str:
    """Give a number that JSON has: NaN and infinity are null."""
    return f"case when isfinite({name}) then {name} end" if kind in ("DOUBLE", "FLOAT") else name
