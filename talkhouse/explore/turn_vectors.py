"""The vectors of turns, a file beside the warehouse: what each turn means, in numbers of the user's file or model.

It holds ids and numbers; texts are read from the warehouse. It can be deleted at any time, is known by the build that
it is of, and somebody else's file is neither read nor changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from talkhouse.explore.principal_components import Survey, as_arrow, of_length_one
from talkhouse.explore.text_groups import GROUPS, create_groups
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import identifier, literal
from talkhouse.settings import version
from talkhouse.system.files import copy_hashed, open_named
from talkhouse.warehouse.beside import MEMORY, RESULT, WORK, FileBeside
from talkhouse.warehouse.opened import Warehouse

if TYPE_CHECKING:
    from pyarrow import lib as pa

    from talkhouse.explore.text_model import TextModel

VECTORS = FileBeside(
    ending=".vectors.duckdb",
    schema="vectors",
    what="file of vectors",
    made_by="talkhouse vectors FILE",
    number=1,
    tables={
        "run": {
            "format": "INTEGER",
            "warehouse_fingerprint": "VARCHAR",
            "vectors": "BIGINT",
            "dimensions": "INTEGER",
            "source": "VARCHAR",
            "name": "VARCHAR",
            "sha256": "VARCHAR",
            "map": "VARCHAR",
            "variance": "DOUBLE",
            "made_at": "TIMESTAMP",
            "talkhouse_version": "VARCHAR",
        },
        "groups": GROUPS,
        "vectors": {
            "turn_number": "INTEGER",
            "dialogue_id": "VARCHAR",
            "turn_index": "INTEGER",
            "group_no": "INTEGER",
            "vector": "FLOAT[n]",
            "x": "FLOAT",
            "y": "FLOAT",
        },
    },
    more_room="make room on the disk",
)
"""The file. A vector has length 1, so that the inner product of two is their cosine; x and y are its place on the map:
``run.map`` is *given* or *components*, of which ``run.variance`` is the share that the two have. ``source`` is *file*
or *model*, and ``sha256`` of that. ``turn_number`` counts the turns of the warehouse by dialogue and turn, from 0."""

_MOST = 16_384
"""Dimensions; models have some hundreds or thousands."""

_BATCH = 2_048
"""Turns that are worked on at once."""

_SHOWN = 3
"""Turns that a message names."""

_GIVEN = f"{WORK}.main.given"
_NUMBERED = f"{WORK}.main.numbered"
_SAME = "owner = given.dialogue_id and numbered.turn_index = given.turn_index"
_TAKEN = f"{_GIVEN} as given inner join {_NUMBERED} as numbered on {_SAME}"

Turn = tuple[str, int]


@dataclass(frozen=True)
class MadeVectors:
    """A file of vectors that was made; counts come with the first places, in the order of dialogues and turns."""

    path: Path
    vectors: int
    dimensions: int
    without: tuple[int, list[Turn]]
    """Turns that were given none."""
    unknown: tuple[int, list[Turn]]
    """Vectors of no turn of the warehouse, which were left out."""
    zero: tuple[int, list[Turn]]
    """Vectors of zeros, which point nowhere and were left out."""


class _Given(NamedTuple):
    """What the vectors are made of: the rows of ``given``, and where they come from."""

    source: str
    name: str
    sha256: str
    value: str
    """The type of a number: FLOAT or DOUBLE."""
    dimensions: int
    has_map: bool


def make_from_file(warehouse: Path, file: Path) -> MadeVectors:
    """Keep the vectors of a Parquet or Arrow file beside a warehouse, in place of those that are there.

    Raises UsageError for a file that does not fit, which says where; and what ``FileBeside.make`` raises.
    """
    with _readable(file):
        return _make(warehouse, lambda con, _, folder: _read_file(con, file, folder))


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Turn what the readers of Parquet and Arrow raise into UsageError; what is said of a full disk stays."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except (duckdb.Error, ValueError, OverflowError) as error:
        # The path is that of a private copy.
        said = re.sub(r"['\"][^'\"]*[/\\\\]given['\"]", file.name, str(error).strip()).splitlines()
        raise UsageError(
            "the vectors can't be read",
            where=file,
            expected="a Parquet or Arrow file",
            found=(said[0] if said else type(error).__name__)[:300],
        ) from error


def make_by_model(warehouse: Path, model: "TextModel") -> MadeVectors:
    """Keep the vectors that a model gives to the texts of a warehouse, as ``make_from_file`` does."""
    return _make(warehouse, lambda con, of, _: _embed(con, of, model))


def _make(warehouse: Path, give: Callable[[duckdb.DuckDBPyConnection, str, Path], _Given]) -> MadeVectors:
    if find_spec("numpy") is None:
        raise UsageError("this needs NumPy", next_step="type: pip install 'talkhouse[embeddings]'")
    made: list[MadeVectors] = []

    def fill(opened_warehouse: Warehouse, folder: Path, now: str) -> None:
        con, of = opened_warehouse.con, identifier(opened_warehouse.database)
        create_groups(con, of, VECTORS, kinds=["turn"])
        made.append(_keep(con, give(con, of, folder), now, VECTORS.path(warehouse)))

    # What DuckDB takes for such numbers, ALPRD, needs half as much again, and is slower to read.
    VECTORS.make(warehouse, fill, lambda _: None, {**MEMORY, "force_compression": "uncompressed"}, anew=True)
    return made[0]


_KEYS = {"dialogue_id": r"VARCHAR", "turn_index": r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?"}
_VECTOR = {"vector": r"(FLOAT|DOUBLE)\[\d*\]"}
_PLACE = {"x": r"FLOAT|DOUBLE", "y": r"FLOAT|DOUBLE"}


def _read_file(con: duckdb.DuckDBPyConnection, file: Path, folder: Path) -> _Given:
    """Create ``given`` of a file, of which a private copy is read."""
    copy = folder / "given"
    with open_named(file, "name a Parquet file of vectors") as stream:
        digest, _ = copy_hashed(stream, copy)
    columns = _open_copy(con, copy)
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
    return _Given("file", file.name, digest, value, _one_length(con, file, value), has_map)


def _open_copy(con: duckdb.DuckDBPyConnection, copy: Path) -> dict[str, str]:
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
        con.execute(f"create table {_GIVEN} as select * from given_rows")
        con.unregister("given_rows")
    else:
        con.execute(
            f"create view {_GIVEN} as select * from read_parquet({literal(str(copy))}, hive_partitioning = false)"
        )
    rows = con.execute(f"select column_name, column_type from (describe {_GIVEN})").fetchall()
    return dict(rows)


def _one_length(con: duckdb.DuckDBPyConnection, file: Path, value: str) -> int:
    """Return the length of all vectors; raises UsageError where they have several, or a turn has several of them."""
    nothing, shortest, longest = con.execute(
        "select count(*) filter (dialogue_id is null or turn_index is null or vector is null), "
        f"min(len(vector::{value}[])), max(len(vector::{value}[])) from {_GIVEN}"
    ).fetchall()[0]
    if nothing:
        raise UsageError("there are rows without a dialogue_id, turn_index or vector", where=file, found=f"{nothing:,}")
    if not longest or longest > _MOST:
        found = "no vectors" if longest is None else f"{longest:,}"
        raise UsageError(
            "vectors have too few numbers, or too many", where=file, expected=f"1 to {_MOST:,}", found=found
        )
    if shortest < longest:
        shorter = _places(con, f"{_GIVEN} as given where len(vector::{value}[]) < {longest}")
        raise UsageError(
            "vectors are of different lengths",
            where=file,
            expected=f"as many numbers in each, such as {longest:,}",
            found=f"{shorter[0]:,} shorter than that: {named(shorter)}",
        )
    twice = _places(con, f"(select dialogue_id, turn_index from {_GIVEN} group by all having count(*) > 1) as given")
    if twice[0]:
        raise UsageError("a turn has two vectors", where=file, expected="one for each", found=named(twice))
    if not con.execute(f"select exists (select 1 from {_TAKEN})").fetchall()[0][0]:
        raise UsageError(
            "none of the vectors is of a turn of this warehouse",
            where=file,
            expected="dialogue_id and turn_index as in main.turns",
            found=named(_places(con, f"{_GIVEN} as given")),
        )
    return int(longest)


def _embed(con: duckdb.DuckDBPyConnection, of: str, model: "TextModel") -> _Given:
    """Create ``given`` of what a model says of the texts of all turns."""
    from pyarrow import lib as pa

    size = model.dimensions
    con.execute(f"create table {_GIVEN} (dialogue_id varchar, turn_index integer, vector float[{size}])")
    texts = (
        f"select owner, numbered.turn_index, coalesce(text, '') as text from {_NUMBERED} as numbered "
        f"inner join {of}.main.turns on turns.rowid = row_number order by document"
    )
    names = ["dialogue_id", "turn_index", "vector"]
    _insert(
        con,
        _GIVEN,
        (
            pa.Table.from_arrays([*rows.columns[:2], as_arrow(model.encode(rows.columns[2].to_pylist()))], names=names)
            for rows in _batches(con, texts)
        ),
    )
    return _Given("model", model.name, model.sha256, "FLOAT", size, has_map=False)


def _keep(con: duckdb.DuckDBPyConnection, given: _Given, now: str, path: Path) -> MadeVectors:
    """Create the tables of the file, and return what became of what was given."""
    from pyarrow import lib as pa

    size = given.dimensions
    vector = f"given.vector::{given.value}[{size}]"
    survey = Survey(size)
    zero: list[Turn] = []
    for rows in _batches(con, f"select owner, numbered.turn_index, {vector} from {_TAKEN}"):
        vectors, is_zero = of_length_one(rows, given.name)
        zero += [(turns["owner"], turns["turn_index"]) for turns in rows.filter(pa.array(is_zero)).to_pylist()]
        survey.add(vectors[~is_zero])
    components = survey.components()
    if given.has_map:
        nowhere = _places(
            con, f"{_TAKEN} where not coalesce(isfinite(given.x::float) and isfinite(given.y::float), false)"
        )
        if nowhere[0]:
            raise UsageError(
                "turns have no place on the map", where=given.name, expected="numbers as x and y", found=named(nowhere)
            )
    columns = {**VECTORS.tables["vectors"], "vector": f"FLOAT[{size}]"}
    table = f"{RESULT}.main.vectors"
    con.execute(f"create table {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})")
    place = "x::float, y::float" if given.has_map else "null::float, null::float"
    keys = "document, owner, numbered.turn_index, group_no"

    def kept() -> Iterator[pa.Table]:
        for rows in _batches(con, f"select {keys}, {place}, {vector} from {_TAKEN} order by document"):
            vectors, is_zero = of_length_one(rows, given.name)
            *of_turns, x, y, _ = rows.columns
            if not given.has_map:
                x, y = map(pa.array, components.places(vectors))
            one = pa.Table.from_arrays([*of_turns, as_arrow(vectors), x, y], names=[*columns])
            yield one.filter(pa.array(~is_zero))

    _insert(con, table, kept())
    ((number,),) = con.execute(f"select count(*) from {table}").fetchall()
    run = {
        "warehouse_fingerprint": now,
        "vectors": number,
        "dimensions": size,
        "source": given.source,
        "name": given.name,
        "sha256": given.sha256,
        "map": "given" if given.has_map else "components",
        "variance": None if given.has_map else components.share,
        "made_at": datetime.now(UTC).replace(tzinfo=None, microsecond=0),
        "talkhouse_version": version(),
    }
    VECTORS.create_run(con, run)
    return MadeVectors(
        path,
        number,
        size,
        _places(
            con,
            f"(select owner as dialogue_id, turn_index from {_NUMBERED}) as given "
            f"anti join {_GIVEN} using (dialogue_id, turn_index)",
        ),
        _places(con, f"{_GIVEN} as given anti join {_NUMBERED} as numbered on {_SAME}"),
        (len(zero), sorted(zero)[:_SHOWN]),
    )


def _batches(con: duckdb.DuckDBPyConnection, query: str) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a query, some thousand at a time, while the connection does other things."""
    with con.cursor() as cursor:
        yield from cursor.sql(query).to_arrow_reader(_BATCH)


