"""Files to rows: a record for each talk, and for each service of a schema."""

import re
from collections.abc import Iterator

import msgspec

from talkhouse.corpus import (
    BadRecord,
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
            rows = load(input_file, location, keys, text)
        except BadRecord as bad:
            yield reject(location, bad, text)
        else:
            yield Loaded(location, rows)


def service(input_file: InputFile, location: SourceLocation, keys: DialogueKeys, text: bytes) -> list[Row]:
    """Make the rows of a service: what its slots and intents mean, which two services may name alike."""
    known, _ = decode.record(text, Service, rule=RULE)
    record_id = keys.record_id(f"{input_file.kind}/{location.record_index}", location.file)
    standard = SPLITS[location.split or ""]
    rows: list[Row] = [location.record(record_id, standard_split=standard, extra={"service": msgspec.Raw(text)})]
    for scheme, names in (("service_talks.slot", known.slots), ("service_talks.intent", known.intents)):
        rows += (Label.within(known.service_name, scheme, one.name, one.description) for one in names)
    return rows


def checked(text: bytes) -> Talk:
    """Decode a talk; raises BadRecord where it could not be written back from its rows."""
    known = decode.exact(text, Talk, rule=RULE)
    for index, turn in enumerate(known.turns):
        if turn.speaker not in KINDS:
            raise BadRecord(RULE, f"{turn.speaker!r} is no speaker", decode.pointer("turns", index, "speaker"))
    return known


def talk(input_file: InputFile, location: SourceLocation, keys: DialogueKeys, text: bytes) -> list[Row]:
    """Make the rows of a talk; it is the same as another where all that is said is."""
    known = checked(text)
    said = [(turn.speaker, turn.utterance) for turn in known.turns]
    path = f"{input_file.kind}/{location.record_index}"
    standard = SPLITS[location.split or ""]
    record, dialogue_id, is_new = keys.record(location, known.dialogue_id, said, path=path, standard_split=standard)
    record.native_id = known.dialogue_id
    frames = [turn.frames for turn in known.turns]
    record.extra = decode.dump({"services": known.services, "frames": frames})
    rows: list[Row] = [record]
    if is_new:
        rows.append(Dialogue(dialogue_id, "service_talks", native_id=known.dialogue_id, language="en"))
        speakers = {name: Speaker.within(dialogue_id, name, KINDS[name]) for name, _ in said}
        rows += speakers.values()
        rows += (Participant(dialogue_id, one.speaker_id, name) for name, one in speakers.items())
        for index, (name, words) in enumerate(said):
            rows.append(Turn(dialogue_id, index, speakers[name].speaker_id, name, "message", words))
    for index, of_turn in enumerate(frames):
        rows += labels(record, index, of_turn)
    return rows


def labels(record: Record, turn_index: int, frames: list[Frame]) -> Iterator[Row]:
    """List the labels of a turn: acts, spans and intents, each kind numbered through all frames."""
    acts = spans = intents = 0
    for frame in frames:
        for action in frame.actions:
            extra = decode.dump({"service": frame.service, "slot": action.slot, "values": action.values})
            yield record.annotation(turn_index, "service_talks.act", action.act, item_index=acts, extra=extra)
            acts += 1
        for slot in frame.slots:
            yield record.annotation(
                turn_index,
                "service_talks.slot",
                f"{frame.service}.{slot.slot}",
                item_index=spans,
                start_index=slot.start,
                end_index=slot.exclusive_end,
            )
            spans += 1
        if frame.state:
            label = f"{frame.service}.{frame.state.active_intent}"
            yield record.annotation(turn_index, "service_talks.intent", label, item_index=intents)
            intents += 1
