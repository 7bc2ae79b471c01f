"""Speakers and roles: what words and names mean, and the files that say what speakers are called (``[speakers]``)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.keys import FORMS
from talkhouse.ingest.declared.declaration.model import Declaration, Files, JsonPath, SpeakersFile, beside
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.record_files import open_records
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.declared.shapes import SplitObject, is_null, members_of, text_of
from talkhouse.ingest.declared.whole_records import WholeRecords
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.keys import Memory
from talkhouse.ingest.outcomes import Outcome, ReaderFinding
from talkhouse.ingest.rows import ColumnBatch, Participant, Record, Row, Speaker
from talkhouse.ingest.sources import SourceFile

NO_ROLE = "speaker"
"""The role where a file has none."""

_SYSTEM = frozenset({"system", "developer", "tool", "function"})


class Roles:
    """The roles of one corpus, by ``[roles]``."""

    def __init__(self, declaration: Declaration) -> None:
        self._meanings = declaration.roles
        self._words: dict[str, str] = {}
        for word, role in declaration.roles.items():
            self._words.setdefault(role, word)
        self._known = FORMS[declaration.format].known_roles

    def role_of(self, word: str) -> str:
        """Return the role that a file's word means; the word itself where nothing says so."""
        return self._meanings.get(word, word)

    def word_of(self, role: str) -> str:
        """Return the file's word for a role: the first that ``[roles]`` has for it, or the role."""
        return self._words.get(role, role)

    def gives_back(self, word: str) -> bool:
        """Whether the role of a word is enough to write the word again."""
        return self.word_of(self.role_of(word)) == word

    def is_known(self, word: str) -> bool:
        """Whether the format knows a word, or ``[roles]`` does; formats that know no list know any."""
        return not self._known or word in self._known or word in self._meanings


def speaker_kind(role: str, *, is_bot: bool | None = None) -> str:
    """Return the kind of a speaker of this role: bot, system or human."""
    if is_bot or role == "assistant":
        return "bot"
    return "system" if role in _SYSTEM else "human"


@dataclass
class SpeakerRows:
    """Who takes part in some dialogues, and the speakers who are new."""

    batches: list[ColumnBatch]
    rows: list[Row]
    names: Mapping[str, str | None]
    """Speaker -> the name in the tables."""


class Person(NamedTuple):
    """What a file says of a speaker."""

    name: str | None
    is_bot: bool | None


class Speakers:
    """The speakers of one corpus; of those who are known in all of it, the keys and names are kept."""

    def __init__(self, declaration: Declaration, memory: Memory) -> None:
        self._corpus_id = declaration.corpus_id
        self._is_within = declaration.speaker.scope == "dialogue"
        self._names = memory.rows(Speaker.TABLE)
        self.people: dict[str, Person] = {}
        """The people named in a file of speakers, by their ids."""

    def id(self, speaker: str) -> pl.Expr:
        """Return the key of the speaker that the column ``speaker`` names in the dialogue ``dialogue_id``."""
        begin = pl.col("dialogue_id") + "/" if self._is_within else pl.lit(f"{self._corpus_id}:")
        return begin + pl.col(speaker)

    def of_turns(self, turns: pl.DataFrame) -> SpeakerRows:
        """Return the participants of turns, which have the columns of ``SPOKEN``, and those of them who are new."""
        named = turns.drop_nulls("speaker").unique(["owner", "speaker"], keep="first", maintain_order=True)
        named = self._with_people(named) if self.people else named
        people = named.filter("is_new")
        participants = ColumnBatch(Participant, {}, people.select("dialogue_id", "speaker_id", "role").to_dict())
        if self._is_within:
            return self._within(people, participants)
        rows, names = list[Row](), dict[str, str | None]()
        distinct = named.unique("speaker", keep="first", maintain_order=True)
        for name, speaker_id, role, is_bot, shown in distinct.select(
            "speaker", "speaker_id", "role", "is_bot", "shown"
        ).iter_rows():
            if speaker_id not in self._names:
                rows.append(self.of_corpus(name, role, is_bot=is_bot, shown=shown)[0])
            names[speaker_id] = self._names[speaker_id]
        return SpeakerRows([participants], rows, names)

    def _with_people(self, named: pl.DataFrame) -> pl.DataFrame:
        people = [self.people.get(speaker) for speaker in named["speaker"]]
        names = pl.Series([person and person.name for person in people], dtype=pl.String)
        bots = pl.Series([person and person.is_bot for person in people], dtype=pl.Boolean)
        return named.with_columns(
            shown=names.zip_with(names.is_not_null(), named["shown"]),
            is_bot=bots.zip_with(bots.is_not_null(), named["is_bot"]),
        )

    def _within(self, people: pl.DataFrame, participants: ColumnBatch) -> SpeakerRows:
        kinds = {role: speaker_kind(role) for role in people["role"].unique()}
        by_role = pl.col("role").replace_strict(kinds, return_dtype=pl.String)
        speakers = people.select(
            "speaker_id",
            native_id=pl.when(pl.col("shown").is_not_null()).then("speaker"),
            name=pl.coalesce("shown", "speaker"),
            kind=pl.when("is_bot").then(pl.lit("bot")).otherwise(by_role),
        )
        shared = {"corpus_id": self._corpus_id, "is_anonymous": True}
        names = dict(speakers.select("speaker_id", "name").iter_rows())
        return SpeakerRows([participants, ColumnBatch(Speaker, shared, speakers.to_dict())], [], names)

    def of_corpus(
        self, name: str, role: str, *, is_bot: bool | None = None, shown: str | None = None
    ) -> tuple[Speaker, bool]:
        """Return the speaker of a name in all of the corpus, and whether it is new; ``shown``: another name.

        Of one who is known, the row has the key and the name in the tables.
        """
        speaker_id = f"{self._corpus_id}:{name}"
        is_new = speaker_id not in self._names
        named = self._names.setdefault(speaker_id, shown)
        kind = speaker_kind(role, is_bot=is_bot)
        return Speaker(speaker_id, self._corpus_id, name, named, kind, is_anonymous=False), is_new


SPOKEN = ("owner", "dialogue_id", "is_new", "role", "speaker", "speaker_id", "shown", "is_bot")
"""What is known of turns: their dialogue, whether it is new, and who speaks, as the file says it."""


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
        """Return the speaker that a record names, and the facts about them; BadRecord GF-01 if it names nobody."""
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
