"""Files to rows: a record and a dialogue for each file."""

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

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

_BLOCK = re.compile(r"[^\r\n].*?(?=\r?\n\r?\n|(?:\r?\n)?\Z)", re.DOTALL)
_NO_CUE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|\Z)")
_TIME = r"((?:\d{1,6}:)?\d{1,2}:\d{1,2}[.,]\d{3})"
_CUE = re.compile(rf"(?:[^\r\n]*\r?\n)?{_TIME}[ \t]+-->[ \t]+{_TIME}[^\r\n]*(?:\r?\n|\Z)")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>]*)>")
_AFTER = re.compile(r"(?:</v>)?(?:\r?\n)?\Z")


class Line(NamedTuple):
    """What one voice says in a cue."""

    voice: str | None
    text: str
    start_ms: int
    end_ms: int


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every talk in path order."""
    return read_each(files, locate, partial(load, DialogueKeys("subtitles")))


def locate(file: SourceFile) -> SourceLocation | Unrecognised:
    """Read the native id off the path."""
    if file.path.suffix not in (".vtt", ".srt"):
        return Unrecognised(file, "its name does not end in .vtt or .srt")
    inside = file.path.relative_to(file.path.parts[0])
    return SourceLocation(file, split="all", native_id=str(inside.with_suffix("")))


def load(keys: DialogueKeys, location: SourceLocation, raw: bytes) -> Loaded:
    """Turn a file into its rows; what stands between the texts belongs to the record, since files may share a talk."""
    lines, between = parse(decode.text(raw), is_webvtt=location.file.path.suffix == ".vtt")
    utterances = [(line.voice or "", line.text) for line in lines]
    record, dialogue_id, is_new = keys.record(location, str(location.native_id), utterances)
    record.extra = decode.dump({"between": between})
    rows: list[Row] = [record]
    if is_new:
        rows.append(Dialogue(dialogue_id, "subtitles", native_id=location.native_id))
        voices = {line.voice: Speaker.within(dialogue_id, line.voice) for line in lines if line.voice}
        rows += voices.values()
        rows += (Participant(dialogue_id, speaker.speaker_id, "speaker") for speaker in voices.values())
        for index, line in enumerate(lines):
            speaker_id = voices[line.voice].speaker_id if line.voice else None
            turn = Turn(dialogue_id, index, speaker_id, "speaker", "message", line.text)
            turn.start_ms, turn.end_ms = line.start_ms, line.end_ms
            rows.append(turn)
    return Loaded(location, rows)


def parse(content: str, *, is_webvtt: bool) -> tuple[list[Line], list[str]]:
    """Split a file into its lines and what stands before, between and behind their texts; raises BadRecord."""
    if is_webvtt and not re.match(r"WEBVTT(?:\s|\Z)", content):
        raise BadRecord("SUBTITLES-01", "the first line is not WEBVTT")
    lines: list[Line] = []
    between: list[str] = []
    kept = 0  # up to here all characters are in a text or between two
    for block in _BLOCK.finditer(content):
        cue = _CUE.match(block[0])
        if not cue and is_webvtt and "-->" not in block[0] and (block.start() == 0 or _NO_CUE.match(block[0])):
            continue
        if not cue or block[0].count("-->") > 1:
            number = content.count("\n", 0, block.start()) + 1
            raise BadRecord("SUBTITLES-01", f"expected a cue with its times, found {block[0][:60]!r}", f"/{number}")
        for voice, start, end in _voices(content, block.start() + cue.end(), block.end()):
            lines.append(Line(voice, content[start:end], _milliseconds(cue[1]), _milliseconds(cue[2])))
            between.append(content[kept:start])
            kept = end
    return lines, [*between, content[kept:]]


def _voices(content: str, start: int, end: int) -> Iterator[tuple[str | None, int, int]]:
    """List where the text of each voice in a cue begins and ends; a cue without voices is one text."""
    marks = list(_VOICE.finditer(content, start, end))
    bounds = [*(mark.start() for mark in marks), end]
    if not marks or bounds[0] > start:
        yield None, start, bounds[0]
    for mark, until in zip(marks, bounds[1:], strict=True):
        text = _AFTER.sub("", content[mark.end() : until])
        yield mark[1], mark.end(), mark.end() + len(text)


def _milliseconds(time: str) -> int:
    """Convert ``01:02:03.004``, with or without hours."""
    clock, milliseconds = re.split("[.,]", time)
    seconds = 0
    for number in clock.split(":"):
        seconds = seconds * 60 + int(number)
    return seconds * 1_000 + int(milliseconds)
