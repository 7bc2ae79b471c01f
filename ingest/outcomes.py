"""What a reader yields: records that were loaded or rejected, files, and findings, each with its source location."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from talkhouse.ingest.common_rules import Severity
from talkhouse.ingest.decode import BadRecord, dump_extra
from talkhouse.ingest.rows import ColumnBatch, Record, Row
from talkhouse.ingest.sources import SourceFile


@dataclass(frozen=True)
class ReaderFinding:
    """A finding that a reader reports: the rule, and what was found where.

    ``severity`` is the rule's own unless this case is less severe.
    """

    rule: str
    detail: str
    file: SourceFile | None = None
    pointer: str | None = None
    record_id: str | None = None
    task: str | None = None
    turn_index: int | None = None
    severity: Severity | None = None


@dataclass(frozen=True)
class SourceLocation:
    """Where a source record is: its file, its JSON pointer or line there, and what the path says of it."""

    file: SourceFile
    pointer: str = ""
    subset: str | None = None
    release: str | None = None
    split: str | None = None
    record_index: int | None = None
    native_id: str | None = None
    size: int = 0
    """Bytes of the record, for progress and batches."""

    def record(
        self,
        record_id: str,
        dialogue_id: str | None = None,
        *,
        standard_split: str | None = None,
        main_speaker_id: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Record:
        """Make the row of the record here; what is empty in ``extra``, but for a text, is left out."""
        return Record(
            record_id=record_id,
            corpus_id=record_id.partition("/")[0],
            dialogue_id=dialogue_id,
            native_id=self.native_id,
            main_speaker_id=main_speaker_id,
            subset=self.subset,
            release=self.release,
            split=self.split,
            standard_split=standard_split,
            record_index=self.record_index or 0,
            source_file_id=self.file.id,
            source_pointer=self.pointer,
            extra=dump_extra(extra or {}),
        )

    def finding(self, finding: ReaderFinding, record_id: str) -> ReaderFinding:
        """Move a finding about the record here to its place in the file."""
        pointer = self.pointer + (finding.pointer or "")
        # Where a record is the whole file, a finding without a pointer stays without one.
        return replace(finding, file=self.file, pointer=pointer or finding.pointer, record_id=record_id)


@dataclass(frozen=True)
class Loaded:
    """One source record and all rows that it became, its ``Record`` row among them."""

    location: SourceLocation
    rows: list[Row]
    findings: list[ReaderFinding] = field(default_factory=list)
    """Their pointers are inside the record."""
    column_batches: list[ColumnBatch] = field(default_factory=list)
    """Rows of long lists, column by column; they are inserted like the others."""


@dataclass(frozen=True)
class LoadedBatch:
    """Many source records of one file, with all rows that they became: for files of hundreds of thousands.

    There is one ``Record`` row for each; a finding has been moved to its place (``SourceLocation.finding``).
    """

    file: SourceFile
    records: int
    size: int
    """Bytes of the records."""
    rows: list[Row]
    column_batches: list[ColumnBatch]
    findings: list[ReaderFinding]
    rows_size: int | None = None
    """Bytes that the rows take, about; None: as many as the records."""


@dataclass(frozen=True)
class Rejected:
    """One source record that can't be loaded, verbatim; it goes to the quarantine whole."""

    location: SourceLocation
    rule: str
    detail: str
    raw: bytes
    at: str = ""
    """JSON pointer of the defect inside the record."""


def reject(location: SourceLocation, problem: BadRecord, raw: bytes) -> Rejected:
    """Quarantine a record for what was found wrong when it was decoded."""
    where = f" - at {problem.pointer}" if problem.pointer else ""
    return Rejected(location, problem.rule, problem.detail + where, raw, problem.pointer)


@dataclass(frozen=True)
class Unrecognised:
    """A file that is not one of this corpus's."""

    file: SourceFile
    detail: str
    is_meant: bool = False
    """Whether its owner has said that it is no data: then there is no finding."""


@dataclass(frozen=True)
class FileEnvelope:
    """The facts about a file of many records other than these, such as its keys in order, kept for writing it back."""

    file: SourceFile
    extra: Mapping[str, object]
    records: int | None = None
    """How many records the file was split into; each must be loaded or rejected, which a check holds against this."""
    made_from: str | None = None
    """What the corpus's files were made from, where this file says that they are not its publisher's."""


Outcome: TypeAlias = Loaded | LoadedBatch | Rejected | Unrecognised | FileEnvelope | ReaderFinding
Reader: TypeAlias = Callable[[list[SourceFile]], Iterator[Outcome]]
