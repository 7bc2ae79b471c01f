"""Vectors of turns as they are given: a file's of the user, checked, or those that a model makes of the texts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from talkhouse.explore.principal_components import as_arrow
from talkhouse.ingest.declared.record_files.parquet_pages import NamedFile, check_pages
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import DEFAULT
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import literal
from talkhouse.system.files import copy_hashed, open_named
from talkhouse.system.memory import capped, lowered
from talkhouse.warehouse.made_beside import WORK

if TYPE_CHECKING:
    from pyarrow import lib as pa

    from talkhouse.explore.text_model import TextModel

_MOST = 16_384
"""Dimensions; models have some hundreds or thousands."""

_MEMORY = 600_000_000
"""Bytes that DuckDB may hold of a file of vectors while it is opened; what is above goes to the disk."""

_BATCH = 2_048
"""Turns that are worked on at once."""

SHOWN = 3
"""Turns that a message names."""

GIVEN = f"{WORK}.main.given"
NUMBERED = f"{WORK}.main.numbered"
SAME = "owner = given.dialogue_id and numbered.turn_index = given.turn_index"
TAKEN = f"{GIVEN} as given inner join {NUMBERED} as numbered on {SAME}"
"""In SQL: the vectors with dialogue_id and turn_index, the turns of the warehouse as ``create_groups`` numbers them,
and those turns that a vector is given of."""

Turn = tuple[str, int]


class Given(NamedTuple):
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
    except duckdb.OutOfMemoryException:
        raise
    except (duckdb.Error, BadRecord, ValueError, OverflowError) as error:
        # The path is that of a private copy.
        said = re.sub(r"['\"][^'\"]*[/\\\\]given['\"]", file.name, str(error).strip()).splitlines()
        raise UsageError(
            "the vectors can't be read",
            where=file,
            expected="a Parquet or Arrow file",
            found=(said[0] if said else type(error).__name__)[:300],
        ) from error


_KEYS = {"dialogue_id": r"VARCHAR", "turn_index": r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?"}
_VECTOR = {"vector": r"(FLOAT|DOUBLE)\[\d*\]"}
_PLACE = {"x": r"FLOAT|DOUBLE", "y": r"FLOAT|DOUBLE"}


def read_file(con: duckdb.DuckDBPyConnection, file: Path, folder: Path) -> Given:
    """Create ``given`` of a file, of which a private copy is read."""
    copy = folder / "given"
    with open_named(file, "name a Parquet file of vectors") as stream:
        digest, _ = copy_hashed(stream, copy)
    with lowered(con, _MEMORY), capped(con):
        columns = _open_copy(con, copy, file.name)
    has_map = not _PLACE.keys().isdisjoint(columns)
    for name, kind in {**_KEYS, **_VECTOR, **(_PLACE if has_map else {})}.items():
        if not re.fullmatch(kind, columns.get(name, "")):
            raise UsageError(
                f"the file has no column {name} as it should be",
                where=file,
                expected="dialogue_id (text), turn_index (whole number), vector (list of floats or doubles), and for "
                "the map perhaps x and y (floats)",
                found=", ".join(f"{one} {is_of}" for one, is_of in columns.items())[:300] or "no columns",
            )
    value = columns["vector"].partition("[")[0]
    return Given("file", file.name, digest, value, _one_length(con, file, value), has_map)


def _open_copy(con: duckdb.DuckDBPyConnection, copy: Path, name: str) -> dict[str, str]:
    """Create ``given`` of a copied file, and return its columns with their types."""
    with copy.open("rb") as stream:
        is_arrow = stream.read(6) == b"ARROW1"
    if is_arrow:
        from pyarrow import lib as pa
        from pyarrow.ipc import open_file

        try:
            source = open_file(pa.memory_map(str(copy)))  # type: ignore[no-untyped-call]
        except OSError as error:  # it says so of what can't be read in it, too
            raise ValueError(str(error)) from error

        def checked() -> Iterator[pa.RecordBatch]:
            for number in range(source.num_record_batches):
                batch = source.get_batch(number)
                batch.validate(full=True)  # DuckDB believes what lists say of themselves
                yield batch

        con.register("given_rows", pa.RecordBatchReader.from_batches(source.schema, checked()))
        con.execute(f"create table {GIVEN} as select * from given_rows")
        con.unregister("given_rows")
    else:
        with copy.open("rb") as stream:
            check_pages(stream, NamedFile(name, copy.stat().st_size, DEFAULT))
        con.execute(
            f"create view {GIVEN} as select * from read_parquet({literal(str(copy))}, hive_partitioning = false)"
        )
    rows = con.execute(f"select column_name, column_type from (describe {GIVEN})").fetchall()
    return dict(rows)


def _one_length(con: duckdb.DuckDBPyConnection, file: Path, value: str) -> int:
    """Return the length of all vectors; raises UsageError where they have several, or a turn has several of them."""
    nothing, shortest, longest = con.execute(
        "select count(*) filter (dialogue_id is null or turn_index is null or vector is null), "
        f"min(len(vector::{value}[])), max(len(vector::{value}[])) from {GIVEN}"
    ).fetchall()[0]
    if nothing:
        raise UsageError("there are rows without a dialogue_id, turn_index or vector", where=file, found=f"{nothing:,}")
    if not longest or longest > _MOST:
        found = "no vectors" if longest is None else f"{longest:,}"
        raise UsageError(
            "vectors have too few numbers, or too many", where=file, expected=f"1 to {_MOST:,}", found=found
        )
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


def embed(con: duckdb.DuckDBPyConnection, of: str, model: "TextModel") -> Given:
    """Create ``given`` of what a model says of the texts of all turns."""
    from pyarrow import lib as pa

    size = model.dimensions
    con.execute(f"create table {GIVEN} (dialogue_id varchar, turn_index integer, vector float[{size}])")
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
    return Given("model", model.name, model.sha256, "FLOAT", size, has_map=False)


def batches_of(con: duckdb.DuckDBPyConnection, query: str) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a query, some thousand at a time, while the connection does other things."""
    with con.cursor() as cursor:
        yield from cursor.sql(query).to_arrow_reader(_BATCH)


def insert_batches(con: duckdb.DuckDBPyConnection, table: str, batches: "Iterable[pa.Table]") -> None:
    """Insert rows by one statement: many would leave holes in the file."""
    from pyarrow import lib as pa

    schema = con.sql(f"from {table} limit 0").to_arrow_table().schema
    rows = (batch for several in batches for batch in several.cast(schema).to_batches())
    con.register("rows_to_insert", pa.RecordBatchReader.from_batches(schema, rows))
    con.execute(f"insert into {table} select * from rows_to_insert")
    con.unregister("rows_to_insert")


def first_turns(con: duckdb.DuckDBPyConnection, relation: str) -> tuple[int, list[Turn]]:
    """Return how many turns a relation has, and the first of them."""
    found = con.execute(
        f"select given.dialogue_id, given.turn_index, count(*) over () from {relation} order by 1, 2 limit {SHOWN}"
    ).fetchall()
    return (found[0][2] if found else 0), [(str(dialogue), int(turn)) for dialogue, turn, _ in found]


def named(places: tuple[int, Sequence[Turn]]) -> str:
    """Return turns as a message names them: the first, and whether there are more."""
    number, first = places
    return ", ".join(f"{dialogue}#{turn}" for dialogue, turn in first) + (" ..." if number > len(first) else "")
