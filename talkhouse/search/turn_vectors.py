"""The vectors of turns, a file next to the warehouse: what each turn means, in numbers of the user's file or model.

It holds ids and numbers; texts are read from the warehouse. It can be deleted at any time, is known by the build that
it is of, and somebody else's file is neither read nor changed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import identifier
from talkhouse.schema.toml_files import toml_of
from talkhouse.search import user_vectors
from talkhouse.search.principal_components import Components, as_arrow, components_of, of_length_one
from talkhouse.search.text_groups import (
    GROUPS,
    GROUPS_VALUES,
    OWNERS,
    OWNERS_VALUES,
    compare_owners,
    drop_unused_groups,
    number_texts,
)
from talkhouse.settings import version
from talkhouse.warehouse.byte_copy import MOST_CHANGED, TooMuchChanged
from talkhouse.warehouse.derived_sidecar import MEMORY, RESULT, FileBeside
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.sidecar import COUNT, FINITE, FULL, SOME, TIME, one_of

if TYPE_CHECKING:
    import numpy as np

    from talkhouse.search.text_model import TextModel

VECTORS = FileBeside(
    ending=".vectors.duckdb",
    schema="vectors",
    what="file of vectors",
    made_by="talkhouse vectors FILE",
    number=2,
    tables={**toml_of(__file__, "turn_vectors"), "groups": GROUPS, "owners": OWNERS},
    values={
        "run": {
            SOME: ["name", "sha256"],
            COUNT: ["vectors", "dimensions"],
            one_of(["given", "components"]): ["map"],
            "if(map = 'given', {0} is null, {0} between 0 and 1)": ["variance"],
            TIME: ["made_at"],
        },
        "groups": GROUPS_VALUES,
        "owners": OWNERS_VALUES,
        "axes": {one_of("01"): ["axis"], FINITE: ["origin"], FULL: ["direction"]},
        "vectors": {SOME: ["turn_number", "dialogue_id", "turn_index", "group_no", "vector"], FINITE: ["x", "y"]},
    },
    more_room=user_vectors.MORE_ROOM,
)


@dataclass(frozen=True)
class MadeVectors:
    """A file of vectors that was made or brought up to date.

    Counts come with the first places, in the order of dialogues and turns.
    """

    path: Path
    vectors: int
    stayed: int
    """Vectors that were there already."""
    dimensions: int
    without: tuple[int, list[user_vectors.Turn]]
    """Turns that were given none."""
    unknown: tuple[int, list[user_vectors.Turn]]
    """Vectors of no turn of the warehouse, which were left out."""
    zero: tuple[int, list[user_vectors.Turn]]
    """Vectors of zeros, which point nowhere and were left out."""


def make_from_file(warehouse: Path, file: Path, limits: Limits = DEFAULT) -> MadeVectors:
    """Keep the vectors of a Parquet or Arrow file next to a warehouse, in place of those that are there.

    Raises UsageError for a file that does not fit, which says where, SourceError for one that is beyond the limits; and
    what ``FileBeside.make`` raises.
    """
    with user_vectors.readable(file):
        return _make(warehouse, lambda con, _, folder: user_vectors.read_file(con, file, folder, limits))


def make_by_model(warehouse: Path, model: "TextModel") -> MadeVectors:
    """Keep the vectors that a model gives to the texts of a warehouse, as ``make_from_file`` does.

    Those that the same model has given stay; it is asked only for those of dialogues that are new or have changed.
    """
    return _make(warehouse, lambda con, of, _: user_vectors.embed(con, of, model), model.sha256)


def _make(
    warehouse: Path, give: Callable[[duckdb.DuckDBPyConnection, str, Path], user_vectors.InputVectors], model: str = ""
) -> MadeVectors:
    """Make a file of the vectors that are given; those of the model with the hash ``model`` may be there already."""
    if find_spec("numpy") is None:
        raise UsageError("this needs NumPy", next_step="type: pip install 'talkhouse[embeddings]'")
    results: list[MadeVectors] = []

    def fill(opened_warehouse: Warehouse, folder: Path, now: str) -> None:
        con, of = opened_warehouse.con, identifier(opened_warehouse.database)
        before = con.execute(f"select sha256, source from {RESULT}.main.run").fetchall()
        if before and before != [(model, "model")]:
            raise TooMuchChanged
        compare_owners(con, of, kinds=["turn"])
        table = f"{RESULT}.main.vectors"
        first = 0
        if before:
            query = f"select coalesce(max(turn_number) + 1, 0), count(*) from {table}"
            ((first, vectors),) = con.execute(query).fetchall()
            if first - vectors > MOST_CHANGED * vectors:
                raise TooMuchChanged
            con.execute(f"delete from {table} where dialogue_id in (select owner from gone)")
        number_texts(con, of, VECTORS, first, kinds=["turn"])
        results.append(_keep(con, of, give(con, of, folder), now, VECTORS.path(warehouse)))
        drop_unused_groups(con, "vectors")

    # What DuckDB takes for such numbers, ALPRD, needs half as much again, and is slower to read.
    VECTORS.make(warehouse, fill, lambda _: None, {**MEMORY, "force_compression": "uncompressed"}, anew=True)
    return results[0]


def _keep(
    con: duckdb.DuckDBPyConnection, of: str, source: user_vectors.InputVectors, now: str, path: Path
) -> MadeVectors:
    """Add vectors to the tables of the file, and return the outcome."""
    from pyarrow import lib as pa

    size = source.dimensions
    vector = f"given.vector::{source.value}[{size}]"
    components = None if source.has_map else _components(con, source, vector)
    if source.has_map:
        nowhere = user_vectors.first_turns(
            con,
            f"{user_vectors.TAKEN} where not coalesce(isfinite(given.x::float) and isfinite(given.y::float), false)",
        )
        if nowhere[0]:
            raise UsageError(
                "turns have no place on the map",
                where=source.name,
                expected="numbers as x and y",
                found=user_vectors.named(nowhere),
            )
    columns = {**VECTORS.tables["vectors"], "vector": f"FLOAT[{size}]"}
    table = f"{RESULT}.main.vectors"
    typed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    con.execute(f"create table if not exists {table} ({typed})")
    place = "x::float, y::float" if source.has_map else "null::float, null::float"
    keys = "document, owner, numbered.turn_index, group_no"

    def nonzero() -> Iterator[pa.Table]:
        for rows in user_vectors.batches_of(
            con, f"select {keys}, {place}, {vector} from {user_vectors.TAKEN} order by document", size
        ):
            vectors, is_zero = of_length_one(rows, source.name)
            *of_turns, x, y, _ = rows.columns
            if components:
                x, y = map(pa.array, components.places(vectors))
            batch = pa.Table.from_arrays([*of_turns, as_arrow(vectors), x, y], names=[*columns])
            yield batch.filter(pa.array(~is_zero))

    ((stayed,),) = con.execute(f"select count(*) from {table}").fetchall()
    user_vectors.insert_batches(con, table, nonzero())
    ((number,),) = con.execute(f"select count(*) from {table}").fetchall()
    run = {
        "warehouse_fingerprint": now,
        "vectors": number,
        "dimensions": size,
        "source": source.source,
        "name": source.name,
        "sha256": source.sha256,
        "map": "components" if components else "given",
        "variance": components.share if components else None,
        "made_at": datetime.now(UTC).replace(tzinfo=None, microsecond=0),
        "talkhouse_version": version(),
    }
    VECTORS.create_run(con, run)
    without = (
        f"(select owner as dialogue_id, turn_index from {user_vectors.NUMBERED}) as given "
        f"anti join {user_vectors.GIVEN} as vectors using (dialogue_id, turn_index)"
    )
    return MadeVectors(
        path,
        number,
        stayed,
        size,
        user_vectors.first_turns(con, without),
        user_vectors.first_turns(
            con, f"{user_vectors.GIVEN} as given anti join {user_vectors.NUMBERED} as numbered on {user_vectors.SAME}"
        ),
        user_vectors.first_turns(
            con,
            f"{of}.main.turns as given anti join {table} as vectors using (dialogue_id, turn_index) "
            f"where (dialogue_id, turn_index) not in (select (given.dialogue_id, given.turn_index) from {without})",
        ),
    )


def _components(con: duckdb.DuckDBPyConnection, source: user_vectors.InputVectors, vector: str) -> Components:
    """Return the axes of the map: those that the file has, or else those of the vectors, which it then has."""
    import numpy as np

    axes = f"{RESULT}.main.axes"
    rows = con.execute(f"select direction, origin from {axes} order by axis").fetchall()
    if rows:
        ((share,),) = con.execute(f"select variance from {RESULT}.main.run").fetchall()
        directions, origin = zip(*rows, strict=True)
        return Components(np.array(directions).T, np.array(origin), share)
    components = components_of(_sample(con, source, vector), source.dimensions)
    for axis, (direction, begin) in enumerate(zip(components.axes.T, components.origin, strict=True)):
        con.execute(f"insert into {axes} values ($1, $2, $3)", [axis, float(begin), direction.tolist()])
    return components


_SAMPLE = 4_000_000
"""Numbers of the turns that the components are computed of; 5,208 turns of 768 numbers."""


def _sample(con: duckdb.DuckDBPyConnection, source: user_vectors.InputVectors, vector: str) -> "list[np.ndarray]":
    """Return vectors of turns all over the warehouse, the same each time, but for those of zeros."""
    ((count,),) = con.execute(f"select count(*) from {user_vectors.TAKEN}").fetchall()
    parts = -(-count * source.dimensions // _SAMPLE)
    query = (
        f"select owner, numbered.turn_index, {vector} from {user_vectors.TAKEN} "
        f"where md5_number_lower(owner || '#' || numbered.turn_index) % {max(parts, 1)} = 0 order by document"
    )
    found = (of_length_one(rows, source.name) for rows in user_vectors.batches_of(con, query, source.dimensions))
    return [vectors[~is_zero] for vectors, is_zero in found]
