"""What ``talkhouse inspect`` says of a file, folder or archive."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talkhouse.guess.field_meanings import Guess
from talkhouse.guess.guessed_folder import Look, looked_into
from talkhouse.guess.new_declaration import declaration_text
from talkhouse.guess.record_values import FieldProfile, described, fields_of
from talkhouse.guess.sample import Sample
from talkhouse.guess.trial import read_samples
from talkhouse.ingest.declared.declaration.model import standard_split
from talkhouse.ingest.files.archives import is_archive_at
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.sources import JSON_LINES
from talkhouse.schema.errors import SourceError

_MOST_NAMED = 8
_FORMS = f"JSON (.json), JSON Lines ({', '.join(JSON_LINES)}), CSV, TSV or Parquet, each also as .gz"


@dataclass(frozen=True)
class Inspection:
    """What the beginning of a file holds."""

    name: str
    sample: Sample
    fields: list[FieldProfile]
    guess: Guess | None
    first: list[tuple[str, str]]
    """Who says what in the first dialogue."""
    next_folder: str | None
    """What to give ``talkhouse new``; None where the folder has a ``corpus.toml``."""
    files: list[tuple[str, str, str]]
    """Of a folder or archive: path, size, and split, or why the file is left."""

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
        about = f"{self.sample.form}, {size}; {read}"
        return f"{len(self.files):,} files; of {self.sample.path}, {about}" if self.files else about

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
            "files": [{"path": path, "size": size, "what": what} for path, size, what in self.files],
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
    """Look at the beginning of a file, or of some of the files of a folder or archive.

    Raises SourceError for what can't be read, and for a file of no form that is read.
    """
    is_one = not path.is_dir() and not is_archive_at(path)
    with looked_into(path) as seen:
        if not seen.samples:
            what = f"{'a' if is_one else 'no'} file of {'no' if is_one else 'a'} form that is read, by its ending"
            raise SourceError(what, where=path, expected=_FORMS, found=", ".join([*seen.left][:_MOST_NAMED]))
        trial = None
        if seen.guess is not None:
            samples = {taken.path: (seen.sources[taken.path], taken) for taken in seen.read_by_it}
            trial = read_samples("sample", declaration_text("sample", seen), samples)
        taken = next((one for one in seen.samples if one.records), seen.samples[0])
        files = [] if is_one else _files(seen)
    return Inspection(
        path.name or str(path),
        taken,
        fields_of(taken.records),
        seen.guess,
        list(trial.first) if trial else [],
        None if any(name.rpartition("/")[2] == DECLARATION for name, _, _ in files) else _next_folder(path),
        files,
    )


def _files(seen: Look) -> list[tuple[str, str, str]]:
    """Return of each file its path, size, and what it has: those with dialogues first."""
    splits = dict(seen.files)
    labels = {taken.path for taken in seen.labels}
    what = {path: splits[path] or "dialogues" for path in splits} | dict.fromkeys(labels, "labels, perhaps") | seen.left
    what |= {seen.people_sample.path: "names of speakers"} if seen.people_sample else {}
    paths = [*splits, *(path for path in sorted(seen.sources) if path not in splits)]
    return [(path, _size(seen.sources[path].size), what.get(path, "")) for path in paths if path in seen.sources]


def _next_folder(path: Path) -> str | None:
    """Return the folder of which a corpus is made: the one above, where this one has the files of a split."""
    folder = path if path.is_dir() else path.parent
    while True:
        if (folder / DECLARATION).exists():
            return None
        if standard_split(folder.resolve().name, {}) is None or folder.resolve() == folder.resolve().parent:
            return str(folder)
        folder = folder.parent if folder.name not in ("", "..") else folder / ".."


def _size(size: int) -> str:
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:,} byte{'s' * (size != 1)}"


def _field(field: FieldProfile) -> dict[str, Any]:
    return {**vars(field), "members": [_field(member) for member in field.members]}
