"""Dialogue logs and background paragraphs to rows: one record per file."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from msgspec import structs

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.dbdc3 import format as layout
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.input_files import DialogueKeys, DialogueRecord, read_each
from talkhouse.ingest.keys import Keys, Restatements, digest
from talkhouse.ingest.outcomes import Loaded, Outcome, ReaderFinding, SourceLocation, reject
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Participant, Record, Row, Speaker, Turn
from talkhouse.ingest.sources import SourceFile


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read tables of people, every log in path order, then background paragraphs, which need to know their dialogue."""
    paragraphs: list[tuple[SourceLocation, str]] = []
    for file in (file for file in files if file.name.endswith(layout.CONTEXT)):
        location, raw = layout.locate_context(file), file.read_record()
        try:
            paragraphs.append((location, decode.text(raw)))
        except BadRecord as bad:
            yield reject(location, bad, raw)
    reader = LogReader({location.native_id or "": text for location, text in reversed(paragraphs)})
    yield from read_each(
        (file for file in files if file.name in layout.ATTRIBUTES), layout.locate_attributes, reader.attributes
    )
    logs = (file for file in files if not file.name.endswith(layout.CONTEXT) and file.name not in layout.ATTRIBUTES)
    yield from read_each(logs, layout.locate, reader.log)
    yield from (reader.paragraph(location, text) for location, text in paragraphs)


