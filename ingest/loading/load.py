"""Loads one corpus into a private warehouse: reader, validation, batches, and the count of every file."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias, get_args

import duckdb

from talkhouse.ingest.contract.faults import ContractBroken, failed, is_machines, place_in_hand, place_of
from talkhouse.ingest.contract.outcomes import Validator, check_columns, check_fields, check_rows
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.decode import dump
from talkhouse.ingest.files.disk_files import DiskFile
from talkhouse.ingest.known.origins import BUILT_IN
from talkhouse.ingest.loading.batches import Batch, Batches
from talkhouse.ingest.loading.vocabulary import Vocabulary, complete_vocabulary, declare
from talkhouse.ingest.outcomes import (
    FileEnvelope,
    Loaded,
    LoadedBatch,
    Outcome,
    ReaderFinding,
    Rejected,
    SourceLocation,
    Unrecognised,
)
from talkhouse.ingest.registry import rules_of
from talkhouse.ingest.rows import FileRow, Finding, Label, Quarantined, Record, Row
from talkhouse.ingest.sources import BOM, BOM_NOTE, OUTSIDE, Skipped, SourceFile, opened
from talkhouse.schema.errors import CorpusFailed, NothingLoaded, TalkhouseError
from talkhouse.schema.sql import ArrowStream
from talkhouse.schema.tables import metadata, qualified

Connect: TypeAlias = Callable[[], duckdb.DuckDBPyConnection]
"""Opens another connection to the warehouse that is being loaded."""

Advance = Callable[[int, int], None]
"""Called as a load goes on: bytes read since the last call, and records."""


_TRANSACTIONS = 2
"""Transactions that are filled side by side: the rows of one are compressed in no more than one thread's time."""

_SWITCH = 0.0005
"""Seconds after which a thread that waits for Python's lock gets it."""


