"""What the layouts of publishers are read from: label files, lines, and rows of scores."""

import json
from collections.abc import Iterator
from typing import Any

from pyarrow import lib as pa

from talkhouse.ingest.decode import BadRecord, check_depth
from talkhouse.ingest.files.archives import open_archive, open_member
from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.files.source_errors import readable as readable_archive
from talkhouse.queries.heads import LayoutQuery
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import literal
from talkhouse.scores.predictions.arrays import array_rows
from talkhouse.scores.predictions.files import LABEL_FILES, PredictionFile, readable
from talkhouse.scores.predictions.reader import Reader, check_rows
from talkhouse.scores.predictions.typed import KEYS
from talkhouse.scores.tasks.examples import Examples
from talkhouse.scores.tasks.sql_files import Bound
from talkhouse.scores.tasks.workspace import Table, Workspace

_DOCUMENTS = pa.schema([("path", pa.string()), ("content", pa.string())])
_LONGEST_LINE = 16_777_216
"""Bytes of a line, and of a row of JSON Lines: DuckDB holds several of that size."""

_TOGETHER = 16_000_000
"""Bytes of documents that are handed over at once."""


def pour_layout(reader: Reader, file: PredictionFile, layout: LayoutQuery, most: int) -> Table:
    """Create the table that a publisher's layout reads; UsageError where its file can't be read."""
    form = layout.reads
    with readable([file]):
        if form == "documents":
            columns = "path, content::json as content"
            batches = _batches(_documents(file, reader.limits))
            documents = reader.pour_batches(_DOCUMENTS, batches, columns, form, most)
            if not reader.into.count(documents):
                raise ValueError(f"it has no file whose name ends in {LABEL_FILES}")
            return documents
        if form == "score_rows":
            rows = reader.pour_batches(*array_rows(file.only), "scores::double[] as scores", "array_rows", most)
            return reader.into.create(form, f"select row_number() over () - 1 as row_index, scores from {rows}")
        return reader.pour(f"select row_number() over () - 1 as line_index, line from {_lines(file)}", form, most)


def lay_out(
    workspace: Workspace, file: PredictionFile, layout: LayoutQuery, source: Table, examples: Examples, most: int
) -> Table:
    """Create a table of predictions from what a layout reads; UsageError where that is of another layout."""
    relations = {"keys": examples.keys, "other_keys": examples.others, layout.reads: source}
    sql = Bound(layout, "layouts", {name: f"from {table}" for name, table in relations.items()})
    # What is wrong with the SQL shows before a row is read; what comes then is wrong with the rows.
    columns = sql.check(workspace.con)
    if not columns.keys() & KEYS:
        raise CatalogueError(
            "the SQL file gives no key of an example",
            where=layout.path,
            expected=f"one of the columns {', '.join(sorted(KEYS))}",
            found=f"the columns {', '.join(columns)}",
            next_step="select it: docs/scores.md says what a layout gives",
        )
    with readable([file]):
        laid_out = workspace.create("laid_out", f"select * from ({sql.sql}) limit {most + 1}")
        check_rows(workspace.count(laid_out), most)
    return laid_out


def _lines(file: PredictionFile) -> str:
    """Return the reader of the lines of a text."""
    return (
        f"read_csv({literal(str(file.only))}, auto_detect = false, header = false, columns = {{'line': 'VARCHAR'}}, "
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


def _documents(file: PredictionFile, limits: Limits) -> Iterator[tuple[str, str]]:
    """Read the label files of a folder or archive: name and text of each."""
    for name, content in _copied(file, limits) if file.is_folder else _members(file, limits):
        yield name, _text(name, content)


def _copied(file: PredictionFile, limits: Limits) -> Iterator[tuple[str, bytes]]:
    for copy in file.copies:
        limits.check("record", copy.path.stat().st_size, file.path / copy.name)
        yield copy.name, copy.path.read_bytes()


def _members(file: PredictionFile, limits: Limits) -> Iterator[tuple[str, bytes]]:
    with readable_archive(file.path, file.size):
        archive, members = open_archive(file.only, file.path.name, limits)
        with archive:
            for name, size in sorted(members):
                if name.endswith(LABEL_FILES):
                    limits.check("record", size, f"{file.path}/{name}")
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
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise ValueError(f"the key {key[:60]!r} is in an object twice")
        members[key] = value
    return members
