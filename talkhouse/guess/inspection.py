"""What ``talkhouse inspect`` says of one file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talkhouse.guess.field_meanings import Guess
from talkhouse.guess.guessed_folder import guess
from talkhouse.guess.record_values import FieldProfile, at, described, fields_of
from talkhouse.guess.sample import Sample, is_read, sample
from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.documents.transcript import Markers
from talkhouse.ingest.declared.speakers import NO_ROLE
from talkhouse.ingest.files.archives import is_archive
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.sources import JSON_LINES, SourceFile
from talkhouse.schema.errors import SourceError, UsageError

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
        raise SourceError("a file of no form that is read, by its ending", where=path, expected=_FORMS)
    taken = sample(SourceFile(disk, None, disk.stat.size))
    if taken is None:
        raise SourceError("a file of no form that is read", where=path, expected=_FORMS)
    guessed = guess([taken])
    first = _first_dialogue(taken, guessed) if guessed else []
    has_declaration = (path.parent / DECLARATION).exists()
    return Inspection(
        path.name, taken, fields_of(taken.records), guessed, first, None if has_declaration else str(path.parent)
    )


def _size(size: int) -> str:
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:,} byte{'s' * (size != 1)}"


def _field(field: FieldProfile) -> dict[str, Any]:
    return {**vars(field), "members": [_field(member) for member in field.members]}


_MOST_TURNS = 20


def _first_dialogue(sample: Sample, guess: Guess) -> list[tuple[str, str]]:
    for record in sample.records:
        turns = [turn for _, turn in zip(range(_MOST_TURNS), _turns(sample, record, guess), strict=False)]
        if turns:
            return [(str(guess.roles.get(who, who)), text) for who, text in turns]
    return []


def _turns(sample: Sample, record: dict[str, Any], guess: Guess) -> Iterator[tuple[str, str]]:
    match guess.format:
        case "chat" | "sharegpt" | "dialogue":
            if guess.dialogue.system:
                yield from _one("system", at(record, guess.dialogue.system))
            for turn in _items(record, guess.dialogue.turns):
                yield _who(turn, guess), _text(turn, guess.turn.text)
        case "tree":
            yield from _branch(at(record, guess.dialogue.turns or ()), guess)
        case "pairs":
            pair = guess.pair
            yield from _one("system", at(record, pair.system or ()) if pair.system else None)
            for item in _items(record, pair.each) if pair.each else [record]:
                asked = [_text(item, path) for path in (pair.prompt, pair.query) if path]
                yield "user", "\n".join(text for text in asked if text)
                yield "assistant", _text(item, pair.response)
        case "preference":
            yield from _preference(record, guess)
        case "transcript":
            yield from _marked(_text(record, guess.dialogue.text), guess.markers)
        case "turns" | "convokit":
            yield from _rows(sample, record, guess)


def _preference(record: dict[str, Any], guess: Guess) -> Iterator[tuple[str, str]]:
    fields = guess.preference
    if fields.prompt:
        yield from _message_turns("user", at(record, fields.prompt))
    if guess.markers:
        yield from _marked(_text(record, fields.chosen), guess.markers)
    else:
        yield from _message_turns("assistant", at(record, fields.chosen or ()))


def _rows(sample: Sample, record: dict[str, Any], guess: Guess) -> Iterator[tuple[str, str]]:
    if guess.format == "convokit":
        yield str(record.get("speaker", record.get("user"))), str(record["text"])
        return
    key = at(record, guess.dialogue.id or ())
    rows = [row for row in sample.records if at(row, guess.dialogue.id or ()) == key]
    if guess.turn.order:
        rows.sort(key=lambda row: int(at(row, guess.turn.order or ())))
    for row in rows:
        yield _who(row, guess), _text(row, guess.turn.text)


def _branch(node: Any, guess: Guess) -> Iterator[tuple[str, str]]:
    while isinstance(node, dict):
        yield _who(node, guess), _text(node, guess.turn.text)
        replies = at(node, guess.turn.replies or ())
        node = replies[0] if isinstance(replies, list) and replies else None


def _message_turns(role: str, value: Any) -> Iterator[tuple[str, str]]:
    for message in value if isinstance(value, list) else [value]:
        if isinstance(message, dict):
            yield str(message.get("role", role)), _plain(message.get("content"))
        else:
            yield from _one(role, message)


def _one(role: str, value: Any) -> Iterator[tuple[str, str]]:
    if value:
        yield role, _plain(value)


def _marked(text: str, markers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    cut = Markers(markers)
    if cut.begin(text):
        yield from ((said.role, said.text) for said in cut.cut(text, ""))


def _items(record: dict[str, Any], path: JsonPath | None) -> list[Any]:
    names = [name for name in path or () if name is not None]
    value = at(record, tuple(names))
    items = value if isinstance(value, list) else []
    return [inner for item in items for inner in (item if isinstance(item, list) else [item])]


def _who(turn: Any, guess: Guess) -> str:
    named = at(turn, guess.speaker.name) if guess.speaker.name else None
    role = at(turn, guess.turn.role) if guess.turn.role else None
    speaker = at(turn, guess.turn.speaker) if guess.turn.speaker else None
    return str(role or named or speaker or NO_ROLE)


def _text(turn: Any, path: JsonPath | None) -> str:
    return _plain(at(turn, path)) if path is not None else ""


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return "".join(_plain(item.get("text", "")) if isinstance(item, dict) else _plain(item) for item in value)
    return value if isinstance(value, str) else "" if value is None else str(value)
