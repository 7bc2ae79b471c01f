"""Rows back to files: equal in every value and in the order of keys."""

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from talkhouse.corpus import StoredRecord, decode, file_by_file

from .format import Mention, Talk, Utterance


def write_record(stored: StoredRecord) -> bytes:
    """Write one talk, an item of its file's list."""
    names = {key: speaker.name or "" for key, speaker in stored.speakers.items()}
    parts = {names[person.speaker_id]: person.role or "" for person in stored.participants}
    people = msgspec.json.decode(decode.literals(stored.loaded.extra).get("people", b"[]"), type=list[str])
    talk = []
    for turn in stored.turns:
        labels = stored.annotations_by_turn[turn.turn_index]
        tags = [label.label or "" for label in labels if label.scheme == "bookclub.tag"]
        mentions = [
            Mention(cast(Any, label.label), label.start_index or 0, label.end_index or 0)
            for label in labels
            if label.scheme == "bookclub.mention"
        ]
        talk.append(Utterance(names[turn.speaker_id or ""], turn.text, tags, mentions))
    title = stored.dialogue.title if stored.dialogue else None
    native_id = stored.loaded.native_id or ""
    return msgspec.json.encode(Talk(native_id, title or "", {name: parts[name] for name in people}, talk))


def _file(_: StoredRecord, records: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write a file piece by piece; its envelope comes before its records."""
    for index, stored in enumerate(records):
        yield b",\n" if index else b"["
        yield write_record(stored) if stored.raw is None else stored.raw
    yield b"]"


write = file_by_file(_file)
