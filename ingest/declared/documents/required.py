"""Members that a record must have."""

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.shapes import Split
from talkhouse.ingest.decode import BadRecord, pointer


def required(record: Split, path: JsonPath | None, what: str, at: str = "") -> Raw:
    """Return the JSON text at a path inside an object, which is at ``at`` itself.

    Raises BadRecord GF-01 where it is missing, at the object that should have it; ``what`` is called so there.
    """
    raw = record.find(path)
    if raw is None:
        names = ".".join(map(str, path or ()))
        raise BadRecord("GF-01", f"{what}, {names}, is missing", at + above(record, path or ()))
    return raw


def above(record: Split, path: JsonPath) -> str:
    """Return the pointer of the object in which the last name of a path is missing."""
    depth = next((depth for depth in range(len(path)) if record.find(path[: depth + 1]) is None), 0)
    return pointer(*path[:depth])
