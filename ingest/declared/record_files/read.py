"""Opens a file of records by its ending."""

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.record_files.content import Content, ending
from talkhouse.ingest.declared.record_files.json_document import Form, JsonDocument
from talkhouse.ingest.declared.record_files.json_lines import JsonLines
from talkhouse.ingest.declared.record_files.record import RecordFile
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.sources import SourceFile

JSON_LINES = (".jsonl", ".ndjson")
JSON = (".json",)
ENDINGS = (*JSON, *JSON_LINES, ".parquet", ".csv", ".tsv")
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
    known = ", ".join(ENDINGS)
    raise BadRecord("GF-14", f"nothing says what is in it: its name ends in none of {known}, with or without .gz")
