"""The plain and the intent file of a split to rows: plain dialogues together, as columns, each other one by itself."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.mantis import dialogue as dialogue_json
from talkhouse.ingest.corpora.mantis.dialogue_rows import (
    FLAGGED,
    Known,
    KnownConversations,
    MantisPeople,
    TurnColumns,
    add_dialogue,
    record,
    record_id,
)
from talkhouse.ingest.corpora.mantis.format import CORPUS, DIALOGUE_FIELDS, NAN, SPLITS, SPOKEN, Role
from talkhouse.ingest.corpora.mantis.ranking import ContextIndex
from talkhouse.ingest.decode import BadRecord, dump, pointer
from talkhouse.ingest.input_files import keep_text
from talkhouse.ingest.outcomes import FileEnvelope, LoadedBatch, Outcome, ReaderFinding, SourceLocation, reject
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Participant, Record, Row, Turn
from talkhouse.ingest.sources import SourceFile


class DialogueMember(NamedTuple):
    """A dialogue of a file: its 0-based position among the others, its key and its JSON."""

    position: int
    key: str
    raw: bytes
    repeated: str | None
    """Its pointer where the key occurs more than once."""


@dataclass
class ConversationState:
    """What the files of one build have in common."""

    index: ContextIndex
    shared: Collection[str]
    """The splits that have both a plain and an intent file: only there, words and facts are remembered."""
    orders: dialogue_json.KeyOrders = field(default_factory=lambda: {SPOKEN: 0})
    known: KnownConversations = field(default_factory=KnownConversations)
    people: MantisPeople = field(default_factory=MantisPeople)
    sites: frozenset[str] = frozenset()
    """Categories that dialogues may have in addition to those of the published corpus."""


class ConversationBatch:
    """Some dialogues of one file, and what they become."""

    def __init__(self, build: ConversationState, file: SourceFile, role: Role, site: str = "") -> None:
        self._build, self._file, self._role, self._site = build, file, role, site
        self._split = role.split or ""
        self._is_shared = self._split in build.shared
        self._is_needed = self._is_shared or build.index.remembers(self._split)
        self._rows: list[Row] = []
        self._turns: TurnColumns = defaultdict(list)
        self._findings: list[ReaderFinding] = []

    def read(self, members: list[DialogueMember], plain: pl.DataFrame) -> Iterator[Outcome]:
        """Read the dialogues; ``plain`` has the plain ones of them."""
        plain = dialogue_json.without(
            plain, [position for position, member in enumerate(members) if member.repeated is not None]
        )
        known = self._all_known(members, plain) if self._is_needed else {}
        plain = dialogue_json.without(plain, known)
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

    def _all_known(
        self, members: list[DialogueMember], plain: pl.DataFrame
    ) -> dict[int, tuple[Known, dialogue_json.PublishedDialogue]]:
        """Look all plain dialogues up; returns those with which an earlier file has to do, by their position."""
        pairs = zip(plain["position"].to_list(), dialogue_json.published(plain), strict=True)
        known = {position: (self._known(members[position].key, dialogue), dialogue) for position, dialogue in pairs}
        return {position: found for position, found in known.items() if found[0].differs or not found[0].is_first}

    def _take(
        self, member: DialogueMember, known: Known | None, dialogue: dialogue_json.PublishedDialogue | None
    ) -> None:
        """Add a dialogue of any kind; one that is there already adds only what it states otherwise."""
        if member.repeated is not None:
            raise BadRecord("TH-03", f"the key {member.key!r} occurs more than once")
        raw, twice = member.raw, list[str]()
        try:
            dialogue = dialogue or dialogue_json.decoded(raw, self._build.orders)
        except BadRecord as bad:
            if bad.rule != "TH-03":
                raise
            raw, twice = json_members.last_values(raw)
            dialogue = dialogue_json.decoded(raw, self._build.orders)
        known = known or self._known(member.key, dialogue)
        location = self._location(member)
        row, findings = record(location, known, dialogue, self._rows)
        if known.is_new:
            add_dialogue(
                known.dialogue_id, self._site + member.key, dialogue, self._build.people, self._rows, self._turns
            )
            findings = dialogue_json.warnings(dialogue, self._build.sites) + findings
        if twice:
            findings += keep_text(row, member.raw, twice)
        self._findings += [location.finding(finding, row.record_id) for finding in findings]

    def _known(self, key: str, dialogue: dialogue_json.PublishedDialogue) -> Known:
        """Return whether an earlier file has a dialogue, and index it for the response-ranking files."""
        key = self._site + key
        known = self._build.known.find(self._split, key, dialogue if self._is_shared else None)
        if known.is_first and self._is_needed:
            self._build.index.add(self._split, key, known.dialogue_id, dialogue.spoken)
        return known

    def _location(self, member: DialogueMember) -> SourceLocation:
        pointer, (subset, split) = member.repeated or f"/{member.key}", self._role
        native_id = self._site + member.key
        return SourceLocation(self._file, pointer, subset, None, split, member.position, native_id, len(member.raw))


_TOGETHER = 8_000_000
"""Bytes of dialogues that are worked through at once, and whose rows are handed on together."""

_AHEAD = 2
"""Batches that are decoded while one is worked through."""


def read_dialogues(build: ConversationState, file: SourceFile, role: Role, site: str = "") -> Iterator[Outcome]:
    """Read every dialogue of a file, then the facts about the file other than its dialogues.

    ``site``: what its keys begin with in the tables, where files of several sites have the same ones.
    """
    buffer = file.hold()
    try:
        pieces = _pieces(buffer.view)
    except BadRecord as bad:
        location = SourceLocation(file, subset=role.subset, split=role.split, size=file.size)
        yield reject(location, bad, bytes(buffer.view))
        return
    build.index.begin(role.split or "")
    bytes_read = 0
    for members, plain in _decoded(_members(file, pieces)):
        bytes_read += sum(len(member.raw) for member in members)
        buffer.release(bytes_read)
        yield from ConversationBatch(build, file, role, site).read(members, plain)
    yield FileEnvelope(file, {"orders": list(build.orders)}, len(pieces))


def _pieces(text: memoryview) -> list[tuple[str, Raw]]:
    """Split a file into keys and dialogues; BadRecord if it is not an object with whole numbers as keys."""
    if not _OBJECT.match(text):
        try:
            decode.decoder(Raw).decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise decode.json_problem(bytes(text), error) from error
        raise BadRecord("MA-01", "not an object of dialogues")
    pieces = list(json_members.views(text, with_nan=True))
    for key, _ in pieces:
        try:
            int(key)
        except ValueError as error:
            raise BadRecord("MA-01", f"the key {key!r} is not a whole number", pointer(key)) from error
    return pieces


_OBJECT = re.compile(rb"[ \t\r\n]*\{")


def _members(file: SourceFile, pieces: list[tuple[str, Raw]]) -> Iterator[list[DialogueMember]]:
    """Copy dialogues out of a file, a batch at a time."""
    repeated = _repeated([key for key, _ in pieces])
    batch, size = list[DialogueMember](), 0
    for position, (key, raw) in enumerate(pieces):
        file.check_record(len(memoryview(raw)), pointer(key))
        batch.append(DialogueMember(position, key, bytes(raw), repeated.get(position)))
        size += len(batch[-1].raw)
        if size >= _TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _repeated(keys: list[str]) -> dict[int, str]:
    """Return the pointer of each dialogue whose key occurs more than once, numbered from the second on."""
    times, seen = Counter(keys), Counter[str]()
    pointers = {}
    for index, key in enumerate(keys):
        if times[key] > 1:
            pointers[index] = f"/{key}#{seen[key]}" if seen[key] else f"/{key}"
            seen[key] += 1
    return pointers


def _decoded(batches: Iterable[list[DialogueMember]]) -> Iterator[tuple[list[DialogueMember], pl.DataFrame]]:
    """Decode the plain dialogues of each batch, in a thread of its own while those before are worked through."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        ahead: deque[tuple[list[DialogueMember], Future[pl.DataFrame]]] = deque()
        for batch in batches:
            ahead.append((batch, thread.submit(dialogue_json.plain_dialogues, [member.raw for member in batch])))
            if len(ahead) > _AHEAD:
                members, future = ahead.popleft()
                yield members, future.result()
        for members, future in ahead:
            yield members, future.result()


