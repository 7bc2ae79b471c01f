"""One source record as it was published: written by its corpus from the tables, or verbatim from the quarantine."""

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import duckdb
import msgspec

from talkhouse.explore.dialogue import resolve
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry import all_corpora
from talkhouse.ingest.unloading.pieces import record_bytes, text_ids_of
from talkhouse.ingest.unloading.unload import stored_record
from talkhouse.schema.errors import RegistryError, UsageError, WarehouseDamaged
from talkhouse.warehouse.readers import reader_of

# A finding may point at something inside of a record: the longest pointer that leads there is the record's.
_BY_LOCATION = """
with locations as (
    select source_file_id, source_pointer as pointer, record_id, null as raw from main.records
    union all
    select source_file_id, pointer, null, raw from meta.quarantine
)
select record_id, raw
from locations
where starts_with($name, source_file_id)
    and ($name = source_file_id or starts_with($name, source_file_id || '#'))
    and starts_with($name[length(source_file_id) + 2:] || '/', pointer || '/')
order by length(source_file_id) desc, length(pointer) desc
limit 1
"""

_RECORDS = "select record_id from main.records where dialogue_id = ? order by all"


def raw(con: duckdb.DuckDBPyConnection, name: str, known: Mapping[str, Corpus] | None = None) -> bytes:
    """Return the bytes of a source record, found by an id as ``show`` takes it or by its location, ``FILE#POINTER``.

    JSON is equal in every value to what was published, everything else byte for byte. ``known`` are the corpora that
    can write their records, those of Talkhouse and of packages where it is left out; the quarantine needs none. Raises
    UsageError for a name that fits no record or several, RegistryError for a record that nobody here can write,
    CorpusFailed where its writer raises, WarehouseDamaged where its rows don't fit together.
    """
    with consistent(name):
        return _raw(con, name, known)


def _raw(con: duckdb.DuckDBPyConnection, name: str, known: Mapping[str, Corpus] | None) -> bytes:
    try:
        target = resolve(con, name)
    except UsageError:
        location = con.execute(_BY_LOCATION, {"name": name}).fetchone()
        if location is None:
            raise
        record_id, verbatim = location
        return bytes(verbatim) if record_id is None else _written(con, record_id, known)
    record_id = target.id if target.kind == "record" else _only_record(con, target.id)
    return _written(con, record_id, known)


def _only_record(con: duckdb.DuckDBPyConnection, dialogue_id: str) -> str:
    """Return the only record of a dialogue; UsageError where it has several."""
    record_ids = [str(record_id) for (record_id,) in con.execute(_RECORDS, [dialogue_id]).fetchall()]
    if len(record_ids) > 1:
        raise UsageError(
            f"the dialogue {dialogue_id} has {len(record_ids):,} records",
            expected=f"one of: {', '.join(record_ids)}",
            next_step="name one of these records",
        )
    return record_ids[0]


def _written(con: duckdb.DuckDBPyConnection, record_id: str, known: Mapping[str, Corpus] | None) -> bytes:
    """Write a record by its corpus's writer; a record that is a whole file has its byte order mark."""
    corpus = reader_of(con, all_corpora() if known is None else known, record_id.partition("/")[0])
    stored = stored_record(con, record_id, text_ids_of(corpus))
    written = record_bytes(corpus, stored)
    if written is None:
        raise RegistryError(f"the corpus '{corpus.id}' can't write a single record", where=record_id)
    return (b"" if stored.pointer else stored.bom) + written


_RAISED = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    StopIteration,
    RuntimeError,  # also where that ends a generator, and for JSON that is nested too deep
    struct.error,
    msgspec.MsgspecError,
    duckdb.ProgrammingError,
    duckdb.DataError,
)
"""What comes of rows that are missing, of JSON of another shape, and of columns of other types."""


@contextmanager
def consistent(what: str) -> Iterator[None]:
    """Raise WarehouseDamaged where the rows of a corpus or record are not such as Talkhouse writes."""
    try:
        yield
    except _RAISED as error:
        raise WarehouseDamaged(
            "rows of the warehouse are inconsistent, so this can't be written back",
            where=what,
            expected="tables as Talkhouse has written them",
            found=f"{type(error).__name__}: {error}",
            next_step="build the warehouse again from the publisher's files; if nobody has changed it, report this "
            "message",
        ) from error
