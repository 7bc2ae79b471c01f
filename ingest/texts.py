"""Candidate texts by reference: the key of each text, and its row where it is new."""

from collections.abc import Iterable

from talkhouse.ingest.keys import Keys, digest_of
from talkhouse.ingest.rows import CandidateText, Row

_DIGITS = 16
"""Hex digits of a content's hash in the key of a text."""

_REMEMBERED = 50_000
"""Texts that are looked up by their words; beyond, all are forgotten and looked up by their hash again."""


class Texts:
    """The candidate texts of a corpus's build: hashes are kept, and for speed some of the texts."""

    def __init__(self, corpus_id: str) -> None:
        self._corpus_id = corpus_id
        self._keys = Keys()
        self._remembered: dict[str, str] = {}

    def ids(self, texts: Iterable[str], rows: list[Row]) -> list[str]:
        """Return the keys of texts; a text that is new adds its row."""
        return [self._remembered.get(text) or self.id(text, rows) for text in texts]

    def id_of_bytes(self, raw: bytes | bytearray, rows: list[Row]) -> str:
        """Return the key of a text in UTF-8; only a new one is decoded. The caller knows that it is UTF-8."""
        content = digest_of(raw)
        text_id, is_new = self._keys.assign(f"{self._corpus_id}:{content.hex()[:_DIGITS]}", content)
        if is_new:
            rows.append(CandidateText(text_id, self._corpus_id, raw.decode()))
        return text_id

    def id(self, text: str, rows: list[Row]) -> str:
        """Return the key of one text; adds its row where it is new."""
        text_id = self.id_of_bytes(text.encode(), rows)
        if len(self._remembered) >= _REMEMBERED:
            self._remembered.clear()
        self._remembered[text] = text_id
        return text_id
