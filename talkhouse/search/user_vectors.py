"""Vectors of turns as they are given: a file's of the user, checked, or those that a model makes of the texts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from talkhouse.ingest.declared.record_files.arrow_buffers import MAGIC, open_arrow
from talkhouse.ingest.declared.record_files.parquet_pages import NamedFile, check_pages
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import Limits
from talkhouse.schema.errors import UsageError, is_full_disk
from talkhouse.schema.sql import literal
from talkhouse.search.principal_components import as_arrow, check_dimensions
from talkhouse.system.files import copy_hashed, open_named
from talkhouse.system.memory import capped, lowered, out_of_memory
from talkhouse.warehouse.derived_sidecar import WORK

if TYPE_CHECKING:
    from pyarrow import lib as pa

    from talkhouse.search.text_model import TextModel

_MEMORY = 600_000_000
"""Bytes that DuckDB may hold of a file of vectors while it is opened; what is above goes to the disk."""

_BATCH, _NUMBERS = 2_048, 4_000_000
"""Turns that are worked on at once, and numbers of their vectors."""

MORE_ROOM = "make room on the disk; where memory is short, write the file with fewer turns in each batch or row group"

SHOWN = 3
"""Turns that a message names."""

GIVEN = f"{WORK}.main.given"
NUMBERED = f"{WORK}.main.numbered"
SAME = "owner = given.dialogue_id and numbered.turn_index = given.turn_index"
TAKEN = f"{GIVEN} as given inner join {NUMBERED} as numbered on {SAME}"
"""In SQL: the vectors with dialogue_id and turn_index, the turns of the warehouse as ``number_texts`` numbers them,
and those turns that a vector is given of."""

Turn = tuple[str, int]


class InputVectors(NamedTuple):
    """What the vectors are made of: the rows of ``given``, and where they come from."""

    source: str
    name: str
    sha256: str
    value: str
    """The type of a number: FLOAT or DOUBLE."""
    dimensions: int
    has_map: bool


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Turn what the readers of Parquet and Arrow raise into UsageError; what is said of a full disk stays."""
    try:
        yield
    except MemoryError as error:
        raise out_of_memory(UsageError, "reading the vectors", error, where=file, next_step=MORE_ROOM) from error
    except (duckdb.Error, BadRecord, ValueError, OverflowError) as error:
        if isinstance(error, duckdb.OutOfMemoryException) or is_full_disk(error):
            raise
        # The path is that of a private copy.
        message = (error.detail if isinstance(error, BadRecord) else str(error)).strip().partition("\n")[0]
        message = re.sub(r"['\"][^'\"]*[/\\](rows_)?given['\"]", lambda _: file.name, message)
        raise UsageError(
            "the vectors can't be read",
            where=file,
            expected="a Parquet or Arrow file",
            found=(message or type(error).__name__)[:300],
        ) from error


