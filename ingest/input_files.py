"""How readers go through files: one dialogue per file, or several kinds, where the first of a kind counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import NamedTuple, TypeAlias

from talkhouse.ingest.decode import BadRecord, dump, last_name, literals
from talkhouse.ingest.decode import text as decode_text
from talkhouse.ingest.json_members import last_values
from talkhouse.ingest.keys import Keys, digest
from talkhouse.ingest.outcomes import Loaded, Outcome, ReaderFinding, SourceLocation, Unrecognised, reject
from talkhouse.ingest.rows import Participant, Record, Row, Speaker, Turn
from talkhouse.ingest.sources import SourceFile


@dataclass(frozen=True)
class InputFile:
    """One file among those of its kind."""

    location: SourceLocation
    """Of the file as a whole, with what its path says of all its records: subset, publisher's release, split."""
    kind: str
    prefix: str
    """What the keys of its records begin with: corpus and kind, and ``~`` with a hash for all files but the first."""
    repeats: str | None = None
    """The id of the file of this kind that came before and counts; to be kept in each record's ``extra``."""

    @property
    def file(self) -> SourceFile:
        """The file itself."""
        return self.location.file

    def record_location(self, index: int, pointer: str, size: int, *, split: str | None = None) -> SourceLocation:
        """Locate a record of the file; ``split`` where the file has several."""
        split = split or self.location.split
        return replace(self.location, pointer=pointer, split=split, record_index=index, size=size)

    def findings(self, rule: str, *, makes: str = "the examples") -> list[ReaderFinding]:
        """Report under this rule that a file of this kind came before, if one did; it ``makes`` what a user sees."""
        if self.repeats is None:
            return []
        detail = f"a file of this kind came before, from {self.repeats}: that one makes {makes}"
        return [ReaderFinding(rule, detail, self.file, "")]


class InputFiles:
    """The files of a build by kind, in path order."""

    def __init__(self, corpus_id: str) -> None:
        self._corpus_id = corpus_id
        self._prefixes = Keys()
        self._first: dict[str, str] = {}

    def take(self, location: SourceLocation, kind: str) -> InputFile:
        """Place a file among those of its kind that came before; ``kind`` becomes part of its records' keys."""
        prefix, _ = self._prefixes.assign(f"{self._corpus_id}/{kind}", digest(location.file.id))
        first = self._first.setdefault(kind, location.file.id)
        return InputFile(location, kind, prefix, None if first == location.file.id else first)

    def drop(self, rejected: InputFile) -> None:
        """Forget a file that was rejected whole: the next of its kind counts."""
        if rejected.repeats is None:
            del self._first[rejected.kind]


Locate: TypeAlias = Callable[[SourceFile], SourceLocation | Unrecognised]
"""Says what a file's path does: subset, publisher's release, split, native id; or that the file is not the corpus's."""

Load: TypeAlias = Callable[[SourceLocation, bytes], Outcome]
"""Turns a file into its record; raises BadRecord."""


def load_or_reject(load: Load, location: SourceLocation, raw: bytes) -> Outcome:
    """Load a record or reject it; where a key stands twice in an object the last value counts, as in Python's json.

    Such a record has its text in ``extra``; ``stored_record.as_published`` gives it back.
    """
    try:
        try:
            return load(location, raw)
        except BadRecord as bad:
            if bad.rule != "TH-03":
                raise
            plain, twice = last_values(raw)
            outcome = load(location, plain)
    except BadRecord as bad:
        return reject(location, bad, raw)
    if isinstance(outcome, Loaded):
        record = next(row for row in outcome.rows if isinstance(row, Record))
        outcome.findings.extend(keep_text(record, raw, twice))
    return outcome


def keep_text(record: Record, raw: bytes, twice: Iterable[str]) -> Iterator[ReaderFinding]:
    """Keep the text of a record in which keys stand twice; report each by its pointer."""
    record.extra = dump({**literals(record.extra), "verbatim": decode_text(raw)})
    for pointer in twice:
        detail = f"the key {last_name(pointer)!r} stands twice in one object: the last value counts"
        yield ReaderFinding("TH-03", detail, pointer=pointer, severity="warn")


def read_each(files: Iterable[SourceFile], locate: Locate, load: Load) -> Iterator[Outcome]:
    """Read files that are one record each, in their order; a record's index counts those of its folder."""
    counts: Counter[PurePosixPath] = Counter()
    for file in files:
        location = locate(file)
        if isinstance(location, Unrecognised):
            yield location
            continue
        folder = file.path.parent
        location = replace(location, record_index=counts[folder], size=file.size)
        outcome = load_or_reject(load, location, file.read_record())
        counts[folder] += not isinstance(outcome, Unrecognised)
        yield outcome


class DialogueRecord(NamedTuple):
    """The record that a file became, and its dialogue."""

    record: Record
    dialogue_id: str
    is_new: bool
    """Whether no earlier file had this dialogue; only then its rows are to be made."""


class DialogueKeys:
    """The keys of a build's dialogues and records, with hashes of what is behind them; never texts."""

    def __init__(self, corpus_id: str) -> None:
        self._corpus_id = corpus_id
        self._dialogues = Keys()
        self._records = Keys()

    def record(
        self,
        location: SourceLocation,
        native: str,
        utterances: Iterable[Iterable[str]],
        *,
        path: str | None = None,
        standard_split: str | None = None,
    ) -> DialogueRecord:
        """Make the row of a file's record, under the native key of its dialogue or under ``path``.

        The dialogue is the same as an earlier one of this key if all utterances, (speaker, text) each, are.
        """
        words = digest(*chain.from_iterable(utterances))
        dialogue_id, is_new = self._dialogues.assign(f"{self._corpus_id}:{native}", words)
        record_id = self.record_id(native if path is None else path, location.file)
        return DialogueRecord(
            location.record(record_id, dialogue_id, standard_split=standard_split), dialogue_id, is_new
        )

    def record_id(self, path: str, file: SourceFile) -> str:
        """Return the key of the record that a file is: a path, with a hash where another file has it already."""
        return self._records.assign(f"{self._corpus_id}/{path}", digest(file.id))[0]


def people_and_turns(dialogue_id: str, utterances: Iterable[tuple[str, str]], role: str) -> Iterator[Row]:
    """List the rows of plain utterances, (name, text) each: people who are known only there, and their turns."""
    spoken = list(utterances)
    people = {name: Speaker.within(dialogue_id, name) for name, _ in spoken}
    yield from people.values()
    for person in people.values():
        yield Participant(dialogue_id, person.speaker_id, role)
    for index, (name, text) in enumerate(spoken):
        yield Turn(dialogue_id, index, people[name].speaker_id, role, "message", text)
