"""Dialogue logs and background paragraphs to rows: one record per file."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from ingest import decode
from ingest.corpora.dbdc3.logs import CONTEXT, LOG, Label, Log, LogTurn
from ingest.corpora.dbdc3.oddities import oddities
from ingest.corpora.dbdc3.place import Family, PathFacts, facts, family
from ingest.corpus import Loaded, Note, Outcome, Place, Rejected, Unrecognised
from ingest.keys import Keys, digest
from ingest.rows import Annotation, Dialogue, Participant, Record, Row, Speaker, Turn
from ingest.sources import SourceFile

CORPUS = "dbdc3"
BREAKDOWN = "dbdc3.breakdown"
UNGRAMMATICAL = "dbdc3.ungrammatical"
STANDARD_SPLITS = {"train": "train", "dev": "validation", "eval": "test", "test": "test"}
ROLES = {"U": "user", "S": "system"}

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every log in path order; then every background paragraph, which needs to know its dialogue."""
    contexts: list[tuple[SourceFile, str]] = []
    for file in (file for file in files if file.name.endswith(CONTEXT)):
        raw = file.read()
        try:
            contexts.append((file, raw.decode()))
        except UnicodeDecodeError as error:
            problem = decode.json_problem(raw, error)
            yield Rejected(_context_place(file), problem.rule, problem.detail, raw)
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
        self._facts: dict[str, bytes] = {}
        self._native_ids: set[str] = set()
        self._published: set[tuple[str | None, str]] = set()
        self._speakers: set[str] = set()
        self._folders: Counter[PurePosixPath] = Counter()

    def log(self, file: SourceFile) -> Outcome:
        """Turn one log into its record."""
        folder = PurePosixPath(*file.path.parts[1:])
        said = facts(folder)
        place = Place(
            file,
            subset=said.subset,
            release=said.release,
            split=said.phase,
            record_index=self._folders[folder.parent],
            native_id=_stem(file, LOG),
        )
        self._folders[folder.parent] += 1
        raw = file.read()
        try:
            log, unknown = decode.record(raw, Log, rule="DB-01")
            _require_annotations(log)
        except decode.BadRecord as bad:
            return Rejected(place, bad.rule, f"{bad.detail} - at {bad.pointer or 'the top level'}", raw)
        return self._loaded(place, said, log, raw, unknown)

    def context(self, file: SourceFile, text: str) -> Loaded:
        """Turn one background paragraph into a record; its text is the dialogue's where both agree."""
        native_id = _stem(file, CONTEXT)
        is_known = native_id in self._native_ids
        at_home = is_known and self._backgrounds[native_id] == text
        record = Record(
            record_id=f"{CORPUS}/context/{PurePosixPath(*file.path.parts[1:]).with_name(native_id)}",
            corpus_id=CORPUS,
            dialogue_id=f"{CORPUS}:{native_id}" if is_known else None,
            native_id=native_id,
            main_speaker_id=None,
            subset="context",
            release=None,
            split=None,
            standard_split=None,
            record_index=self._folders[file.path],
            source_file_id=file.id,
            source_pointer="",
            extra=None if at_home else decode.dump({"background": text}),
        )
        notes = []
        if not is_known:
            notes.append(Note("DB-06", f"a background paragraph without the dialogue {native_id}", file, ""))
        return Loaded(_context_place(file), [record], notes)

    def _loaded(self, place: Place, said: PathFacts, log: Log, raw: bytes, unknown: dict[str, Raw]) -> Loaded:
        words = digest(*(part for turn in log.turns for part in (turn.speaker, turn.utterance)))
        natural = f"{CORPUS}:{log.dialogue_id}"
        dialogue_id, is_new = self._dialogues.assign(natural, words)
        where = [CORPUS, said.release, said.language, said.subset, log.dialogue_id]
        record_id, _ = self._records.assign("/".join(filter(None, where)), digest(place.file.id))
        bot = family(log.dialogue_id, said.subset)
        extra = _layout(raw, log) | {"differs": self._differs(dialogue_id, log), "unknown": unknown}
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
        rows += _annotations(record, log)
        notes = list(oddities(log, _stem(place.file, LOG), bot, has_background=log.dialogue_id in self._backgrounds))
        if is_new and dialogue_id != natural:
            notes.append(
                Note("DB-08", f"other words than the earlier dialogue {log.dialogue_id}; kept as {dialogue_id}")
            )
        if (said.release, log.dialogue_id) in self._published:
            notes.append(Note("DB-03", f"the id {log.dialogue_id} occurs twice within the release {said.release}"))
        self._published.add((said.release, log.dialogue_id))
        self._native_ids.add(log.dialogue_id)
        return Loaded(place, rows, notes)

    def _dialogue(self, dialogue_id: str, said: PathFacts, log: Log, bot: Family | None) -> Iterator[Row]:
        """Give the rows of a conversation that is published for the first time."""
        user, system = _speakers(dialogue_id, log, bot)
        turns = [_turn(dialogue_id, index, turn, user, system) for index, turn in enumerate(log.turns)]
        extra = {
            "background": self._backgrounds.get(log.dialogue_id),
            "group-id": log.group_id if isinstance(log.group_id, str) else None,
        }
        yield Dialogue(
            dialogue_id=dialogue_id,
            corpus_id=CORPUS,
            native_id=log.dialogue_id,
            language=said.language or (bot.language if bot else None),
            started_at=turns[0].said_at if turns else None,
            extra=decode.dump({key: value for key, value in extra.items() if value}),
        )
        for speaker, role in ((user, "user"), (system, "system")):
            if speaker.speaker_id not in self._speakers:
                self._speakers.add(speaker.speaker_id)
                yield speaker
            yield Participant(dialogue_id, speaker.speaker_id, role)
        yield from turns

    def _differs(self, dialogue_id: str, log: Log) -> dict[str, Any]:
        """Give what this record states of its dialogue, by pointer, if an earlier record stated something else."""
        stated = _stated(log)
        mark = digest(msgspec.json.encode(stated).decode())
        return {} if self._facts.setdefault(dialogue_id, mark) == mark else stated


