"""Files that a user names as relations: tables in any export format, their columns by name."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from pyarrow.parquet import ParquetFile

from talkhouse.ingest.declared.record_files.arrow_buffers import open_arrow
from talkhouse.ingest.declared.record_files.parquet_pages import NamedFile, check_pages
from talkhouse.ingest.sources import JSON_LINES
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import column_types, literal, quoted
from talkhouse.user_files.copies import Reader, UserFile, readable

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ARROW = (".arrow", ".feather")

TABLES = (*_DELIMITERS, *JSON_LINES, ".parquet", *_ARROW)
"""Endings of the files that are read as tables."""

_HEAD = 1_000_000
"""Characters of the names of a CSV file's columns."""


class FileTable(NamedTuple):
    """A file that is open as a table."""

    file: UserFile
    view: str
    """The name of the view on the reader's connection; it has of the file's columns those that are wanted."""
    names: list[str]
    """The names of all columns of the file."""


def open_tables(reader: Reader, files: Sequence[UserFile], wanted: Sequence[str]) -> list[FileTable]:
    """Open each file as a table with the columns that are wanted.

    Raises UsageError where a file can't be read, or has a name twice:
    capital and small letters are the same.
    """
    tables: list[FileTable] = []
    for index, file in enumerate(files):
        with readable([file]):
            tables.append(_open_table(reader, f"table_{index}", file, wanted))
            check_names(names_of(tables), "the files differ in the letters of a column's name")
    return tables


def names_of(tables: Sequence[FileTable]) -> list[str]:
    """Return the names of the columns that any of the files has."""
    return list(dict.fromkeys(name for table in tables for name in table.names))


def select_of(reader: Reader, tables: Sequence[FileTable], wanted: Iterable[str]) -> str:
    """Return the query of the rows of all files, of their columns those that are wanted.

    Raises SourceError where their texts have too many bytes.
    """
    selects = []
    for file, view, all_names in tables:
        names = [name for name in wanted if name in all_names]
        if file.path.suffix.lower() == ".parquet":
            _check_texts(reader, file, view, names)
        selects.append(f"select {', '.join(map(quoted, names)) or 'null::varchar as warning'} from {view}")
    return " union all by name ".join(selects)


def _open_table(reader: Reader, name: str, file: UserFile, wanted: Sequence[str]) -> FileTable:
    """Create a view of a file; in text formats each column is text, to be read as what it should be."""
    suffix = file.path.suffix.lower()
    if suffix in _DELIMITERS:
        names, source = _csv(file.only, _DELIMITERS[suffix], wanted)
    elif suffix in JSON_LINES:
        names, source = _json_lines(reader, file, wanted)
    elif suffix == ".parquet":
        names, source = _parquet(reader, file)
    elif suffix in _ARROW:
        names, source = _arrow(reader, name, file)
    else:
        raise UsageError(
            f"the name '{file.path.name}' does not show what is in it",
            where=file.path,
            expected=f"a name that ends in {', '.join(TABLES)}, or a layout named by --format",
            next_step="rename the file, or add --format",
        )
    reader.con.execute(f"create temp view {name} as {source}")
    return FileTable(file, name, names)


def _csv(path: Path, delimiter: str, wanted: Sequence[str]) -> tuple[list[str], str]:
    """Return the columns of a CSV or TSV file, those of its first line, and the query of what is wanted, as text."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        names = next(csv.reader(_head(stream), delimiter=delimiter), [])
    if not names:
        raise ValueError("the first line has no names" if path.stat().st_size else "the file is empty")
    check_names(names)
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(names)))
    members = [f"c{names.index(name)} as {quoted(name)}" for name in wanted if name in names]
    source = (
        f"read_csv({literal(str(path))}, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', allow_quoted_nulls = false, "
        "hive_partitioning = false, compression = 'none')"
    )
    return names, f"select {', '.join(members) or 'null::varchar as warning'} from {source}"


def _head(stream: TextIO) -> Iterator[str]:
    """Yield the first lines of a file; ValueError where its columns' names have no end."""
    left = _HEAD
    while left and (line := stream.readline(left)):
        left -= len(line)
        yield line
    if not left:
        raise ValueError(f"the names of the columns have more than {_HEAD:,} characters")