_TIME = "%Y-%m-%dT%H:%M:%S%.3f"


def column_batches(
    plain: pl.DataFrame, file_id: str, role: Role, site: str, people: MantisPeople, rows: list[Row]
) -> list[ColumnBatch]:
    """Return plain dialogues, with their ``key`` and ``record_index``, as columns; adds the rows of new people."""
    split = role.split or ""
    dialogues = plain.with_columns(native_id=site + pl.col("key")).with_columns(
        started_at=pl.col("dialog_time").str.to_datetime(_TIME, time_unit="us"),
        dialogue_id=pl.format(f"{CORPUS}:{split}:{{}}", "native_id"),
        extra=pl.Series(FLAGGED).gather(plain["has_concatenated_utterances"]),
        record_id=record_id(role.subset, split, site) + pl.col("record_index").cast(pl.String),
        source_pointer="/" + pl.col("key"),
    )
    spoken = dialogue_json.utterances(plain)
    cast = _cast(plain["category"], spoken.filter(pl.col("turn_index") < 2), people, rows)
    file = {"source_file_id": file_id, "subset": role.subset, "split": role.split, "standard_split": SPLITS.get(split)}
    own = dialogues.select("dialogue_id", "title", "native_id", "extra", "started_at", domain="category")
    records = dialogues.select("dialogue_id", "record_index", "record_id", "native_id", "source_pointer")
    ids, extra = dialogues["dialogue_id"], dump({"fields": DIALOGUE_FIELDS})
    return [
        ColumnBatch(Dialogue, {"corpus_id": CORPUS, "language": "en"}, own.to_dict()),
        ColumnBatch(Participant, {}, _participants(ids, cast).to_dict()),
        ColumnBatch(Record, {"corpus_id": CORPUS, "extra": extra, **file}, records.to_dict()),
        ColumnBatch(Turn, {"kind": "message"}, _turns(ids, spoken, cast).to_dict()),
    ]


