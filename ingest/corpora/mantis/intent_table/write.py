"""Records back to the table of intents, byte for byte."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.json import decode

from ingest.corpora.mantis.intent_table.format import line
from ingest.stored_record import StoredRecord


class _FileExtra(Struct):
    header: str = ""
    newline: str = "\n"
    tail: str = ""


class _RecordExtra(Struct):
    raw: str | None = None


def write(stored: Iterator[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Write (path, piece) of one file."""
    first = next(stored)
    extra = decode(first.file.extra or "{}", type=_FileExtra)
    yield first.path, extra.header.encode()
    for one in stored:
        yield one.path, one.raw if one.raw is not None else write_record(one, extra.newline)
    yield first.path, extra.tail.encode()


def write_record(one: StoredRecord, newline: str = "") -> bytes:
    """Write one row with its line ending, which the file's extra has unless it is given."""
    record = one.record
    assert record is not None  # noqa: S101 - whoever has no raw has a record
    extra = decode(record.extra or "{}", type=_RecordExtra)
    if extra.raw is not None:
        return extra.raw.encode()
    ending = newline or decode(one.file.extra or "{}", type=_FileExtra).newline
    turn = one.annotations[0].turn_index or 0
    intents = [row.label or "" for row in one.annotations]
    return line(record.native_id or "", turn, intents, record.split or "", ending).encode()
