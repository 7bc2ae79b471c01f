"""Rows as files, streamed from DuckDB as Arrow batches: Parquet, Arrow IPC, CSV, TSV, JSON Lines.

Beside DuckDB's own COPY (benchmarks/export_throughput.py) this is slower in some formats on 300,000 rows of 1 kB,
faster on 900,000, and sorts more rows in a gigabyte.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyarrow import csv, parquet
from pyarrow.ipc import new_file
from pyarrow.lib import ArrowException

from schema.errors import QueryFailed
from schema.sql import literal
from talkhouse.query import sandbox
from talkhouse.query.row_stream import Rows, groups

Told = Callable[[int], None]
"""Is told how many more rows are written."""

_NESTED = ("[", "STRUCT", "MAP", "UNION")
_UNQUOTED = (
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "DOUBLE",
    "FLOAT",
    "DECIMAL",
)
"""Types that Arrow writes without quotes and exactly."""


def to_parquet(rows: Rows, path: Path, told: Told = lambda _: None) -> None:
    """Write Parquet with zstd, in row groups of about 64 MB at most before compression."""
    with _failures("Parquet"), path.open("wb") as file:
        schema, batches = rows.batches()
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:  # type: ignore[no-untyped-call]
            for group in groups(_counted(batches, told)):
                writer.write_batch(group)


def to_arrow(rows: Rows, path: Path, told: Told = lambda _: None) -> None:
    """Write an Arrow IPC file, uncompressed so that it can be mapped into memory."""
    with _failures("Arrow"), path.open("wb") as file:
        schema, batches = rows.batches()
        with new_file(file, schema) as writer:  # type: ignore[no-untyped-call]
            for group in groups(_counted(batches, told)):
                writer.write_batch(group)


def to_csv(rows: Rows, path: Path, told: Told = lambda _: None) -> None:
    """Write CSV: text in double quotes, null as an empty cell without them, lists and structs as JSON."""
    _delimited(rows, path, told, ",")


def to_tsv(rows: Rows, path: Path, told: Told = lambda _: None) -> None:
    """Write the same with tabs between the cells; tabs inside a text stay, in its quotes."""
    _delimited(rows, path, told, "\t")


def to_jsonl(rows: Rows, path: Path, told: Told = lambda _: None) -> None:
    """Write one JSON object a line; a column that is JSON keeps the spelling of its numbers."""
    with _failures("JSON"), path.open("w", encoding="utf-8", newline="") as file:
        _, batches = rows.batches(rows.joined(_object))
        for batch in _counted(batches, told):
            file.writelines(f"{line}\n" for line in batch.column(0).to_pylist())


def _delimited(rows: Rows, path: Path, told: Told, delimiter: str) -> None:
    with _failures("the format"), path.open("wb") as file:
        schema, batches = rows.batches(rows.shaped(_cell))
        options = csv.WriteOptions(delimiter=delimiter)  # type: ignore[attr-defined]
        with csv.CSVWriter(file, schema, write_options=options) as writer:  # type: ignore[attr-defined]
            for batch in _counted(batches, told):
                writer.write_batch(batch)


def _counted(batches: Iterable[Any], told: Told) -> Iterator[Any]:
    for batch in batches:
        yield batch
        told(batch.num_rows)


def _cell(name: str, kind: str) -> str:
    """Give a value as a cell: numbers and truth values as they are, JSON for lists and structs, text for the rest."""
    if any(word in kind for word in _NESTED):
        return f"to_json({name})::varchar"
    return name if kind.startswith(_UNQUOTED) else f"{name}::varchar"


def _object(columns: list[tuple[str, str, str]]) -> str:
    """Write a row as a JSON object; not by ``to_json`` of the row, which rewrites the numbers in JSON columns."""
    members = [
        f"to_json({literal(column)})::varchar || ':' || coalesce({_value(name, kind)}, 'null')"
        for name, kind, column in columns
    ]
    return "'{' || " + " || ',' || ".join(members) + " || '}'"


def _value(name: str, kind: str) -> str:
    if kind == "JSON":
        # Line ends are blanks between its parts: inside a text JSON has them escaped.
        return rf"translate({name}::varchar, e'\n\r', '  ')"
    if kind in ("DOUBLE", "FLOAT"):
        # JSON has no NaN and no infinity.
        return f"case when isfinite({name}) then to_json({name})::varchar end"
    return f"to_json({name})::varchar"


@contextmanager
def _failures(form: str) -> Iterator[None]:
    """Tell apart what Arrow raises: a type that the format has not, a query that failed halfway, a full disk."""
    try:
        yield
    except ArrowException as error:
        raise QueryFailed(
            f"{form} can't hold these rows",
            found=str(error),
            next_step="cast the column, for instance to varchar, or choose another --format",
        ) from error
    except OSError as error:
        # Where a query fails halfway, Arrow gives DuckDB's message as an OSError without a number.
        if error.errno is None:
            raise sandbox.failure(error) from error
        raise
