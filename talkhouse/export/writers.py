"""One writer for each format, streamed from DuckDB, to a file or to standard output.

Beside DuckDB's own COPY (benchmarks/scenarios/export.py) this is slower in some formats on 300,000 rows of 1 kB,
faster on 900,000, and sorts more rows in a gigabyte. In the sandbox COPY could not write at all.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, BinaryIO, NamedTuple, TextIO

import duckdb

from talkhouse.escaping import markdown, visible
from talkhouse.export.expressions import QueryColumn, csv_head, csv_line, json_object
from talkhouse.export.formats import CSV, TEXTS
from talkhouse.export.row_stream import QueryRows, row_groups
from talkhouse.schema.errors import QueryFailed, UsageError

_NUMBERS = b"talkhouse_numbers"


def check_formulas(file_format: str, *, escape_formulas: bool) -> None:
    """Raise UsageError where formulas are to be escaped in a format that no spreadsheet takes for its own."""
    if escape_formulas and file_format not in CSV:
        raise UsageError(
            "--escape-formulas changes texts for spreadsheets, which open CSV and TSV",
            expected="a file in the format csv or tsv",
            found=f"the format {file_format}",
            next_step=f"leave it out: {file_format} has every text exactly, and nothing runs it",
        )


def write(rows: QueryRows, file_format: str, stream: TextIO, *, escape_formulas: bool = False) -> None:
    """Write rows to a stream; ``file_format`` is a QueryFormat, an ExportFormat or ``TEXTS``.

    ``escape_formulas``: in CSV, texts that a spreadsheet takes for formulas have an apostrophe before them.

    Raises QueryFailed where the format has no such type, duckdb.Error where the query fails halfway.
    """
    if file_format in CSV:
        delimiter = "\t" if file_format == "tsv" else ","
        # First, so that nothing is printed of a query that fails.
        lines = rows.lines(partial(csv_line, delimiter=delimiter, escape_formulas=escape_formulas))
        stream.buffer.write(csv_head(rows.columns, delimiter, escape_formulas=escape_formulas).encode())
        stream.buffer.writelines(lines)
    elif write_text := _TEXT_WRITERS.get(file_format):
        write_text(rows, stream)
    elif write_lines := _LINE_WRITERS.get(file_format):
        write_lines(rows, stream.buffer)
    else:
        with arrow_errors(file_format):
            _ARROW_WRITERS[file_format](rows, stream.buffer)


def _write_parquet(rows: QueryRows, stream: BinaryIO) -> None:
    """Write Parquet with zstd, in row groups of about 64 MB at most before compression."""
    from pyarrow import parquet

    schema, batches = rows.batches(QueryColumn.as_stored)
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:  # type: ignore[no-untyped-call]
        for group in row_groups(batches):
            writer.write_batch(group)


def _write_texts(rows: QueryRows, stream: BinaryIO) -> None:
    """Write Parquet whose values are the texts that the table shows, and which says what columns are numbers."""
    from pyarrow import parquet

    schema, batches = rows.batches(QueryColumn.as_text)
    numbers = [index for index, column in enumerate(rows.columns) if column.is_number]
    schema = schema.with_metadata({_NUMBERS: json.dumps(numbers)})
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:  # type: ignore[no-untyped-call]
        for group in row_groups(batches):
            writer.write_batch(group)


class Shard(NamedTuple):
    """One of several files of Parquet that were written."""

    rows: int
    raw_bytes: int
    """What its rows take in memory, as Arrow counts them."""


def write_shards(
    groups: Iterator[Any], schema: Any, create: Callable[[int], AbstractContextManager[BinaryIO]], most: int, **how: Any
) -> list[Shard]:
    """Write row groups to as many files of Parquet as they need, at least one.

    ``create`` makes a file by its number; ``most``: bytes at which it ends and another begins.
    """
    from pyarrow import parquet
    from pyarrow.ipc import get_record_batch_size  # type: ignore[attr-defined]
    from pyarrow.lib import RecordBatch

    shards: list[Shard] = []
    group = next(groups, None)
    while not shards or group is not None:
        rows = raw_bytes = 0
        with create(len(shards)) as stream, parquet.ParquetWriter(stream, schema, **how) as writer:  # type: ignore[no-untyped-call]
            while group is not None and (rows == 0 or stream.tell() < most):
                writer.write_batch(RecordBatch.from_arrays(group.columns, schema=schema))
                rows, raw_bytes = rows + group.num_rows, raw_bytes + get_record_batch_size(group)
                group = next(groups, None)
        shards.append(Shard(rows, raw_bytes))
    return shards


def number_columns(schema: Any) -> list[int]:
    """Return the columns of a file of texts that are numbers, by the schema of the file."""
    indexes: list[int] = json.loads(schema.metadata[_NUMBERS])
    return indexes


def _write_arrow(rows: QueryRows, stream: BinaryIO) -> None:
    """Write an Arrow IPC file, uncompressed so that it can be mapped into memory."""
    from pyarrow.ipc import new_file

    schema, batches = rows.batches(QueryColumn.as_stored)
    with new_file(stream, schema) as writer:  # type: ignore[no-untyped-call]
        for group in row_groups(batches):
            writer.write_batch(group)


def _write_json(rows: QueryRows, stream: BinaryIO) -> None:
    separator = "["
    for line in rows.values(json_object):
        stream.write(f"{separator}\n{line}".encode())
        separator = ","
    stream.write(b"[]\n" if separator == "[" else b"\n]\n")


_ARROW_WRITERS: dict[str, Callable[[QueryRows, BinaryIO], None]] = {
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    TEXTS: _write_texts,
}

_LINE_WRITERS: dict[str, Callable[[QueryRows, BinaryIO], None]] = {
    "jsonl": lambda rows, stream: stream.writelines(rows.lines(json_object)),
    "json": _write_json,
}

_CAST = "cast the column, for instance to varchar, or choose another --format"
_TOO_LARGE = re.compile(r"Could not cast value (\S+) to DECIMAL\(38,0\) when casting from source column column_")
"""What DuckDB says of a whole number of 39 digits that ``Column.as_stored`` makes a decimal of."""


@contextmanager
def arrow_errors(file_format: str) -> Iterator[None]:
    """Sort what Arrow raises by its cause: no such type in the format, no memory, a failing query, a full disk.

    Raises QueryFailed for the first, duckdb.Error for the third; the others stay as they are.
    """
    from pyarrow.lib import ArrowException

    try:
        yield
    except ArrowException as error:
        if isinstance(error, MemoryError):
            raise
        raise QueryFailed(f"{file_format} can't hold these rows", found=str(error), next_step=_CAST) from error
    except duckdb.ConversionException as error:
        raise _explained(error, file_format) from error
    except OSError as error:
        # Where a query fails halfway, Arrow raises DuckDB's message as an OSError without a number.
        if error.errno is None:
            raise _explained(duckdb.Error(str(error)), file_format) from error
        raise


def _explained(error: duckdb.Error, file_format: str) -> Exception:
    """Return an error of DuckDB; QueryFailed instead where the format can't hold a number."""
    if found := _TOO_LARGE.search(str(error)):
        expected = "whole numbers of at most 38 digits"
        return QueryFailed(f"{file_format} can't hold these rows", expected=expected, found=found[1], next_step=_CAST)
    return error


