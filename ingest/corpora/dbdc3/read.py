"""Dialogue logs and background paragraphs to rows: one record per file."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from msgspec import UNSET, Raw

from ingest import decode
from ingest.corpora.dbdc3.dialogue import CORPUS, annotation_rows, speakers, turn_row
from ingest.corpora.dbdc3.files import layout, stated
from ingest.corpora.dbdc3.format import CONTEXT, LOG, Log
from ingest.corpora.dbdc3.place import Family, PathFacts, facts, family
from ingest.corpora.dbdc3.warnings import oddities
from ingest.keys import Keys, digest
from ingest.outcomes import Loaded, Outcome, ReaderFinding, SourceLocation, Unrecognised, reject
from ingest.restatements import Restatements
from ingest.rows import Dialogue, Participant, Record, Row, Speaker
from ingest.sources import SourceFile

STANDARD_SPLITS = {"train": "train", "dev": "validation", "eval": "test", "test": "test"}


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every log in path order; then every background paragraph, which needs to know its dialogue."""
    contexts: list[tuple[SourceFile, str]] = []
    for file in (file for file in files if file.name.endswith(CONTEXT)):
        raw = file.read()
        try:
            contexts.append((file, raw.decode()))
        except UnicodeDecodeError as error:
            yield reject(_context_place(file), decode.json_problem(raw, error), raw)
    reader = _Reader({_stem(file, CONTEXT): text for file, text in reversed(contexts)})
    for file in files:
        if file.name.endswith(LOG):
            yield reader.log(file)
        elif not file.name.endswith(CONTEXT):
            yield Unrecognised(file, f"neither *{LOG} nor *{CONTEXT}")
    for file, text in contexts:
        yield reader.context(file, text)