def _stem(file: SourceFile, ending: str) -> str:
    return file.name.removesuffix(ending)


def _context_place(file: SourceFile) -> Place:
    return Place(file, subset="context", native_id=_stem(file, CONTEXT))


def _require_annotations(log: Log) -> None:
    """The challenge's script reads the list of every turn that is not the user's."""
    for index, turn in enumerate(log.turns):
        if turn.speaker != "U" and not isinstance(turn.annotations, list):
            found = "is null" if turn.annotations is None else "is missing"
            raise decode.BadRecord("DB-01", f"the list of annotations {found}", f"/turns/{index}/annotations")


def _speakers(dialogue_id: str, log: Log, bot: Family | None) -> tuple[Speaker, Speaker]:
    """Give the person and the bot; both are known only within the dialogue where no id tells who they are."""
    native = log.speaker_id if isinstance(log.speaker_id, str) else None
    user_id = f"{CORPUS}:user/{bot.name if bot else 'other'}/{native}" if native else f"{dialogue_id}/user"
    bot_id = f"{CORPUS}:bot/{bot.name}" if bot else f"{dialogue_id}/system"
    user = Speaker(user_id, CORPUS, native, None, "human", is_anonymous=not native)
    return user, Speaker(bot_id, CORPUS, None, bot.name if bot else None, "bot", is_anonymous=bot is None)


def _turn(dialogue_id: str, index: int, turn: LogTurn, user: Speaker, system: Speaker) -> Turn:
    """Give one turn; the challenge's script takes every speaker but U for the system."""
    said_at = _time(turn.time)
    extra: dict[str, Any] = {}
    if turn.speaker not in ROLES:
        extra["speaker"] = turn.speaker
    if isinstance(turn.turn_index, Raw) and bytes(turn.turn_index) != str(index).encode():
        extra["turn-index"] = turn.turn_index
    if turn.time is not UNSET and turn.time != "" and said_at is None:
        extra["time"] = turn.time
    return Turn(
        dialogue_id=dialogue_id,
        turn_index=index,
        speaker_id=(user if turn.speaker == "U" else system).speaker_id,
        role=ROLES.get(turn.speaker, "system"),
        kind="message",
        text=turn.utterance,
        native_id=turn.annotation_id if isinstance(turn.annotation_id, str) else None,
        said_at=said_at,
        extra=decode.dump(extra),
    )