def _insert(con: duckdb.DuckDBPyConnection, table: str, batches: "Iterable[pa.Table]") -> None:
    """Insert rows by one statement: many would leave holes in the file."""
    from pyarrow import lib as pa

    schema = con.sql(f"from {table} limit 0").to_arrow_table().schema
    rows = (batch for several in batches for batch in several.cast(schema).to_batches())
    con.register("rows_to_insert", pa.RecordBatchReader.from_batches(schema, rows))
    con.execute(f"insert into {table} select * from rows_to_insert")
    con.unregister("rows_to_insert")


def _places(con: duckdb.DuckDBPyConnection, relation: str) -> tuple[int, list[Turn]]:
    """Return how many turns a relation has, and the first of them."""
    found = con.execute(
        f"select given.dialogue_id, given.turn_index, count(*) over () from {relation} order by 1, 2 limit {_SHOWN}"
    ).fetchall()
    return (found[0][2] if found else 0), [(str(dialogue), int(turn)) for dialogue, turn, _ in found]


def named(places: tuple[int, Sequence[Turn]]) -> str:
    """Return turns as a message names them: the first, and whether there are more."""
    number, first = places
    return ", ".join(f"{dialogue}#{turn}" for dialogue, turn in first) + (" ..." if number > len(first) else "")
