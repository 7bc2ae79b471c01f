"""Format ``transcript``: a record has a dialogue as one text, with marks of who speaks."""

import msgspec

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.markers import Markers
from talkhouse.ingest.declared.documents.required import required
from talkhouse.ingest.declared.documents.talk import Talk
from talkhouse.ingest.declared.shapes import KnownShapes, Split, wanted
from talkhouse.ingest.declared.values import string_of
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.stored_record import StoredRecord

_TEXT = "text"


class Transcript:
    """Reads and writes the records of one corpus."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        self._path = declaration.dialogue.text or ()
        self._at = pointer(*self._path)
        self._markers = Markers(declaration.markers)
        self.wanted = wanted({_TEXT: self._path})

    def read(self, record: Split) -> Talk:
        """Cut the text at its marks; BadRecord GF-01 where there is none, GF-10 where it begins with no marker."""
        text = string_of(required(record, self._path), self._at, "the text")
        return Talk(self._markers.cut(text, self._at), taken={_TEXT: _TEXT})

    def write(self, hole: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:  # noqa: ARG002  as all formats
        """Return the text."""
        return msgspec.json.encode(self._markers.join(stored.turns))
