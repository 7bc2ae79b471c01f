"""Writes members of ConvoKit's files about speakers and conversations again."""

from talkhouse.ingest.declared.shapes import KnownShapes, join
from talkhouse.ingest.decode import literals
from talkhouse.ingest.stored_record import StoredRecord

LEVEL = "member"
"""Of the shapes of members."""


def member_back(stored: StoredRecord, shapes: KnownShapes) -> bytes:
    """Write a member, all of which is in the ``extra`` of its record."""
    extra = literals(stored.loaded.extra)
    return join(shapes.of(LEVEL, extra), extra, lambda _: b"")
