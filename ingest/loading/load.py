"""Loads what a reader yields: validation, batches of rows, findings, and the count of every file."""

import gc
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import NamedTuple, get_args

import duckdb
import polars as pl

from talkhouse.ingest.contract.faults import ContractBroken, failed, is_machines, place_in_hand, place_of
from talkhouse.ingest.contract.validation import Validator, check_fields, check_rows
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.decode import dump
from talkhouse.ingest.files.disk_files import DiskFile
from talkhouse.ingest.keys import Ledger, Memory, Tallies, Tally
from talkhouse.ingest.loading.batches import Batch, Batches, Sink
from talkhouse.ingest.loading.vocabulary import Vocabulary
from talkhouse.ingest.loading.workers import Advance
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
from talkhouse.ingest.sources import BOM, BOM_NOTE, OUTSIDE, Skipped, SourceFile
from talkhouse.schema.errors import CorpusFailed, TalkhouseError
from talkhouse.schema.tables import metadata

_SWITCH = 0.0005
"""Seconds after which a thread that waits for Python's lock gets it."""


@contextmanager
def at_full_speed() -> Iterator[None]:
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
    tally: Tally | None = None
    """What is counted of it for findings about the whole corpus, where that is."""

    @property
    def records_in(self) -> int:
        """How many records the file holds."""
        return self.loaded + self.quarantined if self.records is None else self.records


class FileCounts:
    """The counts of a corpus's files, by id."""

    def __init__(self, corpus_id: str) -> None:
        self._corpus_id = corpus_id
        self.by_id: dict[str, FileCount] = {}

    def count(self, file: SourceFile) -> FileCount:
        """Return the count of a file, which begins with the first call."""
        return self.by_id.setdefault(file.id, FileCount())

    def skip(self, skipped: Skipped) -> None:
        """Count a file that is not data."""
        skipped.file.hash()
        self.by_id[skipped.file.id] = FileCount("skipped", note=skipped.reason)

    def tally(self, tallies: Tallies) -> None:
        """Keep what a reader has counted of the files that it read."""
        for file_id, tally in tallies.items():
            self.by_id[file_id].tally = tally

    @property
    def loaded(self) -> int:
        """How many records were loaded in all."""
        return sum(count.loaded for count in self.by_id.values())

    def rows(self, disk: list[DiskFile], files: list[SourceFile]) -> Iterator[FileRow]:
        """Make the row of every file, and of the archives around them.

        Raises ContractBroken for a file that the reader passed over in silence.
        """
        for file in files:
            if file.id not in self.by_id:
                raise ContractBroken(
                    "passed over a file in silence",
                    where=file.id,
                    expected="an outcome for every file: what is not the corpus's is Unrecognised",
                    found="none",
                )
            yield self._row(file.disk, file, self.by_id[file.id])
        opened = {file.disk.stat.path for file in files if file.member}
        for archive in (file for file in disk if file.stat.path not in self.by_id and file.is_archive):
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
            counts=None if count.tally is None else dump(asdict(count.tally)),
        )


class FileRead(NamedTuple):
    """What became of a file, and what is known of its bytes."""

    counted: FileCount
    sha256: str
    has_bom: bool


class PartLoaded(NamedTuple):
    """What another process has loaded: some files of a corpus, read by a load of their own."""

    files: Mapping[str, FileRead]
    """By their ids."""
    batches: Iterable[Batch]
    batch_size: int
    """Bytes of the files for each batch."""
    findings: int
    refusal: str
    made_from: str | None
    labels: Iterable[Label]
    """Of the corpus's schemes, as far as they were read."""


