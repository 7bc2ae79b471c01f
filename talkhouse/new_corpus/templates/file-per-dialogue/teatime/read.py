"""Files to rows: one record and one dialogue per file."""

import re
from collections.abc import Iterator
from functools import partial

from talkhouse.corpus import (
    BadRecord,
    Dialogue,
    DialogueKeys,
    Loaded,
    Outcome,
    Row,
    SourceFile,
    SourceLocation,
    Unrecognised,
    decode,
    people_and_turns,
    read_each,
)

SPLITS = {"train": "train", "test": "test"}  # the publisher's name -> the standard one

_LINE = re.compile(r"([^:]+): (.*?)(?: \[([+-])\])?")


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every dialogue in path order."""
    return read_each(files, locate, partial(load, DialogueKeys("teatime")))


def locate(file: SourceFile) -> SourceLocation | Unrecognised:
    """Read the split and the native id off the path."""
    if file.path.suffix != ".txt" or file.path.parent.name not in SPLITS:
        return Unrecognised(file, "it is not <split>/<dialogue>.txt")
    return SourceLocation(file, split=file.path.parent.name, native_id=file.path.stem)


def load(keys: DialogueKeys, location: SourceLocation, raw: bytes) -> Loaded:
    """Turn a file into its rows; labels belong to the record, since another file could label the same dialogue."""
    topic, lines = parse(decode.text(raw))
    utterances = [(name, words) for name, words, _ in lines]
    native = f"{location.split}-{location.native_id}"
    record, dialogue_id, is_new = keys.record(location, native, utterances, standard_split=SPLITS[location.split or ""])
    rows: list[Row] = [record]
    if is_new:
        rows.append(Dialogue(dialogue_id, "teatime", title=topic, language="en"))
        rows += people_and_turns(dialogue_id, utterances, role="guest")
    rows += (record.annotation(index, "teatime.mood", mood) for index, (*_, mood) in enumerate(lines) if mood)
    return Loaded(location, rows)


def parse(content: str) -> tuple[str, list[tuple[str, ...]]]:
    """Split a file into its topic and (name, text, mood) of each line; raises BadRecord TEATIME-01."""
    topic, *lines = content.split("\n")
    if not topic.startswith("# ") or not lines or lines.pop():
        raise BadRecord("TEATIME-01", "no '# topic' in the first line, or no newline at the end")
    found = [_LINE.fullmatch(line) for line in lines]
    if None in found:
        index = found.index(None)
        raise BadRecord("TEATIME-01", f"expected 'Name: text', found {lines[index][:80]!r}", f"/{index + 1}")
    return topic.removeprefix("# "), [match.groups() for match in found if match]
