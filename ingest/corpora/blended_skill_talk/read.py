"""Files to rows: episodes are dialogues, everything else is records beside them."""

from collections.abc import Callable, Iterator

from ingest.corpora.blended_skill_talk.cached import episode as cached_episode
from ingest.corpora.blended_skill_talk.convai2 import episodes as convai2_episodes
from ingest.corpora.blended_skill_talk.dialogue import beside, conversation, label_candidates, of_record, stated, words
from ingest.corpora.blended_skill_talk.envelope import list_items
from ingest.corpora.blended_skill_talk.episode import Talk
from ingest.corpora.blended_skill_talk.files import kind_of
from ingest.corpora.blended_skill_talk.given import Files, Given, twice
from ingest.corpora.blended_skill_talk.human import annotations as human_annotations
from ingest.corpora.blended_skill_talk.library import Library
from ingest.corpora.blended_skill_talk.lists import persona_list, read_list, safe_personas, topics
from ingest.corpora.blended_skill_talk.names import (
    CACHED,
    CONVAI2,
    CORPUS,
    EPISODES,
    HUMAN,
    PERSONA_LIST,
    SAFE_PERSONAS,
    TOPICS,
    WIZARD,
)
from ingest.corpora.blended_skill_talk.parse import check_lengths, parse
from ingest.corpora.blended_skill_talk.warnings import oddities
from ingest.corpora.blended_skill_talk.wizard import episode as wizard_episode
from ingest.decode import BadRecord, pointer
from ingest.json_members import Member
from ingest.keys import Keys, digest
from ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding, Rejected, Unrecognised, reject
from ingest.restatements import Restatements
from ingest.rows import Row
from ingest.sources import SourceFile

_LISTS = {PERSONA_LIST: persona_list, TOPICS: topics, SAFE_PERSONAS: safe_personas}

ByMember = Callable[[Given, int, Member], Outcome]


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every file in path order."""
    reader = _Reader()
    for file in files:
        yield from reader.file(file)


class _Reader:
    """Reads one build's files; keeps keys and hashes of what it has given out, never texts."""

    def __init__(self) -> None:
        self._files = Files()
        self._library = Library()
        self._dialogues = Keys()
        self._restatements = Restatements()

    def file(self, file: SourceFile) -> Iterator[Outcome]:
        """Read one file by what its name says that it is."""
        kind = kind_of(file)
        if kind is None:
            yield Unrecognised(file, "its name and folder are those of no file of this corpus that is read")
            return
        raw = file.read()
        given = self._files.take(file, kind)
        if given.repeats:
            yield twice(given)
        for outcome in self._records(given, raw):
            if isinstance(outcome, Rejected) and not outcome.location.pointer:
                self._files.refuse(given)
            yield outcome

    def _records(self, given: Given, raw: bytes) -> Iterator[Outcome]:
        kind = given.kind
        if kind.subset in _LISTS:
            yield from read_list(given, raw, self._library, _LISTS[kind.subset])
        elif kind.subset == CONVAI2:
            yield from convai2_episodes(given, raw, self._library)
        elif kind.subset == HUMAN:
            yield from human_annotations(given, raw)
        else:
            yield from self._members(given, raw)

    def _members(self, given: Given, raw: bytes) -> Iterator[Outcome]:
        """Read a JSON list, item by item; a file that is none is refused whole."""
        one: ByMember = {
            EPISODES: self._episode,
            CACHED: lambda given, at, item: cached_episode(given, at, item, self._library),
            WIZARD: wizard_episode,
        }[given.kind.subset]
        try:
            pieces = list_items(raw)
            if given.kind.subset == EPISODES:
                _check_lengths(pieces)
        except BadRecord as bad:
            yield given.refused(bad, raw)
            return
        yield FileEnvelope(given.file, {"shape": "list"}, len(pieces))
        for index, piece in enumerate(pieces):
            yield one(given, index, piece)

    def _episode(self, given: Given, index: int, member: Member) -> Outcome:
        place = given.place(index, pointer(index), len(member.raw))
        try:
            talk = parse(member.raw)
        except BadRecord as bad:
            return reject(place, bad, member.raw)
        natural = f"{CORPUS}:{given.kind.split}:{index}"
        dialogue_id, is_new = self._dialogues.assign(natural, digest(*words(talk)))
        record = given.record(index, pointer(index), {}, dialogue_id=dialogue_id)
        rows: list[Row] = [record]
        rows += conversation(dialogue_id, talk) if is_new else ()
        rows += of_record(record, talk, self._library)
        texts, column_batches = label_candidates(record, talk, self._library)
        rows += texts
        differs = {**self._restatements.differing(dialogue_id, stated(talk)), **talk.differs} | _no_pairs(talk)
        extra = beside(talk) | {"differs": differs}
        record.extra = given.record(index, "", extra).extra
        notes = list(oddities(talk, member.raw, given.kind.split))
        if is_new and dialogue_id != natural:
            notes.append(ReaderFinding("BS-10", f"other words than the earlier {natural}; kept as {dialogue_id}"))
        return Loaded(place, rows, notes, column_batches)


def _check_lengths(pieces: list[Member]) -> None:
    """Refuse the file where the reference code would; BS-01 names the first episode."""
    for piece in pieces:
        try:
            check_lengths(piece.raw)
        except BadRecord as bad:
            raise BadRecord(bad.rule, bad.detail, pointer(piece.token)) from bad


def _no_pairs(talk: Talk) -> dict[str, object]:
    """Keep turns that are no pairs as they are, by pointer."""
    return {pointer("dialog", index): said.item for index, said in enumerate(talk.turns) if said.item is not None}
