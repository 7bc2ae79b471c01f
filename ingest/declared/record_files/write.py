"""Writes a file of records back, by its ending."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from msgspec import Raw

from talkhouse.ingest.declared.record_files.content import ending, is_packed, packed
from talkhouse.ingest.declared.record_files.csv_records import write_csv_records, write_csv_rows
from talkhouse.ingest.declared.record_files.json_document import write_json_document
from talkhouse.ingest.declared.record_files.json_lines import write_json_lines
from talkhouse.ingest.declared.record_files.read import CSV, JSON, JSON_LINES, PARQUET
from talkhouse.ingest.declared.record_files.record import Envelope, WrittenRecord, WrittenRow
from talkhouse.ingest.decode import decoder
from talkhouse.ingest.sources import BOM


def write_records(envelope: Envelope, records: Iterable[WrittenRecord], path: PurePosixPath) -> Iterator[bytes]:
    """Write a file of records, all of them in their order; yield it in pieces. A byte order mark is the caller's.

    JSON is equal in values and order of keys, JSON Lines also in what stands between the values, Parquet in schema,
    order and values, CSV to the byte.
    """
    layout, kind = _layout(envelope), ending(path)
    if kind in JSON_LINES:
        pieces = write_json_lines(layout, records)
    elif kind in JSON:
        pieces = write_json_document(layout, records)
    elif kind in CSV:
        pieces = write_csv_records(layout, records, path)
    elif kind in PARQUET:
        from talkhouse.ingest.declared.record_files.parquet import write_parquet

        pieces = write_parquet(layout, records)
    else:
        raise ValueError(f"no file of records: {path}")
    return _file(layout, pieces, path)


def write_rows(
    envelope: Envelope, columns: Sequence[str], rows: Iterable[WrittenRow], path: PurePosixPath
) -> Iterator[bytes]:
    """Write a file of rows, all of them in their order, to the byte; yield it in pieces.

    ``columns`` are those of the file. A byte order mark is the caller's.
    """
    layout = _layout(envelope)
    return _file(layout, write_csv_rows(layout, columns, rows, path), path)


def _layout(envelope: Envelope) -> dict[str, Raw]:
    raw = envelope.get("layout")
    return decoder(dict[str, Raw]).decode(raw) if raw is not None else {}


def _file(layout: dict[str, Raw], pieces: Iterator[bytes], path: PurePosixPath) -> Iterator[bytes]:
    if "bom" in layout:
        pieces = _after_bom(pieces)
    return packed(pieces) if is_packed(path) else pieces


def _after_bom(pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield BOM
    yield from pieces
