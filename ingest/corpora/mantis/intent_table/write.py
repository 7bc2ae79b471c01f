"""Records back to the table of intents, byte for byte."""

import csv
import io
from collections.abc import Iterator

from msgspec import Struct
from msgspec.json import decode

from talkhouse.ingest.stored_record import StoredRecord


class _FileExtra(Struct):
    header: str = ""
    newline: str = "\n"
    tail: str = ""


class _RecordExtra(Struct):
    raw: str | None = None


def line(key: str, turn_index: int, intents: list[str], split: str, newline: str) -> str:
    """Write one row: quoted only where it has to be, like Python's csv."""
    text = io.StringIO()
    csv.writer(text, lineterminator=newline).writerow([key, turn_index + 1, ",".join(intents), split])
    return text.getvalue()


def write(first: StoredRecord, following: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write the table in pieces."""
    extra = _file_extra(first)
    yield extra.header.encode()
    for stored in following:
        yield stored.raw if stored.raw is not None else write_record(stored)
    yield extra.tail.encode()


def write_record(stored: StoredRecord) -> bytes:
    """Write one row with the line end of its file."""
    record = stored.loaded
    extra = decode(record.extra or "{}", type=_RecordExtra)
    if extra.raw is not None:
        return extra.raw.encode()
    turn = stored.annotations[0].turn_index or 0
    intents = [row.label or "" for row in stored.annotations]
    return line(record.native_id or "", turn, intents, record.split or "", _file_extra(stored).newline).encode()


def _file_extra(stored: StoredRecord) -> _FileExtra:
    return decode(stored.file.extra or "{}", type=_FileExtra)