def _arrow(reader: Reader, name: str, file: UserFile) -> tuple[list[str], str]:
    """Return the columns of an Arrow file, and its query."""
    rows = open_arrow(file.only, NamedFile(str(file.path), file.size, reader.limits))
    check_names(rows.schema.names)
    reader.con.register(f"{name}_rows", rows)
    return rows.schema.names, f"select * from {name}_rows"


def _parquet(reader: Reader, file: UserFile) -> tuple[list[str], str]:
    """Return the columns of a Parquet file, and its query; ValueError for a column twice."""
    with file.only.open("rb") as stream:
        check_pages(stream, NamedFile(str(file.path), file.size, reader.limits))
        names = ParquetFile(stream).schema_arrow.names  # type: ignore[no-untyped-call]
    # DuckDB would read the second of two by another name.
    check_names(names)
    return names, f"select * from read_parquet({literal(str(file.only))}, hive_partitioning = false)"


def _check_texts(reader: Reader, file: UserFile, table: str, names: list[str]) -> None:
    """Raise SourceError where texts that the file has once make too many bytes, since rows repeat them."""
    types = column_types(reader.con, table)
    lengths = {"VARCHAR": "strlen", "BLOB": "octet_length"}
    texts = [(name, lengths[types[name]]) for name in names if types[name] in lengths]
    if texts:
        sizes = " + ".join(f"coalesce(sum({length}({quoted(name)})), 0)" for name, length in texts)
        ((size,),) = reader.con.execute(f"select {sizes} from {table}").fetchall()
        reader.limits.check("file", int(size), file.path, f"{int(size):,}, as its rows repeat texts")


_TWICE = "len(keys) > len(list_distinct(list_transform(keys, lambda key: lower(key))))"


def _json_lines(reader: Reader, file: UserFile, wanted: Sequence[str]) -> tuple[list[str], str]:
    """Return the keys of all rows, and the query of those that are wanted; ValueError for a key twice."""
    source = f"read_ndjson_objects({literal(str(file.only))}, compression = 'none')"
    reader.con.execute(
        "create or replace temp table shapes as "
        f"select json_type(json) = 'OBJECT' as is_object, json_keys(json) as keys from {source} group by all"
    )
    _check_shapes(reader, source)
    rows = reader.con.execute("select distinct unnest(keys) from shapes order by all limit 10001").fetchall()
    names = [name for (name,) in rows]
    if not names:
        raise ValueError("the file has no rows")
    try:
        check_names(names)
    except ValueError as error:
        raise ValueError(f"{error}, in different rows") from error
    members = [f"json ->> {literal('$.' + json.dumps(name))} as {quoted(name)}" for name in wanted if name in names]
    return names, f"select {', '.join(members) or 'null::varchar as warning'} from {source}"


def _check_shapes(reader: Reader, source: str) -> None:
    """Raise ValueError for rows that are no objects, or have a key twice, with the first of them."""
    for bad, problem in (("not is_object", "not a JSON object"), (_TWICE, "a key is in it twice")):
        if not reader.con.execute(f"select 1 from shapes where {bad} limit 1").fetchall():
            continue
        ((row, text),) = reader.con.execute(
            "select row, text from (select row_number() over () as row, (json::varchar)[:80] as text, "
            f"json_type(json) = 'OBJECT' as is_object, json_keys(json) as keys from {source}) where {bad} limit 1"
        ).fetchall()
        raise ValueError(f"row {row:,}: {problem}: {text}")


_MOST = 10_000


def check_names(names: Iterable[str], problem: str = "a column is in it twice") -> None:
    """Raise ValueError for a name twice, capital and small letters being the same, as in DuckDB; and for too many."""
    known: dict[str, str] = {}
    for place, name in enumerate(names, 1):
        before = known.setdefault(name.lower(), name)
        if len(known) < place:
            raise ValueError(f"{problem}: {before[:60]!r} and {name[:60]!r}")
    if len(known) > _MOST:
        raise ValueError(f"it has {len(known):,} columns, more than {_MOST:,}")