@contextmanager
def _at_full_speed() -> Iterator[None]:
    """Spare what costs a load its time without a use.

    Python looks for circles among millions of new objects, which have none; and threads that work without its lock,
    and need it for an instant between two steps, wait 5 ms each time.
    """
    was_on, interval = gc.isenabled(), sys.getswitchinterval()
    gc.disable()
    sys.setswitchinterval(_SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        if was_on:
            gc.enable()


class _InsertTransaction:
    """A transaction of its own, in which one batch after the other is inserted."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._con: duckdb.DuckDBPyConnection | None = None

    def write(self, batch: Batch) -> None:
        """Insert a batch, or raise ContractBroken for a value that the table does not take.

        Not by ``register``, whose views keep their data until the transaction ends.
        """
        if self._con is None:
            self._con = self._connect()
            self._con.execute("begin")
        stream = ArrowStream(batch.frame)  # noqa: F841 - DuckDB finds it by its name
        try:
            self._con.execute(f"insert into {qualified(metadata.tables[batch.table])} by name select * from stream")
        except (duckdb.ConstraintException, duckdb.ConversionException, duckdb.InvalidInputException):
            check_columns(batch.table, batch.frame.to_dict(), {})
            raise

    def finish(self) -> None:
        """Commit what was inserted."""
        if self._con is not None:
            self._con.execute("commit")

    def close(self) -> None:
        """Roll back what was not committed."""
        if self._con is not None:
            self._con.close()


@dataclass
class Load:
    """One corpus on its way in."""

    connect: Connect
    corpus: Corpus
    advance: Advance
    findings: int = 0
    refusal: str = ""
    """What was wrong with the first record that was rejected."""
    current: Outcome | None = None
    """What the reader has just yielded; None while it is at work."""
    last: Outcome | None = None
    made_from: str | None = None
    """What the files were made from, where one of them says so."""

    def __post_init__(self) -> None:
        """Prepare the batches, the counts and the contract."""
        self.rules = rules_of(self.corpus)
        self.batches = Batches([_InsertTransaction(self.connect) for _ in range(_TRANSACTIONS)])
        self.counts = FileCounts(self.corpus.id)
        self.validator = Validator(self.corpus, self.rules)
        self.vocabulary = Vocabulary(self.corpus)

    def run(self, disk: list[DiskFile], *, origin: str = BUILT_IN, is_sample: bool) -> None:
        """Read the files and fill the tables of a warehouse that is thrown away if that fails."""
        with opened(disk) as (files, skipped), self.batches, _at_full_speed():
            for item in skipped:
                self.counts.skip(item)
                if item.reason == OUTSIDE:
                    self._find(ReaderFinding("TH-05", item.reason), item.file, None)
            with self._faults_of_the_reader():
                for outcome in self.corpus.read(files):
                    self.current = outcome
                    self._take(outcome)
                    self.last, self.current = outcome, None
                everything = [*files, *(item.file for item in skipped)]
                self.batches.add(self.counts.rows(disk, everything), 0)
                self.batches.flush()
                self.batches.finish()
            self._check_loaded(disk, files)
        with self.connect() as con:
            con.execute("begin")
            declare(con, self.corpus, self.vocabulary, origin=origin, is_sample=is_sample, made_from=self.made_from)
            complete_vocabulary(con, self.corpus)
            con.execute("commit")

    @contextmanager
    def _faults_of_the_reader(self) -> Iterator[None]:
        """Raise CorpusFailed for what the reader raises, and for what it yields and no table takes."""
        try:
            yield
        except (TalkhouseError, duckdb.Error):
            raise
        except Exception as error:
            if is_machines(error):
                raise
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> CorpusFailed:
        where, last = _place(self.current), _place(self.last)
        if self.current is None:
            where = place_in_hand(error)
        elif not isinstance(error, ContractBroken):
            try:
                check_fields(self.current)
            except ContractBroken as broken:
                error = broken
        return failed(self.corpus, error, "read", where=where, last=last)

    def _take(self, outcome: Outcome) -> None:
        """Sort one outcome into batches, findings and counts."""
        match outcome:
            case Loaded(location, rows, findings, column_batches):
                self.validator.record(outcome)
                self.counts.count(location.file).loaded += 1
                record_id = next(row.record_id for row in rows if isinstance(row, Record))
                rest = self._without_labels(rows, location.file, record_id, location.pointer or None)
                self.batches.add(rest, location.size, column_batches)
                for finding in findings:
                    self._find(location.finding(finding, record_id), location.file, record_id)
                self.advance(1, location.size)
            case LoadedBatch(file, records, size, rows, column_batches, findings, rows_size):
                self.validator.many(outcome)
                self.counts.count(file).loaded += records
                rest = self._without_labels(rows, file)
                self.batches.add(rest, size if rows_size is None else rows_size, column_batches)
                for finding in findings:
                    self._find(finding, file, finding.record_id)
                self.advance(records, size)
            case Rejected(location, rule, detail, at=at):
                self.validator.location(location)
                self._quarantine(outcome)
                self._find(ReaderFinding(rule, detail, pointer=location.pointer + at), location.file, None)
                self.advance(1, location.size)
            case Unrecognised(file, detail, is_meant):
                self._pass_over(file, detail, is_meant=is_meant)
                self.advance(0, file.size)
            case FileEnvelope(file, extra, records, made_from):
                self.made_from = made_from or self.made_from
                count = self.counts.count(file)
                count.extra, count.records = dump(extra), records
            case ReaderFinding():
                self._find(outcome, outcome.file, outcome.record_id)
            case _:
                raise ContractBroken(
                    "yields what is no outcome",
                    expected=", ".join(kind.__name__ for kind in get_args(Outcome)),
                    found=f"{outcome!r:.100}",
                )

    def _pass_over(self, file: SourceFile, detail: str, *, is_meant: bool) -> None:
        file.hash()
        count = self.counts.count(file)
        count.kind = "skipped" if is_meant else "unrecognised"
        if is_meant:
            count.note = detail
        else:
            self._find(ReaderFinding("TH-05", detail), file, None)

    def _find(self, finding: ReaderFinding, file: SourceFile | None, record_id: str | None) -> None:
        self.validator.rule(finding.rule)
        row = Finding(
            corpus_id=self.corpus.id,
            finding_index=self.findings,
            rule=finding.rule,
            severity=finding.severity or self.rules[finding.rule].severity,
            source_file_id=file.id if file else None,
            pointer=finding.pointer,
            record_id=record_id,
            task=finding.task,
            turn_index=finding.turn_index,
            detail=finding.detail,
        )
        self.findings += 1
        self.batches.add([row], 0)

    def _without_labels(
        self, rows: list[Row], file: SourceFile, record_id: str | None = None, pointer: str | None = None
    ) -> list[Row]:
        """Remove the labels that the data declare from the rows: a label has one row, however often it is declared."""
        labels = [row for row in rows if type(row) is Label]
        check_rows(Label.TABLE, labels)
        for conflict in self.vocabulary.add(labels):
            self._find(ReaderFinding("TH-07", conflict, pointer=pointer), file, record_id)
        return [row for row in rows if type(row) is not Label] if labels else rows

    def _quarantine(self, rejected: Rejected) -> None:
        location = rejected.location
        count = self.counts.count(location.file)
        count.quarantined += 1
        self.refusal = self.refusal or f"the first refused record: {rejected.rule}: {rejected.detail}"
        if not location.pointer:
            count.kind = "refused"
            count.note = f"{rejected.rule}: {rejected.detail}"
        row = Quarantined(
            corpus_id=self.corpus.id,
            source_file_id=location.file.id,
            pointer=location.pointer,
            rule=rejected.rule,
            detail=rejected.detail,
            subset=location.subset,
            release=location.release,
            split=location.split,
            record_index=location.record_index,
            native_id=location.native_id,
            raw=BOM + rejected.raw if location.file.has_bom and not location.pointer else rejected.raw,
        )
        self.batches.add([row], len(row.raw))

    def _check_loaded(self, disk: list[DiskFile], files: list[SourceFile]) -> None:
        """Refuse a load of which nothing came in: most likely these are files of something else."""
        if self.counts.loaded:
            return
        names = [file.id for file in files] or [file.stat.path for file in disk]
        some = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        raise NothingLoaded(
            f"nothing of the corpus '{self.corpus.id}' could be loaded",
            expected=self.corpus.files,
            found=f"{len(files):,} files ({some})" + (f"; {self.refusal}" if self.refusal else ""),
            next_step="check that these are the publisher's files of this corpus; nothing of it was changed",
        )


def _place(outcome: Outcome | None) -> str | None:
    """Write where an outcome is about, as far as it says so."""
    match outcome:
        case Loaded(SourceLocation() as location) | Rejected(SourceLocation() as location):
            return place_of(location)
        case ReaderFinding(record_id=str(record_id)):
            return record_id
        case LoadedBatch() | Unrecognised() | FileEnvelope() | ReaderFinding():
            return outcome.file.id if isinstance(outcome.file, SourceFile) else None
    return None


@dataclass(slots=True)
class FileCount:
    """What became of one file."""

    kind: str = "read"
    loaded: int = 0
    quarantined: int = 0
    note: str | None = None
    extra: str | None = None
    records: int | None = None
    """How many records there are, where the reader counts them; else as many as came in."""

    @property
    def records_in(self) -> int:
        """How many records the file holds."""
        return self.loaded + self.quarantined if self.records is None else self.records


class FileCounts:
    """The counts of a corpus's files, by id."""

    def __init__(self, corpus_id: str) -> None:
        self._corpus_id = corpus_id
        self._counts: dict[str, FileCount] = {}

    def count(self, file: SourceFile) -> FileCount:
        """Return the count of a file, which begins with the first call."""
        return self._counts.setdefault(file.id, FileCount())

    def skip(self, skipped: Skipped) -> None:
        """Count a file that is not data."""
        skipped.file.hash()
        self._counts[skipped.file.id] = FileCount("skipped", note=skipped.reason)

    @property
    def loaded(self) -> int:
        """How many records were loaded in all."""
        return sum(count.loaded for count in self._counts.values())

    def rows(self, disk: list[DiskFile], files: list[SourceFile]) -> Iterator[FileRow]:
        """Make the row of every file, and of the archives around them.

        Raises ContractBroken for a file that the reader passed over in silence.
        """
        for file in files:
            if file.id not in self._counts:
                raise ContractBroken(
                    "passed over a file in silence",
                    where=file.id,
                    expected="an outcome for every file: what is not the corpus's is Unrecognised",
                    found="none",
                )
            yield self._row(file.disk, file, self._counts[file.id])
        opened = {file.disk.stat.path for file in files if file.member}
        for archive in (file for file in disk if file.is_archive and file.stat.path not in self._counts):
            note = None if archive.stat.path in opened else "an archive without files"
            yield self._row(archive, None, FileCount("archive", note=note))

    def _row(self, disk: DiskFile, file: SourceFile | None, count: FileCount) -> FileRow:
        """Make the row of a file, or of an archive itself."""
        is_member = file is not None and file.member is not None
        return FileRow(
            source_file_id=file.id if file else disk.stat.path,
            corpus_id=self._corpus_id,
            path=disk.stat.path,
            member=file.member if file else None,
            kind=count.kind,
            sha256=file.sha256 if file else disk.sha256(),
            size=file.size if file else disk.stat.size,
            modified_at=disk.stat.modified_at,
            mtime_ns=None if is_member else disk.stat.mtime_ns,
            inode=None if is_member else disk.stat.inode,
            records_in=count.records_in,
            records_loaded=count.loaded,
            records_quarantined=count.quarantined,
            note=count.note or (BOM_NOTE if file and file.has_bom else None),
            extra=count.extra,
        )
