"""What ``talkhouse inspect`` says of a file, folder or archive."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from talkhouse.guess.evidence import Guess
from talkhouse.guess.guessed_folder import Look, looked_into
from talkhouse.guess.new_declaration import declaration_text
from talkhouse.guess.record_values import FieldProfile, described, fields_of
from talkhouse.guess.sample import Sample
from talkhouse.guess.trial import read_samples
from talkhouse.ingest.declared.declaration.model import standard_split
from talkhouse.ingest.declared.record_files import TEXTS
from talkhouse.ingest.files.archives import is_archive_at
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.sources import JSON_LINES
from talkhouse.schema.errors import SourceError

_MOST_NAMED = 8
_FORMS = f"JSON (.json), JSON Lines ({', '.join(JSON_LINES)}), CSV, TSV, Parquet or text ({', '.join(TEXTS)}), or .gz"
_SUBTITLES = (
    "subtitles are read by a package: examples/talkhouse-subtitles in Talkhouse's repository is one, to be installed "
    "with pip; for one of your own: talkhouse new corpus ID --like file-per-dialogue"
)


class ListedFile(NamedTuple):
    """A file of a folder or archive."""

    path: str
    size: str
    what: str
    """Its split, or why the file is left."""


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
    files: list[ListedFile]
    """Of a folder or archive."""

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
            "files": [file._asdict() for file in self.files],
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
    is_file = not path.is_dir() and not is_archive_at(path)
    with looked_into(path) as seen:
        if not seen.samples:
            what = f"{'a' if is_file else 'no'} file of {'no' if is_file else 'a'} form that is read, by its ending"
            advice = (
                {"next_step": _SUBTITLES} if any(name.lower().endswith((".vtt", ".srt")) for name in seen.left) else {}
            )
            raise SourceError(what, where=path, expected=_FORMS, found=", ".join([*seen.left][:_MOST_NAMED]), **advice)
        trial = None
        if seen.guess is not None:
            samples = {taken.path: (seen.sources[taken.path], taken) for taken in seen.read_by_it}
            trial = read_samples("sample", declaration_text("sample", seen), samples)
        taken = next((sample for sample in seen.samples if sample.records), seen.samples[0])
        files = [] if is_file else _files(seen)
    return Inspection(
        path.name or str(path),
        taken,
        fields_of(taken.records),
        seen.guess,
        list(trial.first) if trial else [],
        None if any(file.path.rpartition("/")[2] == DECLARATION for file in files) else _next_folder(path),
        files,
    )


def _files(seen: Look) -> list[ListedFile]:
    """Return the files, those with dialogues first."""
    splits = dict(seen.files)
    labels = {taken.path for taken in seen.labels}
    what = {path: splits[path] or "dialogues" for path in splits} | dict.fromkeys(labels, "labels, perhaps") | seen.left
    what |= {seen.people.sample.path: "names of speakers"} if seen.people else {}
    paths = [*splits, *(path for path in sorted(seen.sources) if path not in splits)]
    sizes = {path: _size(seen.sources[path].size) for path in paths if path in seen.sources}
    return [ListedFile(path, size, what.get(path, "")) for path, size in sizes.items()]


def _next_folder(path: Path) -> str | None:
    """Return the folder of a corpus: the one above, where this one has the files of a split."""
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
