"""Files that say what speakers are called (``[speakers]``): looked up before the dialogues, loaded behind them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, Files, JsonPath, SpeakersFile, beside
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.record_files import open_records
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.declared.shapes import SplitObject, is_null, members_of, text_of
from talkhouse.ingest.declared.speakers import NO_ROLE, Person, Speakers
from talkhouse.ingest.declared.whole_records import WholeRecords
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.keys import Memory
from talkhouse.ingest.outcomes import Outcome, ReaderFinding
from talkhouse.ingest.rows import Record, Row
from talkhouse.ingest.sources import SourceFile

_TRUE = ("true", "1", "yes")


@dataclass
class SpeakerFiles:
    """The files of one corpus that name its speakers."""

    declaration: Declaration
    fields: SpeakersFile
    files: Sequence[tuple[SourceFile, Files]]
    speakers: Speakers

    def __post_init__(self) -> None:
        """Prepare to find ids that are there twice."""
        self._seen: set[str] = set()
        self._repeated = 0
        self._again: ReaderFinding | None = None

    def look_up(self) -> None:
        """Read who is called what, of those with one id the first; what is wrong is reported when they are loaded."""
        for file, _ in self.files:
            try:
                for raw in open_records(file, beside(self.declaration), self.fields.record):
                    if isinstance(raw, RawRecord) and raw.raw[:1] == b"{":
                        self._add(raw)
            except BadRecord:
                continue

    def _add(self, raw: RawRecord) -> None:
        try:
            name, person = self._read(raw, [])
        except BadRecord:
            return
        self.speakers.people.setdefault(name, person)

    def load(self) -> Iterator[Outcome]:
        """Load the files; who says nothing in any dialogue is a speaker too."""
        records = WholeRecords(beside(self.declaration), Identity(self.declaration.corpus_id, Memory()))
        for file, entry in self.files:
            yield from records.read(file, entry, self.fields.record, partial(self._rows, file))
        if self._again is not None:
            yield replace(self._again, detail=f"{self._again.detail}; in all {self._repeated:,} times")

    def _rows(self, file: SourceFile, raw: RawRecord, record: Record, findings: list[ReaderFinding]) -> Iterable[Row]:
        native_id, person = self._read(raw, findings)
        record.native_id = native_id
        if native_id in self._seen:
            detail = f"{native_id!r:.100} is named again"
            self._repeated += 1
            self._again = self._again or ReaderFinding("GF-23", detail, file, raw.pointer, record.record_id)
        self._seen.add(native_id)
        if self.declaration.speaker.scope == "dialogue":
            return []
        speaker, is_new = self.speakers.of_corpus(native_id, NO_ROLE, is_bot=person.is_bot, shown=person.name)
        record.main_speaker_id = speaker.speaker_id
        return [speaker] if is_new else []

    def _read(self, raw: RawRecord, findings: list[ReaderFinding]) -> tuple[str, Person]:
        """Return whom a record names, and what it says of them; BadRecord GF-01 for one that names nobody."""
        split = SplitObject(members_of(raw.raw), {})
        if self.fields.id is None:
            native_id = raw.key or ""
        else:
            found = split.find(self.fields.id)
            if found is None:
                raise BadRecord("GF-01", f"the id, {'.'.join(map(str, self.fields.id))}, is missing")
            native_id, _ = text_of(found, pointer(*self.fields.id), "the id")
        name = self._first(split, self.fields.names, "the name", findings)
        is_bot = self._first(split, self.fields.is_bot, "is_bot", findings)
        return native_id, Person(name, None if is_bot is None else is_bot.lower() in _TRUE)

    def _first(
        self, split: SplitObject, paths: Sequence[JsonPath], what: str, findings: list[ReaderFinding]
    ) -> str | None:
        """Return the first text that is there and not empty; one of another type is none."""
        for path in paths:
            raw: Raw | None = split.find(path)
            if raw is None or is_null(raw):
                continue
            try:
                text, _ = text_of(raw, pointer(*path), what)
            except BadRecord as bad:
                findings.append(ReaderFinding(bad.rule, bad.detail, pointer=bad.pointer, severity="warn"))
                continue
            if text:
                return text
        return None
