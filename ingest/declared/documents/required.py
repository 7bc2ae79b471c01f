"""Members that a record must have."""

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.documents.messages import missing
from talkhouse.ingest.declared.shapes import Split


def required(record: Split, path: JsonPath | None, at: str = "") -> Raw:
    """Return the JSON text at a path inside an object, which is at ``at`` itself; BadRecord GF-01 without it."""
    raw = record.find(path)
    if raw is None:
        raise missing(record, path or (), at)
    return raw
