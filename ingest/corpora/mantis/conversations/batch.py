"""Dialogues that follow one another to their rows: the plain ones as columns, each other one by itself."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.corpora.mantis.context_index import ContextIndex
from ingest.corpora.mantis.conversations.columns import Keyed, column_batches
from ingest.corpora.mantis.conversations.dialogue import KeyOrders, PublishedDialogue, decoded
from ingest.corpora.mantis.conversations.known import Known, KnownDialogues
from ingest.corpora.mantis.conversations.people import People, SpeakerColumns, speaker_batch
from ingest.corpora.mantis.conversations.plain import PlainDialogue
from ingest.corpora.mantis.conversations.record import record
from ingest.corpora.mantis.conversations.rows import TurnColumns, add_dialogue, turn_batch
from ingest.corpora.mantis.conversations.warnings import warnings
from ingest.corpora.mantis.files import Role
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


class _Other(NamedTuple):
    """A dialogue that goes the long way; and how far it has come, if a later file has it."""

    member: Member
    known: Known | None = None
    dialogue: PublishedDialogue | None = None


@dataclass
class Build:
    """What the files of one build have in common."""

    index: ContextIndex
    shared: Collection[str]
    """The splits that have both a plain and an intent file: only there, words and facts are remembered."""
    orders: KeyOrders = field(default_factory=KeyOrders)
    known: KnownDialogues = field(default_factory=KnownDialogues)
    people: People = field(default_factory=People)


class Batch:
    """Some dialogues of one file, and what they become."""

    def __init__(self, build: Build, file: SourceFile, role: Role) -> None:
        self._build, self._file, self._role = build, file, role
        self._split = role.split or ""
        self._is_shared = self._split in build.shared
        self._is_needed = self._is_shared or build.index.remembers(self._split)
        self._rows: list[Row] = []
        self._turns: TurnColumns = defaultdict(list)
        self._plain: list[Keyed] = []
        self._speakers: SpeakerColumns = defaultdict(list)
        self._findings: list[ReaderFinding] = []

    def read(self, members: list[Member], plain: Mapping[int, PlainDialogue]) -> Iterator[Outcome]:
        """Read the dialogues; ``plain`` has those that are, by their place in the list."""
        others = list(self._take_plain(members, plain))
        count, size = len(self._plain), sum(len(member.raw) for member in members)
        for member, known, dialogue in others:
            try:
                self._take(member, known, dialogue)
                count += 1
            except BadRecord as bad:
                size -= len(member.raw)
                yield reject(self._location(member), bad, member.raw)
        if count:
            batches = column_batches(self._plain, self._file.id, self._role) if self._plain else []
            batches += [turn_batch(self._turns)] if self._turns else []
            batches += [speaker_batch(self._speakers)] if self._speakers else []
            yield LoadedBatch(self._file, count, size, self._rows, batches, self._findings)

    def _take_plain(self, members: list[Member], plain: Mapping[int, PlainDialogue]) -> Iterator[_Other]:
        """Take the plain dialogues of which no other file states anything else; yields what is left."""
        person = self._build.people.plain
        for number, member in enumerate(members):
            one = plain.get(number)
            if one is None or member.repeated is not None:
                yield _Other(member)
                continue
            if self._is_needed:
                known = self._known(member.key, dialogue := one.published())
                if not known.is_plain:
                    yield _Other(member, known, dialogue)
                    continue
            user, agent = one.utterances[:2]
            dialogue_id = KnownDialogues.natural_id(self._split, member.key)
            cast = person(one.category, user, self._speakers), person(one.category, agent, self._speakers)
            self._plain.append(Keyed(member.place, member.key, dialogue_id, one, cast))

    def _take(self, member: Member, known: Known | None, dialogue: PublishedDialogue | None) -> None:
        """Add a dialogue of any kind; one that is there already adds only what it states otherwise."""
        if member.repeated is not None:
            raise BadRecord("TH-03", f"the key {member.key!r} stands more than once")
        dialogue = dialogue or decoded(member.raw, self._build.orders)
        known = known or self._known(member.key, dialogue)
        location = self._location(member)
        row, findings = record(location, known, dialogue, self._rows)
        if known.is_new:
            add_dialogue(known.dialogue_id, member.key, dialogue, self._build.people, self._rows, self._turns)
            findings = warnings(dialogue) + findings
        self._findings += [location.finding(finding, row.record_id) for finding in findings]

    def _known(self, key: str, dialogue: PublishedDialogue) -> Known:
        """Find out whether an earlier file has a dialogue, and index it for the response-ranking files."""
        known = self._build.known.find(self._split, key, dialogue if self._is_shared else None)
        if known.is_first and self._is_needed:
            spoken = dialogue.spoken
            numbers = [said if type(said) is int else index + 1 for index, said in enumerate(spoken.positions)]
            self._build.index.add(self._split, key, known.dialogue_id, spoken.texts, spoken.roles, numbers)
        return known

    def _location(self, member: Member) -> SourceLocation:
        pointer, (subset, split) = member.repeated or f"/{member.key}", self._role
        return SourceLocation(self._file, pointer, subset, None, split, member.place, member.key, len(member.raw))
