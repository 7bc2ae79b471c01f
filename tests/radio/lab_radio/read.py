"""Files to rows: a record and a dialogue for each watch."""

import re
from collections.abc import Iterator
from functools import partial

from talkhouse.corpus import (
    BadRecord,
    Dialogue,
    DialogueKeys,
    Loaded,
    Outcome,
    Participant,
    Row,
    SourceFile,
    SourceLocation,
    Speaker,
    Turn,
    Unrecognised,
    decode,
    read_each,
)

SPLITS = {"train": "train", "test": "test"}
ACTS = {"ask": "Wants to know something.", "tell": "Says how things are.", "out": "Ends the talk."}

_CALL = re.compile(r"(?P<time>\d\d:\d\d) (?P<name>[A-Z]+)> (?P<text>.*?)(?: \{(?P<act>ask|tell|out)\})?")


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every watch in path order."""
    return read_each(files, locate, partial(load, DialogueKeys("radio_calls")))


def locate(file: SourceFile) -> SourceLocation | Unrecognised:
    """Read the split and the native id off the path."""
    if file.path.suffix != ".log" or file.path.parent.name not in SPLITS:
        return Unrecognised(file, "it is not <split>/<watch>.log")
    return SourceLocation(file, split=file.path.parent.name, native_id=file.path.stem)


def load(keys: DialogueKeys, location: SourceLocation, raw: bytes) -> Loaded:
    """Turn a file into its rows: a turn for each call, its time as published in extra."""
    channel, calls = parse(decode.text(raw))
    utterances = [(call["name"], call["text"]) for call in calls]
    native = f"{location.split}-{location.native_id}"
    record, dialogue_id, is_new = keys.record(location, native, utterances, standard_split=SPLITS[location.split or ""])
    rows: list[Row] = [record]
    if is_new:
        rows.append(Dialogue(dialogue_id, "radio_calls", language="en", extra=decode.dump({"channel": channel})))
        crew = {name: Speaker.within(dialogue_id, name) for name, _ in utterances}
        rows += crew.values()
        rows += (Participant(dialogue_id, speaker.speaker_id, "crew") for speaker in crew.values())
        for index, call in enumerate(calls):
            values = (crew[call["name"]].speaker_id, "crew", "message", call["text"])
            rows.append(Turn(dialogue_id, index, *values, extra=decode.dump({"time": call["time"]})))
    acts = ((index, call["act"]) for index, call in enumerate(calls) if call["act"])
    rows += (record.annotation(index, "radio_calls.act", act) for index, act in acts)
    return Loaded(location, rows)


def parse(content: str) -> tuple[str, list[dict[str, str]]]:
    """Split a file into its channel and its calls; raises BadRecord RC-01."""
    channel, *lines = content.split("\n")
    if not channel.startswith("channel ") or not lines or lines.pop():
        raise BadRecord("RC-01", "no channel in the first line, or no newline at the end")
    calls = [_CALL.fullmatch(line) for line in lines]
    if None in calls:
        index = calls.index(None)
        raise BadRecord("RC-01", f"expected 'HH:MM NAME> text', found {lines[index][:60]!r}", f"/{index + 1}")
    return channel.removeprefix("channel "), [call.groupdict() for call in calls if call]
