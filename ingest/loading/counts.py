"""What became of each file of a corpus: the rows of ``meta.source_files``."""

from collections.abc import Iterator
from dataclasses import dataclass

from talkhouse.ingest.contract.faults import ContractBroken
from talkhouse.ingest.files.disk_files import DiskFile
from talkhouse.ingest.rows import FileRow
from talkhouse.ingest.sources import BOM_NOTE, Skipped, SourceFile


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
        self.by_id: dict[str, FileCount] = {}

    def count(self, file: SourceFile) -> FileCount:
        """Return the count of a file, which begins with the first call."""
        return self.by_id.setdefault(file.id, FileCount())

    def skip(self, skipped: Skipped) -> None:
        """Count a file that is not data."""
        skipped.file.hash()
        self.by_id[skipped.file.id] = FileCount("skipped", note=skipped.reason)

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
        )
