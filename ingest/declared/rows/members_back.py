"""Members of ConvoKit's files about speakers and conversations: what they say, and how they are written again."""

from msgspec import Raw

from talkhouse.ingest.declared.shapes import KnownShapes, Members, join, members_of
from talkhouse.ingest.decode import literals
from talkhouse.ingest.stored_record import StoredRecord

LEVEL = "member"
"""Of the shapes of members."""

_META = "meta"


def with_meta(raw: bytes) -> Members:
    """Return what an object says of itself: its ``meta``, or where it has none the object itself as that."""
    members = members_of(raw)
    return members if _META in members else {_META: Raw(raw)}


def member_back(stored: StoredRecord, shapes: KnownShapes) -> bytes:
    """Write a member, all of which is in the ``extra`` of its record."""
    extra = literals(stored.loaded.extra)
    return join(shapes.of(LEVEL, extra), extra, lambda _: b"")
