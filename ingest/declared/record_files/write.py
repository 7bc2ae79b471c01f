"""Writes a file of records back, by its ending."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from msgspec import Raw

from talkhouse.ingest.declared.record_files.content import ending, is_packed, packed
from talkhouse.ingest.declared.record_files.json_document import write_json_document
from talkhouse.ingest.declared.record_files.json_lines import write_json_lines
from talkhouse.ingest.declared.record_files.read import JSON, JSON_LINES
from talkhouse.ingest.declared.record_files.record import Envelope, WrittenRecord
from talkhouse.ingest.decode import decoder
from talkhouse.ingest.sources import BOM


def write_records(envelope: Envelope, records: Iterable[WrittenRecord], path: PurePosixPath) -> Iterator[bytes]:
    """Write a file of records, all of them in their order; yield it in pieces. A byte order mark is the caller's.

    JSON is equal in values and order of keys, JSON Lines also in what stands between the values.
    """
    raw = envelope.get("layout")
    layout: dict[str, Raw] = decoder(dict[str, Raw]).decode(raw) if raw is not None else {}
    pieces = _content(layout, records, ending(path))
    if "bom" in layout:
        pieces = _after_bom(pieces)
    return packed(pieces) if is_packed(path) else pieces


def _content(layout: dict[str, Raw], records: Iterable[WrittenRecord], kind: str) -> Iterator[bytes]:
    if kind in JSON_LINES:
        return write_json_lines(layout, records)
    if kind in JSON:
        return write_json_document(layout, records)
    raise ValueError(f"no file of records: {kind}")


def _after_bom(pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield BOM
    yield from pieces
