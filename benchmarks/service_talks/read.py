"""Files to rows: a record for each talk, and for each service of a schema."""

import re
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from talkhouse.corpus import (
    BadRecord,
    ColumnBatch,
    Dialogue,
    DialogueKeys,
    FileEnvelope,
    InputFile,
    InputFiles,
    Label,
    Loaded,
    Outcome,
    Participant,
    Record,
    Row,
    SourceFile,
    SourceLocation,
    Speaker,
    Turn,
    Unrecognised,
    decode,
    json_members,
    reject,
)

from .format import SPLITS, Frame, Service, Talk

RULE = "SERVICETALKS-01"
KINDS = {"USER": "human", "SYSTEM": "bot"}
COLUMNS = ("turn_index", "scheme", "item_index", "label", "extra", "start_index", "end_index")
Rows: TypeAlias = tuple[list[Row], list[ColumnBatch]]
_NAME = re.compile(r"(dialogues)_\d+\.json|(schema)\.json")


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every file in path order."""
    input_files, keys = InputFiles("service_talks"), DialogueKeys("service_talks")
    for file in files:
        name, split = _NAME.fullmatch(file.name), file.path.parent.name
        if name is None or split not in SPLITS:
            yield Unrecognised(file, "it is neither <split>/dialogues_<number>.json nor <split>/schema.json")
            continue
        location = SourceLocation(file, subset=name[1] or name[2], split=split, size=file.size)
        input_file = input_files.take(location, f"{split}/{file.path.stem}")
        yield from input_file.findings("SERVICETALKS-02", makes="what a user sees")
        raw = file.read()
        try:
            yield from items(input_file, raw, keys)
        except BadRecord as bad:
            input_files.drop(input_file)
            yield reject(location, bad, raw)


def items(input_file: InputFile, raw: bytes, keys: DialogueKeys) -> Iterator[Outcome]:
    """Read the items of a JSON list; BadRecord where it is none."""
    pieces = json_members.items(raw)
    yield FileEnvelope(input_file.file, {"items": len(pieces)}, len(pieces))
    load = service if input_file.location.subset == "schema" else talk
    for index, piece in enumerate(pieces):
        text = bytes(piece)
        location = input_file.record_location(index, decode.pointer(index), len(text))
        try:
            rows, columns = load(input_file, location, keys, text)
        except BadRecord as bad:
            yield reject(location, bad, text)
        else:
            yield Loaded(location, rows, column_batches=columns)


def service(input_file: InputFile, location: SourceLocation, keys: DialogueKeys, text: bytes) -> Rows:
    """Make the rows of a service: what its slots and intents mean, which two services may name alike."""
    known, _ = decode.record(text, Service, rule=RULE)
    record_id = keys.record_id(f"{input_file.kind}/{location.record_index}", location.file)
    standard = SPLITS[location.split or ""]
    rows: list[Row] = [location.record(record_id, standard_split=standard, extra={"service": msgspec.Raw(text)})]
    for scheme, names in (("service_talks.slot", known.slots), ("service_talks.intent", known.intents)):
        rows += (Label.within(known.service_name, scheme, name.name, name.description) for name in names)
    return rows, []


def checked(text: bytes) -> Talk:
    """Decode a talk; raises BadRecord where it could not be written back from its rows."""
    known = decode.exact(text, Talk, rule=RULE)
    for index, turn in enumerate(known.turns):
        if turn.speaker not in KINDS:
            raise BadRecord(RULE, f"{turn.speaker!r} is no speaker", decode.pointer("turns", index, "speaker"))
    return known


def talk(input_file: InputFile, location: SourceLocation, keys: DialogueKeys, text: bytes) -> Rows:
    """Make the rows of a talk, its labels as columns; it is the same as another where all that is said is."""
    known = checked(text)
    turns = [(turn.speaker, turn.utterance) for turn in known.turns]
    path = f"{input_file.kind}/{location.record_index}"
    standard = SPLITS[location.split or ""]
    record, dialogue_id, is_new = keys.record(location, known.dialogue_id, turns, path=path, standard_split=standard)
    record.native_id = known.dialogue_id
    frames = [turn.frames for turn in known.turns]
    record.extra = decode.dump({"services": known.services, "frames": frames})
    rows: list[Row] = [record]
    if is_new:
        rows.append(Dialogue(dialogue_id, "service_talks", native_id=known.dialogue_id, language="en"))
        speakers = {name: Speaker.within(dialogue_id, name, KINDS[name]) for name, _ in turns}
        rows += speakers.values()
        rows += (Participant(dialogue_id, speaker.speaker_id, name) for name, speaker in speakers.items())
        for index, (name, words) in enumerate(turns):
            rows.append(Turn(dialogue_id, index, speakers[name].speaker_id, name, "message", words))
    return rows, [labels(record, frames)]


def labels(record: Record, frames: list[list[Frame]]) -> ColumnBatch:
    """List the labels of a talk: acts, spans and intents, each kind numbered through all frames of a turn."""
    rows: list[tuple[int, str, int, str, str | None, int | None, int | None]] = []
    for turn, of_turn in enumerate(frames):
        acts = spans = intents = 0
        for frame in of_turn:
            for action in frame.actions:
                extra = decode.dump({"service": frame.service, "slot": action.slot, "values": action.values})
                rows.append((turn, "service_talks.act", acts, action.act, extra, None, None))
                acts += 1
            for slot in frame.slots:
                label = f"{frame.service}.{slot.slot}"
                rows.append((turn, "service_talks.slot", spans, label, None, slot.start, slot.exclusive_end))
                spans += 1
            if frame.state:
                label = f"{frame.service}.{frame.state.active_intent}"
                rows.append((turn, "service_talks.intent", intents, label, None, None, None))
                intents += 1
    return record.annotations(**dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))
