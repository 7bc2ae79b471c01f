"""Rows back to files, equal byte for byte."""

from collections.abc import Iterator

from talkhouse.corpus import StoredRecord, file_by_file

from .format import COLUMNS, written


def write_record(stored: StoredRecord) -> bytes:
    """Write one exchange: its rows."""
    rows = []
    for turn in stored.turns:
        tones = [annotation.label or "" for annotation in stored.annotations_by_turn[turn.turn_index]]
        name = stored.speakers[turn.speaker_id or ""].name or ""
        rows.append([stored.loaded.native_id or "", name, turn.text, *(tones or [""])])
    return written(rows)


def _file(_: StoredRecord, records: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write a file piece by piece; its envelope comes before its records."""
    yield written([COLUMNS])
    for stored in records:
        yield write_record(stored) if stored.raw is None else stored.raw


write = file_by_file(_file)