class _Reader:
    """Reads one build's logs; keeps keys and hashes of what it has given out, never texts of dialogues."""

    def __init__(self, backgrounds: dict[str, str]) -> None:
        self._backgrounds = backgrounds
        self._dialogues = Keys()
        self._records = Keys()
        self._restatements = Restatements()
        self._first: dict[str, str] = {}
        self._bytes: dict[tuple[str, str], str] = {}
        self._published: set[tuple[str | None, str]] = set()
        self._speakers = Keys()
        self._folders: Counter[PurePosixPath] = Counter()

    def log(self, file: SourceFile) -> Outcome:
        """Turn one log into its record."""
        folder = PurePosixPath(*file.path.parts[1:])
        said = facts(folder)
        place = SourceLocation(
            file,
            subset=said.subset,
            release=said.release,
            split=said.phase,
            record_index=self._folders[folder.parent],
            native_id=_stem(file, LOG),
            size=file.size,
        )
        self._folders[folder.parent] += 1
        raw = file.read()
        try:
            log, unknown = decode.record(raw, Log, rule="DB-01")
            _require_annotations(log)
        except decode.BadRecord as bad:
            return reject(place, bad, raw)
        return self._loaded(place, said, log, raw, unknown)

    def context(self, file: SourceFile, text: str) -> Loaded:
        """Turn one background paragraph into a record; its text is the dialogue's where both agree."""
        native_id = _stem(file, CONTEXT)
        dialogue_id = self._first.get(native_id)
        at_home = dialogue_id is not None and self._backgrounds[native_id] == text
        where = "/".join([CORPUS, "context", *file.path.parts[1:-1], native_id])
        record_id, _ = self._records.assign(where, digest(file.id))
        record = Record(
            record_id=record_id,
            corpus_id=CORPUS,
            dialogue_id=dialogue_id,
            native_id=native_id,
            main_speaker_id=None,
            subset="context",
            release=None,
            split=None,
            standard_split=None,
            record_index=0,
            source_file_id=file.id,
            source_pointer="",
            extra=None if at_home else decode.dump({"background": text}),
        )
        notes = []
        if dialogue_id is None:
            notes.append(ReaderFinding("DB-06", f"a background paragraph without the dialogue {native_id}", file, ""))
        return Loaded(_context_place(file), [record], notes)

    def _loaded(self, place: SourceLocation, said: PathFacts, log: Log, raw: bytes, unknown: dict[str, Raw]) -> Loaded:
        words = digest(*(part for turn in log.turns for part in (turn.speaker, turn.utterance)))
        natural = f"{CORPUS}:{log.dialogue_id}"
        dialogue_id, is_new = self._dialogues.assign(natural, words)
        where = "/".join(filter(None, [CORPUS, said.release, said.language, said.subset]))
        published_as = f"{where}/{log.dialogue_id}"
        record_id, _ = self._records.assign(published_as, digest(place.file.id))
        repeats = self._bytes.setdefault((published_as, place.file.sha256), record_id)
        bot = family(log.dialogue_id, said.subset)
        extra = layout(raw, log) | {
            "differs": self._restatements.differing(dialogue_id, stated(log)),
            "unknown": unknown,
        }
        extra["repeats"] = repeats if repeats != record_id else None
        record = Record(
            record_id=record_id,
            corpus_id=CORPUS,
            dialogue_id=dialogue_id,
            native_id=log.dialogue_id,
            main_speaker_id=None,
            subset=said.subset,
            release=said.release,
            split=said.phase,
            standard_split=STANDARD_SPLITS.get(said.phase or ""),
            record_index=place.record_index or 0,
            source_file_id=place.file.id,
            source_pointer="",
            extra=decode.dump({key: value for key, value in extra.items() if value}),
        )
        rows: list[Row] = [record]
        if is_new:
            rows += self._dialogue(dialogue_id, said, log, bot)
        rows += annotation_rows(record, log)
        notes = list(oddities(log, _stem(place.file, LOG), bot, has_background=log.dialogue_id in self._backgrounds))
        if is_new and dialogue_id != natural:
            notes.append(
                ReaderFinding(
                    "DB-08", f"other words than the earlier dialogue {log.dialogue_id}; kept as {dialogue_id}"
                )
            )
        if (said.release, log.dialogue_id) in self._published:
            notes.append(
                ReaderFinding("DB-03", f"the id {log.dialogue_id} occurs twice within the release {said.release}")
            )
        self._published.add((said.release, log.dialogue_id))
        self._first.setdefault(log.dialogue_id, dialogue_id)
        return Loaded(place, rows, notes)

    def _dialogue(self, dialogue_id: str, said: PathFacts, log: Log, bot: Family | None) -> Iterator[Row]:
        """Give the rows of a conversation that is published for the first time."""
        both = [self._known(speaker) for speaker in speakers(dialogue_id, log, bot)]
        (user, _), (system, _) = both
        turns = [turn_row(dialogue_id, index, turn, user, system) for index, turn in enumerate(log.turns)]
        background = self._backgrounds.get(log.dialogue_id)
        extra: dict[str, Any] = {} if background is None else {"background": background}
        if log.group_id not in ("", UNSET):
            extra["group-id"] = log.group_id
        yield Dialogue(
            dialogue_id=dialogue_id,
            corpus_id=CORPUS,
            native_id=log.dialogue_id,
            language=said.language or (bot.language if bot else None),
            started_at=turns[0].said_at if turns else None,
            extra=decode.dump(extra),
        )
        for (speaker, is_new), role in zip(both, ("user", "system"), strict=True):
            if is_new:
                yield speaker
            yield Participant(dialogue_id, speaker.speaker_id, role)
        yield from turns

    def _known(self, speaker: Speaker) -> tuple[Speaker, bool]:
        """Give a speaker its key, and tell whether it is new: a dialogue-id may look like the key of a person."""
        who = digest(speaker.kind, speaker.native_id or "")
        speaker.speaker_id, is_new = self._speakers.assign(speaker.speaker_id, who)
        return speaker, is_new


def _stem(file: SourceFile, ending: str) -> str:
    return file.name.removesuffix(ending)


def _context_place(file: SourceFile) -> SourceLocation:
    return SourceLocation(file, subset="context", native_id=_stem(file, CONTEXT), size=file.size)


def _require_annotations(log: Log) -> None:
    """The challenge's script reads the list of every turn that is not the user's."""
    for index, turn in enumerate(log.turns):
        if turn.speaker != "U" and not isinstance(turn.annotations, list):
            found = "is null" if turn.annotations is None else "is missing"
            raise decode.BadRecord("DB-01", f"the list of annotations {found}", f"/turns/{index}/annotations")