def _cast(categories: pl.Series, spoken: pl.DataFrame, people: MantisPeople, rows: list[Row]) -> pl.DataFrame:
    """Find who speaks: two people of each dialogue, user and agent, by the first two utterances; all have an id."""
    facts = zip(categories.gather(spoken["owner"]).to_list(), spoken["user_id"], spoken["user_name"], strict=True)
    cast = [
        people.person(str(number).encode(), NAN if name is None else name, domain, "", rows)
        for domain, number, name in facts
    ]
    literals = [f',"literals":{dump(person.literals)}' if person.literals else "" for person in cast]
    return pl.DataFrame({"speaker_id": [person.speaker_id for person in cast], "literals": literals})


def _participants(ids: pl.Series, cast: pl.DataFrame) -> pl.DataFrame:
    """List user and agent; somebody who answers themselves takes part once, as user."""
    users, agents = cast["speaker_id"].gather_every(2), cast["speaker_id"].gather_every(2, 1)
    pairs = pl.DataFrame({"dialogue_id": ids, "user": users, "agent": agents})
    user = pairs.select("dialogue_id", speaker_id="user", role=pl.lit("user"))
    agent = pairs.filter(pl.col("user") != pl.col("agent"))
    return pl.concat([user, agent.select("dialogue_id", speaker_id="agent", role=pl.lit("agent"))])


def _turns(ids: pl.Series, spoken: pl.DataFrame, cast: pl.DataFrame) -> pl.DataFrame:
    """Return the turns of two people who take turns."""
    is_agent = spoken["turn_index"].cast(pl.UInt32) % 2
    who = cast[spoken["owner"] * 2 + is_agent]
    return spoken.with_columns(who["literals"]).select(
        "turn_index",
        dialogue_id=ids.gather(spoken["owner"]),
        speaker_id=who["speaker_id"],
        role=pl.Series(["user", "agent"]).gather(is_agent),
        text="utterance",
        native_id="id",
        said_at=pl.col("utterance_time").str.to_datetime(_TIME, time_unit="us"),
        # Votes are digits, which JSON does not escape.
        extra=pl.concat_str(pl.lit('{"votes":"'), "votes", pl.lit('","is_answer":0'), "literals", pl.lit("}")),
    )
