"""Runs a corpus's writer: what it raises, or yields that is no piece of a file, is reported with the record."""

from collections.abc import Collection, Iterable, Iterator

import duckdb

from talkhouse.ingest.contract.faults import ContractBroken, failed, is_machines
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.rows import Record
from talkhouse.ingest.stored_record import FileFailed, StoredRecord, TextReferences
from talkhouse.schema.errors import CorpusFailed, TalkhouseError


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
    """Write one record; None where the corpus can't. Raises CorpusFailed where its writer raises."""
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
    """Return what to raise instead; what the rows, DuckDB or the machine raise is no fault of the writer: it stays."""
    if isinstance(error, (TalkhouseError, duckdb.Error)) or is_machines(error):
        raise error
    return failed(corpus, error, "write", where=where, last=None, file=file)
