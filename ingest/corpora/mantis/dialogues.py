"""The dialogues of one file to rows, a batch at a time."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from ingest.corpora.mantis.columns import Setting, blocks, parsed
from ingest.corpora.mantis.form import Form
from ingest.corpora.mantis.layout import Role
from ingest.corpora.mantis.oddities import oddities
from ingest.corpora.mantis.parse import Parsed, Parser
from ingest.corpora.mantis.proof import Proof
from ingest.corpora.mantis.record import placed, record
from ingest.corpora.mantis.talk import Known, Talks
from ingest.corpora.mantis.turns import Columns, block
from ingest.corpora.mantis.usual import without
from ingest.decode import BadRecord
from ingest.outcomes import LoadedBatch, Outcome, ReaderFinding, SourceLocation, reject
from ingest.rows import Row
from ingest.sources import SourceFile


class Member(NamedTuple):
    """A dialogue of a file: its 0-based place among the others, its key and its JSON."""

    place: int
    key: str
    raw: bytes
    repeated: str | None
    """Its pointer where the key stands more than once."""


@dataclass
class Build:
    """What the files of one build have in common."""

    proof: Proof
    shared: Collection[str]
    """The splits that have both a plain and an intent file: only there, words and facts are remembered."""
    parser: Parser = field(default_factory=Parser)
    talks: Talks = field(default_factory=Talks)


@dataclass
class _Gathered:
    """What a batch becomes."""

    rows: list[Row] = field(default_factory=list)
    turns: Columns = field(default_factory=lambda: defaultdict(list))
    notes: list[ReaderFinding] = field(default_factory=list)
    records: int = 0
    size: int = 0
    """Bytes of the records."""


class Dialogues:
    """Makes the rows of one file's dialogues."""

    def __init__(self, file: SourceFile, role: Role, form: Form, build: Build) -> None:
        self._file, self._role, self._split = file, role, role.split or ""
        self._form, self._build = form, build
        self._is_shared = self._split in build.shared
        self._is_needed = self._is_shared or build.proof.remembers(self._split)

    def batch(self, members: list[Member], usual: pl.DataFrame) -> Iterator[Outcome]:
        """Give the rows of dialogues that follow one another, of which some are usual; and those that are refused."""
        gathered = _Gathered()
        usual = without(usual, (place for place, member in enumerate(members) if member.repeated is not None))
        words = parsed(usual, self._form) if self._is_needed else {}
        known = {place: self._known(members[place].key, said) for place, said in words.items()}
        usual = without(usual, (place for place, one in known.items() if not one.is_plain))
        usual, speakers = self._build.talks.people.cast(usual, self._form.user)
        is_usual, order = set(usual["place"].to_list()), 0
        for place, member in enumerate(members):
            try:
                if place in is_usual:
                    order = self._build.parser.number(self._form.spoken)
                else:
                    self._take(member, known.get(place), gathered)
                gathered.records += 1
                gathered.size += len(member.raw)
            except BadRecord as bad:
                yield reject(self._place(member), bad, member.raw)
        if gathered.records:
            places, keys = [member.place for member in members], [member.key for member in members]
            setting = Setting(self._file.id, self._role, self._form, order)
            laid_out = blocks(usual, places, keys, setting) if is_usual else []
            laid_out += [block(gathered.turns)] if gathered.turns else []
            laid_out += [speakers] if len(speakers) else []
            yield LoadedBatch(self._file, gathered.records, gathered.size, gathered.rows, laid_out, gathered.notes)

    def _known(self, key: str, words: Parsed) -> Known:
        """Tell whether an earlier file has a dialogue, and tell the response-ranking files what is said in it."""
        known = self._build.talks.known(self._split, key, words if self._is_shared else None)
        if known.is_first and self._is_needed:
            spoken = words.spoken
            numbers = [said if type(said) is int else index + 1 for index, said in enumerate(spoken.positions)]
            self._build.proof.add(self._split, key, known.dialogue_id, spoken.texts, spoken.roles, numbers)
        return known

    def _take(self, member: Member, known: Known | None, gathered: _Gathered) -> None:
        """Add one dialogue; one that is there already adds only what it states otherwise. BadRecord if it can't be."""
        if member.repeated is not None:
            raise BadRecord("TH-03", f"the key {member.key!r} stands more than once")
        talk = self._build.parser.parse(member.raw)
        self._add(member, known or self._known(member.key, talk), talk, gathered)

    def _add(self, member: Member, known: Known, talk: Parsed, gathered: _Gathered) -> None:
        """Add the rows of a dialogue of any kind, and what is to be said about it."""
        place = self._place(member)
        notes = record(place, known, talk, gathered.rows)
        if known.is_new:
            self._build.talks.add(known.dialogue_id, member.key, talk, gathered.rows, gathered.turns)
            notes = oddities(talk) + notes
        gathered.notes += [placed(note, place) for note in notes]

    def _place(self, member: Member) -> SourceLocation:
        pointer, split = member.repeated or f"/{member.key}", self._role.split
        return SourceLocation(
            self._file, pointer, self._role.subset, None, split, member.place, member.key, len(member.raw)
        )