class LogReader:
    """Reads one build's logs; keeps keys and hashes of what it has yielded, never texts of dialogues."""

    def __init__(self, backgrounds: dict[str, str]) -> None:
        self._backgrounds = backgrounds
        self._keys = DialogueKeys(layout.CORPUS)
        self._speakers = Keys()
        self._restatements = Restatements()
        self._first: dict[str, str] = {}
        self._files: dict[tuple[str, str], str] = {}
        self._releases: set[tuple[str | None, str]] = set()
        self._unsaid_in: set[tuple[PurePosixPath, tuple[str, ...]]] = set()

    def log(self, location: SourceLocation, raw: bytes) -> Loaded:
        """Turn one log into its record; raises BadRecord."""
        log, unknown = decode.record(raw, layout.Log, rule="DB-01")
        _require_annotations(log)
        numbers = layout.spell_numbers(log)
        stem, location = location.native_id or "", replace(location, native_id=log["dialogue-id"])
        facts = layout.path_facts(location.file)
        path = "/".join([*filter(None, (facts.release, facts.language, facts.subset)), log["dialogue-id"]])
        stored = self._keys.record(
            location,
            log["dialogue-id"],
            ((turn["speaker"], turn["utterance"]) for turn in log["turns"]),
            path=path,
            standard_split=layout.SPLITS.get(facts.split or ""),
        )
        record, dialogue_id, is_new = stored
        repeated = self._files.setdefault((path, location.file.sha256), record.record_id)
        differs = self._restatements.differing(dialogue_id, layout.stated(log))
        extra = layout.published_keys(raw, log, has_unknown=bool(unknown)) | {
            "differs": differs | numbers,
            "unknown": unknown,
        }
        record.extra = decode.dump_extra(extra | {"repeats": repeated if repeated != record.record_id else None})
        bot, background = layout.family(log["dialogue-id"], facts.subset), self._backgrounds.get(log["dialogue-id"])
        language = facts.language or (bot.language if bot else None)
        rows: list[Row] = [record]
        if is_new:
            both = [self._known(speaker) for speaker in speakers(dialogue_id, log, bot)]
            rows += dialogue_rows(dialogue_id, log, both, language, background)
        findings = list(warnings(log, stem, facts.subset, bot, has_background=background is not None))
        if numbers:
            names = ", ".join(sorted({*map(decode.last_name, numbers)}))
            detail = f"numbers in place of texts: {len(numbers)} ({names})"
            findings.append(ReaderFinding("DB-10", detail, pointer=next(iter(numbers))))
        findings += self._repetitions(log["dialogue-id"], stored)
        findings += self._unsaid(location.file, facts, language, bot)
        self._first.setdefault(log["dialogue-id"], dialogue_id)
        return Loaded(location, rows, findings, list(label_batches(record, log)))

    def attributes(self, location: SourceLocation, raw: bytes) -> Loaded:
        """Turn a table into its record; who speaks gets a row of their own, who labels is known in annotations."""
        text = decode.text(raw)
        table, others = layout.Attributes.parse(text)
        record_id = self._keys.record_id(f"{location.release}/{location.subset}", location.file)
        extra = structs.asdict(table) | ({} if table.text() == text else {"verbatim": text})
        record = location.record(record_id, extra=extra)
        rows: list[Row] = [record]
        for native, facts in table.people.items() if location.file.name == layout.SPEAKERS else ():
            speaker = Speaker(
                f"{layout.CORPUS}:user/DCM/{native}", layout.CORPUS, native, None, "human", False, decode.dump(facts)
            )
            known, is_new = self._known(speaker)
            rows += [known] if is_new else []
        detail = f"rows with an id that came before, or other cells than the header: {', '.join(others[:10])}"
        return Loaded(location, rows, [ReaderFinding("DB-11", detail)] if others else [])

    def paragraph(self, location: SourceLocation, text: str) -> Loaded:
        """Turn one background paragraph into a record; its text is the dialogue's where both agree."""
        native_id = location.native_id or ""
        dialogue_id = self._first.get(native_id)
        is_kept = dialogue_id is not None and self._backgrounds[native_id] == text
        path = "/".join(["context", *layout.inner_path(location.file).parent.parts, native_id])
        record_id = self._keys.record_id(path, location.file)
        record = location.record(record_id, dialogue_id, extra={} if is_kept else {"background": text})
        findings = []
        if dialogue_id is None:
            detail = f"a background paragraph without the dialogue {native_id}"
            findings.append(ReaderFinding("DB-06", detail, location.file, ""))
        return Loaded(location, [record], findings)

    def _known(self, speaker: Speaker) -> tuple[Speaker, bool]:
        """Assign a speaker's key, and tell whether it is new: a dialogue-id may look like the key of a person."""
        who = digest(speaker.kind, speaker.native_id or "")
        speaker.speaker_id, is_new = self._speakers.assign(speaker.speaker_id, who)
        return speaker, is_new

    def _unsaid(
        self, file: SourceFile, facts: layout.PathFacts, language: str | None, bot: layout.BotFamily | None
    ) -> Iterator[ReaderFinding]:
        """Report once for each folder what the place of its logs does not say (DB-09)."""
        known = {**facts._asdict(), "language": language, "bot": bot}
        unsaid = tuple(name for name, value in known.items() if value is None)
        folder = layout.inner_path(file).parent
        if unsaid and (folder, unsaid) not in self._unsaid_in:
            self._unsaid_in.add((folder, unsaid))
            yield ReaderFinding("DB-09", f"the place of the logs in '{folder}' does not say the {', '.join(unsaid)}")

    def _repetitions(self, native_id: str, stored: DialogueRecord) -> Iterator[ReaderFinding]:
        """Report a dialogue-id that another dialogue has (DB-08), or that its release had already (DB-03)."""
        if stored.is_new and stored.dialogue_id != f"{layout.CORPUS}:{native_id}":
            detail = f"other words than the earlier dialogue {native_id}; kept as {stored.dialogue_id}"
            yield ReaderFinding("DB-08", detail)
        release = stored.record.release
        if (release, native_id) in self._releases:
            yield ReaderFinding("DB-03", f"the id {native_id} occurs twice within the publisher's release {release}")
        self._releases.add((release, native_id))


def _require_annotations(log: layout.Log) -> None:
    """The challenge's script reads the list of every turn that is not the user's."""
    for index, turn in enumerate(log["turns"]):
        if turn["speaker"] != "U" and turn.get("annotations") is None:
            problem = "is null" if "annotations" in turn else "is missing"
            raise BadRecord("DB-01", f"the list of annotations {problem}", f"/turns/{index}/annotations")


_ONE, _BOTH = (layout.BREAKDOWN,), (layout.BREAKDOWN, layout.UNGRAMMATICAL)

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)


def speakers(dialogue_id: str, log: layout.Log, bot: layout.BotFamily | None) -> tuple[Speaker, Speaker]:
    """Make the person and the bot; both are known only within the dialogue where no id tells who they are."""
    native = log.get("speaker-id")
    is_anonymous = native is None or native in layout.PLACEHOLDERS
    user_id = f"{dialogue_id}/user" if is_anonymous else f"{layout.CORPUS}:user/{bot.name if bot else 'other'}/{native}"
    bot_id = f"{layout.CORPUS}:bot/{bot.name}" if bot else f"{dialogue_id}/system"
    user = Speaker(user_id, layout.CORPUS, native, None, "human", is_anonymous)
    return user, Speaker(bot_id, layout.CORPUS, None, bot.name if bot else None, "bot", is_anonymous=bot is None)


