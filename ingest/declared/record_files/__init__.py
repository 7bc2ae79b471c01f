"""Files as records, whatever their form: JSON, JSON Lines, Parquet, CSV, text, each plain or as .gz; and back."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import PurePosixPath

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import WHOLE, Declaration, RecordForm, which
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.record_files.content import (
    Envelope,
    FileContent,
    RecordFile,
    WrittenRecord,
    WrittenRow,
    ending,
    is_packed,
    packed,
)
from talkhouse.ingest.declared.record_files.csv_files import CsvRecords, write_csv_records, write_csv_rows
from talkhouse.ingest.declared.record_files.json_files import (
    JsonDocument,
    JsonLines,
    write_json_document,
    write_json_lines,
)
from talkhouse.ingest.declared.record_files.repaired import (
    REPAIRED_LINES,
    RepairedContent,
    RepairedRecords,
    as_published,
    lines_as_published,
)
from talkhouse.ingest.declared.record_files.text_files import TextRecords, write_lines, write_text_records
from talkhouse.ingest.decode import BadRecord, decoder
from talkhouse.ingest.sources import BOM, JSON_LINES, SourceFile

JSON = (".json",)
CSV = (".csv", ".tsv")
PARQUET = (".parquet",)
TEXTS = (".txt", ".text", ".log", ".mbox")
"""Their records are texts, as JSON has them (``DialogueFields.are_bare``)."""
ENDINGS = (*JSON, *JSON_LINES, *PARQUET, *CSV)
"""What says by itself how its records are told apart, as a text does not; each may have .gz behind it."""


def open_records(file: SourceFile, declaration: Declaration, record: RecordForm | None = None) -> RecordFile:
    """Open a file of records; ``record``: what one is in JSON, instead of what ``[dialogue] record`` says.

    What it yields as ``RawRecord`` is one JSON value in UTF-8, without half of a surrogate pair, without NaN, without
    a key twice in an object at any depth, and with at most 100 levels of brackets; all else is a ``BadRawRecord`` with
    TH-01 to TH-04. Blanks inside of the value are there as the file has them, around it are none.

    Raises BadRecord GF-14 for a file that is not what its ending says, here or when it is iterated, but never behind
    the first record; SourceError for one beyond the limits.
    """
    entry = which(declaration, str(file.path).partition("/")[2])
    if entry is None or entry.repair is None or ending(file.path) not in (*JSON, *JSON_LINES):
        return _opened(content_of(file, declaration), declaration, record)
    return RepairedRecords(_opened(FileContent(file), declaration, record), entry.repair)


def content_of(file: SourceFile, declaration: Declaration) -> FileContent:
    """Return the content of a file that is no JSON, mended where its ``[[files]]`` says so.

    Raises BadRecord GF-14 for Parquet, whose texts can't be mended, and as ``FileContent`` does.
    """
    entry = which(declaration, str(file.path).partition("/")[2])
    if entry is None or entry.repair is None:
        return FileContent(file)
    if ending(file.path) in PARQUET:
        raise BadRecord("GF-14", f"repair = {entry.repair!r} is for JSON, CSV and text files, not for Parquet")
    return RepairedContent(file, entry.repair)


def _opened(content: FileContent, declaration: Declaration, record: RecordForm | None) -> RecordFile:
    file = content.file
    kind, form = ending(file.path), record or declaration.dialogue.record
    if kind not in JSON and kind in (*ENDINGS, *TEXTS) and isinstance(form, tuple):
        raise BadRecord("GF-14", f"record = {path_text(form)!r} leads into a JSON document (.json), which this is not")
    if kind in JSON_LINES:
        return JsonLines(content)
    if kind in JSON:
        return JsonDocument(content, form)
    if kind in CSV:
        return CsvRecords(content, declaration.dialect)
    if kind in TEXTS:
        if declaration.dialogue.text != WHOLE:
            raise BadRecord("GF-14", _NO_MEMBERS)
        return TextRecords(content, form)
    if kind in PARQUET:
        # It takes a while to import, and few commands need it.
        from talkhouse.ingest.declared.record_files.parquet import ParquetRecords

        return ParquetRecords(content)
    known = ", ".join((*ENDINGS, *TEXTS))
    raise BadRecord("GF-14", f"unknown kind of file: its name ends in none of {known}, with or without .gz")


_NO_MEMBERS = (
    'a text, which has no members: format = "transcript" reads it with text = "$" in [dialogue], and format = "turns" '
    "with a pattern in [lines]; if it is JSON or CSV, rename it to .jsonl, .json or .csv"
)


def write_records(envelope: Envelope, records: Iterable[WrittenRecord], path: PurePosixPath) -> Iterator[bytes]:
    """Write a file of records, all of them in their order; yield it in pieces. A byte order mark is the caller's.

    JSON is equal in values and order of keys, JSON Lines also in what stands between the values, Parquet in schema,
    order and values, CSV and text to the byte.
    """
    layout, kind = layout_of(envelope), ending(path)
    records = (as_published(layout, record, index) for index, record in enumerate(records))
    if kind in JSON_LINES:
        pieces = write_json_lines(layout, records)
    elif kind in JSON:
        pieces = write_json_document(layout, records)
    elif kind in CSV:
        pieces = write_csv_records(layout, records, path)
    elif kind in TEXTS:
        pieces = write_text_records(layout, records)
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
    layout = layout_of(envelope)
    if ending(path) in TEXTS:
        return _file(layout, write_lines(layout, rows), path)
    return _file(layout, write_csv_rows(layout, columns, rows, path), path)


def layout_of(envelope: Envelope) -> dict[str, Raw]:
    """Return the members of a file's layout, by its envelope."""
    raw = envelope.get("layout")
    return decoder(dict[str, Raw]).decode(raw) if raw is not None else {}


def _file(layout: dict[str, Raw], pieces: Iterator[bytes], path: PurePosixPath) -> Iterator[bytes]:
    if REPAIRED_LINES in layout:
        pieces = lines_as_published(layout, pieces)
    if "bom" in layout:
        pieces = chain([BOM], pieces)
    return packed(pieces) if is_packed(path) else pieces
