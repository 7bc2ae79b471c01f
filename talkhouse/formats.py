"""Query results on a screen or in a file: table, CSV, JSON, JSON Lines, Parquet, Markdown."""

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import duckdb
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from schema.errors import QueryFailed, UsageError
from schema.quote import identifier

_NESTED = ("[]", "STRUCT", "MAP", "UNION")


class Format(StrEnum):
    """The formats that a query's rows can be given in."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    MARKDOWN = "markdown"


def write(con: duckdb.DuckDBPyConnection, query: str, form: Format, output: Path | None) -> None:
    """Run a query and give its rows.

    Raises QueryFailed with DuckDB's own message, UsageError where the format needs a file.
    """
    if form is Format.PARQUET and output is None:
        raise UsageError("parquet is no text", next_step="name a file with --output FILE")
    try:
        rows = con.sql(query)
        if rows is None:
            return
        if form is Format.PARQUET:
            rows.write_parquet(str(output), compression="zstd")
            return
        with _stream(output) as stream:
            _WRITERS[form](rows, stream)
    except duckdb.Error as error:
        raise QueryFailed(
            "the query failed",
            found=str(error),
            next_step='list what there is with: talkhouse sql "show all tables"',
        ) from error


def _table(rows: duckdb.DuckDBPyRelation, stream: TextIO) -> None:
    """Draw a table that fits the terminal; elsewhere nothing is cut off."""
    console = Console(file=stream, highlight=False)
    if not console.is_terminal:
        console = Console(file=stream, highlight=False, width=10_000)
    console.print(_grid(rows, box.ROUNDED if console.is_terminal else box.ASCII))


def _markdown(rows: duckdb.DuckDBPyRelation, stream: TextIO) -> None:
    """Draw a Markdown table; bars and line ends inside a cell are escaped."""
    head = [tuple(rows.columns), ("---",) * len(rows.columns)]
    for line in chain(head, rows.iter_rows()):
        cells = [_cell(cell).replace("\\", "\\\\").replace("|", "\\|").replace("\n", "<br>") for cell in line]
        print("| " + " | ".join(cells) + " |", file=stream)


def _csv(rows: duckdb.DuckDBPyRelation, stream: TextIO) -> None:
    """Write CSV; lists and structs are JSON, null is an empty cell."""
    flat = rows.project(", ".join(_flat(name, kind) for name, kind in zip(rows.columns, rows.types, strict=True)))
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(rows.columns)
    writer.writerows(flat.iter_rows())


def _jsonl(rows: duckdb.DuckDBPyRelation, stream: TextIO) -> None:
    """Write one JSON object a line, as DuckDB renders its types."""
    for (line,) in _json_lines(rows):
        print(line, file=stream)


def _json(rows: duckdb.DuckDBPyRelation, stream: TextIO) -> None:
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


def _json_lines(rows: duckdb.DuckDBPyRelation) -> Iterator[tuple[Any, ...]]:
    lines = rows.query("rows", "select to_json(rows)::varchar from rows")
    return iter(()) if lines is None else lines.iter_rows()


def _grid(rows: duckdb.DuckDBPyRelation, style: box.Box) -> Table:
    numbers = ("INT", "DOUBLE", "FLOAT", "DECIMAL")
    table = Table(box=style, header_style="bold")
    for name, kind in zip(rows.columns, rows.types, strict=True):
        is_number = any(word in str(kind) for word in numbers) and "[" not in str(kind)
        table.add_column(Text(name), justify="right" if is_number else "left", overflow="fold")
    for row in rows.iter_rows():
        table.add_row(*(Text(_cell(value)) for value in row))
    return table


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _flat(name: str, kind: object) -> str:
    quoted = identifier(name)
    return f"to_json({quoted}) as {quoted}" if any(word in str(kind) for word in _NESTED) else quoted


@contextmanager
def _stream(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    try:
        with output.open("w", encoding="utf-8", newline="") as stream:
            yield stream
    except OSError as error:
        raise UsageError("the file can't be written", where=output, found=str(error)) from error
