"""Source records as they were published: written by a corpus from the tables, or verbatim from the quarantine.

What a corpus's writer raises, or yields that is no piece of a file, is reported with the record.
"""

import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

import duckdb
import msgspec

from talkhouse.dialogues.dialogue import resolve
from talkhouse.ingest.contract.faults import ContractBroken, failed, is_machines
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry import all_corpora
from talkhouse.ingest.rows import Record
from talkhouse.ingest.stored_record import FileFailed, StoredRecord, TextReferences
from talkhouse.restore.unload import stored_record
from talkhouse.schema.errors import CorpusFailed, RegistryError, TalkhouseError, UsageError, WarehouseDamaged
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.readers import reader_of

_RECORDS = "select record_id from main.records where dialogue_id = ? order by all"


def raw(con: duckdb.DuckDBPyConnection, name: str, known: Mapping[str, Corpus] | None = None) -> bytes:
    """Return the bytes of a source record, found by an id as ``show`` takes it or by its location, ``FILE#POINTER``.

    JSON is equal in every value to what was published, everything else byte for byte. ``known`` are the corpora that
    can write their records, those of Talkhouse and of packages where it is left out; the quarantine needs none. Raises
    UsageError for a name that fits no record or several, RegistryError for a record that can't be written here,
    CorpusFailed where its writer raises, WarehouseDamaged where its rows don't fit together.
    """
    with consistent(name):
        return _raw(con, name, known)


def _raw(con: duckdb.DuckDBPyConnection, name: str, known: Mapping[str, Corpus] | None) -> bytes:
    try:
        target = resolve(con, name)
    except UsageError:
        location = con.execute(sql_of(__file__, "by_location"), {"name": name}).fetchone()
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


def pieces(corpus: Corpus, records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Yield the pieces of a corpus's files as its writer does; CorpusFailed where that raises."""
    followed = _Followed(records)
    try:
        for piece in corpus.write(followed):
            match piece:
                case str(), bytes():
                    yield piece
                case _:
                    expected = "pairs of the file's path and bytes"
                    raise ContractBroken("yields no piece of a file", expected=expected, found=f"{piece!r:.100}")
    except FileFailed as failure:
        file, place = failure.source_file_id, followed.place or ""
        is_in_it = place.partition("#")[0] == file
        raise _corpus_failed(corpus, failure.error, place if is_in_it else file, file) from failure.error
    except Exception as error:
        raise _corpus_failed(corpus, error, followed.place) from error


def record_bytes(corpus: Corpus, stored: StoredRecord) -> bytes | None:
    """Write one record, or return None if the corpus can't. Raises CorpusFailed if its writer raises."""
    if corpus.write_record is None:
        return None
    try:
        raw = corpus.write_record(stored)
        if not isinstance(raw, bytes):
            raise ContractBroken("returns no record", expected="write_record: bytes", found=f"{raw!r:.100}")
    except Exception as error:
        raise _corpus_failed(corpus, error, _place(stored)) from error
    return raw


def text_ids_of(corpus: Corpus) -> TextReferences:
    """Return the corpus's own function of that name; what it raises is CorpusFailed."""

    def run(record: Record) -> Collection[str]:
        try:
            return list(corpus.text_ids_of(record))
        except Exception as error:
            raise _corpus_failed(corpus, error, record.record_id) from error

    return run


class _Followed:
    """Records on their way to a writer: which one it has in hand."""

    def __init__(self, records: Iterable[StoredRecord]) -> None:
        self._records = records
        self.place: str | None = None

    def __iter__(self) -> Iterator[StoredRecord]:
        for stored in self._records:
            self.place = _place(stored)
            yield stored


def _place(stored: StoredRecord) -> str:
    file = stored.file.source_file_id
    return f"{file}#{stored.pointer}" if stored.pointer else file


def _corpus_failed(corpus: Corpus, error: Exception, where: str | None, file: str | None = None) -> CorpusFailed:
    """Return the error to raise instead; one of the rows, DuckDB or the machine is no fault of the writer and stays."""
    if isinstance(error, (TalkhouseError, duckdb.Error)) or is_machines(error):
        raise error
    return failed(corpus, error, "write", where=where, last=None, file=file)
