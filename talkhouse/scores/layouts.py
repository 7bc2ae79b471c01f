"""What the layouts of publishers are read from: label files, lines, and rows of scores."""

import json
from collections.abc import Iterator
from typing import Any

import duckdb
from pyarrow import lib as pa

from talkhouse.ingest.decode import BadRecord, check_depth
from talkhouse.ingest.files.archives import open_archive, open_member
from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.files.source_errors import readable as readable_archive
from talkhouse.queries.heads import LayoutQuery
from talkhouse.schema.sql import literal
from talkhouse.scores.arrays import array_rows
from talkhouse.scores.given import LABEL_FILES, Given, readable
from talkhouse.scores.reader import Reader, check_rows

_DOCUMENTS = pa.schema([("path", pa.string()), ("content", pa.string())])
_LONGEST_LINE = 16_777_216
"""Bytes of a line, and of a row of JSON Lines: DuckDB holds several of that size."""

_TOGETHER = 16_000_000
"""Bytes of documents that are handed over at once."""


def pour_layout(reader: Reader, one: Given, layout: LayoutQuery, most: int) -> None:
    """Create the table that a publisher's layout reads; UsageError where its file can't be read.

    It is named like the layout's form: documents, lines or score_rows.
    """
    form = layout.reads
    with readable([one]):
        if form == "documents":
            columns = "path, content::json as content"
            reader.pour_batches(_DOCUMENTS, _batches(_documents(one, reader.limits)), columns, "documents", most)
            if not reader.into.execute("select 1 from documents limit 1").fetchall():
                raise ValueError(f"it has no file whose name ends in {LABEL_FILES}")
        elif form == "score_rows":
            reader.pour_batches(*array_rows(one.only), "scores::double[] as scores", "array_rows", most)
            reader.into.execute(
                "create or replace temp table score_rows as "
                "select row_number() over () - 1 as row_index, scores from array_rows"
            )
        else:
            lines = f"select row_number() over () - 1 as line_index, line from {_lines(one)}"
            reader.pour(lines, "lines", most)


def lay_out(con: duckdb.DuckDBPyConnection, one: Given, layout: LayoutQuery, most: int) -> None:
    """Create the view ``raw`` from what a layout reads; UsageError where that is of another layout."""
    with readable([one]):
        rows_of = f"select * from ({layout.sql}) limit {most + 1}"
        ((rows,),) = con.execute(f"create or replace temp table laid_out as {rows_of}").fetchall()
        check_rows(rows, most)
        con.execute("create or replace temp view raw as from laid_out")


def _lines(one: Given) -> str:
    """Return the reader of the lines of a text."""
    return (
        f"read_csv({literal(str(one.only))}, auto_detect = false, header = false, columns = {{'line': 'VARCHAR'}}, "
        f"delim = e'\\x01', quote = '', escape = '', max_line_size = {_LONGEST_LINE}, "
        f"buffer_size = {2 * _LONGEST_LINE}, parallel = false, "
        "hive_partitioning = false, compression = 'none')"
    )


def _batches(documents: Iterator[tuple[str, str]]) -> Iterator[pa.RecordBatch]:
    """Put documents together to batches of some size."""
    held: list[tuple[str, str]] = []
    size = 0
    for name, text in documents:
        held.append((name, text))
        size += len(text)
        if size > _TOGETHER:
            yield _batch(held)
            held, size = [], 0
    if held:
        yield _batch(held)


def _batch(documents: list[tuple[str, str]]) -> pa.RecordBatch:
    names, texts = zip(*documents, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(names, pa.string()), pa.array(texts, pa.string())], schema=_DOCUMENTS)


def _documents(one: Given, limits: Limits) -> Iterator[tuple[str, str]]:
    """Read the label files of a folder or archive: name and text of each."""
    for name, content in _copied(one, limits) if one.is_folder else _members(one, limits):
        yield name, _text(name, content)


def _copied(one: Given, limits: Limits) -> Iterator[tuple[str, bytes]]:
    for copy in one.copies:
        limits.check("record", copy.path.stat().st_size, one.path / copy.name)
        yield copy.name, copy.path.read_bytes()


def _members(one: Given, limits: Limits) -> Iterator[tuple[str, bytes]]:
    with readable_archive(one.path, one.size):
        archive, members = open_archive(one.only, one.path.name, limits)
        with archive:
            for name, size in sorted(members):
                if name.endswith(LABEL_FILES):
                    limits.check("record", size, f"{one.path}/{name}")
                    with open_member(archive, name) as stream:
                        content = stream.read(size + 1)
                    if len(content) != size:
                        raise EOFError(f"{name} has another size than the archive says")
                    yield name, content


def _text(name: str, content: bytes) -> str:
    """Return the text of a document; ValueError with its name where it is no JSON, or has a key twice."""
    try:
        check_depth(content)
        text = content.decode("utf-8-sig")
        json.loads(text, object_pairs_hook=_unique, parse_int=str)
    except BadRecord as error:
        raise ValueError(f"{name}: {error.detail}") from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; ValueError for a key twice, of which programs take the first or the last."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:60]!r} is in an object twice")
        found[key] = value
    return found
