"""Dialogues that follow one another to their rows: the plain ones as columns, each other one by itself."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from talkhouse.ingest.corpora.mantis.context_index import ContextIndex
from talkhouse.ingest.corpora.mantis.conversations.columns import column_batches
from talkhouse.ingest.corpora.mantis.conversations.dialogue import KeyOrders, PublishedDialogue, decoded
from talkhouse.ingest.corpora.mantis.conversations.known import Known, KnownDialogues
from talkhouse.ingest.corpora.mantis.conversations.people import People
from talkhouse.ingest.corpora.mantis.conversations.plain import published, without
from talkhouse.ingest.corpora.mantis.conversations.record import record
from talkhouse.ingest.corpora.mantis.conversations.rows import TurnColumns, add_dialogue
from talkhouse.ingest.corpora.mantis.conversations.warnings import warnings
from talkhouse.ingest.corpora.mantis.files import Role
from talkhouse.ingest.corpora.mantis.format import SPOKEN
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.outcomes import LoadedBatch, Outcome, ReaderFinding, SourceLocation, reject
from talkhouse.ingest.rows import ColumnBatch, Row, Turn
from talkhouse.ingest.sources import SourceFile


class Member(NamedTuple):
    """A dialogue of a file: its 0-based position among the others, its key and its JSON."""

    position: int
    key: str
    raw: bytes
    repeated: str | None
    """Its pointer where the key occurs more than once."""


@dataclass
class Build:
    """What the files of one build have in common."""

    index: ContextIndex
    shared: Collection[str]
    """The splits that have both a plain and an intent file: only there, words and facts are remembered."""
    orders: KeyOrders = field(default_factory=lambda: {SPOKEN: 0})
    known: KnownDialogues = field(default_factory=KnownDialogues)
    people: People = field(default_factory=People)
    sites: frozenset[str] = frozenset()
    """Categories that dialogues may have beside those of the published corpus."""


class Batch:
    """Some dialogues of one file, and what they become."""

    def __init__(self, build: Build, file: SourceFile, role: Role, site: str = "") -> None:
        self._build, self._file, self._role, self._site = build, file, role, site
        self._split = role.split or ""
        self._is_shared = self._split in build.shared
        self._is_needed = self._is_shared or build.index.remembers(self._split)
        self._rows: list[Row] = []
        self._turns: TurnColumns = defaultdict(list)
        self._findings: list[ReaderFinding] = []

    def read(self, members: list[Member], plain: pl.DataFrame) -> Iterator[Outcome]:
        """Read the dialogues; ``plain`` has the plain ones of them."""
        plain = without(plain, [position for position, member in enumerate(members) if member.repeated is not None])
        known = self._all_known(members, plain) if self._is_needed else {}
        plain = without(plain, known)
        taken = set(plain["position"].to_list())
        pairs = [(member.key, member.position) for member in members]
        keyed = pl.DataFrame(pairs, ["key", "record_index"], orient="row")
        plain = plain.hstack(keyed[plain["position"]])
        # Plain dialogues name their people first, whatever stands between them.
        batches = (
            column_batches(plain, self._file.id, self._role, self._site, self._build.people, self._rows)
            if taken
            else []
        )
        count = size = 0
        for number, member in enumerate(members):
            try:
                if number not in taken:
                    self._take(member, *known.get(number, (None, None)))
                count += 1
                size += len(member.raw)
            except BadRecord as bad:
                yield reject(self._location(member), bad, member.raw)
        if self._turns:
            batches.append(ColumnBatch(Turn, {"kind": "message"}, dict(self._turns)))
        if count:
            yield LoadedBatch(self._file, count, size, self._rows, batches, self._findings)

    def _all_known(self, members: list[Member], plain: pl.DataFrame) -> dict[int, tuple[Known, PublishedDialogue]]:
        """Look all plain dialogues up; returns those with which an earlier file has to do, by their position."""
        pairs = zip(plain["position"].to_list(), published(plain), strict=True)
        known = {position: (self._known(members[position].key, dialogue), dialogue) for position, dialogue in pairs}
        return {position: found for position, found in known.items() if found[0].differs or not found[0].is_first}

    def _take(self, member: Member, known: Known | None, dialogue: PublishedDialogue | None) -> None:
        """Add a dialogue of any kind; one that is there already adds only what it states otherwise."""
        if member.repeated is not None:
            raise BadRecord("TH-03", f"the key {member.key!r} occurs more than once")
        dialogue = dialogue or decoded(member.raw, self._build.orders)
        known = known or self._known(member.key, dialogue)
        location = self._location(member)
        row, findings = record(location, known, dialogue, self._rows)
        if known.is_new:
            add_dialogue(
                known.dialogue_id, self._site + member.key, dialogue, self._build.people, self._rows, self._turns
            )
            findings = warnings(dialogue, self._build.sites) + findings
        self._findings += [location.finding(finding, row.record_id) for finding in findings]

    def _known(self, key: str, dialogue: PublishedDialogue) -> Known:
        """Find out whether an earlier file has a dialogue, and index it for the response-ranking files."""
        key = self._site + key
        known = self._build.known.find(self._split, key, dialogue if self._is_shared else None)
        if known.is_first and self._is_needed:
            self._build.index.add(self._split, key, known.dialogue_id, dialogue.spoken)
        return known

    def _location(self, member: Member) -> SourceLocation:
        pointer, (subset, split) = member.repeated or f"/{member.key}", self._role
        native_id = self._site + member.key
        return SourceLocation(self._file, pointer, subset, None, split, member.position, native_id, len(member.raw))
