"""Opens a file of records by its ending."""

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.record_files.content import Content, ending
from talkhouse.ingest.declared.record_files.csv_records import CsvRecords
from talkhouse.ingest.declared.record_files.csv_rows import CsvRows
from talkhouse.ingest.declared.record_files.json_document import Form, JsonDocument
from talkhouse.ingest.declared.record_files.json_lines import JsonLines
from talkhouse.ingest.declared.record_files.record import RecordFile, RowFile
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.sources import SourceFile

JSON_LINES = (".jsonl", ".ndjson")
JSON = (".json",)
CSV = (".csv", ".tsv")
PARQUET = (".parquet",)
ENDINGS = (*JSON, *JSON_LINES, *PARQUET, *CSV)
"""Each may have .gz behind it."""


def open_records(file: SourceFile, declaration: Declaration, record: Form | None = None) -> RecordFile:
    """Open a file of records; ``record``: what one is in JSON, instead of what ``[dialogue] record`` says.

    What it yields as ``RawRecord`` is one JSON value in UTF-8, without half of a surrogate pair, without NaN, without
    a key twice in an object at any depth, and with at most 100 levels of brackets; all else is a ``BadRawRecord`` with
    TH-01 to TH-04. Blanks inside of the value are there as the file has them, around it are none.

    Raises BadRecord GF-14 for a file that is not what its ending says, here or when it is iterated, but never behind
    the first record; SourceError for one beyond the limits.
    """
    content = Content(file)
    kind = ending(file.path)
    if kind in JSON_LINES:
        return JsonLines(content)
    if kind in JSON:
        return JsonDocument(content, record or declaration.dialogue.record)
    if kind in CSV:
        return CsvRecords(content, declaration.dialect)
    if kind in PARQUET:
        # It takes a while to import, and few commands need it.
        from talkhouse.ingest.declared.record_files.parquet import ParquetRecords

        return ParquetRecords(content)
    raise _unknown(ENDINGS)


def open_rows(file: SourceFile, declaration: Declaration) -> RowFile:
    """Open a file of rows, .csv or .tsv: the columns are known, and the rows can be iterated once.

    Every cell is a text, as it is. Raises, here or when it is iterated: BadRecord GF-14 for a file of another ending,
    or a damaged .gz; GF-13 where cells can't be told apart, TH-02 where it is not UTF-8, both with the line and
    possibly behind many rows; SourceError for one beyond the limits.
    """
    if ending(file.path) not in CSV:
        raise _unknown(CSV)
    return CsvRows(Content(file), declaration.dialect)


def _unknown(endings: tuple[str, ...]) -> BadRecord:
    known = ", ".join(endings)
    return BadRecord("GF-14", f"nothing says what is in it: its name ends in none of {known}, with or without .gz")
