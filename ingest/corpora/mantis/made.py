"""``manifest.json``, which ``talkhouse make mantis`` writes beside the files: they are not the published ones."""

import json
from typing import NamedTuple

from talkhouse.ingest.corpora.mantis.files import MADE
from talkhouse.ingest.outcomes import FileEnvelope, Unrecognised
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import StoredRecord

_LONGEST = 10_000_000
"""Bytes of a manifest, at most."""


class Manifest(NamedTuple):
    """What the files say that they were made from."""

    outcome: FileEnvelope | Unrecognised
    sites: frozenset[str]
    """The categories that dialogues may have beside those of the published corpus."""


def read(file: SourceFile) -> Manifest:
    """Read a manifest; its text is kept whole, for writing it back."""
    try:
        text = b"".join(file.chunks()).decode() if file.size < _LONGEST else ""
        described = json.loads(text)
        if described["kind"] == MADE:
            made_from = str(described["made_from"])
            made_from.encode()  # half of a surrogate pair, which JSON can write, is no text
            envelope = FileEnvelope(file, {"text": text}, made_from=made_from)
            return Manifest(envelope, frozenset(described["sites"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return Manifest(Unrecognised(file, "a manifest.json that talkhouse make mantis has not written"), frozenset())


def write(stored: StoredRecord) -> bytes:
    """Write the manifest back."""
    return str(json.loads(stored.file.extra or "{}")["text"]).encode()
