"""A writer that raises, or yields what is no piece of a file: the corpus, the record, and the code's line."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from errno import ENOSPC
from pathlib import Path, PurePosixPath
from typing import Any

import duckdb
import pytest

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.ingest.rows import Record
from talkhouse.ingest.stored_record import StoredRecord, whole_files
from talkhouse.restore.raw_record import raw
from talkhouse.restore.verify import verify
from talkhouse.restore.write_back import SomeNotWritten, write_back
from talkhouse.schema.errors import CorpusFailed, OutputFailed
from tests.talkhouse.restore.test_write_back import files_in

HERE = Path(__file__).parent
CORPUS = next(corpus for corpus in corpora().values() if corpus.has_record_per_file)
"""A corpus in which a file is a record, with a writer of this module."""


def fails(stored: StoredRecord) -> bytes:
    return f"{stored.turns[99].text}".encode()


def fails_at(file: str) -> Callable[[StoredRecord], bytes]:
    """Return a writer that fails at one file: where each fails, the rows of each are read by themselves."""
    assert CORPUS.write_record is not None
    write_record = CORPUS.write_record
    return lambda stored: fails(stored) if stored.file.source_file_id == file else write_record(stored)


def a_text(stored: StoredRecord) -> Any:
    return stored.turns[0].text


def nothing(_: StoredRecord) -> Any:
    return None


def by(write_record: Callable[[StoredRecord], bytes]) -> Corpus:
    return replace(CORPUS, write=whole_files(write_record), write_record=write_record, folder=HERE)


def first_record(con: duckdb.DuckDBPyConnection) -> tuple[str, str]:
    query = "select source_file_id, record_id from main.records where corpus_id = ? order by source_file_id limit 1"
    ((file, record_id),) = con.execute(query, [CORPUS.id]).fetchall()
    return file, record_id


def test_an_exception_is_told_with_the_record_and_the_line(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    file, record_id = first_record(con)
    with pytest.raises(CorpusFailed) as restored:
        write_back(con, by(fails), tmp_path / "out")
    line = fails.__code__.co_firstlineno + 1
    assert str(restored.value).splitlines() == [
        f"{file}: the writer of '{CORPUS.id}' raised an exception; this file is not written",
        "  expected: every record written as its file had it",
        f"  found:    IndexError: list index out of range, in {__file__}, line {line}, in fails",
        "  next:     if somebody has changed the warehouse, build it again from the publisher's files; else fix the "
        "writer, or report this message if it came with Talkhouse",
    ]
    assert not (tmp_path / "out").exists()
    verdicts = {row.file: row for row in verify(con, by(fails_at(file)), disk_files(sample_of(CORPUS), CORPUS.id))}
    assert verdicts[file].status == "failed"
    assert f"IndexError: list index out of range, in {__file__}, line {line}" in (verdicts[file].reason or "")
    with pytest.raises(CorpusFailed) as shown:
        raw(con, record_id, {CORPUS.id: by(fails)})
    assert str(shown.value).splitlines()[1:] == str(restored.value).splitlines()[1:]


def test_the_other_files_are_written_and_compared(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    file, _ = first_record(con)
    fails_once = fails_at(file)
    write_back(con, CORPUS, tmp_path / "whole")
    with pytest.raises(SomeNotWritten, match="this file is not written") as caught:
        write_back(con, by(fails_once), tmp_path / "out")
    whole, out = (files_in(tmp_path / name) for name in ("whole", "out"))
    assert whole.keys() - out.keys() == {PurePosixPath(file.replace("!", "/")).relative_to(CORPUS.id).as_posix()}
    assert out == {name: whole[name] for name in out}
    assert (len(out), caught.value.restored.published_files) == (len(whole) - 1, len(whole) - 1)
    verdicts = list(verify(con, by(fails_once), disk_files(sample_of(CORPUS), CORPUS.id)))
    assert [verdict.file for verdict in verdicts if verdict.status not in ("equal", "not data")] == [file]


@pytest.mark.parametrize("write_record", [a_text, nothing])
def test_what_is_not_bytes_is_told(con: duckdb.DuckDBPyConnection, tmp_path: Path, write_record: Any) -> None:
    file, record_id = first_record(con)
    with pytest.raises(CorpusFailed) as restored:
        write_back(con, by(write_record), tmp_path / "out")
    with pytest.raises(CorpusFailed) as shown:
        raw(con, record_id, {CORPUS.id: by(write_record)})
    for error, what in ((restored, "yields no piece of a file"), (shown, "returns no record")):
        assert str(error.value).startswith(f"{file}: the writer of '{CORPUS.id}' {what}")
        assert f"fix the writer ({HERE})" in str(error.value)


def test_texts_that_a_corpus_can_not_name_are_its_own_fault(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    def wrong(record: Record) -> list[str]:
        return [str(record.extra), record.missing]  # type: ignore[attr-defined]

    with pytest.raises(CorpusFailed, match="AttributeError: 'Record' object has no attribute 'missing'") as caught:
        write_back(con, replace(CORPUS, text_ids_of=wrong, folder=HERE), tmp_path / "out")
    assert f"in {__file__}, line" in str(caught.value)


def test_a_full_disk_is_not_the_writers_fault(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    def full(_: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
        raise OSError(ENOSPC, "No space left on device")

    with pytest.raises(OutputFailed, match="No space left"):
        write_back(con, replace(CORPUS, write=full), tmp_path / "out")