def write_table(rows: QueryRows, stream: TextIO) -> None:
    """Draw a table that fits the terminal; elsewhere nothing is cut off."""
    from rich import box  # in Python, where nothing is drawn, a query does without it
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=stream, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(file=stream, highlight=False, emoji=False, width=10_000)
    table = Table(box=box.ROUNDED if console.is_terminal else box.ASCII, header_style="bold")
    for column in rows.columns:
        table.add_column(Text(visible(column.title)), justify="right" if column.is_number else "left", overflow="fold")
    for cells in _cells(rows):
        table.add_row(*map(Text, cells))
    console.print(table)


def write_markdown(rows: QueryRows, stream: TextIO) -> None:
    """Write a Markdown table."""
    stream.write(markdown_head([column.title for column in rows.columns]))
    stream.writelines(map(markdown_line, _cells(rows)))


def markdown_head(titles: Sequence[str]) -> str:
    """Return the first two lines of a Markdown table."""
    return f"{markdown_line(titles)}|{' --- |' * len(titles)}\n"


def markdown_line(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table, with its line end; nothing in a cell is taken for markup."""
    shown = (markdown(cell, lines=True).replace("\n", "<br>") for cell in cells)
    return "| " + " | ".join(shown) + " |\n"


def _cells(rows: QueryRows) -> Iterator[list[str]]:
    """Yield every row as texts, empty where there is no value."""
    for texts in rows.texts():
        yield ["" if text is None else visible(text, lines=True) for text in texts]


_TEXT_WRITERS = {"table": write_table, "markdown": write_markdown}