_KEYS = {"dialogue_id": r"VARCHAR", "turn_index": r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?"}
_VECTOR = {"vector": r"(FLOAT|DOUBLE)\[\d*\]"}
_PLACE = {"x": r"FLOAT|DOUBLE", "y": r"FLOAT|DOUBLE"}


def read_file(con: duckdb.DuckDBPyConnection, file: Path, folder: Path, limits: Limits) -> InputVectors:
    """Create ``given`` from a private copy of a file."""
    copy = folder / "given"
    with open_named(file, "name a Parquet file of vectors") as stream:
        digest, size = copy_hashed(stream, copy)
    with lowered(con, _MEMORY), capped(con):
        checked = _checked(copy, NamedFile(str(file), size, limits))
        con.execute(
            f"create view {GIVEN} as select * from read_parquet({literal(str(checked))}, hive_partitioning = false)"
        )
        columns = dict(con.execute(f"select column_name, column_type from (describe {GIVEN})").fetchall())
    has_map = not _PLACE.keys().isdisjoint(columns)
    for name, kind in {**_KEYS, **_VECTOR, **(_PLACE if has_map else {})}.items():
        if not re.fullmatch(kind, columns.get(name, "")):
            raise UsageError(
                f"the file has no column {name} as it should be",
                where=file,
                expected="dialogue_id (text), turn_index (whole number), vector (list of floats or doubles), and for "
                "the map perhaps x and y (floats)",
                found=", ".join(f"{name} {is_of}" for name, is_of in columns.items())[:300] or "no columns",
            )
    value = columns["vector"].partition("[")[0]
    return InputVectors("file", file.name, digest, value, _one_length(con, file, value, limits), has_map)


def _checked(copy: Path, file: NamedFile) -> Path:
    """Check what a copied file unpacks to, and return it as Parquet: of Arrow, DuckDB holds far more than it may."""
    with copy.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            check_pages(stream, file)
            return copy
    from pyarrow.parquet import ParquetWriter

    batches = open_arrow(copy, file)
    names = [name for name in batches.schema.names if name in (*_KEYS, *_VECTOR, *_PLACE)]
    schema = batches.schema.empty_table().select(names).schema
    path = copy.with_name("rows_given")
    with ParquetWriter(path, schema, compression="none", use_dictionary=False) as out:  # type: ignore[no-untyped-call]
        for batch in batches:
            out.write_batch(batch.select(names), row_group_size=_BATCH)
    return path


def _one_length(con: duckdb.DuckDBPyConnection, file: Path, value: str, limits: Limits) -> int:
    """Return the length of all vectors; raises UsageError where they have several, or a turn has several of them."""
    # By itself, for DuckDB copies what a condition is asked of.
    ((ids,),) = con.execute(f"select coalesce(sum(strlen(dialogue_id)), 0)::bigint from {GIVEN}").fetchall()
    limits.check("file", ids, file, f"{ids:,}, as its rows repeat texts")
    nothing, shortest, longest = con.execute(
        "select count(*) filter (dialogue_id is null or turn_index is null or vector is null), "
        f"min(len(vector::{value}[])), max(len(vector::{value}[])) from {GIVEN}"
    ).fetchall()[0]
    if nothing:
        raise UsageError("there are rows without a dialogue_id, turn_index or vector", where=file, found=f"{nothing:,}")
    check_dimensions(longest or 0, file)
    if shortest < longest:
        shorter = first_turns(con, f"{GIVEN} as given where len(vector::{value}[]) < {longest}")
        raise UsageError(
            "vectors are of different lengths",
            where=file,
            expected=f"as many numbers in each, such as {longest:,}",
            found=f"{shorter[0]:,} shorter than that: {named(shorter)}",
        )
    twice = first_turns(con, f"(select dialogue_id, turn_index from {GIVEN} group by all having count(*) > 1) as given")
    if twice[0]:
        raise UsageError("a turn has two vectors", where=file, expected="one for each", found=named(twice))
    if not con.execute(f"select exists (select 1 from {TAKEN})").fetchall()[0][0]:
        raise UsageError(
            "none of the vectors is of a turn of this warehouse",
            where=file,
            expected="dialogue_id and turn_index as in main.turns",
            found=named(first_turns(con, f"{GIVEN} as given")),
        )
    return int(longest)


def embed(con: duckdb.DuckDBPyConnection, of: str, model: "TextModel") -> InputVectors:
    """Create ``given`` of what a model says of the texts of the turns in ``numbered``."""
    from pyarrow import lib as pa

    size = model.dimensions
    con.execute(f"create or replace table {GIVEN} (dialogue_id varchar, turn_index integer, vector float[{size}])")
    texts = (
        f"select owner, numbered.turn_index, coalesce(text, '') as text from {NUMBERED} as numbered "
        f"inner join {of}.main.turns on turns.rowid = row_number order by document"
    )
    names = ["dialogue_id", "turn_index", "vector"]
    insert_batches(
        con,
        GIVEN,
        (
            pa.Table.from_arrays([*rows.columns[:2], as_arrow(model.encode(rows.columns[2].to_pylist()))], names=names)
            for rows in batches_of(con, texts)
        ),
    )
    return InputVectors("model", model.name, model.sha256, "FLOAT", size, has_map=False)


def batches_of(con: duckdb.DuckDBPyConnection, query: str, dimensions: int = 1) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a query, some thousand at a time, while the connection does other things."""
    with con.cursor() as cursor:
        yield from cursor.sql(query).to_arrow_reader(min(_BATCH, _NUMBERS // dimensions))


def insert_batches(con: duckdb.DuckDBPyConnection, table: str, batches: "Iterable[pa.Table]") -> None:
    """Insert rows by one statement: many would leave holes in the file. What the batches raise is raised as it is."""
    from pyarrow import lib as pa

    schema = con.sql(f"from {table} limit 0").to_arrow_table().schema
    raised: list[Exception] = []

    def rows() -> "Iterator[pa.RecordBatch]":
        try:
            for several in batches:
                yield from several.cast(schema).to_batches()
        except Exception as error:
            raised.append(error)
            raise

    con.register("rows_to_insert", pa.RecordBatchReader.from_batches(schema, rows()))
    try:
        con.execute(f"insert into {table} select * from rows_to_insert")
    except duckdb.Error:
        if raised:  # what DuckDB makes of it quotes a traceback
            raise raised[0] from None
        raise
    con.unregister("rows_to_insert")


def first_turns(con: duckdb.DuckDBPyConnection, relation: str) -> tuple[int, list[Turn]]:
    """Return the number of turns of a relation, and the first of them."""
    found = con.execute(
        f"select given.dialogue_id, given.turn_index, count(*) over () from {relation} order by 1, 2 limit {SHOWN}"
    ).fetchall()
    return (found[0][2] if found else 0), [(str(dialogue), int(turn)) for dialogue, turn, _ in found]


def named(places: tuple[int, Sequence[Turn]]) -> str:
    """Return turns as a message names them: the first, and whether there are more."""
    number, first = places
    return ", ".join(f"{dialogue}#{turn}" for dialogue, turn in first) + (" ..." if number > len(first) else "")