@dataclass
class Load:
    """What a reader yields of one corpus, on its way to where rows go."""

    corpus: Corpus
    sinks: Sequence[Sink]
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
        self.batches = Batches(self.sinks)
        self.counts = FileCounts(self.corpus.id)
        self.validator = Validator(self.corpus, self.rules)
        self.vocabulary = Vocabulary(self.corpus)

    def skip(self, skipped: list[Skipped]) -> None:
        """Count files that are not data."""
        for item in skipped:
            self.counts.skip(item)
            if item.reason == OUTSIDE:
                self._find(ReaderFinding("TH-05", item.reason), item.file.id, None)

    def take(self, outcomes: Iterable[Outcome]) -> None:
        """Load what a reader yields."""
        for outcome in outcomes:
            self.current = outcome
            self._take(outcome)
            self.last, self.current = outcome, None

    def read(self, files: list[SourceFile], others: Collection[str] = ()) -> None:
        """Load what the corpus's reader yields of files; ``others``: the paths of those that are loaded already."""
        reader = self.corpus.parts
        if reader is None:
            self.take(self.corpus.read(files))
            return
        passed_over, wanted = reader.sort_out(files, others)
        self.take(passed_over)
        memory = Memory(Ledger() if others else None)
        self.take(reader.read(wanted, memory))
        self.counts.tally(memory.tallies)
        if not others:
            self.end(reader.end(memory.tallies))

    def end(self, found: Iterable[tuple[str, ReaderFinding]]) -> None:
        """Load what was found of all files together: each with the id of a file."""
        for file_id, finding in found:
            self._find(finding, file_id, None)

    def take_part(self, part: PartLoaded, files: Mapping[str, SourceFile], repeated: Mapping[str, list[str]]) -> None:
        """Load what another process has read, behind what was taken before.

        ``files``: all of the corpus, by id. ``repeated``: table -> keys of rows that are there already.
        """
        for batch in part.batches:
            self.batches.add_frame(self._behind(batch, repeated), part.batch_size)
        self.findings += part.findings
        self.refusal = self.refusal or part.refusal
        self.made_from = part.made_from or self.made_from
        # Only files that are all one part declare labels, and none of theirs is in conflict with another part's.
        list(self.vocabulary.add(part.labels))
        for file_id, read in part.files.items():
            self.counts.by_id[file_id] = read.counted
            files[file_id].sha256, files[file_id].has_bom = read.sha256, read.has_bom

    def _behind(self, batch: Batch, repeated: Mapping[str, list[str]]) -> Batch:
        """Leave out the rows that are there already, and number findings behind those that are."""
        table, rows = batch.table, without(batch, repeated.get(batch.table, ()))
        if table == Finding.TABLE:
            rows = rows.with_columns(pl.col("finding_index") + self.findings)
        return Batch(table, rows)

    @contextmanager
    def faults_of_the_reader(self) -> Iterator[None]:
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
                    self._find(location.finding(finding, record_id), location.file.id, record_id)
                self.advance(1, location.size)
            case LoadedBatch(file, records, size, rows, column_batches, findings, rows_size):
                self.validator.many(outcome)
                self.counts.count(file).loaded += records
                rest = self._without_labels(rows, file)
                self.batches.add(rest, size if rows_size is None else rows_size, column_batches)
                for finding in findings:
                    self._find(finding, file.id, finding.record_id)
                self.advance(records, size)
            case Rejected(location, rule, detail, at=at):
                self.validator.location(location)
                self._quarantine(outcome)
                self._find(ReaderFinding(rule, detail, pointer=location.pointer + at), location.file.id, None)
                self.advance(1, location.size)
            case Unrecognised(file, detail, is_meant):
                self._pass_over(file, detail, is_meant=is_meant)
                self.advance(0, file.size)
            case FileEnvelope(file, extra, records, made_from):
                self.made_from = made_from or self.made_from
                count = self.counts.count(file)
                count.extra, count.records = dump(extra), records
            case ReaderFinding():
                self._find(outcome, outcome.file.id if outcome.file else None, outcome.record_id)
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
            self._find(ReaderFinding("TH-05", detail), file.id, None)

    def _find(self, finding: ReaderFinding, file_id: str | None, record_id: str | None) -> None:
        self.validator.rule(finding.rule)
        row = Finding(
            corpus_id=self.corpus.id,
            finding_index=self.findings,
            rule=finding.rule,
            severity=finding.severity or self.rules[finding.rule].severity,
            source_file_id=file_id,
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
            self._find(ReaderFinding("TH-07", conflict, pointer=pointer), file.id, record_id)
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


def without(batch: Batch, keys: Sequence[str]) -> pl.DataFrame:
    """Return rows but for those with these keys."""
    if not keys:
        return batch.frame
    (key,) = metadata.tables[batch.table].info["grain"]
    return batch.frame.filter(~pl.col(key).is_in(keys))


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
