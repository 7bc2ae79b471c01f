"""Files to rows: a record, and a dialogue, for each item of a list."""

from collections.abc import Iterator

from talkhouse.corpus import (
    BadRecord,
    Dialogue,
    DialogueKeys,
    FileEnvelope,
    InputFile,
    InputFiles,
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

from .format import SPLITS, Talk


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every file in path order."""
    input_files, keys = InputFiles("bookclub"), DialogueKeys("bookclub")
    for file in files:
        split = file.path.stem
        if file.path.suffix != ".json" or split not in SPLITS:
            yield Unrecognised(file, "its name is not <split>.json")
            continue
        location = SourceLocation(file, split=split, size=file.size)
        input_file = input_files.take(location, split)
        yield from input_file.findings("BOOKCLUB-02")
        raw = file.read()
        try:
            yield from talks(input_file, raw, keys)
        except BadRecord as bad:
            input_files.drop(input_file)
            yield reject(location, bad, raw)


def talks(input_file: InputFile, raw: bytes, keys: DialogueKeys) -> Iterator[Outcome]:
    """Read the items of a JSON list; BadRecord where it is none."""
    items = json_members.items(raw)
    yield FileEnvelope(input_file.file, {"talks": len(items)}, len(items))
    for index, item in enumerate(items):
        text = bytes(item)
        location = input_file.record_location(index, decode.pointer(index), len(text))
        try:
            talk = checked(text)
        except BadRecord as bad:
            yield reject(location, bad, text)
            continue
        yield Loaded(location, rows_of(input_file, location, keys, talk))


def checked(text: bytes) -> Talk:
    """Decode a talk; raises BadRecord where it could not be written back from its rows."""
    talk = decode.exact(text, Talk, rule="BOOKCLUB-01")
    for index, utterance in enumerate(talk.talk):
        if utterance.by not in talk.people:
            where = decode.pointer("talk", index, "by")
            raise BadRecord("BOOKCLUB-01", f"{utterance.by!r} is none of the people", where)
        for position, mention in enumerate(utterance.mentions):
            if not 0 <= mention.start <= mention.end <= len(utterance.said):
                where = decode.pointer("talk", index, "mentions", position)
                raise BadRecord("BOOKCLUB-01", "the span is outside of the text", where)
    return talk


def rows_of(input_file: InputFile, location: SourceLocation, keys: DialogueKeys, talk: Talk) -> list[Row]:
    """Make the rows of a talk; it is the same as another where its book, its people and all that is said are."""
    utterances = [(utterance.by, utterance.said) for utterance in talk.talk]
    record, dialogue_id, is_new = keys.record(
        location,
        talk.id,
        [(talk.book,), *talk.people.items(), *utterances],
        path=f"{input_file.kind}/{location.record_index}",  # an id may be there twice
        standard_split=SPLITS[location.split or ""],
    )
    record.native_id = talk.id
    record.extra = decode.dump_extra({"people": list(talk.people), "repeats": input_file.repeats})
    rows: list[Row] = [record]
    if is_new:
        rows.append(Dialogue(dialogue_id, "bookclub", native_id=talk.id, title=talk.book, language="en"))
        speakers = {name: Speaker.within(dialogue_id, name) for name in talk.people}
        rows += speakers.values()
        rows += (Participant(dialogue_id, speakers[name].speaker_id, part) for name, part in talk.people.items())
        for index, (name, text) in enumerate(utterances):
            rows.append(Turn(dialogue_id, index, speakers[name].speaker_id, talk.people[name], "message", text))
    rows += labels_of(record, talk)
    return rows


def labels_of(record: Record, talk: Talk) -> Iterator[Row]:
    """List the labels: they belong to the record, since another file could label the same talk."""
    for turn_index, utterance in enumerate(talk.talk):
        for item_index, tag in enumerate(utterance.tags):
            yield record.annotation(turn_index, "bookclub.tag", tag, item_index=item_index)
        for item_index, mention in enumerate(utterance.mentions):
            yield record.annotation(
                turn_index,
                "bookclub.mention",
                mention.what,
                item_index=item_index,
                start_index=mention.start,
                end_index=mention.end,
            )