def dialogue_rows(
    dialogue_id: str,
    log: layout.Log,
    both: Sequence[tuple[Speaker, bool]],
    language: str | None,
    background: str | None,
) -> Iterator[Row]:
    """List the rows of a dialogue that is published for the first time; of its two speakers those that are new."""
    (user, _), (system, _) = both
    turns = [_turn(dialogue_id, index, turn, user, system) for index, turn in enumerate(log["turns"])]
    extra: dict[str, Any] = {} if background is None else {"background": background}
    if log.get("group-id", "") != "":
        extra["group-id"] = log["group-id"]
    yield Dialogue(
        dialogue_id=dialogue_id,
        corpus_id=layout.CORPUS,
        native_id=log["dialogue-id"],
        language=language,
        started_at=turns[0].said_at if turns else None,
        extra=decode.dump(extra),
    )
    for (speaker, is_new), role in zip(both, ("user", "system"), strict=True):
        if is_new:
            yield speaker
        yield Participant(dialogue_id, speaker.speaker_id, role)
    yield from turns


def _turn(dialogue_id: str, index: int, turn: layout.LogTurn, user: Speaker, system: Speaker) -> Turn:
    """Make one turn; the challenge's script takes every speaker but U for the system."""
    speaker, said_at = turn["speaker"], _time(turn.get("time"))
    extra: dict[str, Any] = {}
    if speaker not in layout.ROLES:
        extra["speaker"] = speaker
    if "turn-index" in turn and bytes(turn["turn-index"]) != str(index).encode():
        extra["turn-index"] = turn["turn-index"]
    if said_at is None and turn.get("time", "") != "":
        extra["time"] = turn["time"]
    return Turn(
        dialogue_id=dialogue_id,
        turn_index=index,
        speaker_id=(user if speaker == "U" else system).speaker_id,
        role=layout.ROLES.get(speaker, "system"),
        kind="message",
        text=turn["utterance"],
        native_id=turn.get("annotation-id"),
        said_at=said_at,
        extra=decode.dump(extra),
    )


def _time(text: str | None) -> datetime | None:
    """Read a time only where the column gives it back to the letter."""
    if not text or not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def label_batches(record: Record, log: layout.Log) -> Iterator[ColumnBatch]:
    """Make the rows of all labels, one per annotator and scheme; nothing where there are none."""
    rows = [
        (index, annotator, scheme, label)
        for index, turn in enumerate(log["turns"])
        for annotator, label in enumerate(turn.get("annotations") or ())
        for scheme in (_BOTH if label.get("ungrammatical-sentence") else _ONE)
    ]
    if not rows:
        return
    turn_index, annotator_index, schemes, labels = map(list, zip(*rows, strict=True))
    yield record.annotations(
        turn_index=turn_index,
        scheme=schemes,
        annotator_index=annotator_index,
        annotator_id=[label.get("annotator-id", "") for label in labels],
        label=[
            label["breakdown"] if scheme == layout.BREAKDOWN else label["ungrammatical-sentence"]
            for scheme, label in zip(schemes, labels, strict=True)
        ],
        extra=[
            # Nearly all labels have no comment and no null.
            _label_extra(scheme, label) if label.get("comment") or None in label.values() else None
            for scheme, label in zip(schemes, labels, strict=True)
        ],
    )


def _label_extra(scheme: str, label: layout.Label) -> str | None:
    """Keep a comment, and nulls where the format has empty texts, with the row that every label has."""
    extra: dict[str, Any] = {}
    if scheme == layout.BREAKDOWN and label.get("comment", "") != "":
        extra["comment"] = label["comment"]
    if scheme == layout.BREAKDOWN and label.get("ungrammatical-sentence", "") is None:
        extra["ungrammatical-sentence"] = None
    return decode.dump(extra)


_ANNOTATORS = {"init100": (24,), "rest1046": (2, 3)}
"""Annotators of a turn in the parts of the chat dialogue corpus, by the publisher's README."""

_OF_A_CHALLENGE = (30,)
"""Annotators of a turn in every log of the challenges."""

