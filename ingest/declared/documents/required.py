"""Members that a record must have, and lists that they must be."""

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.documents.message_fields import missing
from talkhouse.ingest.declared.shapes import Split
from talkhouse.ingest.declared.values import kind_of
from talkhouse.ingest.decode import BadRecord, decoder

_ITEMS = decoder(list[Raw])


def required(record: Split, path: JsonPath, at: str = "") -> Raw:
    """Return the JSON text at a path inside an object, which is at ``at`` itself; BadRecord GF-01 without it."""
    raw = record.find(path)
    if raw is None:
        raise missing(record, path, at)
    return raw


def items_of(raw: Raw, at: str, what: str) -> list[Raw]:
    """Return the items of a list; BadRecord GF-01 where it is none; ``what`` is called so there."""
    if bytes(raw)[:1] != b"[":
        raise BadRecord("GF-01", f"{what} is {kind_of(raw)}, not a list", at)
    items: list[Raw] = _ITEMS.decode(raw)
    return items
