"""What ``talkhouse inspect`` says of one file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talkhouse.guess.first import first_dialogue
from talkhouse.guess.formats import guess
from talkhouse.guess.guess import Guess
from talkhouse.guess.profile import Field, described, fields_of
from talkhouse.guess.sample import Sample, is_read, sample
from talkhouse.ingest.files.archives import is_archive
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.sources import SourceFile
from talkhouse.schema.errors import SourceError, UsageError

FORMS = "JSON (.json), JSON Lines (.jsonl, .ndjson), CSV, TSV or Parquet, each also as .gz"


@dataclass(frozen=True)
class Inspection:
    """What the beginning of a file holds."""

    name: str
    sample: Sample
    fields: list[Field]
    guess: Guess | None
    first: list[tuple[str, str]]
    """Who says what in the first dialogue."""
    next_folder: str | None
    """What to give ``talkhouse new``; None where the folder has a ``corpus.toml``, or nothing was guessed."""

    @property
    def about(self) -> str:
        """Form and size of the file, and how much of it was read."""
        count, size = len(self.sample.records), _size(self.sample.size)
        records = f"{count:,} record{'s' * (count != 1)}"
        if self.sample.record == "file":
            read = "one record, which was read" + ("" if self.sample.is_whole else " as far as 8 MB go")
        elif self.sample.is_whole:
            read = f"all of it was read, {records}"
        elif count:
            read = f"the first {records} {'was' if count == 1 else 'were'} read"
        else:
            read = "no record could be read of its beginning"
        return f"{self.sample.form}, {size}; {read}"

    @property
    def problem(self) -> str | None:
        """What could not be read, in words."""
        others = f"{self.sample.others:,} more are no objects, or can't be read" if self.sample.others else ""
        return "; ".join(part for part in (self.sample.remark, others) if part) or None

    @property
    def looks_like(self) -> str:
        """The format and why, in words."""
        return f"{self.guess.format} ({self.guess.reason})" if self.guess else "no format that is known"

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """A line of cells for each field."""
        return [(field.name, *described(field)) for field in self.fields]

    def as_data(self) -> dict[str, Any]:
        """Return the object that ``--json`` prints."""
        return {
            "file": self.name,
            "form": self.sample.form,
            "bytes": self.sample.size,
            "records": len(self.sample.records),
            "is_whole": self.sample.is_whole,
            "problem": self.problem,
            "fields": [_field(field) for field in self.fields],
            "looks_like": {"format": self.guess.format, "reason": self.guess.reason} if self.guess else None,
            "first_dialogue": [{"who": who, "text": text} for who, text in self.first],
            "next": f"talkhouse new {self.next_folder}" if self.next_folder else None,
        }


def inspected(path: Path) -> Inspection:
    """Look at the beginning of a file.

    Raises UsageError for a folder, an archive, and a file of no form that is read; SourceError for one that can't be.
    """
    if path.is_dir() or is_archive(path.name):
        what = "folder" if path.is_dir() else "archive"
        raise UsageError(
            f"this is {'an' if what == 'archive' else 'a'} {what}; inspect looks at one file",
            where=path,
            next_step=f"see what its files look like with: talkhouse new {path if path.is_dir() else path.parent}",
        )
    (disk,) = disk_files(path, path.name)
    if not is_read(path.name):
        raise SourceError("a file of no form that is read, by its ending", where=path, expected=FORMS)
    taken = sample(SourceFile(disk, None, disk.stat.size))
    if taken is None:
        raise SourceError("a file of no form that is read", where=path, expected=FORMS)
    guessed = guess([taken])
    first = first_dialogue(taken, guessed) if guessed else []
    has_declaration = (path.parent / DECLARATION).exists()
    return Inspection(
        path.name, taken, fields_of(taken.records), guessed, first, None if has_declaration else str(path.parent)
    )


def _size(size: int) -> str:
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:,} byte{'s' * (size != 1)}"


def _field(field: Field) -> dict[str, Any]:
    return {**vars(field), "members": [_field(member) for member in field.members]}