def _time(text: object) -> datetime | None:
    """Read a time only where the column gives it back to the letter."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _annotations(record: Record, log: Log) -> Iterator[Annotation]:
    for index, turn in enumerate(log.turns):
        for annotator, label in enumerate(turn.annotations or ()):
            yield _annotation(record, index, annotator, label, BREAKDOWN, label.breakdown, _label_extra(label))
            if label.ungrammatical_sentence:
                yield _annotation(record, index, annotator, label, UNGRAMMATICAL, label.ungrammatical_sentence, None)


def _annotation(
    record: Record, turn: int, annotator: int, label: Label, scheme: str, value: str, extra: str | None
) -> Annotation:
    return Annotation(
        record_id=record.record_id,
        turn_index=turn,
        persona_set=None,
        persona_position=None,
        scheme=scheme,
        annotator_index=annotator,
        item_index=0,
        dialogue_id=record.dialogue_id,
        persona_id=None,
        annotator_id=label.annotator_id or (None if label.annotator_id is None else ""),
        label=value,
        extra=extra,
    )


def _label_extra(label: Label) -> str | None:
    """Keep a comment, and nulls where the format has empty texts."""
    if not label.comment and label.comment is not None and label.ungrammatical_sentence is not None:
        return None
    extra: dict[str, Any] = {}
    if label.comment is not UNSET and label.comment != "":
        extra["comment"] = label.comment
    if label.ungrammatical_sentence is None:
        extra["ungrammatical-sentence"] = None
    return decode.dump(extra)


def _stated(log: Log) -> dict[str, Any]:
    """Give everything but words that a log states of its dialogue, by pointer, absent fields left out."""
    stated: dict[str, Any] = {"/group-id": log.group_id, "/speaker-id": log.speaker_id}
    for index, turn in enumerate(log.turns):
        stated[f"/turns/{index}/turn-index"] = turn.turn_index
        stated[f"/turns/{index}/time"] = turn.time
        stated[f"/turns/{index}/annotation-id"] = turn.annotation_id
    return {place: value for place, value in stated.items() if value is not UNSET}


def _layout(raw: bytes, log: Log) -> dict[str, Any]:
    """Give what is needed to write a log as it was: the order of keys, absent keys, and null lists."""
    top = decode.keys(raw)
    turns = [member.raw for member in decode.members(decode.member(raw, "turns"))]
    turn_fields = decode.keys(turns[0]) if turns else []
    labelled = next((index for index, turn in enumerate(log.turns) if turn.annotations), None)
    label_fields: list[str] = []
    if labelled is not None:
        first = next(decode.members(decode.member(turns[labelled], "annotations")))
        label_fields = decode.keys(first.raw)
    absent = list(_absent(log, turn_fields, label_fields))
    nulls = {f"/turns/{index}/annotations": None for index, turn in enumerate(log.turns) if turn.annotations is None}
    return {
        "fields": top,
        "turn_fields": turn_fields,
        "label_fields": label_fields,
        "absent": absent,
        "lists": nulls,
    }


def _absent(log: Log, turn_fields: list[str], label_fields: list[str]) -> Iterator[str]:
    """Name the keys that single turns or labels lack; extends the lists by keys that the first one lacks."""
    for objects, fields in ((_turns(log), turn_fields), (_labels(log), label_fields)):
        present = [(place, _present(value)) for place, value in objects]
        for _, names in present:
            fields += [name for name in names if name not in fields]
        known = {name for _, names in present for name in names}
        for place, names in present:
            if len(names) < len(known):
                yield from (f"{place}/{name}" for name in fields if name in known and name not in names)


def _turns(log: Log) -> Iterator[tuple[str, LogTurn]]:
    return ((f"/turns/{index}", turn) for index, turn in enumerate(log.turns))


def _labels(log: Log) -> Iterator[tuple[str, Label]]:
    for place, turn in _turns(log):
        for index, label in enumerate(turn.annotations or ()):
            yield f"{place}/annotations/{index}", label


_NAMES = {
    kind: [(field.name, field.encode_name) for field in msgspec.structs.fields(kind)] for kind in (LogTurn, Label)
}


def _present(value: LogTurn | Label) -> list[str]:
    """Give the JSON names of the fields that are there."""
    return [name for attribute, name in _NAMES[type(value)] if getattr(value, attribute) is not UNSET]
