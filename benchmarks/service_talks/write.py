"""Rows back to files: equal in every value and in the order of keys."""

from collections.abc import Iterator

import msgspec

from talkhouse.corpus import StoredRecord, decode, file_by_file

_FRAMES = msgspec.json.Decoder(list[msgspec.Raw])


def write_record(stored: StoredRecord) -> bytes:
    """Write one item of its file's list: a talk, or a service."""
    extra = decode.literals(stored.loaded.extra)
    if stored.loaded.subset == "schema":
        return bytes(extra["service"])
    turns = [
        {"speaker": turn.role, "utterance": turn.text, "frames": frames}
        for turn, frames in zip(stored.turns, _FRAMES.decode(extra["frames"]), strict=True)
    ]
    return msgspec.json.encode({"dialogue_id": stored.loaded.native_id, "services": extra["services"], "turns": turns})


def _file(_: StoredRecord, records: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write a file piece by piece; its envelope comes before its records."""
    for index, stored in enumerate(records):
        yield b",\n" if index else b"["
        yield write_record(stored) if stored.raw is None else stored.raw
    yield b"]"


write = file_by_file(_file)