LABELS = {"O", "T", "X"}
TASK = "breakdown_detection"


def warnings(
    log: layout.Log, stem: str, subset: str | None, bot: layout.BotFamily | None, *, has_background: bool
) -> Iterator[ReaderFinding]:
    """List the findings of one log; ``stem`` is its file's name without the ending."""
    yield from _labels(log)
    dialogue_id, turns = log["dialogue-id"], log["turns"]
    if stem != dialogue_id:
        detail = f"the file is named {stem}, its dialogue-id is {dialogue_id}"
        yield ReaderFinding("DB-03", detail, pointer="/dialogue-id")
    annotators = [[label.get("annotator-id") for label in _votes(turn)] for turn in turns]
    for rule, what, is_unusual in _unusual_turns(_ANNOTATORS.get(subset or "", _OF_A_CHALLENGE)):
        indexes = [index for index, turn in enumerate(turns) if is_unusual(index, turn, annotators[index])]
        if indexes:
            shown = ", ".join(map(str, indexes[:10])) + (" ..." if len(indexes) > 10 else "")
            detail = f"{what}: {len(indexes)} of {len(turns)} turns ({shown})"
            yield ReaderFinding(rule, detail, pointer=f"/turns/{indexes[0]}", turn_index=indexes[0])
    if bot and bot.name == "CIC" and not has_background:
        yield ReaderFinding("DB-06", f"no background paragraph ({dialogue_id}.log.context) for this CIC dialogue")


def _labels(log: layout.Log) -> Iterator[ReaderFinding]:
    """DB-02: turns that make no example since no label is known, and single unknown labels."""
    for index, turn in enumerate(log["turns"]):
        labels = {label["breakdown"] for label in _votes(turn)}
        unknown = sorted(labels - LABELS, key=str)
        if not unknown:
            continue
        pointer = f"/turns/{index}/annotations"
        if LABELS.isdisjoint(labels):
            yield ReaderFinding("DB-02", f"no label is O, T or X but {unknown}", None, pointer, None, TASK, index)
        else:
            detail = f"labels outside O, T and X are not counted: {unknown}"
            yield ReaderFinding("DB-02", detail, pointer=pointer, turn_index=index, severity="warn")


def _votes(turn: layout.LogTurn) -> list[layout.Label]:
    """List the labels of a system turn; those of a user turn are DB-04's."""
    return [] if turn["speaker"] == "U" else turn.get("annotations") or []


class _UnusualTurn(NamedTuple):
    rule: str
    what: str
    is_unusual: Callable[[int, layout.LogTurn, list[str | None]], bool]
    """Asked with the position of a turn, the turn, and the ids of those who labelled it."""


def _is_misnumbered(index: int, turn: layout.LogTurn, _: object) -> bool:
    return "turn-index" not in turn or bytes(turn["turn-index"]) != str(index).encode()


def _repeats_annotator(_: int, __: layout.LogTurn, annotators: list[str | None]) -> bool:
    known = list(filter(None, annotators))
    return len(set(known)) < len(known)


@cache
def _unusual_turns(annotators: tuple[int, ...]) -> tuple[_UnusualTurn, ...]:
    """List what is unusual about a turn where so many annotators are usual."""
    return (
        _UnusualTurn("DB-03", "turn-index is not the position", _is_misnumbered),
        _UnusualTurn("DB-04", "speaker neither U nor S", lambda _, turn, __: turn["speaker"] not in ("U", "S")),
        _UnusualTurn(
            "DB-04",
            "annotations on a user turn",
            lambda _, turn, __: turn["speaker"] == "U" and bool(turn.get("annotations")),
        ),
        _UnusualTurn(
            "DB-05",
            f"other than {' or '.join(map(str, annotators))} annotations",
            lambda _, __, found: len(found) not in (0, *annotators),
        ),
        _UnusualTurn("DB-05", "an annotator twice", _repeats_annotator),
        _UnusualTurn("DB-05", "annotations without annotator-id", lambda _, __, found: not all(found)),
        _UnusualTurn("DB-06", "empty utterance", lambda _, turn, __: turn["utterance"] == ""),
        _UnusualTurn(
            "DB-06",
            "a system turn without annotations",
            lambda index, turn, found: index > 0 and turn["speaker"] != "U" and not found,
        ),
    )
